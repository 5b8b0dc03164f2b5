/* SPDX-License-Identifier: MIT */
/* test_text.c - a store as text, and texts that are not one. */
#include "store/text.h"

#include <float.h>

#include "scratch.h"
#include "support/comma.h"
#include "support/random.h"

static const char writer[] = "0123456789abcdef0123456789abcdef";

static struct takt_record good_record(void)
{
    struct takt_record record = scratch_record("add", 1, 1);

    strcpy(record.machine, "aa11");
    strcpy(record.software, "bb22");
    strcpy(record.writer, writer);
    record.epoch = 1;
    return record;
}

struct one {
    struct takt_record record;
    size_t count;
};

static bool keep(void *self, const struct takt_record *record)
{
    struct one *one = self;

    one->record = *record;
    one->count++;
    return true;
}

static size_t print_whole(const struct takt_record *record, char *text)
{
    size_t length = takt__text_print_head(text);

    length += takt__text_print(record, text + length);
    return length + takt__text_print_end(1, text + length);
}

static void expect_round_trip(const struct takt_record *record)
{
    char text[4 * TAKT_TEXT_LINE];
    struct takt_text_reader reader;
    struct one one = {.count = 0};
    const size_t length = print_whole(record, text);

    takt__text_init(&reader, keep, &one);
    EXPECT(takt__text_feed(&reader, text, length));
    EXPECT(takt__text_finish(&reader));
    EXPECT_INT(one.count, 1);
    TAP_CHECK(memcmp(&one.record, record, sizeof *record) == 0, "%s", text);
}

static void numbers_read_back_exactly(void)
{
    static const double values[] = {
        0,      0.1,  1.0 / 3,       1e9,  49.999999999999993, DBL_MIN,
        5e-324, 1e12, 123456789.125, 1e11, 0x1p-1074};
    uint64_t seed = 1;

    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        struct takt_record record = good_record();
        record.mean = -fmin(values[i], TAKT_RECORD_FARTHEST) + 0.0;
        record.first_s = record.seconds = values[i];
        expect_round_trip(&record);
    }
    for (int i = 0; i < 2000; i++) {
        struct takt_record record = good_record();
        record.mean = random_real(&seed, -300, 1.6);
        record.calls = random_unit(&seed);
        record.seq = random_next(&seed) >> 11;
        record.last_unix_s = (int64_t)random_next(&seed);
        expect_round_trip(&record);
    }
}

static void the_longest_record_fits_in_a_line(void)
{
    struct takt_record record = good_record();

    for (size_t i = 0; i < TAKT_RECORD_FIELDS; i++) {
        const struct takt_record_field *field = &takt__record_fields[i];
        char *at = (char *)&record + field->offset;
        const double widest = 1.2345678901234567e-300;
        if (field->kind == TAKT_FIELD_TEXT && strcmp(field->name, "writer"))
            memset(at, 'x', field->size - 1);
        if (field->kind == TAKT_FIELD_REAL)
            memcpy(at, &widest, sizeof widest);
    }
    record.n = 1.2345678901234567e-8;
    record.bytes = record.flops = 1.2345678901234567e+29;
    record.mean = -1.2345678901234567e-300;
    record.seq = record.epoch = TAKT_RECORD_LATEST;
    record.last_unix_s = INT64_MIN;
    EXPECT(takt__record_is_sound(&record));
    expect_round_trip(&record);
}

static void a_locale_with_a_comma_changes_nothing(void)
{
    const struct takt_record record = good_record();

    if (!comma_begin()) {
        SKIP("no such locale can be made");
        return;
    }
    expect_round_trip(&record);
    comma_end();
}

