/* SPDX-License-Identifier: MIT */
/*
 * python_names.c - who binds a name: imports, assignments, parameters, loops.
 *
 * One walk over the tree notes every scope and every binding. A look-up follows
 * Python's rules: the innermost scope that binds a name is meant, classes are
 * not seen from their methods, and of several bindings the last one above
 * counts. Branches are not followed.
 */
#include "python.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "python_notes.h"

enum {
    BUCKETS = 4096,
    NONE = -1,
    MOST_PARTS = 64,        /* of a tuple, and parameters */
    MOST_IMPORTS = 1000,    /* by one statement */
    MOST_CANDIDATES = 20000 /* in a file */
};

/* ---- the notes ----------------------------------------------------------- */

size_t takt__python_hash(struct takt_text name)
{
    uint32_t sum = 2166136261u;

    for (size_t i = 0; i < name.size; i++)
        sum = (sum ^ (unsigned char)name.at[i]) * 16777619u;
    return sum % BUCKETS;
}

static void push_scope(struct takt_python_notes *notes, TSNode from, TSNode to,
                       enum takt_python_scope_kind kind)
{
    takt__scan_grow(&notes->scope, &notes->scope_room, notes->scopes + 1,
                    sizeof *notes->scope);
    notes->scope[notes->scopes] = (struct takt_python_scope){
        ts_node_start_byte(from), ts_node_end_byte(to), notes->current, kind};
    notes->current = (unsigned)notes->scopes++;
}

void takt__python_bind(struct takt_python_notes *notes,
                       struct takt_python_binding binding)
{
    takt__scan_grow(&notes->binding, &notes->binding_room, notes->bindings + 1,
                    sizeof binding);
    size_t *bucket = &notes->bucket[takt__python_hash(binding.name)];
    binding.next = *bucket;
    notes->binding[notes->bindings] = binding;
    *bucket = ++notes->bindings; /* places count from 1 there: 0 is none */
}

static void note_candidate(struct takt_python_notes *notes, TSNode node)
{
    if (notes->candidates == MOST_CANDIDATES)
        return;
    takt__scan_grow(&notes->candidate, &notes->candidate_room,
                    notes->candidates + 1, sizeof node);
    notes->candidate[notes->candidates++] = node;
}

/* ---- the walk ------------------------------------------------------------ */

unsigned takt__python_class_around(const struct takt_python_notes *notes,
                                   unsigned scope)
{
    while (scope != 0 && notes->scope[scope].kind != TAKT_PYTHON_SCOPE_CLASS)
        scope = notes->scope[scope].parent;
    return scope;
}

/* `name = value` for whatever stands on the left: also a, b = and self.name. */
static void bind_target(struct takt_source *source, TSNode target,
                        struct takt_python_binding like)
{
    struct takt_python_notes *notes = source->notes;
    const unsigned parts = takt__node_children(target);

    like.scope = notes->current;
    like.name = takt__node_text(source, target);
    if (takt__node_is(target, "identifier")) {
        takt__python_bind(notes, like);
    } else if (takt__node_is(target, "attribute")) {
        like.scope = takt__python_class_around(notes, notes->current);
        if (like.scope != 0 && like.name.size > 5 &&
            memcmp(like.name.at, "self.", 5) == 0)
            takt__python_bind(notes, like);
    } else if (like.part == NONE && !takt__node_is(target, "subscript")) {
        for (unsigned i = 0; i < parts && i < MOST_PARTS; i++) {
            like.part = (int)i;
            bind_target(source, takt__node_child(target, i), like);
        }
    } else if (takt__node_in(target, "pattern_list tuple_pattern")) {
        like.binds = TAKT_PYTHON_OTHER; /* tuples in tuples: unknown */
        for (unsigned i = 0; i < parts && i < MOST_PARTS; i++) {
            TSNode part = takt__node_child(target, i);
            if (takt__node_is(part, "identifier"))
                bind_target(source, part, like);
        }
    }
}

