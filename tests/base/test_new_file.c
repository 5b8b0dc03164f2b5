/* SPDX-License-Identifier: MIT */
/* test_new_file.c - whole files, whatever is at their path. */
#include "base/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "project/folder.h"

static takt_status write_to(const char *path, unsigned flags, const char *text,
                            takt_diag *diag)
{
    return takt__write_whole(path, flags, text, strlen(text), diag);
}

static void a_new_file_obeys_the_umask(void)
{
    struct stat facts;
    takt_diag diag;

    new_folder();
    EXPECT_INT(write_to(in_folder("a"), 0, "text", &diag), TAKT_OK);
    EXPECT_STR(diag.text, "");
    EXPECT_STR(get_file("a"), "text");
    REQUIRE(stat(in_folder("a"), &facts) == 0);
    EXPECT_INT(facts.st_mode & 07777, 0644);
    EXPECT_INT(count_files(), 1);
}

static void a_path_without_a_folder_is_in_this_one(void)
{
    new_folder();
    REQUIRE(chdir(folder) == 0);
    EXPECT_INT(write_to("a", 0, "text", NULL), TAKT_OK);
    EXPECT_STR(get_file("a"), "text");
    REQUIRE(chdir("/") == 0);
}

static void the_longest_name_will_do(void)
{
    char name[NAME_MAX + 2];

    new_folder();
    memset(name, 'n', sizeof name);
    name[NAME_MAX] = '\0';
    EXPECT_INT(write_to(in_folder(name), 0, "text", NULL), TAKT_OK);
    EXPECT_STR(get_file(name), "text");
    name[NAME_MAX] = 'n';
    name[NAME_MAX + 1] = '\0';
    EXPECT_INT(write_to(in_folder(name), 0, "text", NULL), TAKT_EIO);
    EXPECT_INT(count_files(), 1);
}

static void no_reader_sees_a_part_of_it(void)
{
    struct takt_new_file file;
    takt_diag diag;

    new_folder();
    put_file("a", "old");
    REQUIRE(takt__new_file_open(in_folder("a"), 0, &file, &diag) == TAKT_OK);
    EXPECT_INT(takt__new_file_write(&file, "new", 3, &diag), TAKT_OK);
    EXPECT_STR(get_file("a"), "old");
    EXPECT_INT(takt__new_file_commit(&file, &diag), TAKT_OK);
    EXPECT_STR(get_file("a"), "new");
    takt__new_file_drop(&file); /* nothing is open any more */
    REQUIRE(takt__new_file_open(in_folder("a"), 0, &file, &diag) == TAKT_OK);
    EXPECT_INT(takt__new_file_write(&file, "half", 4, &diag), TAKT_OK);
    takt__new_file_drop(&file);
    EXPECT_STR(get_file("a"), "new");
    EXPECT_INT(count_files(), 1);
}

static void a_link_that_appears_meanwhile_is_not_followed(void)
{
    struct takt_new_file file;

    new_folder();
    put_file("victim", "precious");
    REQUIRE(takt__new_file_open(in_folder("a"), 0, &file, NULL) == TAKT_OK);
    REQUIRE(symlink("victim", in_folder("a")) == 0);
    EXPECT_INT(takt__new_file_write(&file, "new", 3, NULL), TAKT_OK);
    EXPECT_INT(takt__new_file_commit(&file, NULL), TAKT_OK);
    EXPECT_STR(get_file("victim"), "precious");
    EXPECT_STR(get_file("a"), "new");
}

static void links_are_followed_or_refused(void)
{
    struct stat facts;
    takt_diag diag;

    new_folder();
    put_file("there/real", "old");
    REQUIRE(symlink("there/real", in_folder("one")) == 0);
    REQUIRE(symlink("one", in_folder("two")) == 0);
    REQUIRE(symlink("nowhere", in_folder("none")) == 0);
    REQUIRE(symlink("loop", in_folder("loop")) == 0);
    EXPECT_INT(write_to(in_folder("two"), 0, "new", NULL), TAKT_OK);
    EXPECT_STR(get_file("there/real"), "new");
    REQUIRE(lstat(in_folder("two"), &facts) == 0);
    EXPECT(S_ISLNK(facts.st_mode));
    EXPECT_INT(write_to(in_folder("two"), TAKT_NEW_FILE_NO_LINKS, "x", &diag),
               TAKT_EIO);
    EXPECT(strstr(diag.text, "is a symbolic link") != NULL);
    EXPECT_INT(write_to(in_folder("none"), 0, "x", &diag), TAKT_EIO);
    EXPECT(strstr(diag.text, "leads nowhere") != NULL);
    EXPECT_INT(write_to(in_folder("loop"), 0, "x", &diag), TAKT_EIO);
    EXPECT_STR(get_file("there/real"), "new");
    EXPECT_INT(count_files(), 5);
}

static void streams_are_written_in_place_where_that_is_meant(void)
{
    char path[64], text[16] = "";
    int ends[2];
    takt_diag diag;

    new_folder();
    REQUIRE(mkfifo(in_folder("fifo"), 0600) == 0);
    EXPECT_INT(write_to(in_folder("fifo"), 0, "x", &diag), TAKT_EIO);
    EXPECT(strstr(diag.text, "is no file") != NULL);
    const int reader = open(in_folder("fifo"), O_RDWR);
    REQUIRE(reader >= 0);
    EXPECT_INT(write_to(in_folder("fifo"), TAKT_NEW_FILE_STREAMS, "text", NULL),
               TAKT_OK);
    EXPECT(read(reader, text, sizeof text) == 4 && strcmp(text, "text") == 0);
    close(reader);
    EXPECT_INT(write_to("/dev/null", TAKT_NEW_FILE_STREAMS, "x", NULL),
               TAKT_OK);
    EXPECT_INT(write_to("/dev/full", TAKT_NEW_FILE_STREAMS, "x", &diag),
               TAKT_EIO);
    EXPECT(strstr(diag.text, strerror(ENOSPC)) != NULL);
    REQUIRE(pipe(ends) == 0);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[1]);
    EXPECT_INT(write_to(path, TAKT_NEW_FILE_STREAMS, "pipe", NULL), TAKT_OK);
    EXPECT(read(ends[0], text, sizeof text) == 4 && strcmp(text, "pipe") == 0);
    EXPECT_INT(write_to("/dev/fd/9999", TAKT_NEW_FILE_STREAMS, "x", NULL),
               TAKT_EIO);
    close(ends[0]);
    close(ends[1]);
}

