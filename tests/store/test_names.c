/* SPDX-License-Identifier: MIT */
/* test_names.c - files of a store that are named in place of others: by links,
 * and by mistake. */
#define _GNU_SOURCE /* linkat() */
#include <errno.h>

#include "base/database_file.h"
#include "base/library.h"
#include "base/new_file.h"
#include "scratch.h"
#include "takt/store.h"

/* Whether this process has a lock on a file: nobody else sees it. */
static void expect_lock(void *self)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    const int fd = open(self, O_RDWR);

    REQUIRE(fd >= 0 && fcntl(fd, F_GETLK, &lock) == 0);
    TAP_CHECK(lock.l_type != F_UNLCK, "%s has no lock", (char *)self);
}

static void expect_locks(const char *path)
{
    static const char *const ends[] = {"", "-shm"};

    for (size_t i = 0; i < 2; i++) {
        char file[160];
        snprintf(file, sizeof file, "%s%s", path, ends[i]);
        scratch_join(scratch_fork(expect_lock, file));
    }
}

/* Everything that a program may have Takt do with a file that it names. */
static void name_by_mistake(const char *file)
{
    const char *other = scratch_path();
    takt_diag diag;

    EXPECT(takt__is_database(AT_FDCWD, file));
    EXPECT(takt__append_open(file, 0600) < 0 && errno == EEXIST);
    EXPECT_INT(takt__write_whole(file, 0, "by mistake", 10, &diag), TAKT_EIO);
    EXPECT(strstr(diag.text, "is a database") != NULL);
    EXPECT(takt__library_open(file) == NULL);
    takt_store_merge(other, file, NULL, NULL);
}

static void open_as_store(const char *file)
{
    struct takt_store *store;
    takt_diag diag;

    EXPECT_INT(takt__store_open(file, &scratch_identity, &diag, &store),
               TAKT_ECORRUPT);
    EXPECT(strstr(diag.text, "stays as it is") != NULL);
}

/* The last process to close a store removes its log: one whose locks are gone
 * counts for none. */
static void no_name_of_an_open_store_drops_its_locks(void)
{
    static const char *const ends[] = {"", "-wal", "-shm"};
    char path[128], file[160], link[160];

    snprintf(path, sizeof path, "%s", scratch_path());
    struct takt_store *store = scratch_open(path);
    scratch_write(store, "add", 1, 1);
    expect_locks(path);
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        snprintf(file, sizeof file, "%s%s", path, ends[i]);
        snprintf(link, sizeof link, "%s/link%zu", scratch, i);
        name_by_mistake(file);
        REQUIRE(symlink(file, link) == 0);
        name_by_mistake(link);
        REQUIRE(unlink(link) == 0);
        if (i > 0)
            open_as_store(file);
        expect_locks(path);
    }
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        snprintf(file, sizeof file, "%s%s", path, ends[i]);
        snprintf(link, sizeof link, "%s/hard%zu", scratch, i);
        REQUIRE(linkat(AT_FDCWD, file, AT_FDCWD, link, 0) == 0);
        name_by_mistake(link);
        REQUIRE(unlink(link) == 0);
        expect_locks(path);
    }
    EXPECT_INT(scratch_count(store), 1);
    takt__store_close(store);
}

/* Its size would say that the store is damaged. */
static void the_list_of_writers_is_not_written_to(void)
{
    const char *path = scratch_path();
    char file[160], link[160];

    takt__store_close(scratch_open(path));
    snprintf(file, sizeof file, "%s-writers", path);
    snprintf(link, sizeof link, "%s/writers", scratch);
    REQUIRE(symlink(file, link) == 0);
    EXPECT(takt__append_open(file, 0600) < 0 && errno == EEXIST);
    EXPECT(takt__append_open(link, 0600) < 0 && errno == EEXIST);
    EXPECT_INT(takt__write_whole(file, 0, "by mistake", 10, NULL), TAKT_EIO);
    EXPECT_INT(takt__write_whole(link, 0, "by mistake", 10, NULL), TAKT_EIO);
    open_as_store(file);
    takt__store_close(scratch_open(path));
}

/* Each name has a log of its own, of which SQLite reads one. */
static void a_store_with_two_names_is_not_written(void)
{
    const char *path = scratch_path(), *other = scratch_path();
    struct takt_store *store = scratch_open(path);
    takt_diag diag;

    scratch_write(store, "add", 1, 1);
    takt__store_close(store);
    REQUIRE(linkat(AT_FDCWD, path, AT_FDCWD, other, 0) == 0);
    EXPECT_INT(takt__store_open(other, &scratch_identity, &diag, &store),
               TAKT_EIO);
    EXPECT(strstr(diag.text, "has another name") != NULL);
    EXPECT_INT(takt__store_open(path, &scratch_identity, &diag, &store),
               TAKT_EIO);
    REQUIRE(unlink(other) == 0);
    store = scratch_open(path);
    EXPECT_INT(scratch_count(store), 1);
    takt__store_close(store);
}

static void files_beside_a_store_that_have_other_names_are_not_written_to(void)
{
    static const char *const ends[] = {"-wal", "-shm", "-journal"};
    const char *path = scratch_path();
    struct takt_store *store;
    char file[160], letter[160];
    takt_diag diag;
    size_t length;

    snprintf(letter, sizeof letter, "%s/letter", scratch);
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        scratch_save(letter, "a letter to my aunt", 19);
        snprintf(file, sizeof file, "%s%s", path, ends[i]);
        REQUIRE(linkat(AT_FDCWD, letter, AT_FDCWD, file, 0) == 0);
        EXPECT_INT(takt__store_open(path, &scratch_identity, &diag, &store),
                   TAKT_EIO);
        EXPECT(strstr(diag.text, "has another name") != NULL);
        char *bytes = scratch_load(letter, &length);
        EXPECT_STR(bytes, "a letter to my aunt");
        free(bytes);
        REQUIRE(unlink(file) == 0);
    }
    takt__store_close(scratch_open(path));
}

int main(void)
{
    scratch_make();
    RUN(no_name_of_an_open_store_drops_its_locks);
    RUN(the_list_of_writers_is_not_written_to);
    RUN(a_store_with_two_names_is_not_written);
    RUN(files_beside_a_store_that_have_other_names_are_not_written_to);
    return tap_done();
}
