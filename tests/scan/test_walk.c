/* SPDX-License-Identifier: MIT */
/*
 * test_walk.c - which files a scan looks at, in whatever tree.
 */
#define _DEFAULT_SOURCE /* seteuid() */
#include "tree.h"

#include "walk.h"

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>

static const struct takt_scan_options plain = {.threads = 2};

/* The files that a walk finds, as "a.c b/c.c ". */
static const char *files_of(const char *path, struct takt_scan_options options)
{
    static char text[4096];
    struct takt_walk *walk = malloc(sizeof *walk);
    struct takt_walk_file file;

    REQUIRE(walk != NULL);
    options.path = &path;
    options.path_count = 1;
    takt__walk_open(walk, &options);
    text[0] = 0;
    while (takt__walk_next(walk, &file) == TAKT_OK) {
        strncat(text, file.fd >= 0 ? file.inner : "!",
                sizeof text - strlen(text) - 2);
        strcat(text, " ");
        if (file.fd >= 0)
            close(file.fd);
        free(file.path);
    }
    takt__walk_close(walk);
    free(walk);
    return text;
}

static void files_come_in_the_order_of_their_paths(void)
{
    struct tree tree;

    tree_make(&tree);
    tree_text(&tree, "b/z.c", "");
    tree_text(&tree, "b.c", "");
    tree_text(&tree, "b-a.rs", "");
    tree_text(&tree, "a/x.py", "");
    tree_text(&tree, "a/x/y.cpp", "");
    tree_text(&tree, "README", "");
    tree_text(&tree, "a/.hidden.c", "");
    tree_text(&tree, ".c", "");
    EXPECT_STR(files_of(tree.path, plain),
               "a/.hidden.c a/x.py a/x/y.cpp b-a.rs b.c b/z.c ");
    struct takt_scan_options only = plain;
    only.languages = 1u << TAKT_SCAN_PYTHON | 1u << TAKT_SCAN_RUST;
    EXPECT_STR(files_of(tree.path, only), "a/x.py b-a.rs ");
    EXPECT_STR(files_of(tree_path(&tree, "b.c"), plain),
               tree_path(&tree, "b.c ")); /* a file is a tree, too */
    tree_remove(&tree);
}

static void ignored_files_are_passed_over(void)
{
    struct takt_scan_options all = plain;
    struct tree tree;

    tree_make(&tree);
    tree_text(&tree, ".gitignore", "*.py\n/gen/\n!keep.py\nonly/*.c\n");
    tree_text(&tree, "a.c", "");
    tree_text(&tree, "a.py", "");
    tree_text(&tree, "keep.py", "");
    tree_text(&tree, "gen/keep.py", ""); /* nothing brings a folder back */
    tree_text(&tree, "sub/gen/a.c", "");
    tree_text(&tree, "sub/.gitignore", "!b.py\na.rs\n");
    tree_text(&tree, "sub/a.py", "");
    tree_text(&tree, "sub/a.rs", "");
    tree_text(&tree, "sub/b.py", "");
    tree_text(&tree, "only/a.c", "");
    tree_text(&tree, "only/deep/a.c", "");
    EXPECT_STR(files_of(tree.path, plain),
               "a.c keep.py only/deep/a.c sub/b.py sub/gen/a.c ");
    all.with_ignored = true;
    EXPECT_STR(files_of(tree.path, all),
               "a.c a.py gen/keep.py keep.py only/a.c only/deep/a.c sub/a.py "
               "sub/a.rs sub/b.py sub/gen/a.c ");
    tree_remove(&tree);
}

/* Whoever scans a part of a repository has the rules of all of it. */
static void rules_above_the_folder_hold(void)
{
    struct tree tree;

    tree_make(&tree);
    tree_text(&tree, ".gitignore", "nowhere.c\n"); /* not in the repository */
    tree_text(&tree, "r/.gitignore", "/part/in/a.c\nx.c\n");
    tree_text(&tree, "r/.git/info/exclude", "b.c\n!x.c\n");
    tree_text(&tree, "r/part/.gitignore", "/in/c.c\n");
    tree_text(&tree, "r/part/in/a.c", "");
    tree_text(&tree, "r/part/in/b.c", "");
    tree_text(&tree, "r/part/in/c.c", "");
    tree_text(&tree, "r/part/in/d.c", "");
    tree_text(&tree, "r/part/in/x.c", "");
    tree_text(&tree, "r/part/in/nowhere.c", "");
    EXPECT_STR(files_of(tree_path(&tree, "r/part/in"), plain),
               "d.c nowhere.c ");
    EXPECT_STR(files_of(tree_path(&tree, "r/part/in/"), plain),
               "d.c nowhere.c ");
    EXPECT_STR(files_of(tree_path(&tree, "r"), plain),
               "part/in/d.c part/in/nowhere.c ");
    tree_remove(&tree);
}

