/* SPDX-License-Identifier: MIT */
/*
 * open.c - finds libraries, and finds out what each of them is.
 *
 * A file's name says little: libblas.so.3 is whatever the administrator chose,
 * often one of the others again. So a library is what its symbols say, and of
 * each kind the first one found is taken.
 *
 * Fortran names come before C names: the C functions of several libraries are
 * wrappers that call the Fortran name, which a program that intercepts BLAS
 * would catch a second time.
 */
#define _GNU_SOURCE /* dladdr() */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/config.h"
#include "base/library.h"
#include "base/loading.h"
#include "base/log.h"
#include "base/thread.h"
#include "blas/library.h"
#include "blas/prove.h"

/* By the names that run-time packages install. */
static const char *const standard[] = {"libopenblas.so.0", "libblis.so.4",
                                       "libxsmm.so.1", "libxsmm.so",
                                       "libblas.so.3"};

static bool has(void *handle, const char *name)
{
    return dlsym(handle, name) != NULL;
}

/* ---- the functions ------------------------------------------------------- */

static const char letters[TAKT_BLAS_DTYPES] = {'s', 'd'};

/* LAPACK's functions in `handle`, which need one of BLAS. */
static void find_lapack(struct takt_blas_library *library, void *handle)
{
    static const struct {
        const char *name;
        takt_blas_run *run;
    } functions[] = {{"potrf", takt__fortran_potrf},
                     {"getrf", takt__fortran_getrf},
                     {"gels", takt__fortran_gels},
                     {"geqrf", takt__fortran_geqrf}};
    char name[16];

    for (int d = 0; d < TAKT_BLAS_DTYPES; d++) {
        snprintf(name, sizeof name, "%ctrsm_", letters[d]);
        if (!takt__library_find(library->handle, name, &library->trsm[d]))
            continue;
        snprintf(name, sizeof name, "%corgqr_", letters[d]);
        (void)takt__library_find(handle, name, &library->orgqr[d]);
        for (int f = TAKT_BLAS_POTRF; f < TAKT_BLAS_FUNCTIONS; f++) {
            snprintf(name, sizeof name, "%c%s_", letters[d],
                     functions[f - TAKT_BLAS_POTRF].name);
            if (takt__library_find(handle, name, &library->symbol[f][d]))
                library->run[f][d] = functions[f - TAKT_BLAS_POTRF].run;
        }
    }
}

/* That of a BLAS which is no more than that is in a file of its own. It stays
 * in memory, as its functions may be called until the end. */
static void find_separate_lapack(struct takt_blas_library *library)
{
    if (library->run[TAKT_BLAS_POTRF][TAKT_BLAS_F64] != NULL)
        return;
    void *handle = takt__library_open("liblapack.so.3");
    if (handle != NULL)
        find_lapack(library, handle);
}

static bool find_functions(struct takt_blas_library *library)
{
    enum { of_blas = TAKT_BLAS_POTRF };
    static const struct {
        const char *name;
        takt_blas_run *fortran, *cblas;
    } functions[of_blas] = {
        [TAKT_BLAS_GEMM] = {"gemm", takt__fortran_gemm, takt__cblas_gemm},
        [TAKT_BLAS_GEMV] = {"gemv", takt__fortran_gemv, takt__cblas_gemv},
        [TAKT_BLAS_AXPY] = {"axpy", takt__fortran_axpy, takt__cblas_axpy},
    };
    char fortran[16], cblas[16];

    find_lapack(library, library->handle);
    for (int f = 0; f < of_blas; f++)
        for (int d = 0; d < TAKT_BLAS_DTYPES; d++) {
            takt_blas_symbol **symbol = &library->symbol[f][d];
            snprintf(fortran, sizeof fortran, "%c%s_", letters[d],
                     functions[f].name);
            snprintf(cblas, sizeof cblas, "cblas_%c%s", letters[d],
                     functions[f].name);
            if (takt__library_find(library->handle, fortran, symbol))
                library->run[f][d] = functions[f].fortran;
            else if (takt__library_find(library->handle, cblas, symbol))
                library->run[f][d] = functions[f].cblas;
        }
    return library->run[TAKT_BLAS_GEMM][TAKT_BLAS_F32] != NULL &&
           library->run[TAKT_BLAS_GEMM][TAKT_BLAS_F64] != NULL;
}

