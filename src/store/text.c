/* SPDX-License-Identifier: MIT */
/*
 * text.c - one record, one line, tab-separated.
 *
 * Numbers are printed with as few digits as read back exactly, and with a
 * point whatever the host program's locale says. The last line tells how many
 * records there are, so that a text that was cut off is known as such.
 */
#include "store/text.h"

#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char title[] = "takt history 1";

/* The locale belongs to the thread until it is given back. */
static locale_t enter_plain_locale(locale_t *plain)
{
    *plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    return uselocale(*plain);
}

static void leave_plain_locale(locale_t plain, locale_t before)
{
    uselocale(before);
    if (plain != (locale_t)0)
        freelocale(plain);
}

static size_t print_columns(char *out, size_t size)
{
    size_t length = 0;

    for (size_t i = 0; i < TAKT_RECORD_FIELDS; i++)
        length +=
            (size_t)snprintf(out + length, size - length, "%s%s",
                             i > 0 ? "\t" : "", takt__record_fields[i].name);
    return length;
}

static int print_real(char *out, size_t size, double value)
{
    int length = 0;

    for (int digits = 15; digits <= 17; digits++) {
        length = snprintf(out, size, "%.*g", digits, value + 0.0);
        if (strtod(out, NULL) == value)
            break;
    }
    return length;
}

static int print_field(char *out, size_t size, enum takt_field_kind kind,
                       const void *at)
{
    switch (kind) {
    case TAKT_FIELD_TEXT:
        return snprintf(out, size, "%s", (const char *)at);
    case TAKT_FIELD_SMALL:
        return snprintf(out, size, "%u", *(const unsigned *)at);
    case TAKT_FIELD_LARGE:
        return snprintf(out, size, "%" PRIu64, *(const uint64_t *)at);
    case TAKT_FIELD_REAL:
        return print_real(out, size, *(const double *)at);
    case TAKT_FIELD_TIME:
        return snprintf(out, size, "%" PRId64, *(const int64_t *)at);
    }
    return 0;
}

size_t takt__text_print_head(char out[TAKT_TEXT_LINE])
{
    size_t length = (size_t)snprintf(out, TAKT_TEXT_LINE, "%s\n", title);

    length += print_columns(out + length, TAKT_TEXT_LINE - length);
    strcpy(out + length, "\n");
    return length + 1;
}

/* A sound record fits: its texts have 293 letters and its fourteen numbers at
 * most 24 each. */
size_t takt__text_print(const struct takt_record *record,
                        char out[TAKT_TEXT_LINE])
{
    locale_t plain;
    const locale_t before = enter_plain_locale(&plain);
    size_t length = 0;

    for (size_t i = 0; i < TAKT_RECORD_FIELDS; i++) {
        const struct takt_record_field *field = &takt__record_fields[i];
        length += (size_t)print_field(out + length, TAKT_TEXT_LINE - length,
                                      field->kind,
                                      (const char *)record + field->offset);
        out[length++] = i + 1 < TAKT_RECORD_FIELDS ? '\t' : '\n';
    }
    out[length] = '\0';
    leave_plain_locale(plain, before);
    return length;
}

size_t takt__text_print_end(size_t records, char out[TAKT_TEXT_LINE])
{
    return (size_t)snprintf(out, TAKT_TEXT_LINE, "end\t%zu\n", records);
}

static bool parse_count(const char *text, uint64_t *out)
{
    if (*text == '\0' || strspn(text, "0123456789") != strlen(text))
        return false;
    errno = 0;
    *out = strtoull(text, NULL, 10);
    return errno == 0;
}

static bool parse_time(const char *text, int64_t *out)
{
    const char *digits = text + (*text == '-');

    if (*digits == '\0' || strspn(digits, "0123456789") != strlen(digits))
        return false;
    errno = 0;
    *out = strtoll(text, NULL, 10);
    return errno == 0;
}

/* strtod() alone would also take blanks, hexadecimals and "nan". */
static bool parse_real(const char *text, double *out)
{
    char *end;

    if (*text == '\0' || strspn(text, "0123456789+-.e") != strlen(text))
        return false;
    *out = strtod(text, &end);
    return *end == '\0' && isfinite(*out);
}

