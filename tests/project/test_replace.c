/* SPDX-License-Identifier: MIT */
/*
 * test_replace.c - manifests on a disk: whole or not at all, with a backup, and
 * whatever may be wrong with a file said in one line.
 */
#define _GNU_SOURCE /* syscall() */
#include "base/new_file.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "project/folder.h"
#include "project/manifest.h"
#include "project/read_file.h"

static const char plain[] = "[package]\nname = \"x\"\n";
static const char balanced[] = "[package]\nname = \"x\"\n\n"
                               "[profile.release]\nopt-level = 3\n"
                               "lto = \"thin\"\ncodegen-units = 4\n";

/* Sets a profile in the folder; says whether a backup was made. */
static takt_status set(enum takt_profile profile, bool *is_kept,
                       takt_diag *diag)
{
    struct takt_manifest_change change;
    char *backup = NULL;
    takt_status status = takt__manifest_plan(
        folder, folder, (struct takt_profile_wish){profile, true}, &change,
        diag);

    if (status == TAKT_OK) {
        status = takt__manifest_write(&change, &backup, diag);
        takt__manifest_change_fini(&change);
    }
    if (is_kept != NULL)
        *is_kept = backup != NULL;
    free(backup);
    return status;
}

static void a_manifest_is_changed_and_the_old_one_kept(void)
{
    bool is_kept;
    takt_diag diag;

    new_folder();
    put_file("Cargo.toml", plain);
    EXPECT_INT(set(TAKT_PROFILE_BALANCED, &is_kept, &diag), TAKT_OK);
    EXPECT(is_kept);
    EXPECT_STR(diag.text, "");
    EXPECT_STR(get_file("Cargo.toml"), balanced);
    EXPECT_STR(get_file("Cargo.toml.bak"), plain);
    EXPECT_INT(count_files(), 2);
}

static void a_second_run_touches_nothing(void)
{
    struct stat before, after;
    bool is_kept;

    new_folder();
    put_file("Cargo.toml", balanced);
    REQUIRE(stat(in_folder("Cargo.toml"), &before) == 0);
    EXPECT_INT(set(TAKT_PROFILE_BALANCED, &is_kept, NULL), TAKT_OK);
    REQUIRE(stat(in_folder("Cargo.toml"), &after) == 0);
    EXPECT(!is_kept);
    EXPECT(before.st_ino == after.st_ino);
    EXPECT_INT(count_files(), 1);
}

static void our_own_output_gets_no_backup(void)
{
    bool is_kept;

    new_folder();
    put_file("Cargo.toml", plain);
    EXPECT_INT(set(TAKT_PROFILE_BALANCED, &is_kept, NULL), TAKT_OK);
    EXPECT_INT(set(TAKT_PROFILE_AGGRESSIVE, &is_kept, NULL), TAKT_OK);
    EXPECT(!is_kept);
    EXPECT_INT(set(TAKT_PROFILE_FAST, &is_kept, NULL), TAKT_OK);
    EXPECT(!is_kept);
    EXPECT_STR(get_file("Cargo.toml.bak"), plain);
    EXPECT_INT(count_files(), 2);
}

static void what_people_wrote_since_gets_one_of_its_own(void)
{
    static const char edited[] = "[package]\nname = \"y\"\n";
    bool is_kept;

    new_folder();
    put_file("Cargo.toml", plain);
    EXPECT_INT(set(TAKT_PROFILE_BALANCED, &is_kept, NULL), TAKT_OK);
    put_file("Cargo.toml", edited);
    EXPECT_INT(set(TAKT_PROFILE_FAST, &is_kept, NULL), TAKT_OK);
    EXPECT(is_kept);
    EXPECT_STR(get_file("Cargo.toml.bak"), plain);
    EXPECT_STR(get_file("Cargo.toml.bak.1"), edited);
    EXPECT_INT(set(TAKT_PROFILE_BALANCED, &is_kept, NULL), TAKT_OK);
    EXPECT(!is_kept);
    EXPECT_INT(count_files(), 3);
}

