/* SPDX-License-Identifier: MIT */
/*
 * test_manifest.c - a profile gets into a manifest of any form, and nothing
 * else does. The pairs are in profiles.cases; each is also tried with lines
 * that end as on Windows, and with a mark at its beginning.
 */
#include "project/manifest.h"

#include <stdint.h>

#include "project/toml.h"
#include "support/tap.h"

/* A text, with a NUL behind it that does not count. */
struct text {
    char *bytes;
    size_t length;
};

struct pair {
    const char *name;
    struct takt_profile_wish wish;
    struct text before, after;
    const char *refusal; /* NULL: it is not refused */
};

enum { MOST_CASES = 200 };
static struct pair cases[MOST_CASES];
static int case_count;

static struct text text_of(const char *bytes, size_t length)
{
    struct text text = {malloc(length + 1), length};

    REQUIRE(text.bytes != NULL);
    memcpy(text.bytes, bytes, length);
    text.bytes[length] = '\0';
    return text;
}

/* The lines of a text up to one that begins with `stop`. */
static struct text take_lines(char **at, const char *stop)
{
    char *from = *at;

    while (strncmp(*at, stop, 3) != 0 && **at != '\0') {
        char *end = strchr(*at, '\n');
        REQUIRE(end != NULL);
        *at = end + 1;
    }
    size_t length = (size_t)(*at - from);
    if (length >= 3 && memcmp(*at - 3, "\n\\\n", 3) == 0)
        length -= 3;
    return text_of(from, length);
}

/* A line, ended by a NUL in the place of its end. */
static char *take_line(char **at)
{
    char *line = *at, *end = strchr(line, '\n');

    REQUIRE(end != NULL);
    *end = '\0';
    *at = end + 1;
    return line;
}

static void read_case(char **at, struct pair *one)
{
    char *profile = take_line(at) + strlen("=== ");
    char *name = strstr(profile, ": ");

    REQUIRE(name != NULL);
    *name = '\0';
    one->name = name + 2;
    one->wish.is_asked = strncmp(profile, "unasked ", 8) != 0;
    if (!one->wish.is_asked)
        profile += 8;
    REQUIRE(takt__profile_parse(profile, &one->wish.profile));
    one->before = take_lines(at, "---");
    const char *divider = take_line(at);
    if (strncmp(divider, "--- !", 5) == 0)
        one->refusal = divider + 5;
    else if (strcmp(divider, "--- same") == 0)
        one->after = text_of(one->before.bytes, one->before.length);
    else
        one->after = take_lines(at, "===");
}

static void read_cases(void)
{
    static char file[1 << 17];
    FILE *in = fopen(TAKT_SOURCE_DIR "/tests/project/profiles.cases", "rb");

    REQUIRE(in != NULL);
    const size_t length = fread(file, 1, sizeof file - 1, in);
    fclose(in);
    REQUIRE(length < sizeof file - 1);
    for (char *at = strstr(file, "\n===") + 1; *at != '\0';) {
        REQUIRE(case_count < MOST_CASES);
        read_case(&at, &cases[case_count++]);
    }
}

static struct text set(struct text before, struct takt_profile_wish wish)
{
    struct text after = {0};
    takt_diag diag;

    if (takt__manifest_set_profile("Cargo.toml", before.bytes, before.length,
                                   wish, &after.bytes, &after.length, NULL,
                                   &diag) != TAKT_OK) {
        after.bytes = strdup(diag.text);
        after.length = SIZE_MAX; /* it was refused */
    }
    return after;
}

static struct takt_profile_wish asked(enum takt_profile profile)
{
    return (struct takt_profile_wish){profile, true};
}

static bool same(struct text a, struct text b)
{
    return a.length == b.length &&
           (a.length == 0 || memcmp(a.bytes, b.bytes, a.length) == 0);
}

static void expect_pair(const struct pair *one, struct text before,
                        struct text after, const char *how)
{
    const struct text got = set(before, one->wish);

    TAP_CHECK(same(got, after), "%s%s: %.*s", one->name, how,
              (int)(got.length == SIZE_MAX ? 500 : got.length), got.bytes);
    free(got.bytes);
}

static void every_pair_is_as_written(void)
{
    EXPECT(case_count >= 80);
    for (int i = 0; i < case_count; i++) {
        if (cases[i].refusal == NULL)
            expect_pair(&cases[i], cases[i].before, cases[i].after, "");
    }
}

static void what_cannot_be_is_refused_by_line_and_column(void)
{
    for (int i = 0; i < case_count; i++) {
        if (cases[i].refusal == NULL)
            continue;
        const struct text got = set(cases[i].before, cases[i].wish);
        EXPECT(got.length == SIZE_MAX);
        EXPECT_STR(got.bytes + strlen("Cargo.toml:"), cases[i].refusal);
        free(got.bytes);
    }
}

static struct text with_crlf(struct text text)
{
    struct text out = {malloc(2 * text.length + 1), 0};

