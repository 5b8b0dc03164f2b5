/* SPDX-License-Identifier: MIT */
/* mode.c - reads the environment. */
#include "mode.h"

#include <pthread.h>
#include <stdlib.h>

#include "stats_write.h"

_Atomic unsigned takt__mode;

/* The value of a variable; NULL: it is not set, or empty. */
static const char *value_of(const char *variable)
{
    const char *value = secure_getenv(variable);

    return value != NULL && value[0] != '\0' ? value : NULL;
}

static void read_mode(void)
{
    const char *path = value_of(TAKT_STATS_VARIABLE);
    const bool has_stats = path != NULL && takt__stats_open(path);
    const bool is_eager = value_of("TAKT_RUN_EAGER") != NULL;
    const bool is_steady = value_of("TAKT_RUN_SAME_BITS") != NULL;

    atomic_store_explicit(&takt__mode,
                          (has_stats ? TAKT_MODE_STATS : 0u) |
                              (is_eager ? TAKT_MODE_EAGER : 0u) |
                              (is_steady ? TAKT_MODE_STEADY : 0u),
                          memory_order_release);
}

unsigned takt__spin_power(void)
{
    enum { usual = 28, least = 4, most = 30 };
    const char *text = value_of("OPENBLAS_THREAD_TIMEOUT");
    const int given = text != NULL ? atoi(text) : usual;

    return given >= least && given <= most ? (unsigned)given : usual;
}

void takt__mode_read(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, read_mode);
}
