/* SPDX-License-Identifier: MIT */
/*
 * record.c - the members of a record as a table, and what each may hold.
 *
 * All that comes from a file is checked here before it is used, and all that
 * goes into one.
 */
#include "store/record.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define FIELD(member, kind, least, most)                           \
    {                                                              \
#member, kind, offsetof(struct takt_record, member),       \
            sizeof(((struct takt_record *)0)->member), least, most \
    }
#define TEXT(member) FIELD(member, TAKT_FIELD_TEXT, 0, 0)
#define SMALL(member, most) FIELD(member, TAKT_FIELD_SMALL, 0, most)
#define LARGE(member) FIELD(member, TAKT_FIELD_LARGE, 0, TAKT_RECORD_LATEST)
#define REAL(member, least, most) FIELD(member, TAKT_FIELD_REAL, least, most)

const struct takt_record_field takt__record_fields[TAKT_RECORD_FIELDS] = {
    TEXT(machine),
    TEXT(device),
    TEXT(software),
    TEXT(writer),
    TEXT(op),
    TEXT(layout),
    TEXT(expert),
    SMALL(dtype, TAKT_RECORD_DTYPES - 1),
    SMALL(situation, TAKT_RECORD_SITUATIONS - 1),
    SMALL(bin, TAKT_RECORD_BINS - 1),
    LARGE(epoch),
    LARGE(seq),
    REAL(n, TAKT_RECORD_LEAST_N, TAKT_RECORD_MOST_N),
    REAL(mean, -TAKT_RECORD_FARTHEST, TAKT_RECORD_FARTHEST),
    REAL(m2, 0, TAKT_RECORD_MOST_SPREAD), /* times n + 1 */
    REAL(first_s, 0, TAKT_RECORD_MOST_S),
    REAL(bytes, TAKT_RECORD_LEAST_WORK, TAKT_RECORD_MOST_WORK),
    REAL(flops, TAKT_RECORD_LEAST_WORK, TAKT_RECORD_MOST_WORK),
    REAL(calls, 0, TAKT_RECORD_MOST_CALLS),
    REAL(seconds, 0, TAKT_RECORD_MOST_S),
    FIELD(last_unix_s, TAKT_FIELD_TIME, 0, 0),
};

/* Letters that need no quoting in a line, a shell's output or a file. */
static const char *text_fault(const char *text, size_t size)
{
    const char *end = memchr(text, '\0', size);

    if (end == NULL)
        return "too long";
    for (; text < end; text++)
        if (*text <= ' ' || *text > '~')
            return "has a character that is not allowed";
    return NULL;
}

static const char *writer_fault(const char *writer)
{
    const bool is_id =
        strlen(writer) == TAKT_RECORD_WRITER - 1 &&
        strspn(writer, "0123456789abcdef") == TAKT_RECORD_WRITER - 1;
    return is_id ? NULL : "not 32 hexadecimal digits";
}

static const char *name_fault(size_t offset, const char *text, size_t size)
{
    const char *fault = text_fault(text, size);

    if (fault != NULL)
        return fault;
    if (offset == offsetof(struct takt_record, writer))
        return writer_fault(text);
    const bool may_be_empty = offset == offsetof(struct takt_record, device) ||
                              offset == offsetof(struct takt_record, layout);
    return *text == '\0' && !may_be_empty ? "empty" : NULL;
}

/* All numbers may be 0. */
static const char *real_fault(const struct takt_record_field *field,
                              const struct takt_record *record, double value)
{
    const bool is_m2 = field->offset == offsetof(struct takt_record, m2);

    if (!isfinite(value))
        return "not finite";
    if (value > field->most * (is_m2 ? record->n + 1 : 1))
        return "too large";
    if (value >= field->least || value == 0)
        return NULL;
    return value < 0 && field->least >= 0 ? "below zero" : "too small";
}

const char *takt__field_fault(const struct takt_record_field *field,
                              const struct takt_record *record)
{
    const void *at = (const char *)record + field->offset;

    switch (field->kind) {
    case TAKT_FIELD_TEXT:
        return name_fault(field->offset, at, field->size);
    case TAKT_FIELD_SMALL:
        return *(const unsigned *)at <= field->most ? NULL : "too large";
    case TAKT_FIELD_LARGE:
        return *(const uint64_t *)at <= TAKT_RECORD_LATEST ? NULL : "too large";
    case TAKT_FIELD_REAL:
        return real_fault(field, record, *(const double *)at);
    case TAKT_FIELD_TIME:
        return NULL; /* clocks lie; nothing is decided by this one */
    }
    return "of no kind";
}

bool takt__record_is_sound(const struct takt_record *record)
{
    for (size_t i = 0; i < TAKT_RECORD_FIELDS; i++)
        if (takt__field_fault(&takt__record_fields[i], record) != NULL)
            return false;
    return true;
}

void takt__record_fleet(const char *fingerprint, char out[TAKT_SHA256_HEX])
{
    snprintf(out, TAKT_SHA256_HEX, "fleet.%.16s", fingerprint);
}