    REQUIRE(out.bytes != NULL);
    for (size_t i = 0; i < text.length; i++) {
        if (text.bytes[i] == '\n')
            out.bytes[out.length++] = '\r';
        out.bytes[out.length++] = text.bytes[i];
    }
    return out;
}

static void lines_end_as_they_did(void)
{
    for (int i = 0; i < case_count; i++) {
        /* Without any line there is nothing to go by. */
        if (cases[i].refusal != NULL ||
            strchr(cases[i].before.bytes, '\n') == NULL)
            continue;
        const struct text before = with_crlf(cases[i].before);
        const struct text after = with_crlf(cases[i].after);
        expect_pair(&cases[i], before, after, " (CRLF)");
        free(before.bytes);
        free(after.bytes);
    }
}

static struct text with_mark(struct text text)
{
    struct text out = {malloc(text.length + 4), text.length + 3};

    REQUIRE(out.bytes != NULL);
    memcpy(out.bytes, "\xEF\xBB\xBF", 3);
    memcpy(out.bytes + 3, text.bytes, text.length + 1);
    return out;
}

static void a_mark_at_the_beginning_stays(void)
{
    for (int i = 0; i < case_count; i++) {
        if (cases[i].refusal != NULL || cases[i].before.length == 0)
            continue;
        const struct text before = with_mark(cases[i].before);
        const struct text after = with_mark(cases[i].after);
        expect_pair(&cases[i], before, after, " (mark)");
        free(before.bytes);
        free(after.bytes);
    }
}

static void a_second_run_changes_nothing(void)
{
    for (int i = 0; i < case_count; i++) {
        if (cases[i].refusal == NULL)
            expect_pair(&cases[i], cases[i].after, cases[i].after, " (again)");
    }
}

/* Everything in a tree, as lines "path = text", but for what a profile sets. */
static void list(FILE *out, const struct takt_toml_value *value,
                 const char *path, const char *text)
{
    char own[400];

    snprintf(own, sizeof own, "%s/%.*s", path, (int)value->key_length,
             value->key != NULL ? value->key : "");
    const char *key = strstr(own, "//profile/release/") == own
                          ? own + strlen("//profile/release/")
                          : "";
    if (strcmp(key, "opt-level") == 0 || strcmp(key, "lto") == 0 ||
        strcmp(key, "codegen-units") == 0 || strcmp(key, "strip") == 0)
        return;
    if (value->form == TAKT_TOML_VALUE && value->kind != TAKT_TOML_TABLE) {
        fprintf(out, "%s = %.*s\n", own,
                (int)(value->text.to - value->text.from),
                text + value->text.from);
        return;
    }
    for (const struct takt_toml_value *one = value->first; one != NULL;
         one = one->next)
        list(out, one, own, text);
}

static char *list_text(struct text text)
{
    struct takt_toml_error error;
    struct takt_toml *toml;
    char *lines = NULL;
    size_t length;
    FILE *out = open_memstream(&lines, &length);

    REQUIRE(out != NULL);
    REQUIRE(takt__toml_parse(text.bytes, text.length, &toml, &error) ==
            TAKT_OK);
    list(out, takt__toml_root(toml), "", text.bytes);
    fclose(out);
    takt__toml_destroy(toml);
    return lines;
}

static const struct takt_toml_value *release_key(const struct takt_toml *toml,
                                                 const char *key)
{
    const struct takt_toml_value *root = takt__toml_root(toml);
    const struct takt_toml_value *profile = takt__toml_get(root, "profile");

    return takt__toml_get(takt__toml_get(profile, "release"), key);
}

static bool keeps_debug(const struct takt_toml *toml)
{
    const struct takt_toml_value *debug = release_key(toml, "debug");

    return debug != NULL && (debug->kind == TAKT_TOML_STRING
                                 ? strcmp(debug->string, "none") != 0
                                 : debug->truth || debug->integer != 0);
}

/* The table of design, once more and independently. */
static void expect_profile(struct text text, enum takt_profile profile)
{
    static const int opt_level[] = {2, 3, 3}, units[] = {16, 4, 1};
    static const char *const lto[] = {"off", "thin", "fat"};
    struct takt_toml_error error;
    struct takt_toml *toml;

    REQUIRE(takt__toml_parse(text.bytes, text.length, &toml, &error) ==
            TAKT_OK);
    EXPECT_INT(release_key(toml, "opt-level")->integer, opt_level[profile]);
    const struct takt_toml_value *has_lto = release_key(toml, "lto");
    if (has_lto->kind == TAKT_TOML_BOOLEAN) /* which is "fat" */
        EXPECT(has_lto->truth && profile == TAKT_PROFILE_AGGRESSIVE);
    else if (strcmp(has_lto->string, "no") != 0) /* which is "off" */
        EXPECT_STR(has_lto->string, lto[profile]);
    else
        EXPECT(profile == TAKT_PROFILE_FAST);
    EXPECT_INT(release_key(toml, "codegen-units")->integer, units[profile]);
    const struct takt_toml_value *strip = release_key(toml, "strip");
    if (profile == TAKT_PROFILE_AGGRESSIVE && !keeps_debug(toml))
        EXPECT(strip->kind == TAKT_TOML_BOOLEAN
                   ? strip->truth
                   : strcmp(strip->string, "symbols") == 0);
    takt__toml_destroy(toml);
}

