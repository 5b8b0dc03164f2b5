/* SPDX-License-Identifier: MIT */
/*
 * c_family_call.c - calls by name: of BLAS, whose arguments tell the sizes,
 * and of functions that are named after what they compute.
 */
#include "c_family.h"

#include <string.h>

enum { MOST = 24 };

TSNode takt__c_last_part(TSNode callee)
{
    for (unsigned i = 0; i < 8; i++) {
        TSNode next = takt__node_field(callee, "name");
        if (ts_node_is_null(next))
            next = takt__node_field(callee, "field");
        if (ts_node_is_null(next))
            break;
        callee = next;
    }
    return callee;
}

static unsigned arguments_of(TSNode call, TSNode *argument)
{
    const TSNode list = takt__node_field(call, "arguments");
    const uint32_t count =
        ts_node_is_null(list) ? 0 : ts_node_named_child_count(list);
    unsigned kept = 0;

    for (uint32_t i = 0; i < count && kept < MOST; i++) {
        const TSNode one = ts_node_named_child(list, i);
        if (!takt__node_is(one, "comment"))
            argument[kept++] = one;
    }
    return kept;
}

/* ---- names that say it --------------------------------------------------- */

/* What people put before and after such a name: which one of several it
 * is, and not what it does. */
static const char *const before[] = {
    "my_",       "naive_",     "simple_", "fast_",   "blocked_", "tiled_",
    "parallel_", "cpu_",       "ref_",    "serial_", "simd_",    "avx2_",
    "omp_",      "blas_",      "gsl_",    "arm_",    "nn_",      "ggml_",
    "f32_",      "f64_",       "matrix_", "mat_",    "do_",      "run_",
    "compute_",  "reference_", NULL};
static const char *const after[] = {
    "_naive",     "_simple",    "_fast",     "_blocked", "_tiled", "_parallel",
    "_serial",    "_cpu",       "_ref",      "_simd",    "_avx2",  "_avx512",
    "_neon",      "_omp",       "_f32",      "_f64",     "_float", "_double",
    "_kernel",    "_forward",   "_nn",       "_nt",      "_tn",    "_impl",
    "_reference", "_optimized", "_threaded", NULL};

static bool begins(struct takt_text text, const char *word)
{
    const size_t size = strlen(word);
    return text.size > size && memcmp(text.at, word, size) == 0;
}

static bool ends(struct takt_text text, const char *word)
{
    const size_t size = strlen(word);
    return text.size > size &&
           memcmp(text.at + text.size - size, word, size) == 0;
}

static bool strip_end(struct takt_text *name)
{
    for (const char *const *word = after; *word != NULL; word++)
        if (ends(*name, *word)) {
            name->size -= strlen(*word);
            return true;
        }
    return false;
}

static bool strip_begin(struct takt_text *name)
{
    /* these are whole names, though they begin like one of several */
    static const char whole[] = "mat_mul mat_mult mat_vec mat_vec_mul";

    if (takt__text_in(*name, whole) || begins(*name, "matrix_m") ||
        begins(*name, "matrix_v"))
        return false;
    for (const char *const *word = before; *word != NULL; word++)
        if (begins(*name, *word)) {
            name->at += strlen(*word);
            name->size -= strlen(*word);
            return true;
        }
    return false;
}

struct takt_text takt__c_telling_name(const struct takt_source *source,
                                      TSNode call)
{
    struct takt_c_notes *notes = source->notes; /* many patterns ask for it */
    const TSNode callee = takt__node_field(call, "function");
    struct takt_text name = {"", 0};

    if (ts_node_is_null(callee))
        return name;
    if (notes->named_call == call.id)
        return notes->telling_name;
    name = takt__node_text(source, takt__c_last_part(callee));
    while (strip_end(&name))
        ;
    while (strip_begin(&name))
        ;
    notes->named_call = call.id;
    notes->telling_name = name;
    return name;
}

/* ---- whether it is meant ------------------------------------------------- */

/* Something that can be an array: not a literal, not a string. */
static bool may_be_array(const struct takt_c_place *place, TSNode argument,
                         bool *is_float)
{
    argument = takt__c_bare(argument);
    if (ts_node_is_null(argument) ||
        takt__node_in(argument, "number_literal string_literal char_literal "
                                "concatenated_string null"))
        return false;
    const struct takt_c_type type = takt__c_expression_type(place, argument, 0);
    *is_float |=
        takt__c_is_float(type) && (type.rank > 0 || type.kind != TAKT_IR_PLAIN);
    return type.element == TAKT_IR_UNKNOWN || (type.is_own && type.rank == 0) ||
           (takt__c_is_float(type) &&
            (type.rank > 0 || type.kind != TAKT_IR_PLAIN)) ||
           (type.element == TAKT_IR_OTHER && type.of.size > 0 &&
            !takt__text_is(type.of, "string"));
}

