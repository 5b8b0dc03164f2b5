/* SPDX-License-Identifier: MIT */
/*
 * slow_otel.c - an exporter that takes its time to load and to open, and says
 * when it has begun to, or waits for a fork. Its destructor frees what it works
 * in.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "takt/otlp.h"
#include "torture/loading.h"

enum { room = 4096 };

static volatile char *work;

/* `variable` names a descriptor. */
static void say_and_sleep(const char *variable)
{
    const char *fd = getenv(variable);

    if (fd != NULL && write(atoi(fd), "", 1) == 1)
        nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
}

__attribute__((constructor)) static void load(void)
{
    say_and_sleep("TAKT_TEST_LOADING");
    wait_for_fork();
    work = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                -1, 0);
}

__attribute__((destructor)) static void unload(void)
{
    munmap((void *)(size_t)work, room);
    nanosleep(&(struct timespec){.tv_nsec = 600000000}, NULL);
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
    if (work == NULL)
        return TAKT_EIO;
    say_and_sleep("TAKT_TEST_OPENING");
    work[0]++;
    return TAKT_ENOENT;
}