static void an_export_imports_to_the_same_export(void)
{
    const char *path = scratch_path(), *copy = scratch_path();
    struct takt_store *store = scratch_open(path);
    takt_store_report report = {.size = sizeof report};
    takt_diag diag;

    for (unsigned i = 0; i < 200; i++)
        scratch_write(store, i % 3 ? "add" : "matmul", i, i + 1);
    takt__store_close(store);
    char *text = scratch_export(path);
    EXPECT_INT(scratch_import(copy, text, strlen(text), &report, &diag),
               TAKT_OK);
    EXPECT_INT(report.read, 200);
    EXPECT_INT(report.added, 200);
    char *again = scratch_export(copy);
    EXPECT_STR(again, text);
    EXPECT_INT(scratch_import(copy, text, strlen(text), &report, &diag),
               TAKT_OK);
    EXPECT_INT(report.added + report.renewed, 0);
    free(text);
    free(again);
}

/* The text with `column` replaced by `value` of the given length. */
static size_t spoil(const char *column, const char *value, size_t value_length,
                    char *out)
{
    char line[TAKT_TEXT_LINE];
    const struct takt_record record = good_record();
    size_t length = takt__text_print_head(out);

    takt__text_print(&record, line);
    char *field = line;
    for (size_t i = 0; strcmp(takt__record_fields[i].name, column) != 0; i++)
        field = strchr(field, '\t') + 1;
    memcpy(out + length, line, (size_t)(field - line));
    length += (size_t)(field - line);
    memcpy(out + length, value, value_length);
    length += value_length;
    const char *rest = field + strcspn(field, "\t\n");
    memcpy(out + length, rest, strlen(rest));
    length += strlen(rest);
    return length + takt__text_print_end(1, out + length);
}

static const char *store_path; /* of a store with one record */

static void expect_refused(const char *text, size_t length, const char *line,
                           const char *what)
{
    char *before = scratch_export(store_path);
    takt_store_report report = {.size = sizeof report};
    takt_diag diag;

    const takt_status status =
        scratch_import(store_path, text, length, &report, &diag);
    TAP_CHECK(status == TAKT_ECORRUPT, "%s: %d", what, status);
    TAP_CHECK(strstr(diag.text, line) != NULL, "%s: %s", what, diag.text);
    EXPECT_INT(report.read, 0);
    char *after = scratch_export(store_path);
    EXPECT_STR(after, before);
    free(before);
    free(after);
}

static void wrong_values_are_refused_with_their_line(void)
{
    static const struct {
        const char *column, *value;
    } wrong[] = {{"n", "-1"},
                 {"n", "1e-300"},
                 {"n", "1e10"},
                 {"mean", "51"},
                 {"mean", "-51"},
                 {"m2", "1e6"},
                 {"first_s", "1e13"},
                 {"bytes", "1e-5"},
                 {"bytes", "1e31"},
                 {"flops", "3.5e38"},
                 {"flops", "1e-300"},
                 {"calls", "1e17"},
                 {"seconds", "1e13"},
                 {"seq", "9007199254740993"},
                 {"epoch", "4611686018427387903"},
                 {"n", ""},
                 {"n", "nan"},
                 {"n", "inf"},
                 {"n", "1e999"},
                 {"n", "0x10"},
                 {"n", " 1"},
                 {"n", "1 "},
                 {"n", "1,5"},
                 {"n", "1e"},
                 {"n", "--1"},
                 {"mean", "-inf"},
                 {"mean", "."},
                 {"m2", "-0.5"},
                 {"dtype", "256"},
                 {"dtype", "-1"},
                 {"dtype", "1.0"},
                 {"dtype", "18446744073709551617"},
                 {"bin", "1024"},
                 {"bin", "+1"},
                 {"situation", "1e3"},
                 {"seq", "9223372036854775807"},
                 {"seq", "x"},
                 {"epoch", "99999999999999999999"},
                 {"op", ""},
                 {"op", "a b"},
                 {"op", "\x80"},
                 {"machine", ""},
                 {"expert", ""},
                 {"layout", "0123456789abcdef"},
                 {"writer", "0123"},
                 {"writer", "0123456789ABCDEF0123456789ABCDEF"},
                 {"last_unix_s", "-"},
                 {"last_unix_s", "9223372036854775808"},
                 {"last_unix_s", "1.5"}};
    char text[8 * TAKT_TEXT_LINE];

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const size_t length = spoil(wrong[i].column, wrong[i].value,
                                    strlen(wrong[i].value), text);
        expect_refused(text, length, "line 3", wrong[i].value);
        expect_refused(text, length, wrong[i].column, wrong[i].value);
    }
    char zero[] = {'a', '\0', 'b'};
    expect_refused(text, spoil("op", zero, 3, text), "line 3", "zero byte");
    char huge[3 * TAKT_TEXT_LINE];
    memset(huge, '1', sizeof huge);
    expect_refused(text, spoil("n", huge, sizeof huge, text), "line 3", "huge");
}