static void bind_assignment(struct takt_source *source, TSNode node)
{
    struct takt_python_notes *notes = source->notes;
    const TSNode right = takt__node_field(node, "right");

    if (!ts_node_eq(node, notes->next_in_chain))
        notes->chain_value = right;
    while (takt__node_is(notes->chain_value, "assignment"))
        notes->chain_value = takt__node_field(notes->chain_value, "right");
    notes->next_in_chain = right;
    bind_target(
        source, takt__node_field(node, "left"),
        (struct takt_python_binding){.from = ts_node_end_byte(node),
                                     .binds = TAKT_PYTHON_VALUE,
                                     .part = NONE,
                                     .value = notes->chain_value,
                                     .type = takt__node_field(node, "type")});
}

static void bind_loop(struct takt_source *source, TSNode node, uint32_t from)
{
    bind_target(
        source, takt__node_field(node, "left"),
        (struct takt_python_binding){.from = from,
                                     .binds = TAKT_PYTHON_ITEM,
                                     .part = NONE,
                                     .value = takt__node_field(node, "right")});
}

static void bind_plain(struct takt_source *source, TSNode name)
{
    if (!ts_node_is_null(name))
        bind_target(source, name,
                    (struct takt_python_binding){.from = ts_node_end_byte(name),
                                                 .part = NONE});
}

/* NumPy with gradients is NumPy, and some have its functions by its names. */
static const char *as_numpy(const char *module)
{
    static const char same[] = "autograd.numpy jax.numpy cupy keras.backend "
                               "tensorflow.keras.backend";

    if (takt__text_in((struct takt_text){module, strlen(module)}, same))
        return "numpy";
    return strncmp(module, "jax.numpy.", 10) == 0 ? module + 4 : module;
}

/* import a.b, import a.b as c; from a import b, b as c, *. `within` is null,
 * or the a of the second kind. */
static void bind_import(struct takt_source *source, TSNode node, TSNode within)
{
    struct takt_python_notes *notes = source->notes;
    const bool has_alias = takt__node_is(node, "aliased_import");
    const bool is_star = takt__node_is(node, "wildcard_import");
    TSNode path = has_alias ? takt__node_field(node, "name") : node;
    struct takt_text part[3] = {
        {"", 0}, {"", 0}, takt__node_text(source, path)};
    struct takt_python_binding binding = {.scope = notes->current,
                                          .from = ts_node_end_byte(node),
                                          .part = NONE,
                                          .binds = TAKT_PYTHON_MODULE};

    binding.name = takt__node_text(
        source, has_alias ? takt__node_field(node, "alias") : node);
    if (!ts_node_is_null(within)) {
        part[0] = takt__node_text(source, within);
        part[1] = (struct takt_text){".", 1};
    } else if (!has_alias) { /* import a.b binds a */
        const char *dot = memchr(binding.name.at, '.', binding.name.size);
        if (dot != NULL)
            binding.name.size = (size_t)(dot - binding.name.at);
        part[2] = binding.name;
    }
    if (is_star) {
        binding.binds = TAKT_PYTHON_STAR;
        part[1].size = part[2].size = 0;
    }
    binding.module = as_numpy(takt__source_keep(source, part, 3));
    static const char *const with_arrays[] = {"numpy", "torch", "scipy",
                                              "tensorflow"};
    for (size_t i = 0; i < sizeof with_arrays / sizeof *with_arrays; i++)
        notes->has_arrays |= strncmp(binding.module, with_arrays[i],
                                     strlen(with_arrays[i])) == 0;
    notes->has_torch |= strncmp(binding.module, "torch", 5) == 0;
    notes->has_symbols |= strncmp(binding.module, "sympy", 5) == 0 ||
                          strncmp(binding.module, "mpmath", 6) == 0;
    takt__python_bind(notes, binding);
}

static void bind_imports(struct takt_source *source, TSNode node)
{
    TSNode within = takt__node_field(node, "module_name");
    const unsigned count = takt__node_children(node);

    for (unsigned i = 0; i < count && i < MOST_IMPORTS; i++) {
        TSNode child = takt__node_child(node, i);
        if (ts_node_is_null(within) || !ts_node_eq(child, within))
            bind_import(source, child, within);
    }
}

static void bind_parameter(struct takt_source *source, TSNode node)
{
    TSNode name = takt__node_field(node, "name");

    if (takt__node_is(node, "identifier"))
        name = node;
    else if (ts_node_is_null(name))
        name = takt__node_child(node, 0);
    if (ts_node_is_null(name))
        return;
    if (takt__node_in(name, "list_splat_pattern dictionary_splat_pattern"))
        name = takt__node_child(name, 0);
    if (!ts_node_is_null(name))
        bind_target(source, name,
                    (struct takt_python_binding){
                        .from = ts_node_start_byte(name),
                        .binds = TAKT_PYTHON_PARAMETER,
                        .part = NONE,
                        .value = takt__node_field(node, "value"),
                        .type = takt__node_field(node, "type")});
}

