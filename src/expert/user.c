/* SPDX-License-Identifier: MIT */
/* user.c - experts that are the user's own code. */
#include <stdio.h>

#include "base/name.h"
#include "expert/expert.h"

static bool may(const struct takt_expert *expert, const takt_op *op,
                takt_dtype dtype)
{
    (void)dtype;
    return expert->op == op;
}

static bool can(const struct takt_expert *expert, const takt_call *call)
{
    return expert->spec.run != NULL &&
           (expert->spec.can_run == NULL ||
            expert->spec.can_run(call, expert->spec.self) != 0);
}

static takt_status run(struct takt_experts *experts,
                       const struct takt_expert *expert, const takt_call *call)
{
    (void)experts;
    return expert->spec.run(call, expert->spec.self);
}

const struct takt_expert_class takt__user_class = {may, can, run};

const struct takt_expert *
takt__user_expert_next(const struct takt_experts *experts, const takt_op *op,
                       const struct takt_expert *after)
{
    const struct takt_expert *first = experts->expert + experts->count;
    const struct takt_expert *end = first + atomic_load(&experts->user_count);
    const struct takt_expert *at = after == NULL ? first : after + 1;

    for (; at < end; at++)
        if (at->op == op)
            return at;
    return NULL;
}

const struct takt_expert *
takt__user_expert_find(const struct takt_experts *experts, const takt_op *op,
                       const char *name)
{
    const struct takt_expert *at = NULL;

    while ((at = takt__user_expert_next(experts, op, at)) != NULL)
        if (takt__name_equal(at->name, name))
            return at;
    return NULL;
}

unsigned takt__user_expert_count(const struct takt_experts *experts,
                                 const takt_op *op)
{
    const struct takt_expert *at = NULL;
    unsigned count = 0;

    while ((at = takt__user_expert_next(experts, op, at)) != NULL)
        count++;
    return count;
}

takt_status takt__user_expert_add(struct takt_experts *experts,
                                  const takt_op *op, const char *name,
                                  const takt_expert_spec *spec,
                                  const struct takt_expert **out)
{
    const unsigned number = atomic_load(&experts->user_count);
    struct takt_expert *made = &experts->expert[experts->count + number];

    if (takt__user_expert_find(experts, op, name) != NULL)
        return TAKT_EEXIST;
    if (number == TAKT_MAX_USER_EXPERTS ||
        takt__user_expert_count(experts, op) == TAKT_MAX_EXPERTS_PER_OP)
        return TAKT_EFULL;
    *made = (struct takt_expert){
        .class = &takt__user_class,
        .backend = spec->backend,
        .threads = spec->threads > 0 ? spec->threads : 1,
        .op = op,
        .spec = *spec,
    };
    snprintf(made->name, sizeof made->name, "%s", name);
    *out = made;
    return TAKT_OK;
}

void takt__user_expert_publish(struct takt_experts *experts)
{
    atomic_fetch_add(&experts->user_count, 1);
}