/* ---- the kinds ----------------------------------------------------------- */

static void copy_text(char *to, size_t size, const char *from)
{
    snprintf(to, size, "%s", from != NULL ? from : "");
}

struct starting {
    void (*start)(void);
};

static void start(void *self)
{
    ((struct starting *)self)->start();
}

/* It sets OMP_PROC_BIND=TRUE for the whole program unless that is set: OpenMP
 * that is loaded later, and programs that are started, would bind threads to
 * processors. So that is lent to it. */
static bool start_xsmm(struct starting *starting)
{
    return takt__config_lend("OMP_PROC_BIND=FALSE", start, starting);
}

static bool open_xsmm(struct takt_blas *blas, unsigned threads)
{
    struct takt_blas_library *library = blas->library;
    takt_blas_symbol **dispatch = library->symbol[TAKT_BLAS_GEMM];
    struct starting starting;
    const char *(*target)(void);

    (void)threads;
    if (!takt__library_find(library->handle, "libxsmm_smmdispatch",
                            &dispatch[TAKT_BLAS_F32]) ||
        !takt__library_find(library->handle, "libxsmm_dmmdispatch",
                            &dispatch[TAKT_BLAS_F64]) ||
        !takt__library_find(library->handle, "libxsmm_init", &starting.start) ||
        !takt__xsmm_open(library) || !start_xsmm(&starting))
        return false;
    for (int d = 0; d < TAKT_BLAS_DTYPES; d++)
        library->run[TAKT_BLAS_GEMM][d] = takt__xsmm_gemm;
    blas->can_set_threads = true; /* there is always one */
    if (takt__library_find(library->handle, "libxsmm_get_target_arch", &target))
        snprintf(blas->version, sizeof blas->version, "for %s", target());
    return true;
}

/* False: a function is missing. */
static bool find_all(struct takt_blas_library *library, const char *get_threads,
                     const char *set_threads)
{
    return takt__library_find(library->handle, get_threads,
                              &library->get_threads) &&
           takt__library_find(library->handle, set_threads,
                              &library->set_threads) &&
           find_functions(library);
}

static void ask_version(void *handle, const char *question,
                        struct takt_blas *blas)
{
    const char *(*ask)(void);

    if (takt__library_find(handle, question, &ask))
        copy_text(blas->version, sizeof blas->version, ask());
}

/* How many threads the library takes of those offered. */
static unsigned offer_threads(const struct takt_blas_library *library,
                              unsigned threads)
{
    const int before = library->get_threads();

    library->set_threads(threads);
    const int taken = library->get_threads();
    library->set_threads(before);
    return taken > 1 ? (unsigned)taken : 1;
}

static bool open_openblas(struct takt_blas *blas, unsigned threads)
{
    enum { with_openmp = 2 };
    struct takt_blas_library *library = blas->library;
    int (*parallel)(void);

    if (!find_all(library, "openblas_get_num_threads",
                  "openblas_set_num_threads"))
        return false;
    if (takt__library_find(library->handle, "openblas_get_parallel", &parallel))
        library->is_openmp = parallel() == with_openmp;
    ask_version(library->handle, "openblas_get_config", blas);
    (void)takt__library_find(library->handle, "blas_thread_shutdown_",
                             &library->stop_threads);
    library->team = (unsigned)library->get_threads();
    /* With OpenMP a change takes working memory away from calls that the
     * program's other threads make, and changes the program's own number. */
    if (library->is_openmp) {
        library->set_threads = NULL;
        return true;
    }
    blas->max_threads = offer_threads(library, threads);
    if (library->team < blas->max_threads)
        library->team = blas->max_threads;
    blas->max_vector_threads = blas->max_threads;
    blas->can_set_threads = true;
    return true;
}

