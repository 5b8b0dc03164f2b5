/* SPDX-License-Identifier: MIT */
/*
 * fuzz_pin.c - any bytes, read as a pin file: refused, or made of lines that
 * can be written and read again.
 */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "call/pin.h"

/* The lines that were read, written again. */
struct copy {
    char text[8192];
    size_t length;
    bool is_full;
};

static void check_word(const char *word, size_t size)
{
    if (memchr(word, '\0', size) == NULL ||
        strpbrk(word, " \n\t\r\x7f") != NULL)
        abort();
}

static takt_status copy_pin(void *self, const struct takt_pin *pin)
{
    struct copy *copy = self;
    const size_t room = sizeof copy->text - copy->length;

    check_word(pin->op, sizeof pin->op);
    check_word(pin->dtype, sizeof pin->dtype);
    check_word(pin->layout, sizeof pin->layout);
    check_word(pin->expert, sizeof pin->expert);
    if (pin->bucket >= TAKT_BUCKETS || pin->op[0] == '\0' ||
        pin->expert[0] == '\0')
        abort();
    const int written =
        snprintf(copy->text + copy->length, room, "%s %s %s %u %s\n", pin->op,
                 pin->dtype, pin->layout[0] != '\0' ? pin->layout : "-",
                 pin->bucket, pin->expert);
    copy->is_full |= written < 0 || (size_t)written >= room;
    if (!copy->is_full)
        copy->length += (size_t)written;
    return TAKT_OK;
}

static void begin(struct copy *copy)
{
    strcpy(copy->text, "takt pin 1\n");
    copy->length = strlen(copy->text);
    copy->is_full = false;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    static struct copy first, second;
    static const char end[] = "end\n";

    size_t line;

    begin(&first);
    begin(&second);
    if (takt__pin_parse((const char *)bytes, length, copy_pin, &first, &line) !=
            TAKT_OK ||
        first.is_full || first.length + sizeof end > sizeof first.text)
        return 0;
    strcpy(first.text + first.length, end);
    if (takt__pin_parse(first.text, first.length + strlen(end), copy_pin,
                        &second, &line) != TAKT_OK ||
        second.length != first.length ||
        memcmp(first.text, second.text, first.length) != 0)
        abort();
    return 0;
}
