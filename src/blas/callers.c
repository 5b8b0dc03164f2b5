/* SPDX-License-Identifier: MIT */
/*
 * callers.c - the callers inside a library, and their number of threads.
 *
 * OpenBLAS and BLIS have one number of threads for all their callers. One
 * atomic word holds how many callers are inside and the number they agreed on:
 * a caller with the same number enters, one with another is
 * refused. Some builds have one number per calling thread instead; there a
 * caller may join only if its own is right already.
 *
 * (BLIS also takes the number with each call, in an object that has another
 * layout in every version. Filled without its header, 0.9 leaves out its code
 * for small matrices and takes five times as long for 8 x 8.)
 *
 * A fork copies the locks of a library as they are, and OpenBLAS ends its
 * threads before one. So a fork lets no caller in and waits until those inside
 * have left. If one takes longer than two seconds, the fork goes ahead and the
 * child never enters: the word says which process wrote it.
 *
 * GNU's OpenMP hangs in a child whose parent has used threads, so libraries
 * with OpenMP get one thread there, and no call where that cannot be set.
 *
 * A library that is about to start threads is entered only if they are to be
 * had: OpenBLAS after a fork, in the parent too, whatever the number of threads
 * of the call; OpenMP with the first call of each thread.
 */
#include <time.h>

#include "base/lock.h"
#include "base/thread.h"
#include "blas/library.h"

/* The word: bits 0-15 users, 16-29 threads, then two flags, then the fork
 * count of the process that wrote it. */
#define USERS UINT64_C(0xffff)
#define THREADS_SHIFT 16
#define THREADS_MASK UINT64_C(0x3fff)
#define CHANGED (UINT64_C(1) << 30) /* the library's setting must go back */
#define BUSY (UINT64_C(1) << 31)    /* the setting is being changed */
#define FORKS_SHIFT 32

/* A process forks as a whole, so what calls must know of it is global. */
static _Atomic uint32_t forks; /* since a library was first opened */
static _Atomic unsigned turn;  /* begins with each fork, in both processes */
static _Atomic unsigned closed_for; /* not 0: no caller may enter */
enum { a_fork = 1, the_exit = 2 };

/* The library that this thread is inside of: one at a time. It is not to be
 * cancelled there; on one thread, libraries wait for nothing, and there is no
 * point at which it could be. */
static _Thread_local const struct takt_blas_library *inside
    __attribute__((tls_model("initial-exec")));
static _Thread_local bool has_section
    __attribute__((tls_model("initial-exec")));

/* That this thread has entered, with OpenMP's threads. */
static _Thread_local const struct takt_blas_library *has_team
    __attribute__((tls_model("initial-exec")));

/* The name of this thread, while it has another one for threads that a library
 * starts in its call. */
static _Thread_local struct takt_thread_name own_name
    __attribute__((tls_model("initial-exec")));
static _Thread_local bool has_lent_name
    __attribute__((tls_model("initial-exec")));

static uint64_t fork_count(void)
{
    return atomic_load_explicit(&forks, memory_order_relaxed);
}

static uint64_t users(uint64_t word)
{
    return word & USERS;
}

static bool swap(struct takt_blas_library *library, uint64_t *old,
                 uint64_t word)
{
    return atomic_compare_exchange_weak_explicit(&library->callers, old, word,
                                                 memory_order_acq_rel,
                                                 memory_order_acquire);
}

/* The first user's way in: brings the library to `threads` threads. False:
 * another thread was faster, and *old is what it wrote. */
static bool enter_first(struct takt_blas_library *library, unsigned threads,
                        uint64_t *old)
{
    const uint64_t mine =
        fork_count() << FORKS_SHIFT | (uint64_t)threads << THREADS_SHIFT | 1;

    if (library->set_threads == NULL)
        return swap(library, old, mine);
    const int before = library->get_threads();
    if (before == (int)threads)
        return swap(library, old, mine);
    if (!swap(library, old, mine | BUSY))
        return false;
    if (atomic_load(&closed_for) != 0) {
        *old = fork_count() << FORKS_SHIFT;
        atomic_store(&library->callers, *old);
        return false;
    }
    library->threads_before = before;
    library->set_threads(threads);
    atomic_store_explicit(&library->callers, mine | CHANGED,
                          memory_order_release);
    return true;
}

static bool can_join(const struct takt_blas_library *library, uint64_t word,
                     unsigned threads)
{
    if (word >> FORKS_SHIFT != fork_count() || users(word) == USERS)
        return false;
    if (library->set_threads == NULL)
        return true;
    return (word >> THREADS_SHIFT & THREADS_MASK) == threads &&
           library->get_threads() == (int)threads;
}

/* A library without such a setting may use any number. */
static bool may_use_threads(const struct takt_blas_library *library,
                            unsigned threads)
{
    return threads > 1 || library->set_threads == NULL;
}

