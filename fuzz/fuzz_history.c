/* SPDX-License-Identifier: MIT */
/*
 * fuzz_history.c - any bytes, read as a history in text.
 *
 * Every record that is read is sound, and printing it gives a line that reads
 * back as the same record. How the bytes are cut into pieces changes nothing.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "store/text.h"

static void demand(bool condition)
{
    if (!condition)
        abort();
}

static bool keep(void *self, const struct takt_record *record)
{
    memcpy(self, record, sizeof *record);
    return true;
}

static bool check(void *self, const struct takt_record *record)
{
    char text[3 * TAKT_TEXT_LINE];
    struct takt_text_reader reader;
    struct takt_record again;
    size_t *count = self;

    demand(takt__record_is_sound(record));
    size_t length = takt__text_print_head(text);
    length += takt__text_print(record, text + length);
    length += takt__text_print_end(1, text + length);
    takt__text_init(&reader, keep, &again);
    demand(takt__text_feed(&reader, text, length));
    demand(takt__text_finish(&reader));
    for (size_t i = 0; i < TAKT_RECORD_FIELDS; i++) {
        const struct takt_record_field *field = &takt__record_fields[i];
        const char *left = (const char *)record + field->offset;
        const char *right = (const char *)&again + field->offset;
        if (field->kind == TAKT_FIELD_REAL) /* -0 comes back as 0 */
            demand(*(const double *)left == *(const double *)right);
        else
            demand(memcmp(left, right, field->size) == 0);
    }
    return ++*count < 1000;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct takt_text_reader whole, pieces;
    size_t count = 0, piecewise = 0;
    const char *text = (const char *)bytes;

    takt__text_init(&whole, check, &count);
    const bool is_read = takt__text_feed(&whole, text, length);
    const bool is_good = is_read && takt__text_finish(&whole);

    takt__text_init(&pieces, check, &piecewise);
    for (size_t at = 0; at < length; at += 3)
        if (!takt__text_feed(&pieces, text + at,
                             length - at < 3 ? length - at : 3))
            break;
    takt__text_finish(&pieces);
    demand(count == piecewise && whole.fault == pieces.fault);
    demand(is_good == (pieces.fault == NULL && !pieces.is_stopped));
    return 0;
}
