/* SPDX-License-Identifier: MIT */
/*
 * rust_types.c - the type of an expression, as far as the file shows it:
 * annotations, literals, turbofish, fields, signatures and what is passed on
 * by well-known methods. An iterator counts as the sequence that it goes over.
 */
#include "rust.h"

#include <string.h>

static const struct takt_rust_type UNKNOWN = {.leaf = TAKT_RUST_UNKNOWN};

struct takt_rust_type takt__rust_scalar(enum takt_rust_leaf leaf)
{
    return (struct takt_rust_type){.leaf = leaf};
}

bool takt__rust_is_array(struct takt_rust_type type)
{
    return (type.shell == TAKT_RUST_NDARRAY ||
            type.shell == TAKT_RUST_NALGEBRA) &&
           rust_is_float(type);
}

static enum takt_rust_leaf leaf_named(struct takt_text text)
{
    static const char integers[] =
        "i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize";
    if (takt__text_is(text, "f32"))
        return TAKT_RUST_F32;
    if (takt__text_is(text, "f64"))
        return TAKT_RUST_F64;
    return takt__text_in(text, integers) ? TAKT_RUST_INTEGER : TAKT_RUST_OTHER;
}

struct takt_rust_type takt__rust_sequence(struct takt_rust_type inner,
                                          struct takt_rust_extent count)
{
    struct takt_rust_type type = inner;
    if (inner.shell != TAKT_RUST_PLAIN) /* of structs, by their name */
        return (struct takt_rust_type){
            /* Vec<Row<f64>> may be rows */
            .leaf = inner.shell == TAKT_RUST_OWN && rust_is_float(inner)
                        ? TAKT_RUST_UNKNOWN
                        : TAKT_RUST_OTHER,
            .depth = 1,
            .name = inner.name};
    type.depth++;
    for (unsigned i = TAKT_RUST_EXTENTS - 1; i > 0; i--)
        type.extent[i] = inner.extent[i - 1];
    type.extent[0] = count;
    return type;
}

struct takt_rust_type takt__rust_element(struct takt_rust_type type)
{
    if (type.shell == TAKT_RUST_NDARRAY || type.shell == TAKT_RUST_NALGEBRA)
        return takt__rust_scalar(type.leaf);
    if (type.shell != TAKT_RUST_PLAIN || type.depth == 0)
        return UNKNOWN;
    type.depth--;
    if (type.depth == 0 && type.name.size > 0)
        return (struct takt_rust_type){.shell = TAKT_RUST_OWN,
                                       .name = type.name};
    for (unsigned i = 0; i + 1 < TAKT_RUST_EXTENTS; i++)
        type.extent[i] = type.extent[i + 1];
    return type;
}

