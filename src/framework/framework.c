/* SPDX-License-Identifier: MIT */
/*
 * framework.c - finding an operation of a Python framework by its name.
 *
 * The table is searched from the top: names are typed by people, not by
 * loops.
 */
#include "takt/framework.h"

#include <stdio.h>
#include <string.h>

#include "base/name.h"
#include "takt/policy.h"

/* Each stands for the last two members of a row: op and call. */
#define OP(name) #name, "takt_" #name "_f32"
#define VIEW(name) #name, NULL
#define NONE NULL, NULL

static const takt_framework_op table[] = {
#define TAKT_FRAMEWORK_OP(framework, name, module, functions, complexity, op) \
    {TAKT_FRAMEWORK_##framework,   name, module, functions,                   \
     TAKT_COMPLEXITY_##complexity, op},
#include "framework/frameworks.def"
};

enum { ROW_COUNT = sizeof table / sizeof table[0] };

/* How people call the frameworks; the first name of each is used to answer. */
static const struct {
    const char *name;
    takt_framework framework;
} prefixes[] = {
    {"numpy", TAKT_FRAMEWORK_NUMPY},
    {"np", TAKT_FRAMEWORK_NUMPY},
    {"sklearn", TAKT_FRAMEWORK_SKLEARN},
    {"scikit-learn", TAKT_FRAMEWORK_SKLEARN},
    {"torch", TAKT_FRAMEWORK_TORCH},
    {"pytorch", TAKT_FRAMEWORK_TORCH},
    {"nn", TAKT_FRAMEWORK_TORCH},
    {"F", TAKT_FRAMEWORK_TORCH},
    {"transformers", TAKT_FRAMEWORK_TORCH},
};

enum { PREFIX_COUNT = sizeof prefixes / sizeof prefixes[0] };

const char *takt_framework_name(takt_framework framework)
{
    static const char *const names[] = {"NumPy", "scikit-learn", "PyTorch"};

    return TAKT_NAME_IN(names, framework);
}

size_t takt_framework_op_count(void)
{
    return ROW_COUNT;
}

const takt_framework_op *takt_framework_op_at(size_t index)
{
    return index < ROW_COUNT ? &table[index] : NULL;
}

static bool find_framework(const char *name, size_t length, takt_framework *out)
{
    for (size_t i = 0; i < PREFIX_COUNT; i++)
        if (takt__name_equal_n(name, length, prefixes[i].name)) {
            *out = prefixes[i].framework;
            return true;
        }
    return false;
}

/* Calls visit() for each name of a row: its own, then its functions. Stops
 * and returns true as soon as visit() does. */
static bool each_name(const takt_framework_op *row,
                      bool (*visit)(void *self, const char *name,
                                    size_t length),
                      void *self)
{
    if (visit(self, row->name, strlen(row->name)))
        return true;
    for (const char *at = row->functions; *at != '\0';) {
        const size_t length = strcspn(at, " ");
        if (visit(self, at, length))
            return true;
        at += length;
        at += *at == ' ';
    }
    return false;
}

static bool is_wanted(void *self, const char *name, size_t length)
{
    return takt__name_equal_n(name, length, self);
}

static const char *last_part(const char *dotted)
{
    const char *dot = strrchr(dotted, '.');
    return dot == NULL ? NULL : dot + 1;
}

takt_status takt_framework_find(const char *dotted_name,
                                const takt_framework_op **out)
{
    takt_framework framework;

    if (out == NULL)
        return TAKT_EINVAL;
    *out = NULL;
    if (dotted_name == NULL)
        return TAKT_EINVAL;
    const char *wanted = last_part(dotted_name);
    if (wanted == NULL ||
        !find_framework(dotted_name, strcspn(dotted_name, "."), &framework))
        return TAKT_ENOENT;

    for (size_t i = 0; i < ROW_COUNT; i++)
        if (table[i].framework == framework &&
            each_name(&table[i], is_wanted, (void *)(uintptr_t)wanted)) {
            *out = &table[i];
            return TAKT_OK;
        }
    return TAKT_ENOENT;
}

/* The search for the name that was meant. */
struct nearest {
    const char *typed; /* the operation, without its framework */
    size_t distance;
    char name[64]; /* empty: nothing near yet */
};

static bool measure(void *self, const char *name, size_t length)
{
    struct nearest *nearest = self;
    char candidate[64];

    if (length >= sizeof candidate)
        return false;
    memcpy(candidate, name, length);
    candidate[length] = '\0';
    const size_t distance = takt__name_distance(nearest->typed, candidate);
    if (distance < nearest->distance &&
        takt__name_near(nearest->typed, candidate, distance)) {
        nearest->distance = distance;
        memcpy(nearest->name, candidate, length + 1);
    }
    return false; /* go on: a later one may be nearer */
}

static const char *nearest_prefix(const char *typed, size_t length)
{
    char prefix[32] = "";
    const char *nearest = NULL;
    size_t shortest = SIZE_MAX;

    if (length >= sizeof prefix)
        return NULL;
    memcpy(prefix, typed, length);
    for (size_t i = 0; i < PREFIX_COUNT; i++) {
        const size_t distance = takt__name_distance(prefix, prefixes[i].name);
        if (distance < shortest &&
            takt__name_near(prefix, prefixes[i].name, distance)) {
            shortest = distance;
            nearest = prefixes[i].name;
        }
    }
    return nearest;
}

int takt_framework_nearest(const char *dotted_name, char *out, size_t size)
{
    takt_framework framework;

    if (out == NULL || size == 0)
        return 0;
    out[0] = '\0';
    if (dotted_name == NULL)
        return 0;
    const char *prefix = nearest_prefix(dotted_name, strcspn(dotted_name, "."));
    const char *typed = last_part(dotted_name);
    if (prefix == NULL || typed == NULL ||
        !find_framework(prefix, strlen(prefix), &framework))
        return 0;

    struct nearest nearest = {.typed = typed, .distance = SIZE_MAX};
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (table[i].framework == framework)
            each_name(&table[i], measure, &nearest);
    if (nearest.name[0] == '\0')
        return 0;
    snprintf(out, size, "%s.%s", prefix, nearest.name);
    return 1;
}

takt_backend takt_framework_recommend(const takt_framework_op *op,
                                      size_t elements)
{
    return op == NULL ? TAKT_BACKEND_SCALAR
                      : takt_moe_select(op->complexity, elements);
}
