/* SPDX-License-Identifier: MIT */
/*
 * python_lookup.c - what a name means at its place.
 */
#include "python_notes.h"

#include <stdio.h>
#include <string.h>

enum {
    DEEPEST = 8,      /* names of names */
    MOST_ASKED = 4096 /* bindings of one hash: files that machines write */
};

static unsigned scope_at(const struct takt_python_notes *notes, uint32_t at)
{
    size_t low = 0, high = notes->scopes;

    while (high - low > 1) { /* the last one that starts before */
        const size_t middle = low + (high - low) / 2;
        if (notes->scope[middle].from <= at)
            low = middle;
        else
            high = middle;
    }
    while (low != 0 && notes->scope[low].to <= at)
        low = notes->scope[low].parent;
    return (unsigned)low;
}

static bool is_none(const struct takt_python_binding *binding)
{
    return binding->binds == TAKT_PYTHON_VALUE &&
           !ts_node_is_null(binding->value) &&
           takt__node_is(binding->value, "none");
}

static bool is_better(const struct takt_python_binding *one,
                      const struct takt_python_binding *than)
{
    if (than == NULL || is_none(one) != is_none(than))
        return than == NULL || is_none(than);
    return one->from > than->from;
}

static bool is_use(const struct takt_python_binding *binding)
{
    return binding->binds == TAKT_PYTHON_SHOWN ||
           binding->binds == TAKT_PYTHON_TABLE ||
           binding->binds == TAKT_PYTHON_COMPARED;
}

static struct takt_python_binding *
next_of(const struct takt_python_notes *notes, size_t *place,
        struct takt_text name, unsigned scope)
{
    for (unsigned i = 0; *place != 0 && i < MOST_ASKED; i++) {
        struct takt_python_binding *binding = &notes->binding[*place - 1];
        *place = binding->next;
        if (!is_use(binding) && binding->scope == scope &&
            binding->name.size == name.size &&
            memcmp(binding->name.at, name.at, name.size) == 0)
            return binding;
    }
    return NULL;
}

/* Bound, but not yet, or too often to tell by what: unknown. */
static struct takt_python_binding some;

/* The binding that counts in a scope. Where the scope runs while the name is
 * used, those further down do not count yet. NULL: there is none. */
static struct takt_python_binding *
bound_in(const struct takt_python_notes *notes, struct takt_text name,
         unsigned scope, bool is_running, uint32_t at)
{
    struct takt_python_binding *best = NULL, *binding;
    size_t place = notes->bucket[takt__python_hash(name)];
    bool is_bound = false;

    for (unsigned i = 0;
         (binding = next_of(notes, &place, name, scope)) != NULL; i++) {
        if (i == MOST_ASKED)
            return &some;
        if (binding->binds == TAKT_PYTHON_CHANGE)
            continue;
        is_bound = true;
        if ((!is_running || binding->from <= at) && is_better(binding, best))
            best = binding;
    }
    if (best == NULL && is_bound &&
        notes->scope[scope].kind == TAKT_PYTHON_SCOPE_FUNCTION)
        return &some;
    return best;
}

struct takt_python_binding *
takt__python_lookup(const struct takt_source *source, struct takt_text name,
                    uint32_t at)
{
    const struct takt_python_notes *notes = source->notes;
    unsigned scope = scope_at(notes, at);
    bool is_running = true;

    for (;;) {
        const enum takt_python_scope_kind kind = notes->scope[scope].kind;
        if (kind != TAKT_PYTHON_SCOPE_CLASS || is_running) {
            struct takt_python_binding *found =
                bound_in(notes, name, scope, is_running, at);
            if (found != NULL)
                return found;
        }
        if (scope == 0)
            return NULL;
        is_running = is_running && kind != TAKT_PYTHON_SCOPE_FUNCTION;
        scope = notes->scope[scope].parent;
    }
}

struct takt_python_binding *takt__python_own(const struct takt_source *source,
                                             struct takt_text name, uint32_t at)
{
    const struct takt_python_notes *notes = source->notes;
    struct takt_python_binding *first = NULL, *binding;
    size_t place = notes->bucket[takt__python_hash(name)];
    unsigned scope = scope_at(notes, at);

    while (scope != 0 && notes->scope[scope].kind != TAKT_PYTHON_SCOPE_CLASS)
        scope = notes->scope[scope].parent;
    if (scope == 0)
        return NULL;
    while ((binding = next_of(notes, &place, name, scope)) != NULL)
        if (!is_none(binding))
            first = binding; /* the last one that is asked stands first */
    return first;
}

enum takt_python_kind
takt__python_shown(const struct takt_source *source,
                   const struct takt_python_binding *binding)
{
    const struct takt_python_notes *notes = source->notes;
    size_t place = notes->bucket[takt__python_hash(binding->name)];
    enum takt_python_kind kind = TAKT_PYTHON_UNKNOWN;

    for (unsigned i = 0;
         place != 0 && i < MOST_ASKED && kind != TAKT_PYTHON_THING; i++) {
        const struct takt_python_binding *one = &notes->binding[place - 1];
        if (is_use(one) && one->scope == binding->scope &&
            one->name.size == binding->name.size &&
            memcmp(one->name.at, binding->name.at, one->name.size) == 0)
            kind = one->binds == TAKT_PYTHON_TABLE   ? TAKT_PYTHON_THING
                   : one->binds == TAKT_PYTHON_SHOWN ? TAKT_PYTHON_ARRAY
                   : kind == TAKT_PYTHON_UNKNOWN     ? TAKT_PYTHON_NUMBER
                                                     : kind;
        place = one->next;
    }
    return kind;
}

