/* SPDX-License-Identifier: MIT */
/*
 * c_family_type.c - the types of names and expressions, as far as the
 * declarations in the file tell: which numbers, in how many dimensions.
 */
#include "c_family.h"

#include <string.h>

enum { DEEPEST = 24, NESTED = 12 };

static const struct takt_c_type unknown = {.element = TAKT_IR_UNKNOWN};

bool takt__c_is_float(struct takt_c_type type)
{
    return takt__ir_is_float(type.element) && !type.is_volatile;
}

/* ---- names of types ------------------------------------------------------ */

static const struct known_type {
    const char *names;
    enum takt_ir_element element; /* UNKNOWN: as its first argument says */
    enum takt_ir_kind kind;
    unsigned rank;
} known[] = {
    /* of the standard, Eigen, Armadillo, pybind11, xtensor, Blaze */
    {"vector array span", TAKT_IR_UNKNOWN, TAKT_IR_PLAIN, 1},
    {"valarray", TAKT_IR_UNKNOWN, TAKT_IR_ARRAY, 1},
    {"unique_ptr shared_ptr make_unique static_cast make_shared Map Ref "
     "TensorMap TensorRef",
     TAKT_IR_UNKNOWN, TAKT_IR_PLAIN, 0},
    {"Matrix Mat DynamicMatrix StaticMatrix", TAKT_IR_UNKNOWN, TAKT_IR_MATRIX,
     0},
    {"Array array_t xarray xtensor Tensor", TAKT_IR_UNKNOWN, TAKT_IR_ARRAY, 0},
    {"SparseMatrix", TAKT_IR_OTHER, TAKT_IR_PLAIN, 0},
    {"mat", TAKT_IR_F64, TAKT_IR_MATRIX, 0},
    {"fmat", TAKT_IR_F32, TAKT_IR_MATRIX, 0},
    {"vec colvec rowvec", TAKT_IR_F64, TAKT_IR_VECTOR, 0},
    {"fvec frowvec", TAKT_IR_F32, TAKT_IR_VECTOR, 0},
    {"Col Row DynamicVector StaticVector", TAKT_IR_UNKNOWN, TAKT_IR_VECTOR, 0},
};

/* MatrixXd, Matrix4f, VectorXf, RowVector3d, ArrayXXf. */
static bool eigen_type(struct takt_text name, struct takt_c_type *out)
{
    static const struct {
        const char *begin;
        enum takt_ir_kind kind;
    } forms[] = {{"Matrix", TAKT_IR_MATRIX},
                 {"Vector", TAKT_IR_VECTOR},
                 {"RowVector", TAKT_IR_VECTOR},
                 {"Array", TAKT_IR_ARRAY}};

    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        const size_t begin = strlen(forms[i].begin);
        if (name.size < begin + 2 || name.size > begin + 3 ||
            memcmp(name.at, forms[i].begin, begin) != 0)
            continue;
        const char size = name.at[begin], element = name.at[name.size - 1];
        if (size != 'X' && (size < '2' || size > '4'))
            continue;
        *out = (struct takt_c_type){.kind = forms[i].kind, .of = name};
        out->element = element == 'f'   ? TAKT_IR_F32
                       : element == 'd' ? TAKT_IR_F64
                                        : TAKT_IR_OTHER;
        if (size != 'X')
            out->dim[0] = out->dim[1] = (uint64_t)(size - '0');
        return true;
    }
    return false;
}

static struct takt_c_type primitive(struct takt_text text)
{
    struct takt_c_type type = {.of = text};

    if (takt__text_is(text, "float"))
        type.element = TAKT_IR_F32;
    else if (takt__text_is(text, "double"))
        type.element = TAKT_IR_F64;
    else if (takt__text_is(text, "void"))
        type.element = TAKT_IR_OTHER;
    else
        type.element = TAKT_IR_INTEGER;
    return type;
}

static struct takt_c_type identifier_type(const struct takt_c_place *place,
                                          struct takt_text name,
                                          unsigned depth);