static bool asks_yes(void *handle, const char *question)
{
    int64_t (*ask)(void);
    return takt__library_find(handle, question, &ask) && ask() != 0;
}

/* It gets one thread. It starts others in every call, and does not look
 * whether it got them: where there are none, it leaves parts of the result as
 * they were, or waits for ever. */
static bool open_blis(struct takt_blas *blas, unsigned threads)
{
    struct takt_blas_library *library = blas->library;

    (void)threads;
    if (!find_all(library, "bli_thread_get_num_threads",
                  "bli_thread_set_num_threads"))
        return false;
    library->is_openmp =
        asks_yes(library->handle, "bli_info_get_enable_openmp");
    blas->can_set_threads = true;
    ask_version(library->handle, "bli_info_get_version_str", blas);
    return true;
}

static bool open_other(struct takt_blas *blas, unsigned threads)
{
    struct takt_blas_library *library = blas->library;

    (void)threads;
    library->is_openmp = has(library->handle, "omp_get_max_threads");
    if (library->is_openmp)
        library->team = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
    if (!find_functions(library))
        return false;
    find_separate_lapack(library);
    return true;
}

/* A kind is known by a symbol that only it has. */
static const struct kind {
    const char *name;
    const char *symbol;
    bool (*open)(struct takt_blas *blas, unsigned threads);
    int least_f32; /* see struct takt_blas_library */
} kinds[] = {
    {"libxsmm", "libxsmm_smmdispatch", open_xsmm, 0},
    {"openblas", "openblas_set_num_threads", open_openblas, 0},
    {"blis", "bli_thread_set_num_threads", open_blis, 512},
    {"blas", "sgemm_", open_other, 0},
    {"blas", "cblas_sgemm", open_other, 0},
};

static const struct kind *find_kind(void *handle)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (has(handle, kinds[i].symbol))
            return &kinds[i];
    return NULL;
}

/* ---- the list ------------------------------------------------------------ */

struct list {
    struct takt_blas *blas;
    size_t count, max;
    unsigned threads;
};

/* The one symbol that every library of a kind has is in its own file, not in
 * that of a library which only needs it. */
static void find_path(void *handle, const char *symbol, struct takt_blas *blas)
{
    Dl_info place;

    if (dladdr(dlsym(handle, symbol), &place) == 0)
        return;
    char *path = realpath(place.dli_fname, NULL);
    copy_text(blas->path, sizeof blas->path,
              path != NULL ? path : place.dli_fname);
    free(path);
}

static bool is_listed(const struct list *list, const struct takt_blas *blas)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->blas[i].name, blas->name) == 0 ||
            strcmp(list->blas[i].path, blas->path) == 0)
            return true;
    return false;
}

/* False: no BLAS, or one that is listed. Runs nothing of the library. */
static bool identify(const struct list *list, const struct kind *kind,
                     void *handle, struct takt_blas *blas)
{
    if (kind == NULL)
        return false;
    if (blas->name == NULL)
        blas->name = kind->name;
    find_path(handle, kind->symbol, blas);
    return !is_listed(list, blas);
}

static void fini(struct takt_blas_library *library)
{
    free(library->xsmm);
    free(library);
}

static bool open_new(const struct kind *kind, void *handle, unsigned threads,
                     struct takt_blas *blas)
{
    struct takt_blas_library *library = calloc(1, sizeof *library);

    if (library == NULL)
        return false;
    library->handle = handle;
    blas->library = library;
    blas->max_threads = 1;
    blas->max_vector_threads = 1;
    if (!kind->open(blas, threads) || !takt__blas_prove(blas)) {
        fini(library);
        return false;
    }
    library->facts = *blas;
    library->least_f32 = kind->least_f32;
    takt__registry_add(library);
    return true;
}