/* Types of libraries, by name. */
static bool library_type(struct takt_text name, struct takt_rust_type *out)
{
    static const struct {
        const char *prefix;
        enum takt_rust_shell shell;
        unsigned rank;
    } table[] = {{"ArrayView", TAKT_RUST_NDARRAY, 0},
                 {"ArrayBase", TAKT_RUST_NDARRAY, 0},
                 {"ArcArray", TAKT_RUST_NDARRAY, 0},
                 {"CowArray", TAKT_RUST_NDARRAY, 0},
                 {"Array", TAKT_RUST_NDARRAY, 0},
                 {"DMatrix", TAKT_RUST_NALGEBRA, 2},
                 {"DVector", TAKT_RUST_NALGEBRA, 1},
                 {"RowDVector", TAKT_RUST_NALGEBRA, 1},
                 {"SMatrix", TAKT_RUST_NALGEBRA, 2},
                 {"OMatrix", TAKT_RUST_NALGEBRA, 2},
                 {"SVector", TAKT_RUST_NALGEBRA, 1},
                 {"OVector", TAKT_RUST_NALGEBRA, 1},
                 {"MatrixXx", TAKT_RUST_NALGEBRA, 2},
                 {"Tensor", TAKT_RUST_TENSOR, 0},
                 {"Matrix", TAKT_RUST_NALGEBRA, 2},
                 {"MatrixSlice", TAKT_RUST_NALGEBRA, 2},
                 {"MatrixView", TAKT_RUST_NALGEBRA, 2},
                 {"Vector", TAKT_RUST_NALGEBRA, 1},
                 {"VectorView", TAKT_RUST_NALGEBRA, 1},
                 {"OVector", TAKT_RUST_NALGEBRA, 1},
                 {"OMatrix", TAKT_RUST_NALGEBRA, 2},
                 {"Mat", TAKT_RUST_NALGEBRA, 2},
                 {"MatRef", TAKT_RUST_NALGEBRA, 2}};
    static const char small[] =
        "Vector1 Vector2 Vector3 Vector4 Vector5 Vector6 Matrix1 Matrix2 "
        "Matrix3 Matrix4 Matrix5 Matrix6 Point2 Point3 Quaternion "
        "UnitQuaternion Rotation3 Isometry3 Vec2 Vec3 Vec4 Mat2 Mat3 Mat4";
    if (takt__text_in(name, small)) {
        *out = (struct takt_rust_type){.shell = TAKT_RUST_SMALL};
        return true;
    }
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const size_t size = strlen(table[i].prefix);
        if (name.size < size || name.size > size + 4 ||
            memcmp(name.at, table[i].prefix, size) != 0 ||
            (name.size != size && table[i].shell != TAKT_RUST_NDARRAY))
            continue;
        *out = (struct takt_rust_type){.shell = table[i].shell,
                                       .depth = table[i].rank};
        const char last = name.at[name.size - 1];
        if (table[i].shell == TAKT_RUST_NDARRAY && last >= '1' && last <= '6')
            out->depth = (unsigned)(last - '0');
        if (table[i].shell == TAKT_RUST_TENSOR)
            out->leaf = TAKT_RUST_FLOAT;
        return true;
    }
    return false;
}

/* Float, RealField, NdFloat, FloatNumber; Num, LinalgScalar, Zero, Signed. */
static enum takt_rust_leaf trait_leaf(struct takt_text name)
{
    static const struct {
        const char *word;
        enum takt_rust_leaf leaf;
    } words[] = {
        {"Float", TAKT_RUST_FLOAT},       {"Real", TAKT_RUST_FLOAT},
        {"Num", TAKT_RUST_GENERIC},       {"Scalar", TAKT_RUST_GENERIC},
        {"Zero", TAKT_RUST_GENERIC},      {"Signed", TAKT_RUST_GENERIC},
        {"Primitive", TAKT_RUST_GENERIC}, {"Field", TAKT_RUST_GENERIC},
        {"Into<f", TAKT_RUST_GENERIC}};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        for (size_t at = 0; at + strlen(words[i].word) <= name.size; at++)
            if (memcmp(name.at + at, words[i].word, strlen(words[i].word)) == 0)
                return words[i].leaf;
    return TAKT_RUST_UNKNOWN;
}

/* Mul<Output = T> of std::ops::Mul<Output = T>. */
static struct takt_text last_of_path(struct takt_text name)
{
    for (size_t i = 0; i + 1 < name.size && name.at[i] != '<'; i++)
        if (name.at[i] == ':' && name.at[i + 1] == ':') {
            name = (struct takt_text){name.at + i + 2, name.size - i - 2};
            i = 0;
        }
    return name;
}

/* What bounds say of a number; also trait Sample: Float, of a file of the
 * crate. */
