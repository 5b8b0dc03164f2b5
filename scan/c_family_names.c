/* SPDX-License-Identifier: MIT */
/*
 * c_family_names.c - the names that a C or C++ file declares outside of
 * functions: gathered once for a file, found by their text.
 */
#include "c_family.h"
#include "memory.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { DEEPEST = 16, LEAST = 64 }; /* namespaces in namespaces; slots */

/* ---- texts --------------------------------------------------------------- */

struct takt_text takt__c_first_word(struct takt_text text, bool *is_all)
{
    while (text.size > 0 && isspace((unsigned char)*text.at))
        text.at++, text.size--;
    while (text.size > 0 && isspace((unsigned char)text.at[text.size - 1]))
        text.size--;
    size_t size = 0;
    while (size < text.size &&
           (isalnum((unsigned char)text.at[size]) || text.at[size] == '_'))
        size++;
    *is_all = size == text.size;
    return (struct takt_text){text.at, size};
}

bool takt__c_has(struct takt_text text, const char *word)
{
    const size_t size = strlen(word);

    for (size_t i = 0; i + size <= text.size; i++)
        if (strncasecmp(text.at + i, word, size) == 0)
            return true;
    return false;
}

TSNode takt__c_first(TSNode node)
{
    return ts_node_named_child(node, 0);
}

TSNode takt__c_bare(TSNode node)
{
    while (!ts_node_is_null(node) &&
           (takt__node_in(node, "parenthesized_expression condition_clause")))
        node = takt__c_first(node);
    return node;
}

/* static_cast<float>(x), float(x), (float)x. */
TSNode takt__c_without_casts(const struct takt_source *source, TSNode node)
{
    for (unsigned i = 0; i < 8; i++) {
        node = takt__c_bare(node);
        if (ts_node_is_null(node))
            return node;
        if (takt__node_is(node, "cast_expression")) {
            node = takt__node_field(node, "value");
            continue;
        }
        if (!takt__node_is(node, "call_expression"))
            return node;
        const struct takt_text callee =
            takt__node_text(source, takt__node_field(node, "function"));
        if (!takt__text_in(callee, "float double") &&
            (callee.size < 12 || memcmp(callee.at, "static_cast<", 12) != 0))
            return node;
        node = takt__c_first(takt__node_field(node, "arguments"));
    }
    return node;
}

/* ---- the table ----------------------------------------------------------- */

static size_t slot_of(struct takt_text text, enum takt_c_what what,
                      const void *block)
{
    uint64_t hash = 14695981039346656037u + (unsigned)what + (uintptr_t)block;

    for (size_t i = 0; i < text.size; i++)
        hash = (hash ^ (unsigned char)text.at[i]) * 1099511628211u;
    return (size_t)(hash ^ (hash >> 29));
}

static struct takt_c_name *slot(const struct takt_c_notes *notes,
                                struct takt_text text, enum takt_c_what what,
                                const void *block)
{
    size_t i = slot_of(text, what, block) % notes->name_room;

    while (notes->name[i].text.at != NULL &&
           (notes->name[i].what != what || notes->name[i].block != block ||
            !takt__ir_same_text(notes->name[i].text, text)))
        i = (i + 1) % notes->name_room;
    return &notes->name[i];
}

static void grow(struct takt_c_notes *notes)
{
    const struct takt_c_notes old = *notes;

    if (notes->name_count * 4 < notes->name_room * 3)
        return;
    notes->name_room = old.name_room == 0 ? LEAST : old.name_room * 2;
    notes->name = takt__scan_zeros(notes->name_room, sizeof *notes->name);
    for (size_t i = 0; i < old.name_room; i++)
        if (old.name[i].text.at != NULL)
            *slot(notes, old.name[i].text, old.name[i].what,
                  old.name[i].block) = old.name[i];
    free(old.name);
}

/* Of a type or macro that is declared for fixed-point numbers and for others,
 * whether it is the latter. */
static bool is_of_floats(struct takt_text text, enum takt_c_what what)
{
    if (what == TAKT_C_TYPE)
        return (takt__c_has(text, "float") || takt__c_has(text, "double")) &&
               !takt__c_has(text, "long");
    return what == TAKT_C_MACRO && !takt__c_has(text, ">>") &&
           !takt__c_has(text, "<<") && !takt__c_has(text, "int");
}