static void enter_function(struct takt_source *source, TSNode node)
{
    TSNode parameters = takt__node_field(node, "parameters");
    TSNode body = takt__node_field(node, "body");
    const bool is_lambda = takt__node_is(node, "lambda");

    TSNode name = takt__node_field(node, "name");
    if (!is_lambda && !ts_node_is_null(name))
        bind_target(source, name,
                    (struct takt_python_binding){.from = ts_node_end_byte(name),
                                                 .binds = TAKT_PYTHON_FUNCTION,
                                                 .part = NONE,
                                                 .value = node});
    if (ts_node_is_null(body))
        return;
    push_scope(source->notes,
               is_lambda || ts_node_is_null(parameters) ? node : parameters,
               body, TAKT_PYTHON_SCOPE_FUNCTION);
    if (ts_node_is_null(parameters))
        return;
    const unsigned count = takt__node_children(parameters);
    for (unsigned i = 0; i < count && i < MOST_PARTS; i++)
        bind_parameter(source, takt__node_child(parameters, i));
}

static void enter_class(struct takt_source *source, TSNode node)
{
    TSNode name = takt__node_field(node, "name");
    TSNode body = takt__node_field(node, "body");

    if (!ts_node_is_null(name))
        bind_target(source, name,
                    (struct takt_python_binding){.from = ts_node_end_byte(name),
                                                 .binds = TAKT_PYTHON_CLASS,
                                                 .part = NONE,
                                                 .value = node});
    if (!ts_node_is_null(body))
        push_scope(source->notes, body, body, TAKT_PYTHON_SCOPE_CLASS);
}

/* What may be a composition: python_compose.c decides, later. */
static void note_operator(struct takt_source *source, TSNode node)
{
    const char sign = takt__python_operator(source, node);

    if (sign == '/' || sign == '@')
        note_candidate(source->notes, node);
}

static void note_call(struct takt_source *source, TSNode node)
{
    TSNode function = takt__node_field(node, "function");
    TSNode name = takt__node_field(function, "attribute");

    if (ts_node_is_null(name))
        return;
    const struct takt_text text = takt__node_text(source, name);
    if (takt__text_in(text, "matmul bmm dot mm"))
        note_candidate(source->notes, node);
    takt__python_note_operands(source, node, text);
}

static void enter_comprehension(struct takt_source *source, TSNode node)
{
    if (takt__node_is(node, "list_comprehension"))
        note_candidate(source->notes, node);
    push_scope(source->notes, node, node, TAKT_PYTHON_SCOPE_COMPREHENSION);
}

static void bind_for(struct takt_source *source, TSNode node)
{
    TSNode body = takt__node_field(node, "body");

    bind_loop(source, node,
              ts_node_start_byte(ts_node_is_null(body) ? node : body));
}

/* Its variables are there in all of the comprehension, also in front. */
static void bind_clause(struct takt_source *source, TSNode node)
{
    const struct takt_python_notes *notes = source->notes;
    bind_loop(source, node, notes->scope[notes->current].from);
}

static void bind_change(struct takt_source *source, TSNode node)
{
    bind_target(source, takt__node_field(node, "left"),
                (struct takt_python_binding){.binds = TAKT_PYTHON_CHANGE,
                                             .part = NONE});
}

/* x := value, and with or except ... as x */
static void bind_first(struct takt_source *source, TSNode node)
{
    bind_plain(source, takt__node_child(node, 0));
}

/* What never runs: if False, if TYPE_CHECKING. */
static void claim_dead(struct takt_source *source, TSNode node)
{
    TSNode condition = takt__node_field(node, "condition");
    TSNode consequence = takt__node_field(node, "consequence");

    takt__python_note_condition(source, node);
    if (ts_node_is_null(condition) || ts_node_is_null(consequence))
        return;
    if (takt__text_in(takt__node_text(source, condition),
                      "False 0 TYPE_CHECKING typing.TYPE_CHECKING "
                      "t.TYPE_CHECKING"))
        takt__python_claim(source, consequence);
}

