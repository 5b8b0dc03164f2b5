/* SPDX-License-Identifier: MIT */
/* user_ops.c - a list behind a lock; nothing on the path of a call reads it. */
#include "op/user_ops.h"

#include <stdlib.h>
#include <string.h>

#include "base/name.h"
#include "op/op_id.h"

enum { longest_name = 63 };

struct takt_user_op {
    struct takt_op_entry entry;
    char name[longest_name + 1];
};

takt_status takt__user_ops_init(struct takt_user_ops *ops)
{
    atomic_init(&ops->count, 0);
    return pthread_mutex_init(&ops->lock, NULL) == 0 ? TAKT_OK : TAKT_ENOMEM;
}

void takt__user_ops_fini(struct takt_user_ops *ops)
{
    for (unsigned i = 0; i < ops->count; i++)
        free(ops->op[i]);
    pthread_mutex_destroy(&ops->lock);
}

bool takt__is_name(const char *name, size_t longest)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-:/";

    return name != NULL && name[0] != '\0' && strlen(name) <= longest &&
           name[strspn(name, letters)] == '\0';
}

static const takt_op *find(const struct takt_user_ops *ops, const char *name)
{
    for (unsigned i = 0; i < ops->count; i++)
        if (takt__name_equal(name, ops->op[i]->name))
            return &ops->op[i]->entry.op;
    return NULL;
}

static struct takt_user_op *make(const takt_op_spec *spec)
{
    const struct takt_form_entry *form = &takt__forms[TAKT_FORM_user];
    struct takt_user_op *op = calloc(1, sizeof *op);

    if (op == NULL)
        return NULL;
    memcpy(op->name, spec->name, strlen(spec->name) + 1);
    op->entry = (struct takt_op_entry){
        .op = {.name = op->name,
               .summary = "defined by the program",
               .complexity = spec->complexity,
               .dtypes = 1 << TAKT_F32 | 1 << TAKT_F64,
               .inputs = 2,
               .is_user = 1,
               .rank_min = form->rank_min,
               .rank_max = form->rank_max,
               .shape = form->shape},
        .id = TAKT_OP_COUNT,
        .form = TAKT_FORM_user,
        .flops = 1,
        .cost = {1, 1},
        .work = spec->work,
        .self = spec->self,
    };
    return op;
}

/* With the lock. The count is raised last: a reader of it finds the op. */
static takt_status enlist(struct takt_user_ops *ops, struct takt_user_op *op)
{
    const unsigned number = atomic_load(&ops->count);

    if (find(ops, op->name) != NULL)
        return TAKT_EEXIST;
    if (number == TAKT_MAX_USER_OPS)
        return TAKT_EFULL;
    op->entry.user_op = number;
    op->entry.series = TAKT_SERIES_USER + 2 * number;
    ops->op[number] = op;
    atomic_store(&ops->count, number + 1);
    return TAKT_OK;
}

takt_status takt__user_ops_define(struct takt_user_ops *ops,
                                  const takt_op_spec *spec, const takt_op **out)
{
    *out = NULL;
    if (!takt__is_name(spec->name, longest_name) ||
        (unsigned)spec->complexity > TAKT_COMPLEXITY_HIGH)
        return TAKT_EINVAL;
    if (takt_op_find(spec->name) != NULL)
        return TAKT_EEXIST;

    struct takt_user_op *op = make(spec);
    if (op == NULL)
        return TAKT_ENOMEM;

    takt__lock(&ops->lock);
    const takt_status status = enlist(ops, op);
    takt__unlock(&ops->lock);
    if (status != TAKT_OK) {
        free(op);
        return status;
    }
    *out = &op->entry.op;
    return TAKT_OK;
}

const takt_op *takt__user_ops_find(struct takt_user_ops *ops, const char *name)
{
    return find(ops, name);
}

const takt_op *takt__user_ops_at(const struct takt_user_ops *ops,
                                 unsigned number)
{
    return number < atomic_load(&ops->count) ? &ops->op[number]->entry.op
                                             : NULL;
}
