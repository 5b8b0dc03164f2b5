/* SPDX-License-Identifier: MIT */
/*
 * plugin.c - a library that calls BLAS and is loaded late.
 *
 * It tells when it comes and goes. With PLUGIN_EARLY it calls BLAS from its
 * constructor, while the loader holds its lock.
 */
#include "program.h"

double plugin_work(int n, uint64_t *calls, int *mark);
double plugin_quiet_work(int n);

static int visits;

double plugin_work(int n, uint64_t *calls, int *mark)
{
    const double result = some_work(n);

    visits++;
    *calls = baseline_calls();
    *mark = baseline_mark();
    return result;
}

/* For threads: it is not counted. */
double plugin_quiet_work(int n)
{
    return some_work(n);
}

__attribute__((constructor)) static void come(void)
{
#ifdef PLUGIN_EARLY
    printf("early %.0f\n", steady_work(40, 3));
#else
    printf("plugin comes\n");
#endif
}

__attribute__((destructor)) static void go(void)
{
    printf("plugin goes after %d\n", visits);
    fflush(stdout);
}