static enum takt_rust_leaf bounds_leaf(const struct takt_rust *rust,
                                       TSNode bounds, unsigned depth)
{
    static const char *const operators[] = {"Add", "Sub", "Mul", "Div"};
    const uint32_t count = takt__node_children(bounds);
    enum takt_rust_leaf leaf = TAKT_RUST_UNKNOWN;
    unsigned signs = 0; /* of arithmetic: what has several is a number */

    for (uint32_t i = 0; i < count && i < 16 && depth > 0; i++) {
        const struct takt_text name =
            rust_text(rust, takt__node_child(bounds, i));
        const struct takt_text last = last_of_path(name);
        for (unsigned k = 0; k < 4; k++)
            if (last.size > 2 && memcmp(last.at, operators[k], 3) == 0)
                signs |= 1u << k;
        if ((signs & (signs - 1)) != 0)
            leaf = TAKT_RUST_GENERIC;
        enum takt_rust_leaf one = trait_leaf(name);
        const struct takt_rust_name *trait = takt__rust_find(
            rust, TAKT_RUST_TRAIT, (struct takt_text){NULL, 0}, name);
        if (one != TAKT_RUST_FLOAT && trait != NULL) {
            const enum takt_rust_leaf of = bounds_leaf(
                rust, takt__node_field(trait->node, "bounds"), depth - 1);
            one = of != TAKT_RUST_UNKNOWN ? of : one;
        }
        if (one == TAKT_RUST_FLOAT)
            return one;
        leaf = one != TAKT_RUST_UNKNOWN ? one : leaf;
    }
    return leaf;
}

enum { most_bounds = 16 };

/* Where a function or an impl says what a type is: <T: Float>, where T: Float.
 * How many places there are. */
static unsigned find_bounds(const struct takt_rust *rust, TSNode item,
                            TSNode type, TSNode out[most_bounds])
{
    const TSNode list = ts_node_is_null(item)
                            ? item
                            : takt__node_field(item, "type_parameters");
    unsigned found = 0;

    for (uint32_t i = 0; i < takt__node_children(list) && i < 16; i++) {
        const TSNode one = takt__node_child(list, i);
        if (takt__rust_same_text(rust, takt__node_field(one, "name"), type))
            out[found++ % most_bounds] = one;
    }
    for (uint32_t i = 0; i < takt__node_children(item) && i < 16; i++) {
        const TSNode clause = takt__node_child(item, i);
        const bool is_where = rust_is(clause, "where_clause");
        for (uint32_t k = 0; is_where && k < takt__node_children(clause); k++) {
            const TSNode one = takt__node_child(clause, k);
            if (takt__rust_same_text(rust, takt__node_field(one, "left"), type))
                out[found++ % most_bounds] = one;
        }
    }
    return found < most_bounds ? found : most_bounds;
}

static enum takt_rust_leaf bound_leaf(const struct takt_rust *rust, TSNode item,
                                      TSNode type)
{
    TSNode bound[most_bounds];
    const unsigned count = find_bounds(rust, item, type, bound);
    enum takt_rust_leaf leaf = TAKT_RUST_UNKNOWN;

    for (unsigned i = 0; i < count && leaf != TAKT_RUST_FLOAT; i++)
        leaf = bounds_leaf(rust, takt__node_field(bound[i], "bounds"), 4);
    return leaf;
}

/* The same of what is around a node. */
enum takt_rust_leaf takt__rust_leaf_at(const struct takt_rust *rust,
                                       TSNode node, TSNode type)
{
    static const char *const items[] = {"function_item", "impl_item",
                                        "struct_item", "trait_item"};
    enum takt_rust_leaf leaf = TAKT_RUST_UNKNOWN;

    for (size_t i = 0; i < sizeof items / sizeof *items; i++) {
        const enum takt_rust_leaf one =
            bound_leaf(rust, takt__rust_above(rust, node, items[i]), type);
        if (one == TAKT_RUST_FLOAT)
            return one;
        leaf = one != TAKT_RUST_UNKNOWN ? one : leaf;
    }
    return leaf;
}

