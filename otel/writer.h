/* SPDX-License-Identifier: MIT */
/*
 * writer.h - how a message is written, whichever form it takes.
 *
 * A walk over a message names each field by its number, which protobuf writes,
 * and by its name, which JSON writes, in one line: so the two forms cannot
 * differ. protobuf.c and json.c are the forms.
 *
 * Fields are written as they are given, also when they are zero; leaving out
 * what need not be said is up to the walk.
 */
#pragma once

#include <string.h>

#include "encode.h"

struct takt_otel_writer {
    const struct takt_otel_form *form;
    struct takt_otel_bytes *out;
    bool needs_comma;   /* in JSON: something stands before */
    unsigned attribute; /* number of the attributes that are being written */
};

/* Where messages began whose length is known when they end. */
struct takt_otel_begun {
    size_t message, value;
};

enum takt_otel_type {
    TAKT_OTEL_BOOL,
    TAKT_OTEL_ENUM,
    TAKT_OTEL_INTEGER, /* never negative */
    TAKT_OTEL_REAL,
    TAKT_OTEL_FIXED32,
    TAKT_OTEL_FIXED64
};

/* A name of NULL is that of an element: its list was named before. */
struct takt_otel_form {
    /* Around everything; in JSON it is one line. */
    void (*message)(struct takt_otel_writer *w);
    void (*message_end)(struct takt_otel_writer *w);

    /* A message within this one; `end` takes what `begin` returned. */
    size_t (*begin)(struct takt_otel_writer *w, unsigned number,
                    const char *name);
    void (*end)(struct takt_otel_writer *w, size_t begun);

    /* Around repeated fields. */
    void (*list)(struct takt_otel_writer *w, const char *name);
    void (*list_end)(struct takt_otel_writer *w);

    /* A KeyValue, up to where its value goes: in one step, because most of what
     * is written are these. */
    struct takt_otel_begun (*pair)(struct takt_otel_writer *w, unsigned number,
                                   const char *key, size_t size);

    /* A string, whole or in pieces (takt__otel_piece). */
    void (*text)(struct takt_otel_writer *w, unsigned number, const char *name,
                 const char *at, size_t size);
    size_t (*text_begin)(struct takt_otel_writer *w, unsigned number,
                         const char *name);
    void (*sound)(struct takt_otel_writer *w, const char *at,
                  size_t size); /* well-formed UTF-8 */
    void (*text_end)(struct takt_otel_writer *w, size_t begun);

    void (*id)(struct takt_otel_writer *w, unsigned number, const char *name,
               const unsigned char *at, size_t size);
    /* A number, and repeated ones, packed. The bits of a real are those of a
     * double. */
    void (*number)(struct takt_otel_writer *w, unsigned number,
                   const char *name, enum takt_otel_type type, uint64_t bits);
    void (*numbers)(struct takt_otel_writer *w, unsigned number,
                    const char *name, enum takt_otel_type type,
                    const void *values, size_t count); /* of 8 bytes */

    /* Fields or elements that were written before, by the same form. */
    void (*written)(struct takt_otel_writer *w, const unsigned char *at,
                    size_t size);
};

extern const struct takt_otel_form takt__otel_protobuf, takt__otel_json;

static inline struct takt_otel_writer
takt__otel_writer(enum takt_otel_format format, struct takt_otel_bytes *out)
{
    return (struct takt_otel_writer){.form = format == TAKT_OTEL_JSON
                                                 ? &takt__otel_json
                                                 : &takt__otel_protobuf,
                                     .out = out};
}

/* Makes room for `size` more bytes, which count as written. NULL: there is no
 * memory, and out->is_short is set. */
unsigned char *takt__otel_grow(struct takt_otel_bytes *bytes, size_t size);

static inline unsigned char *takt__otel_room(struct takt_otel_bytes *bytes,
                                             size_t size)
{
    if (size > bytes->room - bytes->size)
        return takt__otel_grow(bytes, size);
    bytes->size += size;
    return bytes->at + bytes->size - size;
}

/* How many bytes from `at` on are well-formed UTF-8, and how many of those that
 * follow one U+FFFD stands for (0: it ends there). */
size_t takt__otel_utf8(const char *at, size_t size, size_t *broken);
#define TAKT_OTEL_REPLACEMENT "\xEF\xBF\xBD"

/* As much as a signed integer holds. */
static inline uint64_t takt__otel_at_most(uint64_t value)
{
    return value < INT64_MAX ? value : (uint64_t)INT64_MAX;
}

static inline uint64_t takt__otel_bits(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* A piece of a string. What is not UTF-8 becomes U+FFFD: receivers refuse a
 * whole request for one byte that is not. */
void takt__otel_piece(struct takt_otel_writer *w, const char *at, size_t size);

/* ---- what every message is made of (writer.c) ----------------------------*/

/* The list of attributes of a message, of takt__otel_key_...() elements. */
static inline void takt__otel_attributes(struct takt_otel_writer *w,
                                         unsigned number)
{
    w->attribute = number;
    w->form->list(w, "attributes");
}

static inline void takt__otel_attributes_end(struct takt_otel_writer *w)
{
    w->form->list_end(w);
}

/* After what form->pair() began and its value. */
void takt__otel_pair_end(struct takt_otel_writer *w,
                         struct takt_otel_begun begun);

void takt__otel_key_text_of(struct takt_otel_writer *w, const char *key,
                            size_t key_size, const char *text, size_t size);
void takt__otel_key_number_of(struct takt_otel_writer *w, const char *key,
                              size_t key_size, enum takt_otel_type type,
                              uint64_t bits);

/* Inline, so that the lengths of literal keys are known to the compiler. */
static inline void takt__otel_key_text(struct takt_otel_writer *w,
                                       const char *key, const char *text)
{
    takt__otel_key_text_of(w, key, strlen(key), text, strlen(text));
}

/* Beyond what 63 bits hold: the most that they hold. */
static inline void takt__otel_key_integer(struct takt_otel_writer *w,
                                          const char *key, uint64_t value)
{
    takt__otel_key_number_of(w, key, strlen(key), TAKT_OTEL_INTEGER,
                             takt__otel_at_most(value));
}

static inline void takt__otel_key_real(struct takt_otel_writer *w,
                                       const char *key, double value)
{
    takt__otel_key_number_of(w, key, strlen(key), TAKT_OTEL_REAL,
                             takt__otel_bits(value));
}

static inline void takt__otel_key_truth(struct takt_otel_writer *w,
                                        const char *key, bool value)
{
    takt__otel_key_number_of(w, key, strlen(key), TAKT_OTEL_BOOL, value);
}

/* A key whose value is a list; its elements follow. */
struct takt_otel_list {
    struct takt_otel_begun pair;
    size_t array;
};
struct takt_otel_list takt__otel_key_list(struct takt_otel_writer *w,
                                          const char *key);
void takt__otel_list_text(struct takt_otel_writer *w, const char *text);
void takt__otel_list_integer(struct takt_otel_writer *w, uint64_t value);
void takt__otel_key_list_end(struct takt_otel_writer *w,
                             struct takt_otel_list list);

/* A whole request of one process and one scope, Takt, up to where its spans or
 * metrics go. */
struct takt_otel_request {
    size_t of_resource, of_scope;
};
struct takt_otel_request
takt__otel_request(struct takt_otel_writer *w, enum takt_otel_signal signal,
                   const struct takt_otel_bytes *resource);
void takt__otel_request_end(struct takt_otel_writer *w,
                            struct takt_otel_request begun);