/* Of several the first stays, but a class or function with a body wins, and
 * what is declared for floating-point numbers. */
static void keep_in(struct takt_source *source, const void *block, TSNode name,
                    enum takt_c_what what, TSNode node, TSNode holder)
{
    struct takt_c_notes *notes = source->notes;

    if (ts_node_is_null(name))
        return;
    grow(notes);
    const struct takt_text text = takt__node_text(source, name);
    struct takt_c_name *place = slot(notes, text, what, block);
    place->is_twice = place->text.at != NULL;
    if (place->text.at != NULL &&
        !(what == TAKT_C_FUNCTION
              ? !takt__node_is(place->holder, "function_definition") &&
                    takt__node_is(holder, "function_definition")
              : is_of_floats(takt__node_text(source, holder), what) &&
                    !is_of_floats(takt__node_text(source, place->holder),
                                  what)))
        return;
    notes->name_count += place->text.at == NULL;
    *place = (struct takt_c_name){.text = text,
                                  .what = what,
                                  .node = node,
                                  .holder = holder,
                                  .block = block};
}

static void keep(struct takt_source *source, TSNode name, enum takt_c_what what,
                 TSNode node, TSNode holder)
{
    keep_in(source, NULL, name, what, node, holder);
}

const struct takt_c_name *takt__c_find(const struct takt_source *source,
                                       struct takt_text text,
                                       enum takt_c_what what)
{
    const struct takt_c_notes *notes = source->notes;
    const struct takt_c_name *found =
        notes->name_room == 0 ? NULL : slot(notes, text, what, NULL);

    return found == NULL || found->text.at == NULL ? NULL : found;
}

const struct takt_c_name *takt__c_find_field(const struct takt_source *source,
                                             const void *class,
                                             struct takt_text text)
{
    const struct takt_c_notes *notes = source->notes;
    const struct takt_c_name *found =
        notes->name_room == 0 || class == NULL
            ? NULL
            : slot(notes, text, TAKT_C_FIELD, class);

    return found == NULL || found->text.at == NULL
               ? takt__c_find(source, text, TAKT_C_FIELD)
               : found;
}

/* ---- gathering ----------------------------------------------------------- */

TSNode takt__c_declared_name(TSNode declarator, bool *is_function)
{
    for (unsigned i = 0; i < 32 && !ts_node_is_null(declarator); i++) {
        if (takt__node_in(declarator,
                          "identifier field_identifier type_identifier "
                          "qualified_identifier operator_name destructor_name"))
            return declarator;
        if (takt__node_is(declarator, "function_declarator"))
            *is_function = true;
        const TSNode inner = takt__node_field(declarator, "declarator");
        declarator = ts_node_is_null(inner) ? takt__c_first(declarator) : inner;
        while (!ts_node_is_null(declarator) &&
               (takt__node_in(declarator,
                              "type_qualifier comment attribute_specifier")))
            declarator = ts_node_next_named_sibling(declarator);
    }
    return (TSNode){0};
}

bool takt__c_next_declared(TSNode declaration, uint32_t *at,
                           struct takt_c_declared *out)
{
    const uint32_t count = ts_node_child_count(declaration);

    while (*at < count && *at < 256) {
        const uint32_t i = (*at)++;
        const char *field = ts_node_field_name_for_child(declaration, i);
        if (field == NULL || strcmp(field, "declarator") != 0)
            continue;
        out->is_function = false;
        out->declarator = ts_node_child(declaration, i);
        out->name = takt__c_declared_name(out->declarator, &out->is_function);
        return true;
    }
    return false;
}

static void gather(struct takt_source *source, TSNode node, const void *class,
                   unsigned depth);

static void gather_declarators(struct takt_source *source, TSNode node,
                               const void *class)
{
    const enum takt_c_what what = class != NULL ? TAKT_C_FIELD : TAKT_C_VALUE;
    struct takt_c_declared one;

    for (uint32_t at = 0; takt__c_next_declared(node, &at, &one);) {
        keep(source, one.name, one.is_function ? TAKT_C_FUNCTION : what,
             one.declarator, node);
        if (class != NULL && !one.is_function)
            keep_in(source, class, one.name, what, one.declarator, node);
    }
}

