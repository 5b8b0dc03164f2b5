/* SPDX-License-Identifier: MIT */
/* mode.c - reads the environment. */
#include "mode.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/environment.h"
#include "stats_write.h"

_Atomic unsigned takt__mode;

static struct takt_environment variables;

static void read_variables(void)
{
    takt__environment_read(&variables);
}

/* Privileged programs must not follow their caller's settings. */
const char *takt__mode_value(const char *variable)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    if (getauxval(AT_SECURE) != 0)
        return NULL;
    pthread_once(&once, read_variables);
    return takt__environment_find(&variables, variable);
}

/* The value of a variable; NULL: it is not set, or empty. */
static const char *value_of(const char *variable)
{
    const char *value = takt__mode_value(variable);

    return value != NULL && value[0] != '\0' ? value : NULL;
}

bool takt__mode_switch(const char *variable, bool is_on)
{
    const char *value = takt__mode_value(variable);

    if (value != NULL)
        (void)takt__environment_switch(value, &is_on);
    return is_on;
}

static bool is_there(const char *path)
{
    return access(path, F_OK) == 0;
}

/* Where idle threads of a library make a change of sides expensive: many of
 * them, which `takt run` lets spin as long as they like. */
static bool has_many_processors(void)
{
    enum { few = 4 };

    return sysconf(_SC_NPROCESSORS_ONLN) > few;
}

bool takt__mode_may_have_nvidia(void)
{
    static _Atomic int known; /* 0: not yet, 1: no, 2: yes */
    const char *gpu = takt__mode_value("TAKT_GPU");

    if (atomic_load_explicit(&known, memory_order_relaxed) == 0)
        atomic_store(&known, (gpu == NULL || gpu[0] != '\0') &&
                                     (value_of("TAKT_CUDA") != NULL ||
                                      is_there("/dev/nvidiactl"))
                                 ? 2
                                 : 1);
    return atomic_load_explicit(&known, memory_order_relaxed) == 2;
}

/* A program whose last run gained by a GPU opens it at once, and most of that
 * time passes while the program reads its data. To know that takes 5 ms: only
 * where there may be a GPU, and a store. One that gained on many processors
 * begins routed, before threads of the library are awake. */
static bool is_early(void)
{
    const char *store = takt__mode_value("TAKT_DB");

    if (store != NULL && store[0] == '\0')
        return false;
    return has_many_processors() || takt__mode_may_have_nvidia();
}

static void read_mode(void)
{
    const char *path = value_of(TAKT_STATS_VARIABLE);
    const bool has_stats = path != NULL && takt__stats_open(path);
    const bool has_small =
        has_stats && !takt__mode_switch("TAKT_RUN_COUNT_LARGE", false);
    const char *eager = value_of("TAKT_RUN_EAGER");
    const bool is_alike = eager != NULL && strcmp(eager, "last") == 0;
    const bool is_eager = takt__mode_switch("TAKT_RUN_EAGER", is_alike);
    const bool has_numpy = takt__mode_switch("TAKT_RUN_NUMPY", true);
    const bool is_steady = takt__mode_switch("TAKT_RUN_SAME_BITS", false);
    /* The bits of its results depend on the number of threads. */
    const bool has_lapack = takt__mode_switch("TAKT_RUN_LAPACK", true) &&
                            !is_steady && value_of("TAKT_PIN") == NULL;

    atomic_store_explicit(&takt__mode,
                          (has_stats ? TAKT_MODE_STATS : 0u) |
                              (has_small ? TAKT_MODE_SMALL : 0u) |
                              (is_eager ? TAKT_MODE_EAGER : 0u) |
                              (is_alike ? TAKT_MODE_ALIKE : 0u) |
                              (is_steady ? TAKT_MODE_STEADY : 0u) |
                              (has_numpy ? TAKT_MODE_NUMPY : 0u) |
                              (has_lapack ? TAKT_MODE_LAPACK : 0u) |
                              (is_early() ? TAKT_MODE_EARLY : 0u),
                          memory_order_release);
}

bool takt__is_patient(void)
{
    const char *policy = value_of("TAKT_POLICY");

    return !takt__mode_has(TAKT_MODE_STEADY) && value_of("TAKT_PIN") == NULL &&
           value_of("TAKT_EXPERT") == NULL &&
           (policy == NULL || strcmp(policy, "adaptive") == 0) &&
           value_of("TAKT_CUDA") == NULL && !is_there("/dev/nvidiactl") &&
           !is_there("/dev/dri");
}

unsigned takt__spin_power(void)
{
    enum { usual = 28, least = 4, most = 30 };
    const char *text = value_of("OPENBLAS_THREAD_TIMEOUT");
    const int given = text != NULL ? atoi(text) : usual;

    return given >= least && given <= most ? (unsigned)given : usual;
}

bool takt__mode_take_early(void)
{
    return (atomic_fetch_and(&takt__mode, ~(unsigned)TAKT_MODE_EARLY) &
            TAKT_MODE_EARLY) != 0;
}

void takt__mode_read(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, read_mode);
}
