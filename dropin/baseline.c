/* SPDX-License-Identifier: MIT */
/* baseline.c - finds the baseline library, and describes it. */
#include "baseline.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loader.h"
#include "mode.h"
#include "opener.h"
#include "stats_write.h"
#include "symbols.h"

static _Atomic(struct takt_baseline *) libraries;

/* ---- looking for a function ---------------------------------------------- */

/* The object around an address, in memory. */
struct object_range {
    uintptr_t at, low, high;
};

static int find_range(struct dl_phdr_info *object, size_t size, void *self)
{
    struct object_range *range = self;
    uintptr_t low = UINTPTR_MAX, high = 0;

    (void)size;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        const uintptr_t start = object->dlpi_addr + part->p_vaddr;
        if (part->p_type != PT_LOAD)
            continue;
        low = start < low ? start : low;
        high = start + part->p_memsz > high ? start + part->p_memsz : high;
    }
    if (range->at < low || range->at >= high)
        return 0;
    range->low = low;
    range->high = high;
    return 1;
}

/* What every object would find is for all; anything else is for the object of
 * the caller only. */
static void *find_own(const char *name, const void *caller, bool *is_for_all)
{
    void *found = takt__find_in(RTLD_NEXT, name); /* behind this library */

    *is_for_all = found != NULL;
    if (found == NULL)
        found = takt__find_in_file(takt__file_of(caller), RTLD_NOLOAD, name);
    return found;
}

static void *find_everywhere(const char *name, const void *caller,
                             const struct takt_naming *naming, bool *is_for_all)
{
    static const char *const usual[] = {"libblas.so.3", "libcblas.so.3",
                                        "libopenblas.so.0", "liblapack.so.3"};
    void *found = find_own(name, caller, is_for_all);
    void *named = takt__find_named(name, found, naming);

    if (named != NULL) {
        *is_for_all = true;
        return named;
    }
    if (found == NULL)
        found = takt__find_in_loaded(name);
    for (size_t i = 0; found == NULL && i < sizeof usual / sizeof *usual; i++)
        found = takt__find_in_file(usual[i], 0, name);
    return found;
}

/* ---- describing a library ------------------------------------------------ */

/* ISO C has no cast from an object pointer to a function pointer. */
static takt_symbol *as_function(void *found)
{
    takt_symbol *function;

    memcpy(&function, &found, sizeof function);
    return function;
}

static void find_functions(struct takt_baseline *baseline, void *handle,
                           const char *pattern)
{
    static const char *const routine[TAKT_ROUTINES] = {
        [TAKT_GEMM] = "gemm",   [TAKT_SYMM] = "symm", [TAKT_SYRK] = "syrk",
        [TAKT_SYR2K] = "syr2k", [TAKT_TRMM] = "trmm", [TAKT_TRSM] = "trsm",
        [TAKT_GEMV] = "gemv",   [TAKT_GER] = "ger",   [TAKT_AXPY] = "axpy",
        [TAKT_DOT] = "dot",     [TAKT_SCAL] = "scal", [TAKT_NRM2] = "nrm2",
        [TAKT_ASUM] = "asum"}; /* iamax is always passed through */

    for (unsigned r = 0; r < TAKT_ROUTINES; r++)
        for (unsigned type = 0; type < 2 && routine[r] != NULL; type++) {
            char word[16], name[48];
            snprintf(word, sizeof word, "%c%s", "sd"[type], routine[r]);
            snprintf(name, sizeof name, pattern, word);
            void *found = takt__find_in(handle, name);
            if (found != NULL)
                baseline->function[r][type] = as_function(found);
        }
}

/* A function of OpenBLAS, in one of its namings. */
static takt_symbol *find_openblas(void *handle, const char *pattern,
                                  const char *word)
{
    char name[48];

    snprintf(name, sizeof name, pattern, word);
    return as_function(takt__find_in(handle, name));
}

/* With OpenMP the number of threads is the program's as well, and OpenBLAS
 * takes the working memory of other threads' calls away when it changes. */
static bool is_of_openmp(const struct takt_baseline *baseline,
                         takt_symbol *get_parallel)
{
    enum { with_openmp = 2 };
    int (*parallel)(void);

    memcpy(&parallel, &get_parallel, sizeof parallel);
    return parallel != NULL ? parallel() == with_openmp
                            : baseline->is_in_parallel != NULL;
}

