/* SPDX-License-Identifier: MIT */
/*
 * test_ignore.c - .gitignore rules, as git itself understands them: each row
 * was compared with `git check-ignore`.
 */
#include "support/tap.h"

#include "ignore.h"

struct row {
    const char *rules, *path;
    int verdict; /* 1 ignored, -1 taken back, 0 nothing */
};

/* A path that ends with a slash is a folder. */
static const struct row rows[] = {
    {"foo", "foo", 1},
    {"foo", "foo/", 1},
    {"foo", "a/b/foo", 1},
    {"foo", "foobar", 0},
    {"foo", "afoo", 0},
    {"/foo", "foo", 1},
    {"/foo", "a/foo", 0},
    {"foo/", "foo", 0},
    {"foo/", "foo/", 1},
    {"foo/", "a/foo/", 1},
    {"/foo/", "a/foo/", 0},
    {"a/foo", "a/foo", 1},
    {"a/foo", "b/a/foo", 0},
    {"a/foo/", "a/foo/", 1},
    {"a/foo/", "a/foo", 0},
    {"*.rs", "x.rs", 1},
    {"*.rs", "a/b/x.rs", 1},
    {"*.rs", "x.rsx", 0},
    {"*.rs", ".rs", 1},
    {"/*.rs", "a/x.rs", 0},
    {"a/*.rs", "a/x.rs", 1},
    {"a/*.rs", "a/b/x.rs", 0},
    {"*", "anything", 1},
    {"a*b*c", "aXbYbZc", 1},
    {"a*b*c", "aXbYbZ", 0},
    {"f?o", "foo", 1},
    {"f?o", "fo", 0},
    {"a?b", "a/b", 0},
    {"f[aeo]o", "foo", 1},
    {"f[aeo]o", "fio", 0},
    {"f[!aeo]o", "fio", 1},
    {"f[^aeo]o", "foo", 0},
    {"x[0-9].c", "x7.c", 1},
    {"x[0-9].c", "xa.c", 0},
    {"x[a-c0-2].c", "xb.c", 1},
    {"x[]].c", "x].c", 1},
    {"x[!]].c", "xa.c", 1},
    {"x[a-].c", "x-.c", 1},
    {"x[[:digit:]].c", "x5.c", 1},
    {"x[[:digit:]].c", "xd.c", 0},
    {"x[[:alpha:]_].c", "x_.c", 1},
    {"x[\\]].c", "x].c", 1},
    {"x[a", "x[a", 0},
    {"x[a", "xa", 0},
    {"**/foo", "foo", 1},
    {"**/foo", "a/b/foo", 1},
    {"**/foo/bar", "a/foo/bar", 1},
    {"**/foo/bar", "foo/bar", 1},
    {"**/foo/bar", "foo/a/bar", 0},
    {"a/**", "a/b", 1},
    {"a/**", "a/b/c", 1},
    {"a/**", "a/", 0},
    {"a/**/b", "a/b", 1},
    {"a/**/b", "a/x/y/b", 1},
    {"a/**/b", "a/x/y/bb", 0},
    {"a/**/b/**/c", "a/1/b/2/3/c", 1},
    {"a/**/b/**/c", "a/1/c/2/3/c", 0},
    {"a/**b", "a/xb", 1},
    {"a/**b", "a/x/b", 0},
    {"a**/b", "axx/b", 1},
    {"**", "a/b", 1},
    {"/**", "a", 1},
    {"**/", "a", 0},
    {"**/", "a/", 1},
    {"# foo", "# foo", 0},
    {"\\# foo", "# foo", 1},
    {"\\!foo", "!foo", 1},
    {"!foo", "foo", -1},
    {"*.c\n!keep.c", "keep.c", -1},
    {"*.c\n!keep.c", "other.c", 1},
    {"!keep.c\n*.c", "keep.c", 1},
    {"*.c\n!keep.c\nkeep.c", "keep.c", 1},
    {"foo   ", "foo", 1},
    {"foo\\ ", "foo ", 1},
    {"foo\\ ", "foo", 0},
    {"foo\\ \\ ", "foo  ", 1},
    {" foo", "foo", 0},
    {" foo", " foo", 1},
    {"foo\t", "foo", 0},
    {"foo\r\nbar\r\n", "foo", 1},
    {"foo\r\nbar\r\n", "bar", 1},
    {"\xEF\xBB\xBF"
     "foo",
     "foo", 1},
    {"\n\n\nfoo\n\n", "foo", 1},
    {"", "foo", 0},
    {"/", "foo/", 0},
    {"!", "!", 0},
    {"\\*", "*", 1},
    {"\\*", "x", 0},
    {"\\f\\o\\o", "foo", 1},
    {"foo\\", "foo\\", 0},
    {"Foo", "foo", 0},
    {"doc/frotz", "a/doc/frotz", 0},
    {"caf\xC3\xA9", "caf\xC3\xA9", 1},
    {"caf??", "caf\xC3\xA9", 1},
    {"*a*a*a*a*a*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 0},
};

static void rows_hold(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct takt_ignore ignore;
        struct takt_span path = {rows[i].path, strlen(rows[i].path)};
        const bool is_folder = rows[i].path[path.size - 1] == '/';

        REQUIRE(
            takt__ignore_read(&ignore, rows[i].rules, strlen(rows[i].rules)));
        path.size -= is_folder;
        const int verdict = takt__ignore_verdict(&ignore, path, is_folder);
        TAP_CHECK(verdict == rows[i].verdict, "%s: %s is %d, not %d",
                  rows[i].rules, rows[i].path, verdict, rows[i].verdict);
        takt__ignore_clear(&ignore);
    }
    EXPECT(sizeof rows / sizeof *rows >= 60);
}

static void many_stars_take_no_time(void)
{
    char pattern[400], path[4000], folders[600];

    for (size_t i = 0; i + 2 < sizeof pattern; i += 2)
        memcpy(pattern + i, "*a", 3);
    memset(path, 'a', sizeof path);
    struct takt_span name = {path, sizeof path};
    pattern[strlen(pattern) - 1] = 'b';
    EXPECT(
        !takt__glob_name((struct takt_span){pattern, strlen(pattern)}, name));
    folders[0] = 0;
    for (int i = 0; i < 100; i++)
        strcat(folders, "**/a/");
    strcat(folders, "b");
    for (size_t i = 1; i < sizeof path; i += 2)
        path[i] = '/';
    name.size--;
    EXPECT(
        !takt__glob_path((struct takt_span){folders, strlen(folders)}, name));
    path[sizeof path - 2] = 'b';
    EXPECT(takt__glob_path((struct takt_span){folders, strlen(folders)}, name));
}

int main(void)
{
    RUN(rows_hold);
    RUN(many_stars_take_no_time);
    return tap_done();
}
