/* SPDX-License-Identifier: MIT */
/*
 * sized.h - public structs that begin with their size (takt/takt.h).
 *
 * The caller's struct may be shorter or longer than the one that this version
 * knows. `first` is what the struct had in its first version, which is what a
 * size of 0 means: sizeof until a member is added, then the offset of the first
 * member that was added.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* No struct will ever be larger: a size that is, was forgotten. */
enum { TAKT_SIZED_MOST = 4096 };

/* The size of a caller's struct; 0: it is shorter than the first version, or no
 * size. */
static inline size_t takt__sized_size(const void *given, size_t first)
{
    const size_t size = *(const size_t *)given;

    return size == 0                                ? first
           : size < first || size > TAKT_SIZED_MOST ? 0
                                                    : size;
}

/* As below, for a struct of any other size than `own`. */
bool takt__sized_read_other(const void *given, size_t first, size_t own,
                            void *copy);

/* Copies a caller's struct. Members that the caller does not know are 0. The
 * size of the copy is its own, or still 0 if that means the same: to store it
 * here would make a call that is copied once more wait for the store.
 * False: the struct is too short, or has a member that this version does not
 * know and that is not 0. */
static inline bool takt__sized_read_as(const void *given, size_t first,
                                       size_t own, void *copy)
{
    if (__builtin_expect(takt__sized_size(given, first) != own, 0))
        return takt__sized_read_other(given, first, own, copy);
    memcpy(copy, given, own);
    return true;
}

/* Fills a caller's struct, which keeps its size. One that is too short gets
 * nothing. */
static inline void takt__sized_fill_as(void *out, size_t first, size_t own,
                                       const void *from)
{
    const size_t skipped = sizeof(size_t);
    size_t size = takt__sized_size(out, first);

    size = size < own ? size : own;
    if (size > skipped)
        memcpy((char *)out + skipped, (const char *)from + skipped,
               size - skipped);
}

/* The same for structs that have not grown yet. */
#define takt__sized_read(given_, copy_) \
    takt__sized_read_as(given_, sizeof *(copy_), sizeof *(copy_), copy_)
#define takt__sized_fill(out_, from_) \
    takt__sized_fill_as(out_, sizeof *(from_), sizeof *(from_), from_)
#define takt__sized_fits(out_) (takt__sized_size(out_, sizeof *(out_)) > 0)