/* A parameter list that has a place for arrays of numbers, or for things that
 * we do not know. */
static bool takes_arrays(const struct takt_c_place *place, TSNode declarator)
{
    TSNode list = {0};

    for (unsigned i = 0; i < 8 && !ts_node_is_null(declarator); i++) {
        list = takt__node_field(declarator, "parameters");
        if (!ts_node_is_null(list))
            break;
        declarator = takt__node_field(declarator, "declarator");
    }
    if (ts_node_is_null(list))
        return true;
    const uint32_t count = ts_node_named_child_count(list);
    for (uint32_t i = 0; i < count && i < 32; i++) {
        const TSNode one = ts_node_named_child(list, i);
        const struct takt_c_declaration held = {
            .holder = one, .declarator = takt__node_field(one, "declarator")};
        const struct takt_c_type type = takt__c_declared_type(place, &held, 0);
        if ((takt__c_is_float(type) &&
             (type.rank > 0 || type.kind != TAKT_IR_PLAIN)) ||
            type.element == TAKT_IR_UNKNOWN || type.is_own)
            return true;
    }
    return false;
}

/* A function that is called within itself is its own definition. */
static bool is_in_itself(const struct takt_c_place *place,
                         struct takt_text name)
{
    char around[256];

    takt__c_function_name(place, around, sizeof around);
    const char *last = strrchr(around, ':');
    return takt__text_is(name, last == NULL ? around : last + 1);
}

bool takt__c_is_telling_call(const struct takt_c_place *place, TSNode call)
{
    TSNode argument[MOST];
    const unsigned count = arguments_of(call, argument);
    const TSNode callee = takt__node_field(call, "function");
    unsigned arrays = 0;
    bool is_float = false;

    if (ts_node_is_null(callee) || takt__c_is_dead(place))
        return false;
    const struct takt_text name =
        takt__node_text(place->source, takt__c_last_part(callee));
    if (is_in_itself(place, name))
        return false;
    for (unsigned i = 0; i < count; i++)
        arrays += may_be_array(place, argument[i], &is_float);
    const bool is_method = takt__node_is(callee, "field_expression");
    if (arrays + is_method < 2 && !is_float &&
        !(arrays == 1 && takt__node_is(callee, "qualified_identifier")))
        return false;
    struct takt_c_declaration found;
    if (takt__node_is(callee, "identifier") &&
        takt__c_declared(place, name, &found) && ts_node_is_null(found.range) &&
        !ts_node_is_null(found.value) &&
        takt__node_is(found.value, "lambda_expression"))
        return is_float;
    const struct takt_c_name *declared =
        takt__c_find(place->source, name, TAKT_C_FUNCTION);
    return declared == NULL || takes_arrays(place, declared->node);
}

/* ---- sizes --------------------------------------------------------------- */

/* Where the sizes are among the arguments: of the C interface, which has the
 * order of storage first, and of Fortran's. */
static const struct blas {
    const char *stem, *op;
    unsigned count;
    signed char c[3], fortran[3];
} blas[] = {
    {"gemm", "matmul", 3, {3, 4, 5}, {2, 3, 4}},
    {"symm", "matmul", 2, {3, 4}, {2, 3}},
    {"trmm", "matmul", 2, {5, 6}, {4, 5}},
    {"syrk", "matmul", 2, {3, 4}, {2, 3}},
    {"gemv", "gemv", 2, {2, 3}, {1, 2}},
    {"symv", "gemv", 1, {2}, {1}},
    {"dot", "dot", 1, {0}, {0}},
    {"axpy", "axpy", 1, {0}, {0}},
    {"scal", "scale", 1, {0}, {0}},
    {"copy", "copy", 1, {0}, {0}},
    {"asum", "norm1", 1, {0}, {0}},
    {"nrm2", "norm2", 1, {0}, {0}},
    {"amax", "argmax", 1, {0}, {0}},
};

