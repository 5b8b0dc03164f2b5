/* SPDX-License-Identifier: MIT */
/*
 * test_program_history.c - whether a store knows the program, by a search of
 * its bytes, and what of a comparison is kept.
 */
#include "program_history.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record.h"
#include "support/tap.h"

_Atomic unsigned takt__mode;

const char *takt__mode_value(const char *variable)
{
    return getenv(variable);
}

static char name[64]; /* of this program, as an op */
static char folder[] = "/tmp/takt-memory-XXXXXX", store[64];

/* ---- libtakt ---------------------------------------------------------------
 */

static takt_status define_op(takt_ctx *ctx, const takt_op_spec *spec,
                             const takt_op **out)
{
    static const takt_op any;

    (void)ctx;
    *out = &any;
    if (strncmp(spec->name, "run.", 4) == 0)
        snprintf(name, sizeof name, "%s", spec->name);
    return TAKT_OK;
}

static takt_status history_best(takt_ctx *ctx, const takt_request *request,
                                takt_history_row *out)
{
    (void)ctx;
    (void)request;
    (void)out;
    return TAKT_ENOENT;
}

static struct {
    unsigned count;
    char expert[8][16];
    double seconds[8];
} kept;

void takt__record_learned(const struct takt_route *route,
                          const takt_measurement *measurement)
{
    (void)route;
    REQUIRE(kept.count < 8);
    snprintf(kept.expert[kept.count], sizeof kept.expert[0], "%s",
             measurement->expert);
    kept.seconds[kept.count++] = measurement->seconds;
}

/* ---- files -----------------------------------------------------------------
 */

/* A file of so many bytes, with a text at the end. */
static void write_file(const char *end, size_t bytes, const char *text)
{
    char path[96];

    snprintf(path, sizeof path, "%s%s", store, end);
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    REQUIRE(fd >= 0 && ftruncate(fd, (off_t)bytes) == 0);
    REQUIRE(pwrite(fd, text, strlen(text), (off_t)bytes) ==
            (ssize_t)strlen(text));
    close(fd);
}

static void remove_file(const char *end)
{
    char path[96];

    snprintf(path, sizeof path, "%s%s", store, end);
    unlink(path);
}

/* ---- tests -----------------------------------------------------------------
 */

static void a_store_that_is_not_there_knows_nothing(void)
{
    EXPECT(!takt__history_may_exist());
    setenv("TAKT_DB", "", 1);
    EXPECT(!takt__history_may_exist());
    setenv("TAKT_DB", "/nope/store.db", 1);
    EXPECT(!takt__history_may_exist());
    setenv("TAKT_DB", store, 1);
}

static void a_name_is_found_wherever_it_is(void)
{
    static const size_t before[] = {0,     1,     100,    65500,
                                    65535, 65536, 131060, 1000000};

    write_file("", 5000, "run.other-00000000");
    EXPECT(!takt__history_may_exist());
    for (size_t i = 0; i < sizeof before / sizeof before[0]; i++) {
        write_file("-wal", before[i], name);
        EXPECT(takt__history_may_exist());
    }
    remove_file("-wal");
    EXPECT(!takt__history_may_exist());
}

static void other_files_do_not_count(void)
{
    char path[96];

    snprintf(path, sizeof path, "%s/other.db", folder);
    FILE *file = fopen(path, "w");
    REQUIRE(file != NULL);
    fputs(name, file);
    fclose(file);
    EXPECT(!takt__history_may_exist());
    unlink(path);
}

static bool has_lock(const char *path)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int status;
    const pid_t child = fork();

    if (child == 0) {
        const int fd = open(path, O_RDWR);
        _exit(fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type == F_UNLCK);
    }
    REQUIRE(child > 0 && waitpid(child, &status, 0) == child);
    return status == 0;
}

/* The program may use Takt by itself, and have the store open. */
static void a_store_that_is_open_stays_locked(void)
{
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};

    write_file("", 5000, name);
    const int fd = open(store, O_RDWR | O_CLOEXEC);
    REQUIRE(fd >= 0 && fcntl(fd, F_SETLK, &lock) == 0 && has_lock(store));
    EXPECT(takt__history_may_exist());
    EXPECT(has_lock(store));
    EXPECT_INT(lseek(fd, 0, SEEK_CUR), 0);
    close(fd);
    EXPECT(!has_lock(store));
}

/* It is opened then, which takes less than to look on. */
static void a_large_store_may_know_anything(void)
{
    write_file("", 9 << 20, "");
    EXPECT(takt__history_may_exist());
    write_file("", 7 << 20, "");
    EXPECT(!takt__history_may_exist());
}

static void the_usual_place_is_looked_at(void)
{
    unsetenv("TAKT_DB");
    setenv("XDG_STATE_HOME", "/nope", 1);
    EXPECT(!takt__history_may_exist());
    unsetenv("XDG_STATE_HOME");
    setenv("HOME", "/nope", 1);
    EXPECT(!takt__history_may_exist());
    setenv("TAKT_DB", store, 1);
}

static void what_is_even_is_kept_as_even(void)
{
    struct takt_switchback_result result = {
        .probes = 1, .is_even = true, .ratio = 0.95};

    takt__history_keep(&result);
    result.is_clear = true;
    takt__history_keep(&result);
    REQUIRE(kept.count == 4);
    EXPECT(strcmp(kept.expert[0], "baseline") == 0 && kept.seconds[0] == 1);
    EXPECT(strcmp(kept.expert[1], "routed") == 0 && kept.seconds[1] == 1);
    EXPECT(strcmp(kept.expert[3], "routed") == 0 && kept.seconds[3] == 0.95);
}

static void a_pace_is_kept_of_what_gains_without_a_gpu(void)
{
    struct takt_switchback_result result = {
        .probes = 1, .is_clear = true, .ratio = 1.2, .pace = 0.05};

    kept.count = 0;
    takt__history_keep(&result);
    EXPECT_INT(kept.count, 2);
    result.is_routed = true;
    result.is_gpu = true;
    kept.count = 0;
    takt__history_keep(&result);
    EXPECT_INT(kept.count, 2);
    result.is_gpu = false;
    kept.count = 0;
    takt__history_keep(&result);
    REQUIRE(kept.count == 3);
    EXPECT(strcmp(kept.expert[2], "routed") == 0 && kept.seconds[2] == 0.05);
}

int main(void)
{
    static const struct takt_libtakt libtakt = {.define_op = define_op,
                                                .history_best = history_best};
    static const struct takt_route route = {.takt = &libtakt};

    REQUIRE(mkdtemp(folder) != NULL);
    snprintf(store, sizeof store, "%s/store.db", folder);
    setenv("TAKT_DB", store, 1);
    EXPECT(takt__history_open(&route) == TAKT_HISTORY_NONE);
    RUN(a_store_that_is_not_there_knows_nothing);
    RUN(a_name_is_found_wherever_it_is);
    RUN(other_files_do_not_count);
    RUN(a_store_that_is_open_stays_locked);
    RUN(a_large_store_may_know_anything);
    RUN(the_usual_place_is_looked_at);
    RUN(what_is_even_is_kept_as_even);
    RUN(a_pace_is_kept_of_what_gains_without_a_gpu);
    remove_file("");
    rmdir(folder);
    return tap_done();
}