/* #define real double, or another name. One that is defined in several ways is
 * float or double. */
static bool macro_type(const struct takt_c_place *place, struct takt_text name,
                       unsigned depth, struct takt_c_type *out)
{
    static const char whole[] =
        "int long short unsigned signed char bool __int64";
    const struct takt_c_name *found =
        takt__c_find(place->source, name, TAKT_C_MACRO);
    const TSNode body =
        found == NULL ? (TSNode){0} : takt__node_field(found->node, "value");
    bool is_all;

    if (ts_node_is_null(body) || depth > DEEPEST)
        return false;
    const struct takt_text text =
        takt__c_first_word(takt__node_text(place->source, body), &is_all);
    if (takt__text_in(text, whole))
        out->element = TAKT_IR_INTEGER;
    else if (!is_all)
        return false;
    else if (takt__text_in(text, "float double"))
        *out = primitive(text);
    else
        *out = identifier_type(place, text, depth + 1);
    if (takt__ir_is_float(out->element) && found->is_twice)
        out->element = TAKT_IR_FLOAT;
    return true;
}

/* A name that only the file knows which includes this one: TYPE, real. */
static enum takt_ir_element unseen_element(struct takt_text name)
{
    if (takt__c_ends_like_float(name))
        return TAKT_IR_FLOAT;
    return takt__text_in(name, "TYPE DTYPE") ||
                   (name.size > 5 &&
                    memcmp(name.at + name.size - 5, "_type", 5) == 0)
               ? TAKT_IR_GENERIC
               : TAKT_IR_UNKNOWN;
}

/* using Row = Grid::Row; the class of that name is what it is. */
static bool is_of_itself(const struct takt_c_place *place,
                         const struct takt_c_name *alias)
{
    const TSNode type = takt__node_field(
        takt__node_field(alias->holder, "type"), "type"); /* of a descriptor */

    return takt__node_is(type, "qualified_identifier") &&
           takt__ir_same_text(
               takt__node_text(place->source, takt__node_field(type, "name")),
               alias->text);
}

static struct takt_c_type identifier_type(const struct takt_c_place *place,
                                          struct takt_text name, unsigned depth)
{
    struct takt_c_type type = {.of = name};

    if (takt__c_is_type_parameter(place, name)) { /* T, TFloat */
        type.element =
            takt__c_ends_like_float(name) ? TAKT_IR_FLOAT : TAKT_IR_GENERIC;
        type.is_open = type.element == TAKT_IR_GENERIC;
        return type;
    }
    const struct takt_c_name *found =
        takt__c_find(place->source, name, TAKT_C_TYPE);
    if (found != NULL && !is_of_itself(place, found)) {
        const struct takt_c_declaration held = {
            .holder = found->holder,
            .declarator = takt__node_field(found->holder, "declarator")};
        type = takt__c_declared_type(place, &held, depth + 1);
        if (type.element == TAKT_IR_UNKNOWN) /* of what is elsewhere */
            type.element = unseen_element(name);
        return type;
    }
    found = takt__c_find(place->source, name, TAKT_C_CLASS);
    if (found != NULL)
        return takt__c_class_type(place, found->node, name, depth);
    if (macro_type(place, name, depth, &type) || eigen_type(name, &type))
        return type;
    const struct takt_c_notes *notes = place->source->notes;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (notes->is_arma_used && takt__text_in(name, known[i].names) &&
            known[i].element != TAKT_IR_UNKNOWN)
            return (struct takt_c_type){
                .element = known[i].element, .kind = known[i].kind, .of = name};
    if (takt__text_in(name, "span vector")) /* std::span row = all.first(n) */
        type.is_auto = true;
    else if (takt__text_in(name, "float_t float32_t"))
        type.element = TAKT_IR_F32;
    else if (takt__text_in(name, "double_t float64_t"))
        type.element = TAKT_IR_F64;
    else if (name.size > 2 && memcmp(name.at + name.size - 2, "_t", 2) == 0)
        type.element =
            takt__c_ends_like_float(name) ? TAKT_IR_FLOAT : TAKT_IR_INTEGER;
    else if (takt__text_is(name, "string"))
        type.element = TAKT_IR_OTHER;
    else
        type.element = unseen_element(name);
    return type;
}