static void limit(unsigned *threads, unsigned most)
{
    if (*threads > most)
        *threads = most;
}

static void open_known(struct takt_blas_library *library, unsigned threads,
                       struct takt_blas *blas)
{
    const char *name = blas->name;

    *blas = library->facts;
    blas->name = name;
    limit(&blas->max_threads, threads);
    limit(&blas->max_vector_threads, threads);
}

struct loading {
    const char *file;
    void *handle;
};

static void load(void *self)
{
    struct loading *loading = self;
    loading->handle = takt__library_open(loading->file);
}

/* The threads of OpenBLAS spin for 2^26 ticks after every job, which is tens of
 * milliseconds in which they take the processors from our own threads: on two
 * cores a mixed workload took 1.39 times as long as it should, and 1.14 times
 * with 2^14. It reads this only when it is loaded, so only if the program
 * has not loaded it before. */
static void *load_quietly(const char *file)
{
    static const char timeout[] = "OPENBLAS_THREAD_TIMEOUT=14";
    struct loading loading = {.file = file};

    if (!takt__config_lend(timeout, load, &loading))
        load(&loading);
    return loading.handle;
}

/* `name` NULL: that of its kind. Returns why it is not used; NULL: it is, or
 * another name of it was opened before. None is closed: where pthread_atfork()
 * waits for forks, dlclose() does so with the lock of atexit(), which the child
 * would find locked. */
static const char *open_file(struct list *list, const char *file,
                             const char *name)
{
    if (list->count == list->max || takt__loading_problem() != NULL)
        return NULL;
    if (takt__blas_is_program_wide())
        return "the program has another with 64-bit integers, whose functions "
               "it would call";
    void *handle = load_quietly(file);
    if (handle == NULL)
        return takt__library_problem();

    struct takt_blas *blas = &list->blas[list->count];
    const struct kind *kind = find_kind(handle);
    *blas = (struct takt_blas){.name = name};
    if (!identify(list, kind, handle, blas))
        return kind == NULL ? "it has no sgemm" : NULL;
    struct takt_blas_library *known = takt__registry_find(handle);
    if (known != NULL)
        open_known(known, list->threads, blas);
    else if (!takt__blas_is_narrow(handle))
        return "its integers have 64 bits";
    else if (!open_new(kind, handle, list->threads, blas))
        return "functions are missing, or its results are wrong";
    blas->library->holders++;
    list->count++;
    return NULL;
}

static void open_named(struct list *list, const char *file)
{
    const char *problem = open_file(list, file, "blas");

    if (problem != NULL)
        takt__log(TAKT_LOG_ERROR, "the BLAS library %.300s is not used: %s",
                  file, problem);
}

size_t takt__blas_open_all(const char *extra, unsigned threads,
                           struct takt_blas *out, size_t max)
{
    struct list list = {.blas = out, .max = max, .threads = threads};

    if ((extra != NULL && extra[0] == '\0') || !takt__blas_may_load())
        return 0;
    if (threads == 0)
        list.threads = 1;
    limit(&list.threads, TAKT_BLAS_MAX_THREADS);
    sigset_t all, before;
    sigfillset(&all); /* the threads of a library take no signal of ours */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    takt__registry_lock();
    const struct takt_thread_name name =
        takt__thread_name_lend(TAKT_LIBRARY_THREAD);
    if (extra != NULL)
        open_named(&list, extra);
    for (size_t i = 0; i < sizeof standard / sizeof standard[0]; i++)
        open_file(&list, standard[i], NULL);
    takt__thread_name_back(name);
    takt__registry_unlock();
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return list.count;
}

void takt__blas_close(struct takt_blas *blas)
{
    struct takt_blas_library *library = blas->library;

    takt__registry_lock();
    if (--library->holders == 0) {
        takt__registry_remove(library);
        fini(library);
    }
    takt__registry_unlock();
    *blas = (struct takt_blas){0};
}
