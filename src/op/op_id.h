/* SPDX-License-Identifier: MIT */
/*
 * op_id.h - the ops of the catalogue as numbers, for tables and switches.
 */
#ifndef TAKT_OP_OP_ID_H
#define TAKT_OP_OP_ID_H

#include "op/form.h"
#include "takt/op.h"

enum takt_op_id {
#define TAKT_OP(name_, complexity_, form_, inputs_, flops_, dtypes_, \
                accuracy_, summary_)                                 \
    TAKT_OP_##name_,
#include "op/ops.def"
    TAKT_OP_COUNT
};

/* What the catalogue knows about an op: the public part comes first in it. */
static inline const struct takt_op_entry *takt__op_entry(const takt_op *op)
{
    return (const struct takt_op_entry *)(const void *)op;
}

/* Its number; TAKT_OP_COUNT for a user's op. */
static inline enum takt_op_id takt__op_id(const takt_op *op)
{
    return (enum takt_op_id)takt__op_entry(op)->id;
}

#endif