/* ---- templates ----------------------------------------------------------- */

static uint64_t fixed_size(const struct takt_c_place *place, TSNode argument)
{
    int64_t value;
    enum takt_size_source source;

    if (ts_node_is_null(argument))
        return 0;
    if (takt__node_is(argument, "type_descriptor")) /* a name may be either */
        argument = takt__node_field(argument, "type");
    return takt__c_constant(place, argument, &value, &source) && value > 0
               ? (uint64_t)value
               : 0;
}

/* A class template that is called like a container and has numbers for its
 * first argument holds these: AlignedVector<float>. */
static struct takt_c_type container_type(const struct takt_c_place *place,
                                         struct takt_text name, TSNode first,
                                         unsigned depth)
{
    static const struct {
        const char *word;
        unsigned rank;
    } words[] = {{"vec", 1},    {"array", 1}, {"buffer", 1}, {"span", 1},
                 {"matrix", 2}, {"image", 2}, {"view", 0}};
    const struct takt_c_type inner =
        ts_node_is_null(first) ? unknown
                               : takt__c_named_type(place, first, depth + 1);
    struct takt_c_type type = {.element = TAKT_IR_OTHER, .of = name};

    if (takt__c_find(place->source, name, TAKT_C_CLASS) != NULL)
        type = identifier_type(place, name, depth);
    if (type.element == TAKT_IR_GENERIC && /* what its operators return */
        !ts_node_is_null(first)) {
        type.element = inner.element;
        type.rank += inner.rank;
        if (inner.kind != TAKT_IR_PLAIN)
            type.kind = inner.kind;
    }
    const bool is_open = /* View<T **> */
        inner.element == TAKT_IR_UNKNOWN && inner.rank > 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (takt__c_has(name, words[i].word) &&
            (takt__c_is_float(inner) || is_open) && !takt__c_is_float(type) &&
            inner.rank + words[i].rank > 0) {
            type.is_container = true;
            type.element = inner.element;
            type.rank =
                inner.rank + (takt__c_has(name, "2d")   ? 2
                              : takt__c_has(name, "3d") ? 3
                              : takt__c_has(name, "4d") ? 4
                                                        : words[i].rank);
        }
    return type;
}

/* The first argument that is a type: T of Array<2, T>. */
static TSNode type_argument(TSNode arguments)
{
    const uint32_t count = takt__node_children(arguments);

    for (uint32_t i = 0; i < count && i < 4; i++)
        if (takt__node_is(takt__node_child(arguments, i), "type_descriptor"))
            return takt__node_child(arguments, i);
    return takt__node_child(arguments, 0);
}

static struct takt_c_type template_type(const struct takt_c_place *place,
                                        TSNode node, unsigned depth)
{
    const struct takt_text name =
        takt__node_text(place->source, takt__node_field(node, "name"));
    const TSNode arguments = takt__node_field(node, "arguments");
    const TSNode first = takt__c_first(arguments);
    const TSNode typed = type_argument(arguments);
    const bool is_own = /* Array<2, float>: not Eigen's */
        !ts_node_is_null(first) && !ts_node_eq(first, typed) &&
        takt__c_find(place->source, name, TAKT_C_CLASS) != NULL;
    struct takt_c_type type = {.element = TAKT_IR_OTHER, .of = name};

    if (takt__node_is(node,
                      "template_function")) /* what it returns, who knows */
        type.element = TAKT_IR_UNKNOWN;
    for (size_t i = 0; i < sizeof known / sizeof *known && !is_own; i++) {
        if (!takt__text_in(name, known[i].names) ||
            known[i].element != TAKT_IR_UNKNOWN || ts_node_is_null(first))
            continue;
        const struct takt_c_type inner =
            takt__c_named_type(place, first, depth + 1);
        type = inner;
        type.of = name;
        type.rank += known[i].rank;
        if (known[i].kind != TAKT_IR_PLAIN)
            type.kind = known[i].kind;
        const uint64_t size =
            fixed_size(place, ts_node_named_child(arguments, 1));
        if (known[i].rank == 1) {
            memmove(type.dim + 1, type.dim, 2 * sizeof *type.dim);
            type.dim[0] = takt__text_is(name, "array") ? size : 0;
        } else if (type.kind == TAKT_IR_MATRIX) {
            type.dim[0] = size;
            type.dim[1] = fixed_size(place, ts_node_named_child(arguments, 2));
            if (type.dim[1] == 1 || type.dim[0] == 1)
                type.kind = TAKT_IR_VECTOR;
        }
        return type;
    }
    if (takt__c_find(place->source, name, TAKT_C_TYPE) == NULL)
        return container_type(place, name, typed, depth);
    type = identifier_type(place, name, depth); /* using Rows = vector<T> */
    if (type.element == TAKT_IR_UNKNOWN && !ts_node_is_null(first))
        type.element = takt__c_named_type(place, first, depth + 1).element;
    return type;
}