static void a_backup_of_somebody_else_is_never_touched(void)
{
    new_folder();
    put_file("Cargo.toml", plain);
    put_file("Cargo.toml.bak", "mine, and no TOML [");
    EXPECT_INT(set(TAKT_PROFILE_BALANCED, NULL, NULL), TAKT_OK);
    EXPECT_STR(get_file("Cargo.toml.bak"), "mine, and no TOML [");
    EXPECT_STR(get_file("Cargo.toml.bak.1"), plain);

    new_folder();
    put_file("Cargo.toml", plain);
    REQUIRE(mkdir(in_folder("Cargo.toml.bak"), 0777) == 0);
    EXPECT_INT(set(TAKT_PROFILE_BALANCED, NULL, NULL), TAKT_OK);
    EXPECT_STR(get_file("Cargo.toml.bak.1"), plain);
}

static void permissions_and_owner_are_kept(void)
{
    struct stat after;

    new_folder();
    put_file("Cargo.toml", plain);
    REQUIRE(chmod(in_folder("Cargo.toml"), 0640) == 0);
    const bool is_root = geteuid() == 0;
    if (is_root)
        REQUIRE(chown(in_folder("Cargo.toml"), 1234, 2345) == 0);
    EXPECT_INT(set(TAKT_PROFILE_BALANCED, NULL, NULL), TAKT_OK);
    static const char *const names[] = {"Cargo.toml", "Cargo.toml.bak"};
    for (int i = 0; i < 2; i++) {
        REQUIRE(stat(in_folder(names[i]), &after) == 0);
        EXPECT_INT(after.st_mode & 07777, 0640);
        EXPECT(!is_root || (after.st_uid == 1234 && after.st_gid == 2345));
    }
}

static void of_a_link_the_target_is_replaced(void)
{
    struct stat facts;

    new_folder();
    put_file("real/manifest", plain);
    REQUIRE(symlink("real/manifest", in_folder("Cargo.toml")) == 0);
    EXPECT_INT(set(TAKT_PROFILE_BALANCED, NULL, NULL), TAKT_OK);
    REQUIRE(lstat(in_folder("Cargo.toml"), &facts) == 0);
    EXPECT(S_ISLNK(facts.st_mode));
    EXPECT_STR(get_file("real/manifest"), balanced);
    EXPECT_STR(get_file("Cargo.toml.bak"), plain);
}

static void a_read_only_manifest_is_refused(void)
{
    takt_diag diag;

    new_folder();
    put_file("Cargo.toml", plain);
    REQUIRE(chmod(in_folder("Cargo.toml"), 0444) == 0);
    EXPECT_INT(set(TAKT_PROFILE_BALANCED, NULL, &diag), TAKT_EIO);
    EXPECT(strstr(diag.text, "Cargo.toml: is read-only") != NULL);
    EXPECT_STR(get_file("Cargo.toml"), plain);
    EXPECT_INT(count_files(), 1);
}

static void what_is_no_file_is_refused(void)
{
    takt_diag diag;

    new_folder();
    REQUIRE(mkdir(in_folder("Cargo.toml"), 0777) == 0);
    EXPECT_INT(set(TAKT_PROFILE_BALANCED, NULL, &diag), TAKT_EIO);
    EXPECT(strstr(diag.text, "is no file") != NULL);

    new_folder();
    REQUIRE(mkfifo(in_folder("Cargo.toml"), 0666) == 0);
    EXPECT_INT(set(TAKT_PROFILE_BALANCED, NULL, &diag), TAKT_EIO);
    EXPECT(strstr(diag.text, "is no file") != NULL);

    new_folder();
    REQUIRE(symlink("nowhere", in_folder("Cargo.toml")) == 0);
    EXPECT_INT(set(TAKT_PROFILE_BALANCED, NULL, &diag), TAKT_ENOENT);

    new_folder();
    EXPECT_INT(set(TAKT_PROFILE_BALANCED, NULL, &diag), TAKT_ENOENT);
    EXPECT_STR(diag.text, "");
    EXPECT_INT(count_files(), 0);
}