static void names_of_build_output_are_sources_below_src(void)
{
    struct tree tree;

    tree_make(&tree);
    tree_text(&tree, "dist/a.py", "");
    tree_text(&tree, "part/build/a.c", "");
    tree_text(&tree, "src/dist/gamma.rs", "");
    tree_text(&tree, "src/fit/target/a.c", "");
    tree_text(&tree, "src/vendor/a.c", "");
    EXPECT_STR(files_of(tree.path, plain),
               "src/dist/gamma.rs src/fit/target/a.c ");
    EXPECT_STR(files_of(tree_path(&tree, "src"), plain),
               "dist/gamma.rs fit/target/a.c ");
    tree_remove(&tree);
}

static void built_and_vendored_folders_are_passed_over(void)
{
    struct takt_scan_options all = plain;
    struct tree tree;

    tree_make(&tree);
    tree_text(&tree, "target/a.rs", "");
    tree_text(&tree, "sub/node_modules/x/a.c", "");
    tree_text(&tree, "vendor/a.c", "");
    tree_text(&tree, "cmake-build-debug/a.c", "");
    tree_text(&tree, "x.egg-info/a.py", "");
    tree_text(&tree, "out/CMakeCache.txt", "");
    tree_text(&tree, "out/a.c", "");
    tree_text(&tree, "env/pyvenv.cfg", "");
    tree_text(&tree, "env/a.py", "");
    tree_text(&tree, ".git/a.c", "");
    tree_text(&tree, "builder/a.c", "");
    EXPECT_STR(files_of(tree.path, plain), "builder/a.c ");
    all.with_vendored = true;
    EXPECT_STR(
        files_of(tree.path, all),
        "builder/a.c cmake-build-debug/a.c env/a.py out/a.c "
        "sub/node_modules/x/a.c target/a.rs vendor/a.c x.egg-info/a.py ");
    /* Whoever names one means it. */
    EXPECT_STR(files_of(tree_path(&tree, "vendor"), plain), "a.c ");
    EXPECT_STR(files_of(tree_path(&tree, "out"), plain), "a.c ");
    tree_remove(&tree);
}

static void links_are_not_followed(void)
{
    struct account account = {0};
    struct tree tree;

    tree_make(&tree);
    tree_text(&tree, "in/a.c", "int x;\n");
    REQUIRE(symlink("..", tree_path(&tree, "in/up")) == 0);
    REQUIRE(symlink("self", tree_path(&tree, "in/self")) == 0);
    REQUIRE(symlink("a.c", tree_path(&tree, "in/b.c")) == 0);
    REQUIRE(symlink("/nowhere", tree_path(&tree, "in/c.c")) == 0);
    REQUIRE(symlink("in", tree_path(&tree, "link")) == 0);
    account_of(&account, tree.path, plain);
    EXPECT_INT(account.status, TAKT_OK);
    EXPECT_INT(account_files(&account), 1);
    EXPECT_INT(account.report.linked, 5);
    EXPECT_INT(account.warnings, 0);
    account_of(&account, tree_path(&tree, "link"), plain); /* it was named */
    EXPECT_INT(account_files(&account), 1);
    account_of(&account, tree_path(&tree, "in/self"), plain);
    EXPECT_INT(account_files(&account), 0);
    EXPECT_INT(account.warnings, 1);
    free(account.text);
    tree_remove(&tree);
}

static void what_is_no_file_is_not_opened(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    struct account account = {0};
    struct tree tree;

    tree_make(&tree);
    tree_text(&tree, "a.c", "int x;\n");
    REQUIRE(mkfifo(tree_path(&tree, "pipe.c"), 0644) == 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%.80s/socket.rs",
             tree.path);
    REQUIRE(listener >= 0 &&
            bind(listener, (struct sockaddr *)&address, sizeof address) == 0);
    account_of(&account, tree.path, plain);
    EXPECT_INT(account_files(&account), 1);
    EXPECT_INT(account.report.others, 2);
    account_of(&account, tree_path(&tree, "pipe.c"), plain);
    EXPECT_INT(account_files(&account), 0);
    EXPECT(account_says(&account, "neither a file nor a folder"));
    account_of(&account, "/dev/null", plain);
    EXPECT_INT(account_files(&account), 0);
    close(listener);
    free(account.text);
    tree_remove(&tree);
}

static void nesting_has_an_end(void)
{
    struct account account = {0};
    struct tree tree;

    tree_make(&tree);
    tree_text(&tree, "z.c", "int x;\n");
    int at = open(tree.path, O_RDONLY | O_DIRECTORY);
    for (int i = 0; i < 10000; i++) {
        REQUIRE(mkdirat(at, "d", 0755) == 0);
        const int next = openat(at, "d", O_RDONLY | O_DIRECTORY);
        REQUIRE(next >= 0);
        close(at);
        at = next;
    }
    close(at);
    account_of(&account, tree.path, plain);
    EXPECT_INT(account.status, TAKT_OK);
    EXPECT_INT(account_files(&account), 1);
    EXPECT_INT(account.warnings, 1);
    EXPECT(account_says(&account, "nested too deeply"));
    free(account.text);
    tree_remove(&tree);
}