static void gather_enumerators(struct takt_source *source, TSNode list)
{
    const uint32_t count = ts_node_named_child_count(list);

    for (uint32_t i = 0; i < count && i < 1024; i++) {
        const TSNode one = ts_node_named_child(list, i);
        if (takt__node_is(one, "enumerator"))
            keep(source, takt__node_field(one, "name"), TAKT_C_CONSTANT, one,
                 list);
    }
}

/* A class, struct or enum, wherever it is written. */
static void gather_type(struct takt_source *source, TSNode type, unsigned depth)
{
    if (ts_node_is_null(type))
        return;
    const TSNode body = takt__node_field(type, "body");
    if (ts_node_is_null(body))
        return;
    if (takt__node_is(type, "enum_specifier")) {
        gather_enumerators(source, body);
        return;
    }
    keep(source, takt__node_field(type, "name"), TAKT_C_CLASS, type, type);
    gather(source, body, type.id, depth + 1);
}

static void gather_typedef(struct takt_source *source, TSNode node)
{
    bool is_function = false;
    const TSNode declarator = takt__node_field(node, "declarator");

    keep(source, takt__c_declared_name(declarator, &is_function), TAKT_C_TYPE,
         node, node);
}

static void gather_one(struct takt_source *source, TSNode node,
                       const void *class, unsigned depth)
{
    const char *type = ts_node_type(node);

    if (takt__word_in(type, "declaration field_declaration")) {
        gather_type(source, takt__node_field(node, "type"), depth);
        gather_declarators(source, node, class);
    } else if (!strcmp(type, "function_definition")) {
        gather_declarators(source, node, class);
    } else if (!strcmp(type, "type_definition")) {
        gather_type(source, takt__node_field(node, "type"), depth);
        gather_typedef(source, node);
    } else if (!strcmp(type, "alias_declaration")) {
        keep(source, takt__node_field(node, "name"), TAKT_C_TYPE, node, node);
    } else if (takt__word_in(type, "preproc_def preproc_function_def")) {
        keep(source, takt__node_field(node, "name"), TAKT_C_MACRO, node, node);
    } else if (takt__word_in(
                   type, "struct_specifier class_specifier enum_specifier")) {
        gather_type(source, node, depth);
    } else if (takt__word_in(type,
                             "namespace_definition linkage_specification")) {
        gather(source, takt__node_field(node, "body"), class, depth + 1);
    } else if (!strncmp(type, "preproc_", 8) ||
               takt__word_in(type, "template_declaration ERROR")) {
        gather(source, node, class, depth + 1);
    } else if (!strcmp(type, "using_declaration")) {
        const struct takt_text text = takt__node_text(source, node);
        if (takt__c_has(text, "namespace std"))
            ((struct takt_c_notes *)source->notes)->is_std_used = true;
    }
}

static void gather(struct takt_source *source, TSNode node, const void *class,
                   unsigned depth)
{
    if (ts_node_is_null(node) || depth > DEEPEST)
        return;
    TSTreeCursor cursor = ts_tree_cursor_new(node);
    if (ts_tree_cursor_goto_first_child(&cursor))
        do
            gather_one(source, ts_tree_cursor_current_node(&cursor), class,
                       depth);
        while (ts_tree_cursor_goto_next_sibling(&cursor));
    ts_tree_cursor_delete(&cursor);
}

/* ---- blocks, each gathered when it is first asked about ------------------ */

static void keep_local(const struct takt_source *source, TSNode block,
                       struct takt_text text, enum takt_c_what what,
                       TSNode declarator, TSNode holder)
{
    struct takt_c_notes *notes = source->notes;

    grow(notes);
    struct takt_c_name *place = slot(notes, text, what, block.id);
    if (place->text.at == NULL)
        notes->name_count++;
    *place = (struct takt_c_name){.text = text,
                                  .what = what,
                                  .node = declarator,
                                  .holder = holder,
                                  .block = block.id};
}