static void a_manifest_that_is_far_too_large_is_refused(void)
{
    takt_diag diag;

    new_folder();
    put_file("Cargo.toml", plain);
    REQUIRE(truncate(in_folder("Cargo.toml"), 1 << 30) == 0);
    EXPECT_INT(set(TAKT_PROFILE_BALANCED, NULL, &diag), TAKT_EIO);
    EXPECT(strstr(diag.text, "is too large") != NULL);
}

static void what_changed_meanwhile_is_not_overwritten(void)
{
    struct takt_manifest_change change;
    takt_diag diag;

    new_folder();
    put_file("Cargo.toml", plain);
    REQUIRE(takt__manifest_plan(
                folder, folder,
                (struct takt_profile_wish){TAKT_PROFILE_BALANCED, true},
                &change, &diag) == TAKT_OK);
    put_file("Cargo.toml", "# somebody was faster\n");
    EXPECT_INT(takt__manifest_write(&change, NULL, &diag), TAKT_EIO);
    EXPECT(strstr(diag.text, "was changed meanwhile") != NULL);
    EXPECT_STR(get_file("Cargo.toml"), "# somebody was faster\n");
    EXPECT_INT(count_files(), 1);
    takt__manifest_change_fini(&change);
}

/* Runs in a child, whose limits and rights are its own. */
static int in_child(int (*act)(void))
{
    int status = 0;

    fflush(stdout);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0)
        _exit(act());
    REQUIRE(waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static rlim_t most_bytes;

/* No file may grow beyond that: as on a disk that is full. */
static int set_on_a_full_disk(void)
{
    const struct rlimit limit = {most_bytes, most_bytes};
    takt_diag diag = {{0}};

    signal(SIGXFSZ, SIG_IGN);
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
        return 2;
    return set(TAKT_PROFILE_BALANCED, NULL, &diag) == TAKT_EIO &&
                   strstr(diag.text, "cannot be written") != NULL
               ? 0
               : 1;
}

static void a_full_disk_leaves_the_old_manifest(void)
{
    /* From the first byte; in the middle of the backup; behind the backup, in
     * the middle of the manifest. */
    static const rlim_t limits[] = {0, 1, 10, sizeof plain - 1,
                                    sizeof balanced - 2};

    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        new_folder();
        put_file("Cargo.toml", plain);
        most_bytes = limits[i];
        EXPECT_INT(in_child(set_on_a_full_disk), 0);
        EXPECT_STR(get_file("Cargo.toml"), plain);
        EXPECT_INT(count_files(), 1);
    }
}

/* As somebody who may do nothing here; the folder stays as it is. */
static int set_as_nobody(void)
{
    takt_diag diag = {{0}};

    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
        return 2;
    if (set(TAKT_PROFILE_BALANCED, NULL, &diag) != TAKT_EIO)
        return 1;
    return strstr(diag.text, "cannot be") != NULL ||
                   strstr(diag.text, "is read-only") != NULL
               ? 0
               : 3;
}

static void without_permission_nothing_happens(void)
{
    new_folder();
    put_file("Cargo.toml", plain);
    REQUIRE(chmod(folder, 0755) == 0);
    REQUIRE(chmod(in_folder("Cargo.toml"), 0) == 0); /* unreadable */
    EXPECT_INT(in_child(set_as_nobody), 0);
    REQUIRE(chmod(in_folder("Cargo.toml"), 0666) == 0);
    REQUIRE(chmod(folder, 0555) == 0); /* the folder takes no new file */
    EXPECT_INT(in_child(set_as_nobody), 0);
    REQUIRE(chmod(folder, 0755) == 0);
    EXPECT_STR(get_file("Cargo.toml"), plain);
    EXPECT_INT(count_files(), 1);
}