/* <Elem = F> or <Item = F> in a bound, or in a trait: `impl Data<Elem = F>`. */
static TSNode bound_to(const struct takt_rust *rust, TSNode node,
                       const char *name, unsigned depth)
{
    const uint32_t count = ts_node_is_null(node) || depth == 0
                               ? 0
                               : ts_node_named_child_count(node);

    if (rust_is(node, "type_binding") &&
        takt__text_is(rust_text(rust, takt__node_field(node, "name")), name))
        return takt__node_field(node, "type");
    for (uint32_t i = 0; i < count && i < 16; i++) {
        const TSNode found =
            bound_to(rust, ts_node_named_child(node, i), name, depth - 1);
        if (!ts_node_is_null(found))
            return found;
    }
    return takt__rust_null();
}

/* ArrayBase<D, Ix2>: the elements are what D: Data<Elem = F> says, and Ix2 is
 * the rank. */
static void base_type(struct takt_rust *rust, TSNode first, TSNode second,
                      unsigned depth, struct takt_rust_type *out)
{
    static const char *const items[] = {"function_item", "impl_item"};
    TSNode elem = bound_to(rust, first, "Elem", 6);

    for (size_t i = 0; i < 2 && ts_node_is_null(elem); i++) {
        const TSNode item = takt__rust_above(rust, first, items[i]);
        const TSNode list = ts_node_is_null(item)
                                ? item
                                : takt__node_field(item, "type_parameters");
        elem = bound_to(rust, list, "Elem", 6);
        const uint32_t count =
            ts_node_is_null(item) ? 0 : ts_node_named_child_count(item);
        for (uint32_t k = 0; k < count && ts_node_is_null(elem); k++)
            if (rust_is(ts_node_named_child(item, k), "where_clause"))
                elem = bound_to(rust, ts_node_named_child(item, k), "Elem", 6);
    }
    if (takt__rust_is_open(*out) && !ts_node_is_null(elem))
        out->leaf = takt__rust_type_named(rust, elem, depth).leaf;
    if (ts_node_is_null(second))
        return;
    const struct takt_text rank = rust_text(rust, second);
    if (out->depth == 0 && rank.size == 3 && memcmp(rank.at, "Ix", 2) == 0 &&
        rank.at[2] >= '1' && rank.at[2] <= '6')
        out->depth = (unsigned)(rank.at[2] - '0');
}

/* I: Iterator<Item = f64>: what a parameter of the function iterates over. */
static TSNode item_type(const struct takt_rust *rust, TSNode type)
{
    TSNode bound[most_bounds];
    const unsigned count = find_bounds(
        rust, takt__rust_above(rust, type, "function_item"), type, bound);

    return count == 0 ? takt__rust_null()
                      : bound_to(rust, bound[count - 1], "Item", 4);
}

static struct takt_rust_type type_identifier(struct takt_rust *rust,
                                             TSNode type, unsigned depth)
{
    static const char closed[] = "String HashMap BTreeMap HashSet BTreeSet "
                                 "IndexMap PathBuf Duration OsString";
    const struct takt_text name = rust_text(rust, type);
    const struct takt_text any = {NULL, 0};
    struct takt_rust_type found;
    if (takt__text_in(name, closed))
        return (struct takt_rust_type){.leaf = TAKT_RUST_OTHER,
                                       .shell = TAKT_RUST_CLOSED};
    if (takt__text_is(name, "Self"))
        return (struct takt_rust_type){.shell = TAKT_RUST_OWN,
                                       .name = takt__rust_owner(rust, type)};
    const struct takt_rust_name *alias =
        takt__rust_find(rust, TAKT_RUST_ALIAS, any, name);
    if (alias != NULL)
        return takt__rust_type_named(
            rust, takt__node_field(alias->node, "type"), depth);
    if (takt__rust_find(rust, TAKT_RUST_STRUCT, any, name) != NULL)
        return (struct takt_rust_type){.shell = TAKT_RUST_OWN, .name = name};
    if (library_type(name, &found))
        return found;
    const TSNode item = item_type(rust, type);
    if (!ts_node_is_null(item))
        return takt__rust_sequence(
            takt__rust_type_named(rust, item, depth),
            (struct takt_rust_extent){0, TAKT_SIZE_UNKNOWN});
    const enum takt_rust_leaf leaf = takt__rust_macro_leaf(rust, name);
    return takt__rust_scalar(leaf != TAKT_RUST_UNKNOWN
                                 ? leaf
                                 : takt__rust_leaf_at(rust, type, type));
}