static void gather_locals(const struct takt_source *source, TSNode block,
                          TSNode node)
{
    struct takt_c_declared one;

    for (uint32_t at = 0; takt__c_next_declared(node, &at, &one);)
        if (!ts_node_is_null(one.name))
            keep_local(source, block, takt__node_text(source, one.name),
                       TAKT_C_LOCAL, one.declarator, node);
}

const struct takt_c_name *takt__c_find_local(const struct takt_source *source,
                                             TSNode block,
                                             struct takt_text text)
{
    struct takt_c_notes *notes = source->notes;
    const struct takt_text none = {"", 0};

    grow(notes);
    if (slot(notes, none, TAKT_C_BLOCK, block.id)->text.at == NULL) {
        keep_local(source, block, none, TAKT_C_BLOCK, block, block);
        TSTreeCursor cursor = ts_tree_cursor_new(block);
        if (ts_tree_cursor_goto_first_child(&cursor))
            do {
                const TSNode child = ts_tree_cursor_current_node(&cursor);
                if (takt__node_is(child, "declaration"))
                    gather_locals(source, block, child);
            } while (ts_tree_cursor_goto_next_sibling(&cursor));
        ts_tree_cursor_delete(&cursor);
    }
    const struct takt_c_name *found = slot(notes, text, TAKT_C_LOCAL, block.id);
    return found->text.at == NULL ? NULL : found;
}

/* ---- test files ---------------------------------------------------------- */

static bool is_test_name(struct takt_text stem)
{
    static const char *const begin[] = {"test_", "tests_", "Test", "unittest"};
    static const char *const end[] = {"_test", "_tests", "_unittest", "Test",
                                      "Tests"};

    for (size_t i = 0; i < sizeof begin / sizeof *begin; i++)
        if (stem.size >= strlen(begin[i]) &&
            memcmp(stem.at, begin[i], strlen(begin[i])) == 0)
            return true;
    for (size_t i = 0; i < sizeof end / sizeof *end; i++)
        if (stem.size >= strlen(end[i]) &&
            memcmp(stem.at + stem.size - strlen(end[i]), end[i],
                   strlen(end[i])) == 0)
            return true;
    return false;
}

static bool is_test_path(const char *path)
{
    static const char folders[] = "test tests testing unittests gtest";
    const char *part = path;

    for (const char *slash; (slash = strchr(part, '/')) != NULL;
         part = slash + 1)
        if (takt__text_in((struct takt_text){part, (size_t)(slash - part)},
                          folders))
            return true;
    const char *dot = strrchr(part, '.');
    return is_test_name((struct takt_text){
        part, dot == NULL ? strlen(part) : (size_t)(dot - part)});
}

static bool mentions(const struct takt_source *source, const char *word)
{
    const size_t size = strlen(word);
    const char *at = source->text, *end = at + source->size;

    while ((at = memchr(at, *word, (size_t)(end - at))) != NULL) {
        if ((size_t)(end - at) >= size && memcmp(at, word, size) == 0)
            return true;
        at++;
    }
    return false;
}

static const char *const matrix_words[] = {
    "Matrix", "Vector",   "Array", "Map<", "Ref<", "arma",
    "xt::",   "valarray", "Mat",   "Vec",  "mat",  NULL};

static bool mentions_any(const struct takt_source *source,
                         const char *const *words)
{
    for (; *words != NULL; words++)
        if (mentions(source, *words))
            return true;
    return false;
}

void takt__c_begin(struct takt_source *source)
{
    struct takt_c_notes *notes = takt__scan_zeros(1, sizeof *notes);

    source->notes = notes;
    notes->is_test_path = is_test_path(source->path);
    notes->is_arma_used = mentions(source, "arma");
    notes->has_matrices = mentions_any(source, matrix_words);
    gather(source, ts_tree_root_node(source->tree), NULL, 0);
    if (source->borrowed != NULL)
        gather(source, ts_tree_root_node(source->borrowed), NULL, 0);
}

void takt__c_end(struct takt_source *source)
{
    struct takt_c_notes *notes = source->notes;

    free(notes->name);
    free(notes->verdict);
    free(notes);
    source->notes = NULL;
}