static void find_openblas_threads(struct takt_baseline *baseline, void *handle)
{
    static const char *const pattern[] = {"openblas_%s", "openblas_%s64_",
                                          "scipy_openblas_%s",
                                          "scipy_openblas_%s64_"};
    void (*set)(int);

    for (size_t i = 0; i < sizeof pattern / sizeof *pattern; i++) {
        takt_symbol *found[] = {
            find_openblas(handle, pattern[i], "get_num_threads"),
            find_openblas(handle, pattern[i], "set_num_threads"),
            find_openblas(handle, pattern[i], "get_parallel")};
        if (found[0] == NULL || found[1] == NULL)
            continue;
        memcpy(&baseline->get_threads, &found[0], sizeof found[0]);
        memcpy(&set, &found[1], sizeof set);
        if (!is_of_openmp(baseline, found[2]))
            baseline->threads =
                takt__library_threads(baseline->get_threads, set);
        else if ((found[0] = as_function(
                      takt__find_in(handle, "omp_get_max_threads"))) != NULL)
            memcpy(&baseline->get_threads, &found[0], sizeof found[0]);
        return;
    }
}

static void find_threads(struct takt_baseline *baseline, void *handle)
{
    static const char *const get[] = {"bli_thread_get_num_threads",
                                      "MKL_Get_Max_Threads"};
    takt_symbol *found = as_function(takt__find_in(handle, "omp_in_parallel"));

    memcpy(&baseline->is_in_parallel, &found, sizeof found);
    find_openblas_threads(baseline, handle);
    for (size_t i = 0; i < 2 && baseline->get_threads == NULL; i++) {
        found = as_function(takt__find_in(handle, get[i]));
        memcpy(&baseline->get_threads, &found, sizeof found);
    }
}

/* A short name for experts, with a hash of the path: measurements of one
 * library must not be taken for another's. */
