/* SPDX-License-Identifier: MIT */
/*
 * user_ops.h - the ops that a user defined in a context.
 *
 * Rows are added and never removed, so a `const takt_op *` stays valid until
 * the context goes.
 *
 * Threads: define and find may be called from any thread.
 */
#pragma once

#include <stdatomic.h>

#include "base/lock.h"
#include "op/key.h"

struct takt_user_op;

struct takt_user_ops {
    pthread_mutex_t lock; /* for defining; what is defined stays */
    struct takt_user_op *op[TAKT_MAX_USER_OPS]; /* by number */
    _Atomic unsigned count;
};

takt_status takt__user_ops_init(struct takt_user_ops *ops);
void takt__user_ops_fini(struct takt_user_ops *ops);

/* Whether ops and experts can have that name of at most so many letters. */
bool takt__is_name(const char *name, size_t longest);

/* TAKT_EFULL: there are TAKT_MAX_USER_OPS.
 * TAKT_EINVAL: no name, or one with other characters than names have.
 * TAKT_EEXIST: the catalogue or the context has that name already. */
takt_status takt__user_ops_define(struct takt_user_ops *ops,
                                  const takt_op_spec *spec,
                                  const takt_op **out);

/* The op of that name, regardless of case; NULL: none. */
const takt_op *takt__user_ops_find(struct takt_user_ops *ops, const char *name);

/* The op of that number; NULL: none. */
const takt_op *takt__user_ops_at(const struct takt_user_ops *ops,
                                 unsigned number);
