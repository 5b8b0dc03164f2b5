/* SPDX-License-Identifier: MIT */
/*
 * writer.c - bytes that grow, what is UTF-8, and the messages that all others
 * are made of.
 */
#include "writer.h"

#include <stdlib.h>

#include <takt/version.h>

#include "text/utf8.h"

/* ---- bytes ---------------------------------------------------------------*/

unsigned char *takt__otel_grow(struct takt_otel_bytes *bytes, size_t size)
{
    size_t room = bytes->room < 512 ? 512 : bytes->room;
    unsigned char *at;

    if (bytes->is_short)
        return NULL;
    while (size > room - bytes->size && room <= SIZE_MAX / 2)
        room *= 2;
    at = size > room - bytes->size ? NULL : realloc(bytes->at, room);
    if (at == NULL) {
        bytes->is_short = true;
        return NULL;
    }
    bytes->at = at;
    bytes->room = room;
    bytes->size += size;
    return at + bytes->size - size;
}

void takt__otel_bytes_append(struct takt_otel_bytes *bytes, const void *at,
                             size_t size)
{
    unsigned char *to = size > 0 ? takt__otel_room(bytes, size) : NULL;

    if (to != NULL)
        memcpy(to, at, size);
}

void takt__otel_bytes_free(struct takt_otel_bytes *bytes)
{
    free(bytes->at);
    *bytes = (struct takt_otel_bytes){0};
}

/* ---- UTF-8 ---------------------------------------------------------------*/

static bool is_ascii(const char *at)
{
    uint64_t eight;

    memcpy(&eight, at, sizeof eight);
    return (eight & UINT64_C(0x8080808080808080)) == 0;
}

/* How many bytes from `at` on are ASCII, or a few less; nearly always all. */
static size_t ascii(const char *at, size_t size)
{
    unsigned char any = 0;
    size_t done = 0;

    for (; size - done >= 8; done += 8)
        if (!is_ascii(at + done))
            return done;
    if (done > 0) /* the last eight, some of them again */
        return is_ascii(at + size - 8) ? size : done;
    for (size_t i = 0; i < size; i++)
        any |= (unsigned char)at[i];
    return any < 0x80 ? size : 0;
}

size_t takt__otel_utf8(const char *at, size_t size, size_t *broken)
{
    size_t sound = ascii(at, size);
    bool is_whole;

    *broken = 0;
    while (sound < size) {
        const size_t length =
            takt__utf8_take(at + sound, size - sound, &is_whole);
        if (!is_whole) {
            *broken = length;
            break;
        }
        sound += length;
    }
    return sound;
}

void takt__otel_piece(struct takt_otel_writer *w, const char *at, size_t size)
{
    size_t broken;

    do {
        const size_t sound = takt__otel_utf8(at, size, &broken);
        w->form->sound(w, at, sound);
        if (broken > 0)
            w->form->sound(w, TAKT_OTEL_REPLACEMENT, 3);
        at += sound + broken;
        size -= sound + broken;
    } while (size > 0);
}

/* ---- attributes: KeyValue, AnyValue -------------------------------------- */

void takt__otel_pair_end(struct takt_otel_writer *w,
                         struct takt_otel_begun begun)
{
    w->form->end(w, begun.value);
    w->form->end(w, begun.message);
}

void takt__otel_key_text_of(struct takt_otel_writer *w, const char *key,
                            size_t key_size, const char *text, size_t size)
{
    const struct takt_otel_begun begun =
        w->form->pair(w, w->attribute, key, key_size);

    w->form->text(w, 1, "stringValue", text, size);
    takt__otel_pair_end(w, begun);
}

void takt__otel_key_number_of(struct takt_otel_writer *w, const char *key,
                              size_t key_size, enum takt_otel_type type,
                              uint64_t bits)
{
    static const struct {
        unsigned number;
        const char *name;
    } value[] = {
        [TAKT_OTEL_BOOL] = {2, "boolValue"},
        [TAKT_OTEL_INTEGER] = {3, "intValue"},
        [TAKT_OTEL_REAL] = {4, "doubleValue"},
    };
    const struct takt_otel_begun begun =
        w->form->pair(w, w->attribute, key, key_size);

    w->form->number(w, value[type].number, value[type].name, type, bits);
    takt__otel_pair_end(w, begun);
}

struct takt_otel_list takt__otel_key_list(struct takt_otel_writer *w,
                                          const char *key)
{
    struct takt_otel_list list;

    list.pair = w->form->pair(w, w->attribute, key, strlen(key));
    list.array = w->form->begin(w, 5, "arrayValue");
    w->form->list(w, "values");
    return list;
}

void takt__otel_list_text(struct takt_otel_writer *w, const char *text)
{
    const size_t begun = w->form->begin(w, 1, NULL);

    w->form->text(w, 1, "stringValue", text, strlen(text));
    w->form->end(w, begun);
}

void takt__otel_list_integer(struct takt_otel_writer *w, uint64_t value)
{
    const size_t begun = w->form->begin(w, 1, NULL);

    w->form->number(w, 3, "intValue", TAKT_OTEL_INTEGER,
                    takt__otel_at_most(value));
    w->form->end(w, begun);
}

void takt__otel_key_list_end(struct takt_otel_writer *w,
                             struct takt_otel_list list)
{
    w->form->list_end(w);
    w->form->end(w, list.array);
    takt__otel_pair_end(w, list.pair);
}

/* ---- requests ------------------------------------------------------------ */

static void put_scope(struct takt_otel_writer *w)
{
    const size_t begun = w->form->begin(w, 1, "scope");
    const char *version = takt_version();

    w->form->text(w, 1, "name", "takt", 4);
    w->form->text(w, 2, "version", version, strlen(version));
    w->form->end(w, begun);
}

struct takt_otel_request
takt__otel_request(struct takt_otel_writer *w, enum takt_otel_signal signal,
                   const struct takt_otel_bytes *resource)
{
    const bool is_traces = signal == TAKT_OTEL_TRACES;
    struct takt_otel_request begun;

    w->form->message(w);
    w->form->list(w, is_traces ? "resourceSpans" : "resourceMetrics");
    begun.of_resource = w->form->begin(w, 1, NULL);
    w->form->written(w, resource->at, resource->size);
    w->form->list(w, is_traces ? "scopeSpans" : "scopeMetrics");
    begun.of_scope = w->form->begin(w, 2, NULL);
    put_scope(w);
    return begun;
}

void takt__otel_request_end(struct takt_otel_writer *w,
                            struct takt_otel_request begun)
{
    w->form->end(w, begun.of_scope);
    w->form->list_end(w);
    w->form->end(w, begun.of_resource);
    w->form->list_end(w);
    w->form->message_end(w);
}