static void texts_of_another_form_are_refused(void)
{
    const struct takt_record record = good_record();
    char text[4 * TAKT_TEXT_LINE], bad[5 * TAKT_TEXT_LINE];
    const size_t length = print_whole(&record, text);

    for (size_t cut = 0; cut < length; cut++)
        if (cut % 7 == 0 || cut + 20 > length)
            expect_refused(text, cut, "line", "cut off");
    snprintf(bad, sizeof bad, "takt history 2\n%s", strchr(text, '\n') + 1);
    expect_refused(bad, strlen(bad), "line 1", "version");
    snprintf(bad, sizeof bad, "%s", text);
    memcpy(strstr(bad, "mean"), "mode", 4);
    expect_refused(bad, strlen(bad), "line 2", "columns");
    snprintf(bad, sizeof bad, "%smore\n", text);
    expect_refused(bad, strlen(bad), "line 5", "after the end");
    snprintf(bad, sizeof bad, "%s", text);
    strcpy(strstr(bad, "end\t"), "end\t2\n");
    expect_refused(bad, strlen(bad), "line 4", "count");
    snprintf(bad, sizeof bad, "%s", text);
    strcpy(strstr(bad, "\nend\t"), "\t9\nend\t1\n");
    expect_refused(bad, strlen(bad), "line 3", "columns");
}

static void line_ends_of_other_systems_are_accepted(void)
{
    const struct takt_record record = good_record();
    char text[4 * TAKT_TEXT_LINE], other[5 * TAKT_TEXT_LINE];
    const size_t length = print_whole(&record, text);
    takt_store_report report = {.size = sizeof report};
    takt_diag diag;
    size_t at = 0;

    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\n')
            other[at++] = '\r';
        other[at++] = text[i];
    }
    EXPECT_INT(scratch_import(scratch_path(), other, at, &report, &diag),
               TAKT_OK);
    EXPECT_INT(report.added, 1);
}

static void a_text_that_cannot_be_written_is_an_error(void)
{
    takt_diag diag;
    const int full = open("/dev/full", O_WRONLY);

    if (full < 0) {
        SKIP("no /dev/full");
        return;
    }
    EXPECT_INT(takt_store_export(store_path, full, &diag), TAKT_EIO);
    EXPECT(diag.text[0] != '\0');
    close(full);
    EXPECT_INT(takt_store_export(store_path, -1, &diag), TAKT_EINVAL);
    EXPECT_INT(takt_store_import(store_path, -1, NULL, &diag), TAKT_EINVAL);
}

int main(void)
{
    scratch_make();
    static char path[128];
    snprintf(path, sizeof path, "%s/one.db", scratch);
    store_path = path;
    struct takt_store *store = scratch_open(path);
    scratch_write(store, "mul", 1, 1);
    takt__store_close(store);

    RUN(numbers_read_back_exactly);
    RUN(the_longest_record_fits_in_a_line);
    RUN(a_locale_with_a_comma_changes_nothing);
    RUN(an_export_imports_to_the_same_export);
    RUN(wrong_values_are_refused_with_their_line);
    RUN(texts_of_another_form_are_refused);
    RUN(line_ends_of_other_systems_are_accepted);
    RUN(a_text_that_cannot_be_written_is_an_error);
    return tap_done();
}