static const struct {
    const char *type;
    void (*note)(struct takt_source *source, TSNode node);
} noted[] = {
    {"function_definition", enter_function},
    {"lambda", enter_function},
    {"class_definition", enter_class},
    {"list_comprehension", enter_comprehension},
    {"set_comprehension", enter_comprehension},
    {"dictionary_comprehension", enter_comprehension},
    {"generator_expression", enter_comprehension},
    {"for_in_clause", bind_clause},
    {"for_statement", bind_for},
    {"assignment", bind_assignment},
    {"augmented_assignment", bind_change},
    {"named_expression", bind_first},
    {"as_pattern_target", bind_first},
    {"import_statement", bind_imports},
    {"import_from_statement", bind_imports},
    {"if_statement", claim_dead},
    {"while_statement", takt__python_note_condition},
    {"binary_operator", note_operator},
    {"call", note_call},
    {"attribute", takt__python_note_attribute},
    {"subscript", takt__python_note_subscript},
};

enum { NOTED = sizeof noted / sizeof noted[0] };

/* By the numbers of the node types, for there are many nodes. */
static void number_types(struct takt_python_notes *notes,
                         const TSLanguage *language)
{
    for (unsigned i = 0; i < NOTED; i++) {
        const TSSymbol symbol = ts_language_symbol_for_name(
            language, noted[i].type, (uint32_t)strlen(noted[i].type), true);
        if (symbol < TAKT_PYTHON_SYMBOLS)
            notes->noted[symbol] = (unsigned char)(i + 1);
    }
}

static void visit(struct takt_source *source, TSNode node)
{
    struct takt_python_notes *notes = source->notes;
    const TSSymbol symbol = ts_node_symbol(node);

    if (symbol >= TAKT_PYTHON_SYMBOLS || notes->noted[symbol] == 0)
        return;
    while (ts_node_start_byte(node) >= notes->scope[notes->current].to &&
           notes->current != 0)
        notes->current = notes->scope[notes->current].parent;
    noted[notes->noted[symbol] - 1].note(source, node);
}

static void walk(struct takt_source *source)
{
    TSTreeCursor cursor = ts_tree_cursor_new(ts_tree_root_node(source->tree));

    do
        visit(source, ts_tree_cursor_current_node(&cursor));
    while (takt__cursor_next(&cursor, true));
    ts_tree_cursor_delete(&cursor);
}

void takt__python_begin(struct takt_source *source)
{
    struct takt_python_notes *notes = takt__scan_zeros(1, sizeof *notes);

    source->notes = notes;
    notes->bucket = takt__scan_zeros(BUCKETS, sizeof *notes->bucket);
    TSNode root = ts_tree_root_node(source->tree);
    push_scope(notes, root, root, TAKT_PYTHON_SCOPE_MODULE);
    notes->scope[0].from = 0;
    notes->scope[0].to = UINT32_MAX;
    notes->is_claiming = true;
    number_types(notes, ts_tree_language(source->tree));
    walk(source);
    for (size_t i = 0; i < notes->candidates; i++)
        takt__python_composition(source, notes->candidate[i]);
    notes->is_claiming = false;
}

void takt__python_end(struct takt_source *source)
{
    struct takt_python_notes *notes = source->notes;

    free(notes->scope);
    free(notes->binding);
    free(notes->bucket);
    free(notes->candidate);
    free(notes->claim);
    free(notes);
    source->notes = NULL;
}

void takt__python_claim(const struct takt_source *source, TSNode node)
{
    struct takt_python_notes *notes = source->notes;

    if (!notes->is_claiming)
        return;
    takt__scan_grow(&notes->claim, &notes->claim_room, notes->claims + 1,
                    sizeof *notes->claim);
    notes->claim[notes->claims++] = (struct takt_python_claim){
        ts_node_start_byte(node), ts_node_end_byte(node)};
}

bool takt__python_is_claimed(const struct takt_source *source, TSNode node)
{
    const struct takt_python_notes *notes = source->notes;
    const uint32_t from = ts_node_start_byte(node);
    const uint32_t to = ts_node_end_byte(node);

    for (size_t i = 0; i < notes->claims; i++)
        if (notes->claim[i].from <= from && to <= notes->claim[i].to)
            return true;
    return false;
}