/* Root may read everything: somebody else is asked. */
static void what_cannot_be_read_is_told(void)
{
    struct account account = {0};
    struct tree tree;

    tree_make(&tree);
    tree_text(&tree, "a.c", "int x;\n");
    tree_text(&tree, "closed.c", "int x;\n");
    tree_text(&tree, "folder/b.c", "int x;\n");
    tree_text(&tree, "z.c", "int x;\n");
    chmod(tree.path, 0755);
    chmod(tree_path(&tree, "closed.c"), 0);
    chmod(tree_path(&tree, "folder"), 0);
    const bool is_root = geteuid() == 0;
    if (is_root)
        REQUIRE(seteuid(65534) == 0);
    account_of(&account, tree.path, plain);
    if (is_root)
        REQUIRE(seteuid(0) == 0);
    EXPECT_INT(account.status, TAKT_OK);
    EXPECT_INT(account_files(&account), 2);
    EXPECT_INT(account.report.unreadable, 2);
    EXPECT(account_says(&account, "closed.c cannot be read: Permission"));
    EXPECT(account_says(&account, "folder cannot be read: Permission"));
    chmod(tree_path(&tree, "folder"), 0755);
    free(account.text);
    tree_remove(&tree);
}

static void a_file_may_disappear(void)
{
    struct takt_scan_options options = plain;
    struct takt_walk *walk = malloc(sizeof *walk);
    struct takt_walk_file file;
    struct tree tree;

    tree_make(&tree);
    tree_text(&tree, "a.c", "");
    tree_text(&tree, "b.c", "");
    tree_text(&tree, "c.c", "");
    tree_text(&tree, "d/e.c", "");
    const char *path = tree.path;
    options.path = &path;
    options.path_count = 1;
    takt__walk_open(walk, &options);
    REQUIRE(takt__walk_next(walk, &file) == TAKT_OK && file.fd >= 0);
    close(file.fd);
    free(file.path);
    unlink(tree_path(&tree, "b.c"));
    unlink(tree_path(&tree, "c.c")); /* is now another */
    REQUIRE(symlink("a.c", tree_path(&tree, "c.c")) == 0);
    unlink(tree_path(&tree, "d/e.c"));
    rmdir(tree_path(&tree, "d"));
    for (int i = 0; i < 3; i++) {
        REQUIRE(takt__walk_next(walk, &file) == TAKT_OK);
        EXPECT_INT(file.fd, -1);
        EXPECT(file.is_unreadable);
        free(file.path);
    }
    EXPECT_INT(takt__walk_next(walk, &file), TAKT_ENOENT);
    takt__walk_close(walk);
    free(walk);
    tree_remove(&tree);
}

static void paths_that_are_not_there_are_told(void)
{
    const char *const both[] = {"/nowhere/at/all", NULL};
    struct takt_scan_options options = plain;
    struct account account = {0};
    struct tree tree;

    account_of(&account, "/nowhere/at/all", plain);
    EXPECT_INT(account.status, TAKT_ENOENT);
    EXPECT(strstr(account.diag.text, "/nowhere/at/all") != NULL);
    tree_make(&tree);
    tree_text(&tree, "a.c", "int x;\n");
    const char *path[] = {both[0], tree.path};
    options.path = path;
    options.path_count = 2;
    account_of(&account, NULL, options);
    EXPECT_INT(account.status, TAKT_OK);
    EXPECT_INT(account_files(&account), 1);
    EXPECT_INT(account.warnings, 1);
    free(account.text);
    tree_remove(&tree);
}

static void few_open_files_are_enough(void)
{
    struct account account = {0};
    struct rlimit before, few;
    struct tree tree;

    tree_make(&tree);
    for (int i = 0; i < 400; i++) {
        char name[32];
        snprintf(name, sizeof name, "d%d/f%d.c", i % 7, i);
        tree_text(&tree, name, "int x;\n");
    }
    REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
    few = before;
    few.rlim_cur = 24;
    REQUIRE(setrlimit(RLIMIT_NOFILE, &few) == 0);
    account_of(&account, tree.path, plain);
    setrlimit(RLIMIT_NOFILE, &before);
    EXPECT_INT(account_files(&account), 400);
    EXPECT_INT(account.warnings, 0);
    free(account.text);
    tree_remove(&tree);
}

int main(void)
{
    RUN(files_come_in_the_order_of_their_paths);
    RUN(ignored_files_are_passed_over);
    RUN(rules_above_the_folder_hold);
    RUN(built_and_vendored_folders_are_passed_over);
    RUN(names_of_build_output_are_sources_below_src);
    RUN(links_are_not_followed);
    RUN(what_is_no_file_is_not_opened);
    RUN(nesting_has_an_end);
    RUN(what_cannot_be_read_is_told);
    RUN(a_file_may_disappear);
    RUN(paths_that_are_not_there_are_told);
    RUN(few_open_files_are_enough);
    return tap_done();
}