static struct takt_c_type qualified_type(const struct takt_c_place *place,
                                         TSNode node, unsigned depth)
{
    const TSNode name = takt__node_field(node, "name");
    const TSNode scope = takt__node_field(node, "scope");

    if (ts_node_is_null(name))
        return unknown;
    const struct takt_text text = takt__node_text(place->source, name);
    if (takt__node_is(scope, "template_type") &&
        takt__c_has(text, "iterator")) {
        struct takt_c_type type = takt__c_named_type(place, scope, depth + 1);
        type.is_iterator = true;
        return type;
    }
    return takt__c_named_type(place, name, depth + 1);
}

struct takt_c_type takt__c_named_type(const struct takt_c_place *place,
                                      TSNode node, unsigned depth)
{
    if (ts_node_is_null(node) || depth > DEEPEST)
        return unknown;
    const char *type = ts_node_type(node);
    const struct takt_text text = takt__node_text(place->source, node);
    if (!strcmp(type, "primitive_type"))
        return primitive(text);
    if (!strcmp(type, "sized_type_specifier"))
        return (struct takt_c_type){.element = takt__c_has(text, "double")
                                                   ? TAKT_IR_OTHER
                                                   : TAKT_IR_INTEGER};
    if (takt__word_in(type, "type_identifier identifier"))
        return identifier_type(place, text, depth);
    if (takt__word_in(type, "template_type template_function"))
        return template_type(place, node, depth);
    if (!strcmp(type, "qualified_identifier"))
        return qualified_type(place, node, depth);
    if (!strcmp(type, "type_descriptor")) {
        const struct takt_c_declaration held = {
            .holder = node, .declarator = takt__node_field(node, "declarator")};
        return takt__c_declared_type(place, &held, depth + 1);
    }
    if (takt__word_in(type, "struct_specifier class_specifier")) {
        const TSNode name = takt__node_field(node, "name");
        return ts_node_is_null(name)
                   ? (struct takt_c_type){.element = TAKT_IR_OTHER,
                                          .fields = node.id}
                   : identifier_type(
                         place, takt__node_text(place->source, name), depth);
    }
    if (takt__word_in(type, "placeholder_type_specifier auto"))
        return (struct takt_c_type){.is_auto = true};
    if (takt__word_in(type, "enum_specifier union_specifier"))
        return (struct takt_c_type){.element = TAKT_IR_OTHER};
    return unknown;
}

/* ---- declarations -------------------------------------------------------- */

/* [n] and * around a name: `float a[3][4]` is read from the outside in, and
 * its last dimension stands outermost. */
static void add_declarator(const struct takt_c_place *place, TSNode declarator,
                           struct takt_c_type *type)
{
    uint64_t dim[3] = {0};
    unsigned rank = 0;