/* Where the system would end the program by SIGXFSZ. */
static void a_limit_of_files_is_an_error(void)
{
    new_folder();
    const pid_t child = fork();
    if (child == 0) {
        takt_diag diag;
        signal(SIGXFSZ, SIG_DFL);
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){0, 0});
        const takt_status status = write_to(in_folder("a"), 0, "text", &diag);
        _exit(status == TAKT_EIO && strstr(diag.text, strerror(EFBIG)) != NULL
                  ? 0
                  : 1);
    }
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    EXPECT_INT(status, 0);
    EXPECT_INT(count_files(), 0);
}

static void folders_are_refused(void)
{
    static const char *const names[] = {"", "inner", ".", "inner/..", "no/a"};

    new_folder();
    REQUIRE(mkdir(in_folder("inner"), 0777) == 0);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        EXPECT_INT(
            write_to(in_folder(names[i]), TAKT_NEW_FILE_STREAMS, "x", NULL),
            TAKT_EIO);
    EXPECT_INT(write_to("", 0, "x", NULL), TAKT_EIO);
    EXPECT_INT(count_files(), 1);
}

/* As a store, where its name was given by mistake. */
static void databases_are_not_replaced(void)
{
    takt_diag diag;

    new_folder();
    REQUIRE(symlink("store", in_folder("link")) == 0);
    const int fd = open(in_folder("store"), O_WRONLY | O_CREAT, 0600);
    REQUIRE(fd >= 0 && write(fd, "SQLite format 3\0and more", 24) == 24);
    close(fd);
    EXPECT_INT(write_to(in_folder("store"), 0, "x", &diag), TAKT_EIO);
    EXPECT(strstr(diag.text, "is a database") != NULL);
    EXPECT_INT(write_to(in_folder("link"), 0, "x", NULL), TAKT_EIO);
    EXPECT_STR(get_file("store"), "SQLite format 3");
    put_file("text", "SQLite format 3 is not it");
    EXPECT_INT(write_to(in_folder("text"), 0, "x", NULL), TAKT_OK);
    EXPECT_INT(count_files(), 3);
}

static void what_is_there_is_kept_if_asked_for(void)
{
    struct takt_new_file file;
    takt_diag diag;

    new_folder();
    put_file("a", "old");
    REQUIRE(symlink("nowhere", in_folder("link")) == 0);
    EXPECT_INT(write_to(in_folder("a"), TAKT_NEW_FILE_ONLY, "new", &diag),
               TAKT_EEXIST);
    EXPECT_STR(diag.text, "");
    EXPECT_INT(write_to(in_folder("link"), TAKT_NEW_FILE_ONLY, "x", NULL),
               TAKT_EEXIST);
    REQUIRE(takt__new_file_open(in_folder("b"), TAKT_NEW_FILE_ONLY, &file,
                                NULL) == TAKT_OK);
    put_file("b", "theirs"); /* somebody was faster */
    EXPECT_INT(takt__new_file_commit(&file, &diag), TAKT_EEXIST);
    EXPECT_STR(get_file("a"), "old");
    EXPECT_STR(get_file("b"), "theirs");
    EXPECT_INT(count_files(), 3);
}

static void *write_often(void *text)
{
    for (int i = 0; i < 50; i++)
        if (write_to("shared", 0, text, NULL) != TAKT_OK)
            return text;
    return NULL;
}

static void several_writers_leave_one_whole_file(void)
{
    static char one[4096], two[8192];
    pthread_t thread;
    void *failed;

    new_folder();
    memset(one, '1', sizeof one - 1);
    memset(two, '2', sizeof two - 1);
    REQUIRE(chdir(folder) == 0);
    REQUIRE(pthread_create(&thread, NULL, write_often, one) == 0);
    for (int i = 0; i < 50; i++)
        EXPECT_INT(write_to("shared", 0, two, NULL), TAKT_OK);
    REQUIRE(pthread_join(thread, &failed) == 0);
    EXPECT(failed == NULL);
    const char *text = get_file("shared");
    EXPECT(strcmp(text, one) == 0 || strcmp(text, two) == 0);
    EXPECT_INT(count_files(), 1);
    REQUIRE(chdir("/") == 0);
}

int main(void)
{
    umask(022);
    RUN(a_new_file_obeys_the_umask);
    RUN(a_path_without_a_folder_is_in_this_one);
    RUN(the_longest_name_will_do);
    RUN(no_reader_sees_a_part_of_it);
    RUN(a_link_that_appears_meanwhile_is_not_followed);
    RUN(links_are_followed_or_refused);
    RUN(streams_are_written_in_place_where_that_is_meant);
    RUN(a_limit_of_files_is_an_error);
    RUN(folders_are_refused);
    RUN(databases_are_not_replaced);
    RUN(what_is_there_is_kept_if_asked_for);
    RUN(several_writers_leave_one_whole_file);
    remove_all(folder);
    return tap_done();
}