static bool enter(struct takt_blas_library *library, unsigned threads)
{
    uint64_t word =
        atomic_load_explicit(&library->callers, memory_order_acquire);

    for (;;) {
        if ((word & BUSY) != 0 || atomic_load(&closed_for) != 0)
            return false;
        if (users(word) == 0) {
            if (enter_first(library, threads, &word))
                return true;
        } else if (!can_join(library, word, threads)) {
            return false;
        } else if (swap(library, &word, word + 1)) {
            return true;
        }
    }
}

/* What a caller works in stays for the next one, so it is asked for when there
 * are more than ever. libxsmm needs none. */
static bool has_room(struct takt_blas_library *library)
{
    const unsigned now = (unsigned)users(atomic_load(&library->callers));
    unsigned most = atomic_load_explicit(&library->most, memory_order_relaxed);

    if (now <= most || library->xsmm != NULL)
        return true;
    if (!takt__blas_has_room(now - most))
        return false;
    while (most < now &&
           !atomic_compare_exchange_weak(&library->most, &most, now))
        ;
    return true;
}

static bool has_team_of(const struct takt_blas_library *library)
{
    if (has_team != library && takt__blas_can_start(library->team - 1))
        has_team = library;
    return has_team == library;
}

static bool has_restarted(struct takt_blas_library *library, bool *is_first)
{
    const unsigned now = atomic_load_explicit(&turn, memory_order_relaxed);

    if (atomic_load_explicit(&library->started, memory_order_relaxed) == now)
        return true;
    if (!takt__blas_can_start(library->team - 1))
        return false;
    atomic_store_explicit(&library->started, now, memory_order_relaxed);
    *is_first = true;
    return true;
}

/* *is_first: the call will start them. */
static bool has_threads(struct takt_blas_library *library, bool *is_first)
{
    if (library->team == 0)
        return true;
    return library->is_openmp ? has_team_of(library)
                              : has_restarted(library, is_first);
}

static void lend_name(void)
{
    own_name = takt__thread_name_lend(TAKT_LIBRARY_THREAD);
    has_lent_name = true;
}

static void take_name_back(void)
{
    if (has_lent_name)
        takt__thread_name_back(own_name);
    has_lent_name = false;
}

bool takt__callers_enter(struct takt_blas_library *library, unsigned threads)
{
    bool is_first = false;

    if (library->is_openmp && fork_count() != 0 &&
        may_use_threads(library, threads))
        return false;
    if (!has_threads(library, &is_first))
        return false;
    if (is_first)
        lend_name();
    const bool may_wait = may_use_threads(library, threads);
    if (may_wait)
        takt__section_begin();
    if (!enter(library, threads)) {
        take_name_back();
        if (may_wait)
            takt__section_end();
        return false;
    }
    inside = library;
    has_section = may_wait;
    /* Either the fork has seen us inside, or we see the fork. */
    if (atomic_load(&closed_for) == 0 && has_room(library))
        return true;
    takt__callers_leave(library);
    return false;
}

static void leave(struct takt_blas_library *library)
{
    uint64_t word =
        atomic_load_explicit(&library->callers, memory_order_relaxed);

    for (;;) {
        if (users(word) == 1 && (word & CHANGED) != 0) {
            if (swap(library, &word, word | BUSY))
                break;
        } else if (swap(library, &word, word - 1)) {
            return;
        }
    }
    /* The program may have set something else meanwhile. */
    if (library->get_threads() == (int)(word >> THREADS_SHIFT & THREADS_MASK))
        library->set_threads(library->threads_before);
    atomic_store_explicit(&library->callers, fork_count() << FORKS_SHIFT,
                          memory_order_release);
}

void takt__callers_leave(struct takt_blas_library *library)
{
    const bool may_have_waited = has_section;

    leave(library);
    take_name_back();
    inside = NULL;
    if (may_have_waited)
        takt__section_end();
}

void takt__callers_before_fork(void)
{
    atomic_fetch_or(&closed_for, a_fork);
    atomic_fetch_add(&turn, 1);
}

void takt__callers_before_exit(void)
{
    atomic_fetch_or(&closed_for, the_exit);
}

/* A thread that exits in a signal handler may itself be inside, and does not
 * leave any more. */
bool takt__callers_drain(struct takt_blas_library *library)
{
    enum { pauses = 20000 }; /* two seconds */
    const struct timespec pause = {.tv_nsec = 100000};
    const uint64_t own = inside == library;

    for (int i = 0; i < pauses; i++) {
        const uint64_t word = atomic_load(&library->callers);
        if (users(word) == own)
            return own == 0;
        if (word >> FORKS_SHIFT != fork_count())
            return false; /* they never left our own parent */
        nanosleep(&pause, NULL);
    }
    return false;
}

void takt__callers_reset(struct takt_blas_library *library)
{
    atomic_store(&library->callers, fork_count() << FORKS_SHIFT);
}

void takt__callers_after_fork(bool is_child)
{
    if (is_child)
        atomic_fetch_add(&forks, 1);
    atomic_fetch_and(&closed_for, ~(unsigned)a_fork);
}