    for (unsigned i = 0; i < 16 && !ts_node_is_null(declarator); i++) {
        const char *sort = ts_node_type(declarator);
        if (takt__word_in(sort, "array_declarator abstract_array_declarator")) {
            memmove(dim + 1, dim, 2 * sizeof *dim);
            dim[0] = fixed_size(place, takt__node_field(declarator, "size"));
            rank++;
        } else if (takt__word_in(
                       sort,
                       "pointer_declarator abstract_pointer_declarator")) {
            memmove(dim + 1, dim, 2 * sizeof *dim);
            dim[0] = 0;
            rank++;
        }
        const TSNode inner = takt__node_field(declarator, "declarator");
        if (ts_node_is_null(inner) && strstr(sort, "declarator") == NULL)
            break;
        declarator = ts_node_is_null(inner) ? takt__c_first(declarator) : inner;
    }
    for (unsigned i = 0; i < 3 && i + rank < 3; i++)
        if (rank > 0 && i < type->rank)
            dim[i + rank] = type->dim[i];
    if (rank > 0)
        memcpy(type->dim, dim, sizeof dim);
    type->rank += rank;
}

bool takt__c_is_qualified(const struct takt_source *source, TSNode holder,
                          const char *words)
{
    const uint32_t count = ts_node_named_child_count(holder);

    for (uint32_t i = 0; i < count && i < 8; i++) {
        const TSNode child = ts_node_named_child(holder, i);
        if (takt__node_is(child, "type_qualifier") &&
            takt__text_in(takt__node_text(source, child), words))
            return true;
    }
    return false;
}

/* double complex *x: `complex` is a macro, and no type to the parser. */
static bool is_complex(const struct takt_source *source,
                       const struct takt_c_declaration *declaration)
{
    struct takt_text text = takt__node_text(source, declaration->holder);

    if (ts_node_is_null(declaration->declarator))
        return false;
    const uint32_t start = ts_node_start_byte(declaration->holder);
    const uint32_t name = ts_node_end_byte(declaration->declarator);
    if (name >= start && name - start < text.size)
        text.size = name - start;
    if (text.size > 64) /* what matters stands first */
        text.size = 64;
    return takt__c_has(text, " complex ") || takt__c_has(text, "_Complex");
}

static struct takt_c_type
declared_type(const struct takt_c_place *place,
              const struct takt_c_declaration *declaration, unsigned depth)
{
    if (depth > DEEPEST)
        return unknown;
    struct takt_c_type type = takt__c_named_type(
        place, takt__node_field(declaration->holder, "type"), depth + 1);
    type.is_volatile |= takt__c_is_qualified(place->source, declaration->holder,
                                             "volatile _Atomic");
    if (is_complex(place->source, declaration))
        type.element = TAKT_IR_OTHER;
    if (type.is_auto && !ts_node_is_null(declaration->range)) {
        type = takt__c_expression_type(place, declaration->range, depth + 1);
        if (type.rank > 0 && type.kind != TAKT_IR_MATRIX) {
            type.rank--;
            memmove(type.dim, type.dim + 1, 2 * sizeof *type.dim);
        } else
            type.element = TAKT_IR_UNKNOWN;
        return type;
    }
    if (type.is_auto)
        return ts_node_is_null(declaration->value)
                   ? unknown
                   : takt__c_expression_type(place, declaration->value,
                                             depth + 1);
    add_declarator(place, declaration->declarator, &type);
    return type;
}

struct takt_c_type
takt__c_declared_type(const struct takt_c_place *place,
                      const struct takt_c_declaration *declaration,
                      unsigned depth)
{
    struct takt_c_notes *notes = place->source->notes;

    if (notes->nesting > NESTED) /* auto x = x */
        return unknown;
    notes->nesting++;
    const struct takt_c_type type = declared_type(place, declaration, depth);
    notes->nesting--;
    return type;
}

struct takt_c_type takt__c_type_of(const struct takt_c_place *place,
                                   struct takt_text name)
{
    struct takt_c_declaration found;

    if (!takt__c_declared(place, name, &found))
        return unknown;
    return takt__c_declared_type(place, &found, 0);
}
