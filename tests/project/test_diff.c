/* SPDX-License-Identifier: MIT */
/*
 * test_diff.c - diffs are as `diff -u` writes them, and whoever applies one to
 * the old text has the new one.
 */
#include "project/diff.h"

#include "support/random.h"
#include "support/tap.h"

static char *diff(const char *old, const char *new_)
{
    char *text = takt__diff((struct takt_diff_side){"a", old, strlen(old)},
                            (struct takt_diff_side){"b", new_, strlen(new_)});

    REQUIRE(text != NULL);
    return text;
}

static void expect_diff(const char *old, const char *new_, const char *want)
{
    char *text = diff(old, new_);

    EXPECT_STR(text, want);
    free(text);
}

static void the_same_texts_have_none(void)
{
    expect_diff("", "", "");
    expect_diff("a\nb", "a\nb", "");
}

static void lines_are_added_removed_and_changed(void)
{
    expect_diff("", "a\n", "--- a\n+++ b\n@@ -0,0 +1 @@\n+a\n");
    expect_diff("a\n", "", "--- a\n+++ b\n@@ -1 +0,0 @@\n-a\n");
    expect_diff("a\nb\nc\n", "a\nx\nc\n",
                "--- a\n+++ b\n@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n");
    expect_diff("1\n2\n3\n4\n5\n", "1\n2\n3\n4\n5\n6\n7\n",
                "--- a\n+++ b\n@@ -3,3 +3,5 @@\n 3\n 4\n 5\n+6\n+7\n");
}

/* A name that is made for it cannot begin a hunk of another file. */
static void names_are_quoted_where_they_could_be_taken_for_lines(void)
{
    static const struct {
        const char *name, *written;
    } names[] = {
        {"a/b.c", "a/b.c"},
        {"a/b c.c", "a/b c.c\t"},
        {"a/\xc3\xa9.c", "a/\xc3\xa9.c"},
        {"a/x\n+++ b/Makefile\n.c", "\"a/x\\012+++ b/Makefile\\012.c\""},
        {"a/\x1b[2J\x7f\t.c", "\"a/\\033[2J\\177\\011.c\""},
        {"a/\"\\.c", "\"a/\\\"\\\\.c\""},
    };
    char want[256];

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *text =
            takt__diff((struct takt_diff_side){names[i].name, "", 0},
                       (struct takt_diff_side){names[i].name, "a\n", 2});
        snprintf(want, sizeof want, "--- %s\n+++ %s\n@@ -0,0 +1 @@\n+a\n",
                 names[i].written, names[i].written);
        EXPECT_STR(text, want);
        free(text);
    }
}

static void a_line_without_an_end_says_so(void)
{
    expect_diff("a\nb", "a\nb\n",
                "--- a\n+++ b\n@@ -1,2 +1,2 @@\n a\n-b\n"
                "\\ No newline at end of file\n+b\n");
    expect_diff("a\nb", "x\nb",
                "--- a\n+++ b\n@@ -1,2 +1,2 @@\n-a\n+x\n b\n"
                "\\ No newline at end of file\n");
}

static void changes_close_to_each_other_share_a_hunk(void)
{
    expect_diff("a\n1\n2\n3\n4\n5\n6\nb\n", "x\n1\n2\n3\n4\n5\n6\ny\n",
                "--- a\n+++ b\n@@ -1,8 +1,8 @@\n-a\n+x\n 1\n 2\n 3\n 4\n 5\n"
                " 6\n-b\n+y\n");
    expect_diff("a\n1\n2\n3\n4\n5\n6\n7\nb\n", "x\n1\n2\n3\n4\n5\n6\n7\ny\n",
                "--- a\n+++ b\n@@ -1,4 +1,4 @@\n-a\n+x\n 1\n 2\n 3\n"
                "@@ -6,4 +6,4 @@\n 5\n 6\n 7\n-b\n+y\n");
}

/* How many lines of the old text are before a hunk: "@@ -L,N +...". */
static long lines_before(const char *header)
{
    char *end;
    const long line = strtol(header + strlen("@@ -"), &end, 10);
    const bool is_empty = end[0] == ',' && end[1] == '0';

    return is_empty ? line : line - 1; /* of no lines, the one before */
}

/* As `patch` does: takes lines of `old`, and puts the new text into `out`. */
static void apply(const char *old, const char *text, char *out)
{
    const char *at = old;

    *out = '\0';
    text = strchr(strchr(text, '\n') + 1, '\n') + 1; /* both names */
    for (const char *end; *text != '\0'; text = end) {
        end = strchr(text, '\n') + 1;
        /* What follows may say that the line has no end. */
        const size_t size = (size_t)(end - text) - 1 - (end[0] == '\\');
        if (text[0] == '@') {
            const char *to = old;
            for (long i = lines_before(text); i > 0; i--)
                to = strchr(to, '\n') + 1;
            strncat(out, at, (size_t)(to - at));
            at = to;
        }
        if (text[0] == ' ' || text[0] == '-') {
            REQUIRE(memcmp(at, text + 1, size) == 0);
            at += size;
        }
        if (text[0] == ' ' || text[0] == '+')
            strncat(out, text + 1, size);
    }
    strcat(out, at);
}

static void random_texts_become_each_other(void)
{
    static char out[100000];
    uint64_t seed = 7;

    for (int round = 0; round < 3000; round++) {
        char text[2][2000] = {"", ""};
        for (int i = 0; i < 2; i++) {
            const unsigned lines = (unsigned)(random_next(&seed) % 30);
            for (unsigned line = 0; line < lines; line++) {
                char one[] = "?\n";
                one[0] = (char)('a' + random_next(&seed) % 4);
                strcat(text[i], one);
            }
            if (lines > 0 && random_next(&seed) % 4 == 0)
                text[i][strlen(text[i]) - 1] = '\0';
        }
        if (strcmp(text[0], text[1]) == 0)
            continue;
        char *made = diff(text[0], text[1]);
        apply(text[0], made, out);
        EXPECT_STR(out, text[1]);
        free(made);
    }
}

static void texts_that_are_too_different_are_exchanged(void)
{
    static char old[8000], new_[8000], out[20000];

    for (int i = 0; i < 500; i++) {
        snprintf(old + strlen(old), 16, "o%d\n", i);
        snprintf(new_ + strlen(new_), 16, "n%d\n", i);
    }
    char *made = diff(old, new_);
    EXPECT(strstr(made, "@@ -1,500 +1,500 @@\n-o0\n-o1\n") != NULL);
    apply(old, made, out);
    EXPECT_STR(out, new_);
    free(made);
}

int main(void)
{
    RUN(the_same_texts_have_none);
    RUN(lines_are_added_removed_and_changed);
    RUN(names_are_quoted_where_they_could_be_taken_for_lines);
    RUN(a_line_without_an_end_says_so);
    RUN(changes_close_to_each_other_share_a_hunk);
    RUN(random_texts_become_each_other);
    RUN(texts_that_are_too_different_are_exchanged);
    return tap_done();
}
