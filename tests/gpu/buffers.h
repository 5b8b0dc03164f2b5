/* SPDX-License-Identifier: MIT */
/*
 * buffers.h - buffers of floats, filled and looked at in one line.
 */
#pragma once

#include "gpu/subject.h"

static inline takt_buffer *buffer_make(takt_ctx *ctx, size_t bytes,
                                       const void *from)
{
    takt_buffer *buffer = NULL;

    REQUIRE(takt_buffer_create(ctx, bytes, from, &buffer) == TAKT_OK);
    return buffer;
}

/* n floats that are all the same. */
static inline takt_buffer *buffer_of(takt_ctx *ctx, size_t n, float value)
{
    takt_buffer *buffer = buffer_make(ctx, n * sizeof(float), NULL);
    void *at;

    REQUIRE(takt_buffer_map(buffer, TAKT_MAP_WRITE | TAKT_MAP_DISCARD, &at) ==
            TAKT_OK);
    for (size_t i = 0; i < n; i++)
        ((float *)at)[i] = value;
    REQUIRE(takt_buffer_unmap(buffer) == TAKT_OK);
    return buffer;
}

static inline float *at_of(const takt_buffer *buffer)
{
    return takt_buffer_address(buffer);
}

/* Whether elements [first, last) all have that value. */
static inline bool buffer_has(takt_buffer *buffer, size_t first, size_t last,
                              float value)
{
    void *at;
    bool has = takt_buffer_map(buffer, TAKT_MAP_READ, &at) == TAKT_OK;

    for (size_t i = first; has && i < last; i++)
        has = ((float *)at)[i] == value;
    takt_buffer_unmap(buffer);
    return has;
}

static inline bool buffer_is(takt_buffer *buffer, float value)
{
    return buffer_has(buffer, 0, takt_buffer_bytes(buffer) / sizeof(float),
                      value);
}

static inline bool is_at(const takt_buffer *buffer, const char *where)
{
    char text[64];

    takt_buffer_residency(buffer, text, sizeof text);
    if (strcmp(text, where) != 0)
        printf("# it is at \"%s\"\n", text);
    return strcmp(text, where) == 0;
}

/* A call of a vector op on buffers or anything else. */
static inline takt_call vector_call(const char *op, size_t n, const void *a,
                                    const void *b, void *out)
{
    return (takt_call){.op = takt_op_find(op),
                       .shape = {.rank = 1, .dim = {n}},
                       .in = {a, b},
                       .out = out,
                       .alpha = 2};
}

/* ---- subjects in buffers ------------------------------------------------- */

static inline bool is_twin(const struct subject *s, unsigned operand)
{
    return s->call.in[operand] == s->call.out;
}

/* The same call with every operand in a buffer of its own. */
static inline takt_call subject_in_buffers(const struct subject *s,
                                           takt_ctx *ctx,
                                           takt_buffer *buffer[TAKT_OPERANDS])
{
    takt_call call = s->call;

    buffer[TAKT_OUT] = buffer_make(ctx, s->bytes[TAKT_OUT], s->start);
    call.out = takt_buffer_address(buffer[TAKT_OUT]);
    for (unsigned i = 0; i < TAKT_OUT; i++) {
        buffer[i] = s->bytes[i] == 0 || is_twin(s, i)
                        ? NULL
                        : buffer_make(ctx, s->bytes[i], s->call.in[i]);
        if (buffer[i] != NULL)
            call.in[i] = takt_buffer_address(buffer[i]);
        else if (s->bytes[i] > 0)
            call.in[i] = call.out;
    }
    return call;
}

static inline bool buffer_holds(takt_buffer *buffer, const void *want)
{
    void *at;

    if (takt_buffer_map(buffer, TAKT_MAP_READ, &at) != TAKT_OK)
        return false;
    const bool is_same = memcmp(at, want, takt_buffer_bytes(buffer)) == 0;
    takt_buffer_unmap(buffer);
    return is_same;
}

static inline void buffers_destroy(takt_buffer *buffer[TAKT_OPERANDS])
{
    for (unsigned i = 0; i < TAKT_OPERANDS; i++)
        takt_buffer_destroy(buffer[i]);
}
