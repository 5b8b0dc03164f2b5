/* SPDX-License-Identifier: MIT */
/*
 * record.c - the members of a record as a table, and what each may hold.
 *
 * Whatever comes from a file passes here before anybody computes with it, and
 * whatever goes into one does too.
 */
#include "store/record.h"

#include <math.h>
#include <string.h>

#define FIELD(member, kind)                                  \
    {                                                        \
#member, kind, offsetof(struct takt_record, member), \
            sizeof(((struct takt_record *)0)->member)        \
    }

const struct takt_record_field takt__record_fields[TAKT_RECORD_FIELDS] = {
    FIELD(machine, TAKT_FIELD_TEXT),     FIELD(device, TAKT_FIELD_TEXT),
    FIELD(software, TAKT_FIELD_TEXT),    FIELD(writer, TAKT_FIELD_TEXT),
    FIELD(op, TAKT_FIELD_TEXT),          FIELD(layout, TAKT_FIELD_TEXT),
    FIELD(expert, TAKT_FIELD_TEXT),      FIELD(dtype, TAKT_FIELD_SMALL),
    FIELD(situation, TAKT_FIELD_SMALL),  FIELD(bin, TAKT_FIELD_SMALL),
    FIELD(epoch, TAKT_FIELD_LARGE),      FIELD(seq, TAKT_FIELD_LARGE),
    FIELD(n, TAKT_FIELD_REAL),           FIELD(mean, TAKT_FIELD_REAL),
    FIELD(m2, TAKT_FIELD_REAL),          FIELD(first_s, TAKT_FIELD_REAL),
    FIELD(bytes, TAKT_FIELD_REAL),       FIELD(flops, TAKT_FIELD_REAL),
    FIELD(calls, TAKT_FIELD_REAL),       FIELD(seconds, TAKT_FIELD_REAL),
    FIELD(last_unix_s, TAKT_FIELD_TIME),
};
#undef FIELD

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

static const char *small_fault(size_t offset, unsigned value)
{
    unsigned limit = TAKT_RECORD_BINS;

    if (offset == offsetof(struct takt_record, dtype))
        limit = TAKT_RECORD_DTYPES;
    if (offset == offsetof(struct takt_record, situation))
        limit = TAKT_RECORD_SITUATIONS;
    return value < limit ? NULL : "too large";
}

/* The range of a member that is not 0, which all may be. */
static void range_of(size_t offset, const struct takt_record *record,
                     double *least, double *most)
{
    *least = 0;
    *most = TAKT_RECORD_MOST_S;
    if (offset == offsetof(struct takt_record, n)) {
        *least = TAKT_RECORD_LEAST_N;
        *most = TAKT_RECORD_MOST_N;
    } else if (offset == offsetof(struct takt_record, mean)) {
        *least = -TAKT_RECORD_FARTHEST;
        *most = TAKT_RECORD_FARTHEST;
    } else if (offset == offsetof(struct takt_record, m2)) {
        *most = TAKT_RECORD_MOST_SPREAD * (record->n + 1);
    } else if (offset == offsetof(struct takt_record, bytes) ||
               offset == offsetof(struct takt_record, flops)) {
        *least = TAKT_RECORD_LEAST_WORK;
        *most = TAKT_RECORD_MOST_WORK;
    } else if (offset == offsetof(struct takt_record, calls)) {
        *most = TAKT_RECORD_MOST_CALLS;
    }
}

static const char *real_fault(size_t offset, const struct takt_record *record,
                              double value)
{
    double least, most;

    range_of(offset, record, &least, &most);
    if (!isfinite(value))
        return "not finite";
    if (value > most)
        return "too large";
    if (value >= least || value == 0)
        return NULL;
    return value < 0 && least >= 0 ? "below zero" : "too small";
}

const char *takt__field_fault(const struct takt_record_field *field,
                              const struct takt_record *record)
{
    const void *at = (const char *)record + field->offset;

    switch (field->kind) {
    case TAKT_FIELD_TEXT:
        return name_fault(field->offset, at, field->size);
    case TAKT_FIELD_SMALL:
        return small_fault(field->offset, *(const unsigned *)at);
    case TAKT_FIELD_LARGE:
        return *(const uint64_t *)at <= TAKT_RECORD_LATEST ? NULL : "too large";
    case TAKT_FIELD_REAL:
        return real_fault(field->offset, record, *(const double *)at);
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
