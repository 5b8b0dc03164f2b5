/* SPDX-License-Identifier: MIT */
/* user_ops.c - a list behind a lock; nothing on the path of a call reads it. */
#include "op/user_ops.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/name.h"
#include "op/op_id.h"

enum { longest_name = 63 };

struct takt_user_op {
    struct takt_op_entry entry;
    struct takt_user_op *next;
    char name[longest_name + 1];
};

takt_status takt__user_ops_init(struct takt_user_ops *ops)
{
    ops->first = NULL;
    return pthread_mutex_init(&ops->lock, NULL) == 0 ? TAKT_OK : TAKT_ENOMEM;
}

void takt__user_ops_fini(struct takt_user_ops *ops)
{
    while (ops->first != NULL) {
        struct takt_user_op *op = ops->first;
        ops->first = op->next;
        free(op);
    }
    pthread_mutex_destroy(&ops->lock);
}

static bool is_name_letter(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z') || (c != '\0' && strchr("._-:/", c) != NULL);
}

static bool is_name(const char *name)
{
    if (name == NULL || name[0] == '\0')
        return false;
    for (size_t i = 0; name[i] != '\0'; i++)
        if (i >= longest_name || !is_name_letter(name[i]))
            return false;
    return true;
}

static const takt_op *find(const struct takt_user_ops *ops, const char *name)
{
    for (const struct takt_user_op *op = ops->first; op != NULL; op = op->next)
        if (takt__name_equal(name, op->name))
            return &op->entry.op;
    return NULL;
}

static struct takt_user_op *make(const takt_op_spec *spec)
{
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
               TAKT_SIZES_user},
        .id = TAKT_OP_COUNT,
        .form = TAKT_FORM_user,
        .flops = 1,
        .work = spec->work,
        .self = spec->self,
    };
    return op;
}

takt_status takt__user_ops_define(struct takt_user_ops *ops,
                                  const takt_op_spec *spec, const takt_op **out)
{
    *out = NULL;
    if (!is_name(spec->name) ||
        (unsigned)spec->complexity > TAKT_COMPLEXITY_HIGH)
        return TAKT_EINVAL;
    if (takt_op_find(spec->name) != NULL)
        return TAKT_EEXIST;

    struct takt_user_op *op = make(spec);
    if (op == NULL)
        return TAKT_ENOMEM;

    pthread_mutex_lock(&ops->lock);
    const bool taken = find(ops, spec->name) != NULL;
    if (!taken) {
        op->next = ops->first;
        ops->first = op;
    }
    pthread_mutex_unlock(&ops->lock);
    if (taken) {
        free(op);
        return TAKT_EEXIST;
    }
    *out = &op->entry.op;
    return TAKT_OK;
}

const takt_op *takt__user_ops_find(struct takt_user_ops *ops, const char *name)
{
    pthread_mutex_lock(&ops->lock);
    const takt_op *op = find(ops, name);
    pthread_mutex_unlock(&ops->lock);
    return op;
}