/* cblas_sgemm, dgemm_, isamax: the stem after the letter of the dtype. */
static const struct blas *blas_of(struct takt_text name, bool *is_c,
                                  bool *is_f64)
{
    *is_c = name.size > 6 && memcmp(name.at, "cblas_", 6) == 0;
    if (*is_c) {
        name.at += 6;
        name.size -= 6;
    } else if (name.size == 0 || name.at[name.size - 1] != '_')
        return NULL;
    else
        name.size--;
    if (name.size > 1 && *name.at == 'i') {
        name.at++;
        name.size--;
    }
    if (ends(name, "64_"))
        name.size -= 3;
    if (name.size < 2 || (*name.at != 's' && *name.at != 'd'))
        return NULL;
    *is_f64 = *name.at == 'd';
    const struct takt_text stem = {name.at + 1, name.size - 1};
    for (size_t i = 0; i < sizeof blas / sizeof *blas; i++)
        if (takt__text_is(stem, blas[i].stem))
            return &blas[i];
    return NULL;
}

const char *takt__c_blas_op(const struct takt_source *source, TSNode call)
{
    const TSNode callee = takt__node_field(call, "function");
    bool is_c, is_f64;

    if (ts_node_is_null(callee))
        return NULL;
    const struct blas *row = blas_of(
        takt__node_text(source, takt__c_last_part(callee)), &is_c, &is_f64);
    return row == NULL ? NULL : row->op;
}

static void tell_blas(const struct takt_c_place *place, const struct blas *row,
                      bool is_c, const TSNode *argument, unsigned count,
                      struct takt_finding *out)
{
    uint64_t dim[3] = {0};
    enum takt_size_source source = TAKT_SIZE_UNKNOWN, of;

    for (unsigned i = 0; i < row->count; i++) {
        const unsigned at = (unsigned)(is_c ? row->c[i] : row->fortran[i]);
        int64_t value;
        if (at >= count ||
            !takt__c_constant(place, argument[at], &value, &of) || value <= 0)
            continue;
        dim[i] = (uint64_t)value;
        if (of > source)
            source = of;
    }
    unsigned rank = row->count;
    if (!strcmp(row->stem, "syrk")) { /* n x k: a product with itself */
        dim[2] = dim[1];
        dim[1] = dim[0];
        rank = 3;
    } else if (takt__word_in(row->stem, "symm trmm")) {
        dim[2] = dim[0];
        rank = 3;
    } else if (!strcmp(row->stem, "symv")) {
        dim[1] = dim[0];
        rank = 2;
    }
    takt__tell_size(&out->size, source, rank, dim);
}

/* Of a function that is only named: as its arrays are declared. */
static void tell_arguments(const struct takt_c_place *place,
                           const TSNode *argument, unsigned count,
                           const char *op, struct takt_finding *out)
{
    struct takt_c_type array[2] = {{.element = TAKT_IR_UNKNOWN}};
    unsigned arrays = 0;

    for (unsigned i = 0; i < count && arrays < 2; i++) {
        const struct takt_c_type type =
            takt__c_expression_type(place, argument[i], 0);
        if (takt__c_is_float(type) &&
            (type.rank > 0 || type.kind != TAKT_IR_PLAIN))
            array[arrays++] = type;
    }
    if (arrays == 0)
        return;
    out->is_dtype_known = true;
    out->dtype = array[0].element == TAKT_IR_F64 ? TAKT_F64 : TAKT_F32;
    if (!strcmp(op, "matmul") && arrays == 2 && array[0].rank == 2 &&
        array[1].rank == 2)
        takt__tell_size(
            &out->size, TAKT_SIZE_TYPE, 3,
            (uint64_t[]){array[0].dim[0], array[1].dim[1], array[0].dim[1]});
    else if (out->op != NULL && out->op->rank_max == 1 && array[0].rank == 1)
        takt__tell_size(&out->size, TAKT_SIZE_TYPE, 1, array[0].dim);
}

void takt__c_describe_call(const struct takt_c_place *place, TSNode call,
                           const char *op, struct takt_finding *out)
{
    TSNode argument[MOST];
    const unsigned count = arguments_of(call, argument);
    const TSNode callee = takt__node_field(call, "function");
    bool is_c, is_f64 = false;

    if (ts_node_is_null(callee))
        return;
    const struct blas *row =
        blas_of(takt__node_text(place->source, takt__c_last_part(callee)),
                &is_c, &is_f64);
    if (row == NULL) {
        tell_arguments(place, argument, count, op, out);
        return;
    }
    out->is_dtype_known = true;
    out->dtype = is_f64 ? TAKT_F64 : TAKT_F32;
    tell_blas(place, row, is_c, argument, count, out);
}