/* Every profile on every text: exactly the keys are set, and whatever else is
 * in the file is what it was. */
static void exactly_the_keys_are_set(void)
{
    for (int i = 0; i < case_count; i++) {
        if (cases[i].refusal != NULL)
            continue;
        char *before = list_text(cases[i].before);
        for (int profile = 0; profile < TAKT_PROFILES; profile++) {
            const struct text after =
                set(cases[i].before, asked((enum takt_profile)profile));
            char *lines = list_text(after);
            expect_profile(after, (enum takt_profile)profile);
            EXPECT_STR(lines, before);
            free(lines);
            free(after.bytes);
        }
        free(before);
    }
}

/* No line is lost but those that hold one of the keys. */
static void every_other_line_is_still_there(void)
{
    for (int i = 0; i < case_count; i++) {
        if (cases[i].refusal != NULL ||
            strstr(cases[i].before.bytes, "\"\"\"") != NULL)
            continue;
        char *copy = strdup(cases[i].before.bytes), *rest = copy;
        for (char *line; (line = strtok_r(rest, "\n", &rest)) != NULL;) {
            if (strstr(line, "opt-level") == NULL &&
                strstr(line, "lto") == NULL && strstr(line, "l\\u") == NULL &&
                strstr(line, "codegen-units") == NULL &&
                strstr(line, "strip") == NULL && strchr(line, '{') == NULL &&
                strstr(line, "debug") == NULL)
                TAP_CHECK(strstr(cases[i].after.bytes, line) != NULL,
                          "%s: lost: %s", cases[i].name, line);
        }
        free(copy);
    }
}

/* Whoever tries another profile can go back; only how values are written, and
 * that the last line does not end, is lost. */
static void profiles_follow_each_other_without_a_trace(void)
{
    for (int i = 0; i < case_count; i++) {
        const struct text before = cases[i].before;
        if (cases[i].refusal != NULL || before.length == 0 ||
            before.bytes[before.length - 1] != '\n' ||
            strstr(before.bytes, "strip") != NULL)
            continue;
        const struct text zero = set(before, asked(TAKT_PROFILE_FAST));
        const struct text one = set(zero, asked(TAKT_PROFILE_BALANCED));
        const struct text two = set(one, asked(TAKT_PROFILE_AGGRESSIVE));
        const struct text three = set(two, asked(TAKT_PROFILE_FAST));
        const struct text four = set(three, asked(TAKT_PROFILE_BALANCED));
        TAP_CHECK(same(one, four), "%s: %s", cases[i].name, four.bytes);
        free(zero.bytes);
        free(one.bytes);
        free(two.bytes);
        free(three.bytes);
        free(four.bytes);
    }
}

/* Two manifests, one behind the other, in random order: most are refused, as
 * tables are there twice; what is not must still hold. */
static void sections_of_any_two_manifests_together(void)
{
    int accepted = 0;

    for (int i = 0; i < case_count; i++) {
        for (int j = 0; j < case_count; j++) {
            if (cases[i].refusal != NULL || cases[j].refusal != NULL)
                continue;
            const size_t length = cases[i].before.length;
            struct text both = {malloc(length + cases[j].before.length + 2),
                                length + 1 + cases[j].before.length};
            memcpy(both.bytes, cases[i].before.bytes, length);
            both.bytes[length] = '\n';
            /* What both begin with would be there twice. */
            char *second = cases[j].before.bytes;
            if (strncmp(second, "[package]", 9) == 0)
                memcpy(second, "[patched]", 9);
            memcpy(both.bytes + length + 1, second, cases[j].before.length + 1);
            if (strncmp(second, "[patched]", 9) == 0)
                memcpy(second, "[package]", 9);
            const struct text after = set(both, asked(cases[j].wish.profile));
            if (after.length != SIZE_MAX) {
                char *was = list_text(both), *is = list_text(after);
                accepted++;
                expect_profile(after, cases[j].wish.profile);
                EXPECT_STR(is, was);
                free(was);
                free(is);
            }
            free(after.bytes);
            free(both.bytes);
        }
    }
    printf("# %d pairs of manifests accepted\n", accepted);
    EXPECT(accepted > 1000);
}

int main(void)
{
    read_cases();
    printf("# %d pairs\n", case_count);
    RUN(every_pair_is_as_written);
    RUN(what_cannot_be_is_refused_by_line_and_column);
    RUN(lines_end_as_they_did);
    RUN(a_mark_at_the_beginning_stays);
    RUN(a_second_run_changes_nothing);
    RUN(exactly_the_keys_are_set);
    RUN(every_other_line_is_still_there);
    RUN(profiles_follow_each_other_without_a_trace);
    RUN(sections_of_any_two_manifests_together);
    for (int i = 0; i < case_count; i++) {
        free(cases[i].before.bytes);
        free(cases[i].after.bytes);
    }
    return tap_done();
}