static bool parse_field(const struct takt_record_field *field, const char *text,
                        void *at)
{
    uint64_t count;

    switch (field->kind) {
    case TAKT_FIELD_TEXT:
        if (strlen(text) >= field->size)
            return false;
        strcpy(at, text);
        return true;
    case TAKT_FIELD_SMALL:
        if (!parse_count(text, &count) || count > UINT32_MAX)
            return false;
        *(unsigned *)at = (unsigned)count;
        return true;
    case TAKT_FIELD_LARGE:
        return parse_count(text, at);
    case TAKT_FIELD_REAL:
        return parse_real(text, at);
    case TAKT_FIELD_TIME:
        return parse_time(text, at);
    }
    return false;
}

static bool refuse(struct takt_text_reader *reader, const char *column,
                   const char *fault)
{
    reader->column = column;
    reader->fault = fault;
    return false;
}

static bool parse_record(struct takt_text_reader *reader,
                         struct takt_record *record)
{
    char *text = reader->text;

    memset(record, 0, sizeof *record);
    for (size_t i = 0; i < TAKT_RECORD_FIELDS; i++) {
        const struct takt_record_field *field = &takt__record_fields[i];
        if (text == NULL)
            return refuse(reader, field->name, "missing");
        char *end = strchr(text, '\t');
        if (end != NULL)
            *end++ = '\0';
        if (!parse_field(field, text, (char *)record + field->offset))
            return refuse(reader, field->name,
                          field->kind == TAKT_FIELD_TEXT
                              ? "too long"
                              : "not a number that is allowed here");
        const char *fault = takt__field_fault(field, record);
        if (fault != NULL)
            return refuse(reader, field->name, fault);
        text = end;
    }
    return text == NULL || refuse(reader, NULL, "too many columns");
}

static bool read_record(struct takt_text_reader *reader)
{
    struct takt_record record;
    locale_t plain;
    const locale_t before = enter_plain_locale(&plain);
    const bool is_parsed = parse_record(reader, &record);

    leave_plain_locale(plain, before);
    if (!is_parsed)
        return false;
    reader->records++;
    reader->is_stopped = !reader->visit(reader->self, &record);
    return !reader->is_stopped;
}

/* A machine may be called "end", but then there are more columns. */
static bool is_end(const char *text)
{
    return strncmp(text, "end\t", 4) == 0 && strchr(text + 4, '\t') == NULL;
}

static bool read_end(struct takt_text_reader *reader)
{
    uint64_t count;

    if (!parse_count(reader->text + strlen("end\t"), &count) ||
        count != reader->records)
        return refuse(reader, NULL, "not as many records as were written");
    reader->has_end = true;
    return true;
}

static bool read_columns(struct takt_text_reader *reader)
{
    char columns[TAKT_TEXT_LINE];

    print_columns(columns, sizeof columns);
    return strcmp(reader->text, columns) == 0 ||
           refuse(reader, NULL, "not the columns of a history");
}

static bool read_line(struct takt_text_reader *reader)
{
    if (memchr(reader->text, '\0', reader->length) != NULL)
        return refuse(reader, NULL, "has a zero byte");
    if (reader->length > 0 && reader->text[reader->length - 1] == '\r')
        reader->length--;
    reader->text[reader->length] = '\0';
    if (reader->line == 1)
        return strcmp(reader->text, title) == 0 ||
               refuse(reader, NULL, "not \"takt history 1\"");
    if (reader->line == 2)
        return read_columns(reader);
    if (reader->has_end)
        return refuse(reader, NULL, "comes after the end");
    if (is_end(reader->text))
        return read_end(reader);
    return read_record(reader);
}

void takt__text_init(struct takt_text_reader *reader, takt_text_visit *visit,
                     void *self)
{
    memset(reader, 0, sizeof *reader);
    reader->visit = visit;
    reader->self = self;
    reader->line = 1;
}

bool takt__text_feed(struct takt_text_reader *reader, const char *bytes,
                     size_t count)
{
    if (reader->fault != NULL || reader->is_stopped)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (bytes[i] == '\n') {
            if (!read_line(reader))
                return false;
            reader->line++;
            reader->length = 0;
            continue;
        }
        if (reader->length == TAKT_TEXT_LINE - 1)
            return refuse(reader, NULL, "too long");
        reader->text[reader->length++] = bytes[i];
    }
    return true;
}

bool takt__text_finish(struct takt_text_reader *reader)
{
    if (reader->fault != NULL || reader->is_stopped)
        return false;
    if (reader->length > 0 || !reader->has_end)
        return refuse(reader, NULL, "cut off before its end");
    return true;
}