static int set_and_keep_owner(void)
{
    takt_diag diag = {{0}};

    if (setgid(65534) != 0 || setuid(65534) != 0)
        return 2;
    return set(TAKT_PROFILE_BALANCED, NULL, &diag) == TAKT_EIO ? 0 : 1;
}

static void a_file_does_not_change_hands(void)
{
    if (geteuid() != 0) {
        SKIP("only root can make a file of somebody else");
        return;
    }
    new_folder();
    put_file("Cargo.toml", plain);
    REQUIRE(chmod(folder, 0777) == 0);
    REQUIRE(chmod(in_folder("Cargo.toml"), 0666) == 0);
    EXPECT_INT(in_child(set_and_keep_owner), 0);
    EXPECT_STR(get_file("Cargo.toml"), plain);
    EXPECT_INT(count_files(), 1);
}

static bool dies_in_write;

/* Stands in for the C library's. */
ssize_t write(int fd, const void *bytes, size_t size)
{
    if (!dies_in_write)
        return (ssize_t)syscall(SYS_write, fd, bytes, size);
    syscall(SYS_write, fd, bytes, size / 2);
    raise(SIGKILL);
    return -1;
}

static int die_while_a_file_is_made(void)
{
    dies_in_write = true;
    takt__create_like(in_folder("new"), folder, "0123456789ab", 12, NULL);
    return 1;
}

static void who_dies_while_a_file_is_made_leaves_no_half_of_it(void)
{
    new_folder();
    EXPECT_INT(in_child(die_while_a_file_is_made), -1);
    EXPECT(access(in_folder("new"), F_OK) != 0);
    EXPECT_INT(takt__create_like(in_folder("new"), folder, "whole", 5, NULL),
               TAKT_OK);
    EXPECT_STR(get_file("new"), "whole");
}

static void any_file_can_be_replaced_or_made(void)
{
    struct stat facts;
    char *text;
    size_t length;

    new_folder();
    EXPECT_INT(takt__write_whole(in_folder("new"), 0, "a\0b", 3, NULL),
               TAKT_OK);
    EXPECT_INT(takt__read_file(in_folder("new"), 3, &text, &length, NULL),
               TAKT_OK);
    EXPECT(length == 3 && memcmp(text, "a\0b", 4) == 0);
    free(text);
    EXPECT_INT(takt__read_file(in_folder("new"), 2, &text, &length, NULL),
               TAKT_EIO);
    EXPECT(text == NULL);
    EXPECT_INT(takt__write_whole(in_folder("new"), 0, "", 0, NULL), TAKT_OK);
    REQUIRE(stat(in_folder("new"), &facts) == 0);
    EXPECT_INT(facts.st_size, 0);
    EXPECT_INT(takt__write_whole(in_folder("no/folder"), 0, "", 0, NULL),
               TAKT_EIO);
    EXPECT_INT(takt__create_like(in_folder("new"), folder, "x", 1, NULL),
               TAKT_EEXIST);
    EXPECT_INT(count_files(), 1);
}

int main(void)
{
    umask(022);
    RUN(a_manifest_is_changed_and_the_old_one_kept);
    RUN(a_second_run_touches_nothing);
    RUN(our_own_output_gets_no_backup);
    RUN(what_people_wrote_since_gets_one_of_its_own);
    RUN(a_backup_of_somebody_else_is_never_touched);
    RUN(permissions_and_owner_are_kept);
    RUN(of_a_link_the_target_is_replaced);
    RUN(a_read_only_manifest_is_refused);
    RUN(what_is_no_file_is_refused);
    RUN(a_manifest_that_is_far_too_large_is_refused);
    RUN(what_changed_meanwhile_is_not_overwritten);
    RUN(a_full_disk_leaves_the_old_manifest);
    RUN(without_permission_nothing_happens);
    RUN(a_file_does_not_change_hands);
    RUN(who_dies_while_a_file_is_made_leaves_no_half_of_it);
    RUN(any_file_can_be_replaced_or_made);
    remove_all(folder);
    return tap_done();
}