/* Vec<T>, Box<T>, Array2<T>, HashMap<..>. */
static struct takt_rust_type generic_type(struct takt_rust *rust, TSNode type,
                                          unsigned depth)
{
    static const char sequences[] = "Vec VecDeque SmallVec ArrayVec AVec";
    static const char wrappers[] =
        "Box Rc Arc Option Result Cow RefCell Cell Mutex RwLock Ref RefMut";
    TSNode name = takt__node_field(type, "type");
    if (takt__node_in(name, "scoped_type_identifier scoped_identifier"))
        name = takt__node_field(name, "name");
    const TSNode list = takt__node_field(type, "type_arguments");
    const bool is_second = rust_is(ts_node_named_child(list, 0), "lifetime");
    const TSNode first = ts_node_named_child(list, is_second);
    const struct takt_text word = rust_text(rust, name);
    if (takt__text_in(word, sequences))
        return takt__rust_sequence(
            takt__rust_type_named(rust, first, depth),
            (struct takt_rust_extent){0, TAKT_SIZE_UNKNOWN});
    if (takt__text_in(word, wrappers))
        return takt__rust_type_named(rust, first, depth);
    struct takt_rust_type found = type_identifier(rust, name, depth);
    const bool is_alias =
        takt__rust_find(rust, TAKT_RUST_ALIAS, (struct takt_text){NULL, 0},
                        word) != NULL;
    if (is_alias && !takt__rust_is_open(found))
        return found; /* type Row<S> = Matrix<f64, U1, Dynamic, S> */
    if (is_alias && found.shell == TAKT_RUST_PLAIN) {
        /* type Shared<T> = Rc<RefCell<T>>, type Row<T> = Vec<T> */
        struct takt_rust_type of = takt__rust_type_named(rust, first, depth);
        for (unsigned i = 0; i < found.depth && i < 2; i++)
            of = takt__rust_sequence(
                of, (struct takt_rust_extent){0, TAKT_SIZE_UNKNOWN});
        return of;
    }
    if (found.shell == TAKT_RUST_NDARRAY || found.shell == TAKT_RUST_NALGEBRA ||
        found.shell == TAKT_RUST_SMALL || found.shell == TAKT_RUST_OWN) {
        const struct takt_rust_type of =
            takt__rust_type_named(rust, first, depth);
        found.leaf = of.leaf;
        if (found.shell == TAKT_RUST_OWN) {
            found.given = of.shell;
            found.depth = of.depth;
        }
    }
    if (found.shell == TAKT_RUST_TENSOR) /* Tensor<B, 2, Int> */
        for (uint32_t i = 0; i < takt__node_children(list); i++)
            if (takt__rust_is_any(rust, takt__node_child(list, i), "Int Bool"))
                return takt__rust_scalar(TAKT_RUST_OTHER);
    if (found.shell == TAKT_RUST_NDARRAY)
        base_type(rust, first, ts_node_named_child(list, is_second + 1u), depth,
                  &found);
    return found;
}

/* impl Iterator<Item = f32>: the type of its items. */
static struct takt_rust_type abstract_type(struct takt_rust *rust, TSNode type,
                                           unsigned depth)
{
    const TSNode trait = takt__node_field(type, "trait");
    const TSNode list = takt__node_field(trait, "type_arguments");
    const TSNode binding =
        ts_node_is_null(list) ? list : ts_node_named_child(list, 0);
    if (!rust_is(binding, "type_binding"))
        return UNKNOWN;
    return takt__rust_sequence(
        takt__rust_type_named(rust, takt__node_field(binding, "type"), depth),
        (struct takt_rust_extent){0, TAKT_SIZE_UNKNOWN});
}