static void set_name(struct takt_baseline *baseline)
{
    const char *file = strrchr(baseline->path, '/');
    uint32_t hash = 2166136261u;
    char word[13];
    size_t length = 0;

    file = file == NULL ? baseline->path : file + 1;
    if (strncmp(file, "lib", 3) == 0)
        file += 3;
    for (const char *at = file;
         *at != '\0' && *at != '.' && length < sizeof word - 1; at++)
        word[length++] =
            (char)((*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') ||
                           (*at >= '0' && *at <= '9')
                       ? *at
                       : '_');
    word[length] = '\0';
    for (const char *at = baseline->path; *at != '\0'; at++)
        hash = (hash ^ (unsigned char)*at) * 16777619u;
    snprintf(baseline->name, sizeof baseline->name, "%s-%08x", word, hash);
}

static struct takt_baseline *describe(const char *path, const void *base,
                                      const struct takt_naming *naming,
                                      bool is_wide)
{
    struct takt_baseline *baseline = calloc(1, sizeof *baseline);
    void *handle = /* never closed */
        takt__loader_open(path, RTLD_LAZY | RTLD_NOLOAD);

    if (baseline == NULL || handle == NULL) {
        free(baseline);
        return NULL;
    }
    snprintf(baseline->path, sizeof baseline->path, "%s", path);
    baseline->base = base;
    baseline->is_wide = is_wide;
    find_functions(baseline, handle, naming->fortran);
    find_threads(baseline, handle);
    set_name(baseline);
    return baseline;
}

static struct takt_baseline *known(struct takt_baseline *first,
                                   const char *path, bool is_wide)
{
    for (; first != NULL; first = first->next)
        if (strncmp(first->path, path, sizeof first->path - 1) == 0 &&
            first->is_wide == is_wide)
            return first;
    return NULL;
}

/* The library that a function is in; NULL: it cannot be described, and its
 * calls are passed through. */
static struct takt_baseline *library_of(const void *function,
                                        const struct takt_naming *naming)
{
    const char *path = takt__file_of(function);
    struct takt_baseline *made = NULL, *first = atomic_load(&libraries), *there;

    if (path == NULL)
        return NULL;
    const bool is_wide = takt__has_wide_integers(path, naming);
    do {
        there = known(first, path, is_wide);
        if (there == NULL && made == NULL &&
            (made = describe(path, takt__base_of(function), naming, is_wide)) ==
                NULL)
            return NULL;
        if (there != NULL) {
            free(made);
            return there;
        }
        made->next = first;
    } while (!atomic_compare_exchange_weak(&libraries, &first, made));
    takt__stats_library(made->path);
    return made;
}

static bool is_library(const void *base)
{
    const struct takt_baseline *at = atomic_load(&libraries);

    while (at != NULL && at->base != base)
        at = at->next;
    return at != NULL && base != NULL;
}

/* ---- entries ------------------------------------------------------------- */

static _Noreturn void give_up(const char *name, const char *why)
{
    fprintf(stderr, "takt: the program calls %s, but %s\n", name, why);
    abort();
}

/* A program that finds its memory used up when it first calls a routine must
 * not end by it: most programs need no more than these. */
static struct takt_target *new_target(void)
{
    enum { most = 512 };
    static struct takt_target kept[most];
    static _Atomic size_t count;

    if (atomic_load(&count) < most) {
        const size_t at = atomic_fetch_add(&count, 1);
        if (at < most)
            return &kept[at];
    }
    return calloc(1, sizeof(struct takt_target));
}

/* Adds the answer for the object around `at`; NULL: for all objects. */
static const struct takt_target *add_answer(struct takt_blas_entry *entry,
                                            const struct takt_target *answer,
                                            const void *at)
{
    struct takt_target *made = new_target();
    struct object_range range = {.at = (uintptr_t)at, .high = UINTPTR_MAX};

    if (made == NULL)
        give_up(entry->routine, "there is no memory left");
    if (at != NULL)
        dl_iterate_phdr(find_range, &range);
    *made = *answer;
    made->low = range.low;
    made->high = range.high;
    made->is_own = at != NULL && is_library(takt__base_of(at));
    made->next = atomic_load(&entry->first);
    while (!atomic_compare_exchange_weak(&entry->first, &made->next, made))
        continue;
    return made;
}

static const struct takt_target *resolve(struct takt_blas_entry *entry,
                                         const void *caller)
{
    struct takt_target answer = {0};
    bool is_for_all;
    char name[48];

    takt__mode_read();
    takt__opener_watch_exit();
    snprintf(name, sizeof name, entry->naming->name, entry->routine);
    takt__loader_enter();
    void *found = find_everywhere(name, caller, entry->naming, &is_for_all);
    if (found == NULL)
        give_up(name, "no library is loaded that has it; name one with "
                      "--library or TAKT_RUN_LIBRARY");
    answer.function = as_function(found);
    answer.baseline = library_of(found, entry->naming);
    answer.is_wide = answer.baseline != NULL ? answer.baseline->is_wide
                                             : entry->naming->is_wide;
    const bool is_own = is_library(takt__base_of(caller));
    const struct takt_target *target =
        add_answer(entry, &answer, is_for_all && !is_own ? NULL : caller);
    if (is_for_all && !is_own) /* the library itself; in front of the other */
        add_answer(entry, &answer, found);
    takt__loader_leave();
    return target;
}

const struct takt_target *takt__blas_entry_target(struct takt_blas_entry *entry,
                                                  const void *caller)
{
    const struct takt_target *known = takt__blas_entry_known(entry, caller);

    return known != NULL ? known : resolve(entry, caller);
}

/* ---- threads ------------------------------------------------------------- */

static unsigned asked_threads(void)
{
    static const char *const variable[] = {
        "OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "MKL_NUM_THREADS",
        "BLIS_NUM_THREADS",     "OMP_NUM_THREADS",
    };

    for (size_t i = 0; i < sizeof variable / sizeof *variable; i++) {
        const char *value = takt__mode_value(variable[i]);
        const long asked = value == NULL ? 0 : strtol(value, NULL, 10);
        if (asked > 0 && asked < 1 << 16)
            return (unsigned)asked;
    }
    return 0;
}

unsigned takt__baseline_threads(const struct takt_baseline *baseline)
{
    static _Atomic unsigned asked = UINT32_MAX; /* not read yet */

    if (baseline->is_in_parallel != NULL && baseline->is_in_parallel() != 0)
        return 1;
    if (baseline->threads != NULL)
        return takt__threads_of_program(baseline->threads);
    if (baseline->get_threads != NULL) {
        const int threads = baseline->get_threads();
        return threads > 0 ? (unsigned)threads : 0;
    }
    unsigned threads = atomic_load_explicit(&asked, memory_order_relaxed);
    if (threads == UINT32_MAX) {
        threads = asked_threads();
        atomic_store_explicit(&asked, threads, memory_order_relaxed);
    }
    return threads;
}
