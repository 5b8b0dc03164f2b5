/* SPDX-License-Identifier: MIT */
/*
 * scratch.h - a folder for one test program, and stores in it.
 */
#pragma once

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hw/files.h"
#include "store/store.h"
#include "store/text.h"
#include "support/tap.h"

static char scratch[96];
static pid_t scratch_owner; /* a child that gives up removes nothing */

static inline void scratch_remove(void)
{
    if (getpid() == scratch_owner)
        takt__folder_remove(scratch);
}

static inline void scratch_make(void)
{
    const char *folder = getenv("TMPDIR");

    snprintf(scratch, sizeof scratch, "%.64s/takt-store-XXXXXX",
             folder != NULL ? folder : "/tmp");
    REQUIRE(mkdtemp(scratch) != NULL);
    REQUIRE(chmod(scratch, 0755) == 0);
    scratch_owner = getpid();
    atexit(scratch_remove);
}

/* A path that no test has used yet; good until eight more were asked for. */
static inline const char *scratch_path(void)
{
    static char paths[8][128];
    static unsigned count;
    char *path = paths[count % 8];

    snprintf(path, sizeof paths[0], "%s/%u.db", scratch, count++);
    return path;
}

static const struct takt_store_identity scratch_identity = {.machine = "aa11",
                                                            .software = "bb22"};

static inline struct takt_store *scratch_open(const char *path)
{
    struct takt_store *store;
    takt_diag diag;
    const takt_status status =
        takt__store_open(path, &scratch_identity, &diag, &store);

    TAP_CHECK(status == TAKT_OK && diag.text[0] == '\0', "%s", diag.text);
    REQUIRE(store != NULL);
    return store;
}

static inline struct takt_record scratch_record(const char *op, unsigned bin,
                                                uint64_t seq)
{
    struct takt_record record = {.dtype = 1,
                                 .bin = bin,
                                 .seq = seq,
                                 .n = 3.25,
                                 .mean = 0.1 * (double)(seq % 400),
                                 .m2 = 1.0 / 3,
                                 .bytes = 4096,
                                 .calls = 17,
                                 .seconds = 1e-300,
                                 .last_unix_s = 1700000000};
    snprintf(record.op, sizeof record.op, "%s", op);
    strcpy(record.expert, "simd.avx2");
    return record;
}

static inline void scratch_write(struct takt_store *store, const char *op,
                                 unsigned bin, uint64_t seq)
{
    struct takt_record record = scratch_record(op, bin, seq);
    EXPECT_INT(takt__store_write(store, &record, 1), TAKT_OK);
}

static inline void scratch_tally(void *self, const struct takt_record *record)
{
    (void)record;
    ++*(size_t *)self;
}

static inline size_t scratch_count(struct takt_store *store)
{
    size_t count = 0;
    EXPECT_INT(takt__store_read(store, scratch_tally, &count), TAKT_OK);
    return count;
}

static inline bool scratch_exists(const char *path, const char *end)
{
    char whole[1024];
    struct stat facts;

    snprintf(whole, sizeof whole, "%s%s", path, end);
    return lstat(whole, &facts) == 0;
}

/* The bytes of a file, to be freed. */
static inline char *scratch_load(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");

    REQUIRE(file != NULL && fseek(file, 0, SEEK_END) == 0);
    *length = (size_t)ftell(file);
    char *bytes = malloc(*length + 1);
    REQUIRE(bytes != NULL);
    rewind(file);
    REQUIRE(fread(bytes, 1, *length, file) == *length);
    bytes[*length] = '\0';
    fclose(file);
    return bytes;
}

static inline void scratch_save(const char *path, const char *bytes,
                                size_t length)
{
    FILE *file = fopen(path, "wb");

    REQUIRE(file != NULL && fwrite(bytes, 1, length, file) == length);
    fclose(file);
}

/* The store as text, to be freed. */
static inline char *scratch_export(const char *store)
{
    char path[128];
    size_t length;
    takt_diag diag;

    snprintf(path, sizeof path, "%s/export.txt", scratch);
    const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    REQUIRE(fd >= 0);
    const takt_status status = takt_store_export(store, fd, &diag);
    TAP_CHECK(status == TAKT_OK, "%d: %s", status, diag.text);
    close(fd);
    return scratch_load(path, &length);
}

static inline takt_status scratch_import(const char *store, const char *text,
                                         size_t length,
                                         takt_store_report *report,
                                         takt_diag *diag)
{
    char path[128];

    snprintf(path, sizeof path, "%s/import.txt", scratch);
    scratch_save(path, text, length);
    const int fd = open(path, O_RDONLY);
    REQUIRE(fd >= 0);
    const takt_status status = takt_store_import(store, fd, report, diag);
    close(fd);
    return status;
}

/* Runs `body` in a process of its own; its failures count. */
static inline pid_t scratch_fork(void (*body)(void *self), void *self)
{
    fflush(stdout);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child > 0)
        return child;
    tap_failures = 0;
    body(self);
    fflush(stdout);
    _exit(tap_failures != 0);
}

static inline void scratch_join(pid_t child)
{
    int status;

    REQUIRE(waitpid(child, &status, 0) == child);
    TAP_CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0,
              "the child ended with %d", status);
}