bool takt__python_is_constant(const struct takt_source *source,
                              const struct takt_python_binding *binding)
{
    const struct takt_python_notes *notes = source->notes;
    size_t place = notes->bucket[takt__python_hash(binding->name)];
    unsigned count = 0;

    while (count < 2 &&
           next_of(notes, &place, binding->name, binding->scope) != NULL)
        count++;
    return count == 1;
}

bool takt__python_is_own_class(const struct takt_source *source, TSNode node)
{
    if (!takt__node_is(node, "identifier"))
        return false;
    const struct takt_python_binding *binding = takt__python_lookup(
        source, takt__node_text(source, node), ts_node_start_byte(node));
    return binding != NULL && binding->binds == TAKT_PYTHON_CLASS &&
           takt__node_children(
               takt__node_field(binding->value, "superclasses")) == 0;
}

bool takt__python_has_arrays(const struct takt_source *source)
{
    const struct takt_python_notes *notes = source->notes;
    return notes->has_arrays;
}

bool takt__python_has_torch(const struct takt_source *source)
{
    const struct takt_python_notes *notes = source->notes;
    return notes->has_torch;
}

/* ---- dotted names -------------------------------------------------------- */

static bool dotted(const struct takt_source *source, TSNode node,
                   char out[TAKT_PYTHON_DOTTED], unsigned depth);

static bool append(char out[TAKT_PYTHON_DOTTED], struct takt_text text)
{
    const size_t used = strlen(out);

    if (used + 1 + text.size >= TAKT_PYTHON_DOTTED)
        return false;
    out[used] = '.';
    memcpy(out + used + 1, text.at, text.size);
    out[used + 1 + text.size] = '\0';
    return true;
}

/* A name that this file does not bind: of a module that it imports all of, or
 * a builtin. */
static bool dotted_unbound(const struct takt_source *source,
                           struct takt_text name, char out[TAKT_PYTHON_DOTTED])
{
    const struct takt_python_notes *notes = source->notes;
    const struct takt_python_binding *binding;
    size_t place = notes->bucket[takt__python_hash((struct takt_text){"*", 1})];

    while ((binding = next_of(notes, &place, (struct takt_text){"*", 1}, 0)) !=
           NULL) {
        snprintf(out, TAKT_PYTHON_DOTTED, "%s", binding->module);
        if (append(out, name) && takt__python_is_known(out) &&
            !takt__text_in(name, "max min abs round")) /* not in * */
            return true;
    }
    snprintf(out, TAKT_PYTHON_DOTTED, "builtins");
    return append(out, name);
}

static bool dotted_name(const struct takt_source *source, TSNode node,
                        char out[TAKT_PYTHON_DOTTED], unsigned depth)
{
    const struct takt_text name = takt__node_text(source, node);
    const struct takt_python_binding *binding =
        takt__python_lookup(source, name, ts_node_start_byte(node));

    if (binding == NULL)
        return dotted_unbound(source, name, out);
    if (binding->binds == TAKT_PYTHON_VALUE && binding->part < 0 &&
        !ts_node_is_null(binding->value))
        return dotted(source, binding->value, out, depth + 1);
    if (binding->binds != TAKT_PYTHON_MODULE ||
        strlen(binding->module) >= TAKT_PYTHON_DOTTED)
        return false;
    snprintf(out, TAKT_PYTHON_DOTTED, "%s", binding->module);
    return true;
}

/* What a generator of random numbers has, its module has, too. */
static bool dotted_generator(const struct takt_source *source, TSNode call,
                             char out[TAKT_PYTHON_DOTTED], unsigned depth)
{
    if (!dotted(source, takt__node_field(call, "function"), out, depth + 1) ||
        (strcmp(out, "numpy.random.default_rng") != 0 &&
         strcmp(out, "numpy.random.RandomState") != 0))
        return false;
    snprintf(out, TAKT_PYTHON_DOTTED, "numpy.random");
    return true;
}

static bool dotted(const struct takt_source *source, TSNode node,
                   char out[TAKT_PYTHON_DOTTED], unsigned depth)
{
    if (ts_node_is_null(node) || depth > DEEPEST)
        return false;
    if (takt__node_is(node, "identifier"))
        return dotted_name(source, node, out, depth);
    if (takt__node_is(node, "attribute"))
        return dotted(source, takt__node_field(node, "object"), out,
                      depth + 1) &&
               append(out, takt__node_text(
                               source, takt__node_field(node, "attribute")));
    if (takt__node_is(node, "call"))
        return dotted_generator(source, node, out, depth);
    return false;
}

bool takt__python_dotted(const struct takt_source *source, TSNode node,
                         char out[TAKT_PYTHON_DOTTED])
{
    out[0] = '\0';
    return dotted(source, node, out, 0);
}

bool takt__python_names(const struct takt_source *source, TSNode node,
                        const char *name)
{
    char found[TAKT_PYTHON_DOTTED];
    return takt__python_dotted(source, node, found) && strcmp(found, name) == 0;
}
