/* SPDX-License-Identifier: MIT */
/*
 * op_id.h - the ops of the catalogue and their series as numbers, for tables
 * and switches.
 */
#pragma once

#include "op/form.h"
#include "takt/op.h"

enum takt_op_id {
#define TAKT_OP(name_, complexity_, form_, inputs_, flops_, cost_, dtypes_, \
                accuracy_, summary_)                                        \
    TAKT_OP_##name_,
#include "op/ops.def"
    TAKT_OP_COUNT
};

/* How many layouts the ops of a form are told apart by. */
enum {
#define TAKT_FORM(name_, rank_min_, rank_max_, shape_, layouts_, ...) \
    TAKT_LAYOUTS_##name_ = layouts_,
#include "op/forms.def"
    TAKT_MAX_USER_OPS = 256
};

/* Series that are no ops, from TAKT_SERIES_LINKS on; all by bytes, but the
 * last, which has one bucket. */
enum {
    TAKT_LINK_IN,        /* into the memory of a device ... */
    TAKT_LINK_IN_PINNED, /* ... from memory that is pinned */
    TAKT_LINK_OUT,
    TAKT_LINK_OUT_PINNED,
    TAKT_LINK_OPEN, /* what it takes to open the device */
    TAKT_LINKS
};

/* The link that bytes take, into the memory of a device or out of it. */
static inline unsigned takt__link_of(bool is_in, bool is_pinned)
{
    return (is_in ? TAKT_LINK_IN : TAKT_LINK_OUT) + (unsigned)is_pinned;
}

/* The first series of each op; f32 first, then f64. */
enum {
#define TAKT_OP(name_, complexity_, form_, inputs_, flops_, cost_, dtypes_, \
                accuracy_, summary_)                                        \
    TAKT_SERIES_##name_,                                                    \
        TAKT_SERIES_END_##name_ =                                           \
            TAKT_SERIES_##name_ + 2 * TAKT_LAYOUTS_##form_ - 1,
#include "op/ops.def"
    TAKT_SERIES_USER,
    TAKT_SERIES_LINKS = TAKT_SERIES_USER + 2 * TAKT_MAX_USER_OPS,
    TAKT_SERIES_COUNT = TAKT_SERIES_LINKS + TAKT_LINKS
};

/* What the catalogue has about an op: the public part comes first in it. */
static inline const struct takt_op_entry *takt__op_entry(const takt_op *op)
{
    return (const struct takt_op_entry *)(const void *)op;
}

/* Its number; TAKT_OP_COUNT for a user's op. */
static inline enum takt_op_id takt__op_id(const takt_op *op)
{
    return (enum takt_op_id)takt__op_entry(op)->id;
}

static inline const struct takt_form_entry *takt__op_form(const takt_op *op)
{
    return &takt__forms[takt__op_entry(op)->form];
}