struct takt_rust_type takt__rust_type_named(struct takt_rust *rust, TSNode type,
                                            unsigned depth)
{
    if (ts_node_is_null(type) || depth == 0 || !takt__rust_step(rust))
        return UNKNOWN;
    depth--;
    if (rust_is(type, "primitive_type"))
        return takt__rust_scalar(leaf_named(rust_text(rust, type)));
    if (rust_is(type, "reference_type"))
        return takt__rust_type_named(rust, takt__node_field(type, "type"),
                                     depth);
    if (rust_is(type, "pointer_type")) { /* to the first of many numbers */
        const struct takt_rust_type of =
            takt__rust_type_named(rust, takt__node_field(type, "type"), depth);
        return of.shell == TAKT_RUST_PLAIN && of.depth == 0
                   ? takt__rust_sequence(
                         of, (struct takt_rust_extent){0, TAKT_SIZE_UNKNOWN})
                   : of;
    }
    if (rust_is(type, "array_type")) {
        struct takt_rust_extent count =
            takt__rust_count(rust, takt__node_field(type, "length"), depth);
        if (count.count != 0)
            count.source = TAKT_SIZE_TYPE;
        return takt__rust_sequence(
            takt__rust_type_named(rust, takt__node_field(type, "element"),
                                  depth),
            count);
    }
    if (takt__node_in(type, "generic_type generic_type_with_turbofish"))
        return generic_type(rust, type, depth);
    if (rust_is(type, "scoped_type_identifier")) { /* also T::Real */
        const struct takt_rust_type of =
            takt__rust_type_named(rust, takt__node_field(type, "path"), depth);
        return of.shell == TAKT_RUST_PLAIN && of.depth == 0 &&
                       (rust_is_float(of) || of.leaf == TAKT_RUST_GENERIC)
                   ? of
                   : takt__rust_type_named(rust, takt__node_field(type, "name"),
                                           depth);
    }
    if (takt__node_in(type, "type_identifier identifier"))
        return type_identifier(rust, type, depth);
    if (rust_is(type, "abstract_type"))
        return abstract_type(rust, type, depth);
    if (takt__node_in(type, "tuple_type unit_type"))
        return (struct takt_rust_type){.leaf = TAKT_RUST_OTHER, .tuple = type};
    return UNKNOWN;
}

struct takt_rust_type takt__rust_given(struct takt_rust_type type,
                                       struct takt_rust_type owner)
{
    if (type.shell == TAKT_RUST_OWN &&
        takt__ir_same_text(type.name, owner.name))
        return takt__rust_is_open(type) ? owner : type; /* -> Self */
    if (!takt__rust_is_open(type) || type.shell == TAKT_RUST_OWN ||
        !rust_is_float(owner))
        return type;
    type.leaf = owner.leaf;
    if (type.shell == TAKT_RUST_PLAIN && type.depth == 0) {
        type.shell = owner.given;
        type.depth = owner.depth;
    }
    return type;
}

struct takt_rust_type takt__rust_array_method(struct takt_rust_type type,
                                              struct takt_text name)
{
    static const char lines[] = "row column row_mut column_mut sum_axis "
                                "mean_axis var_axis std_axis diag";
    static const char parts[] =
        "slice slice_mut index_axis broadcast insert_axis map select "
        "into_shape rows reversed_axes";
    static const char numbers[] = "sum mean norm var std max min product";
    if (takt__text_in(name, numbers))
        return takt__rust_scalar(type.leaf);
    memset(type.extent, 0, sizeof type.extent);
    if (takt__text_in(name, lines))
        type.depth = type.depth == 2 ? 1 : 0;
    else if (takt__text_in(name, parts))
        type.depth = 0;
    else
        return (struct takt_rust_type){.leaf = TAKT_RUST_UNKNOWN};
    return type;
}
