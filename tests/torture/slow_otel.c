/* SPDX-License-Identifier: MIT */
/*
 * slow_otel.c - an exporter that takes its time to load, and says when it has
 * begun to.
 */
#define _GNU_SOURCE /* nanosleep() */
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "takt/otlp.h"

static int is_loaded;

__attribute__((constructor)) static void load(void)
{
    const char *fd = getenv("TAKT_TEST_LOADING");

    if (fd != NULL && write(atoi(fd), "", 1) == 1)
        nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
    is_loaded = 1;
}

__attribute__((visibility("default"))) takt_status
takt_otel_open(int version, const takt_otlp_options *options,
               const takt_machine *machine, takt_sink *out, takt_diag *diag)
{
    (void)version;
    (void)options;
    (void)machine;
    (void)out;
    diag->text[0] = '\0';
    return is_loaded ? TAKT_ENOENT : TAKT_EIO;
}
