/* SPDX-License-Identifier: MIT */
/*
 * python_results.c - what calls make: arrays of a shape, arrays like others,
 * numbers.
 */
#include "python_results.h"

#include <string.h>

static const struct takt_python_value number = {.kind = TAKT_PYTHON_NUMBER};
static const struct takt_python_value thing = {.kind = TAKT_PYTHON_THING};
static const struct takt_python_value unknown = {.kind = TAKT_PYTHON_UNKNOWN};

static bool has_rank(struct takt_python_value value)
{
    return value.rank != TAKT_PYTHON_RANK_UNKNOWN;
}

/* ---- arrays that are made ------------------------------------------------ */

static void add_size(const struct takt_source *source, TSNode node,
                     struct takt_python_value *value)
{
    if (value->rank == TAKT_PYTHON_RANK) {
        value->rank = TAKT_PYTHON_RANK_UNKNOWN;
        memset(value->dim, 0, sizeof value->dim);
    }
    if (!has_rank(*value))
        return;
    if (takt__node_is(node, "list_splat")) { /* zeros(*shape) */
        value->rank = TAKT_PYTHON_RANK_UNKNOWN;
        return;
    }
    if (!takt__python_size(source, node, &value->dim[value->rank],
                           &value->source))
        value->dim[value->rank] = 0;
    value->rank++;
}

/* A shape as one argument: 3, (2, 3), [2, 3]; anything else: unknown. */
static void add_shape(const struct takt_source *source, TSNode node,
                      struct takt_python_value *value)
{
    node = takt__python_bare(node);
    if (takt__node_in(node, "tuple list")) {
        for (unsigned i = 0;
             i < takt__node_children(node) && i <= TAKT_PYTHON_RANK; i++)
            add_size(source, takt__node_child(node, i), value);
        return;
    }
    add_size(source, node, value);
    if (has_rank(*value) && value->dim[value->rank - 1] == 0 &&
        takt__python_value(source, node).kind != TAKT_PYTHON_NUMBER)
        value->rank = TAKT_PYTHON_RANK_UNKNOWN; /* zeros(shape) */
}

/* zeros(2, 3) and zeros((2, 3)) */
static void add_arguments(const struct takt_source *source, TSNode call,
                          struct takt_python_value *value)
{
    TSNode first = takt__python_argument(source, call, 0, NULL);
    TSNode second = takt__python_argument(source, call, 1, NULL);

    if (ts_node_is_null(first))
        value->rank = TAKT_PYTHON_RANK_UNKNOWN;
    else if (ts_node_is_null(second))
        add_shape(source, first, value);
    else
        for (unsigned i = 0; i <= TAKT_PYTHON_RANK; i++) {
            TSNode size = takt__python_argument(source, call, i, NULL);
            if (ts_node_is_null(size))
                break;
            add_size(source, size, value);
        }
}

/* The sizes of a list that is written out: [[1, 2], [3, 4]]. */
static void add_list(TSNode list, struct takt_python_value *value)
{
    while (takt__node_is(list, "list") && value->rank < TAKT_PYTHON_RANK) {
        const unsigned count = takt__node_children(list);
        value->dim[value->rank++] = count;
        if (count == 0)
            break;
        list = takt__node_child(list, 0);
    }
    value->source = TAKT_SIZE_LITERAL;
}

static void set_dtype(const struct takt_source *source, TSNode type,
                      struct takt_python_value *value)
{
    if (ts_node_is_null(type))
        return;
    const struct takt_text text = takt__node_text(source, type);
    struct takt_text name = text;
    for (size_t i = 0; i < text.size; i++)
        if (text.at[i] == '.' || text.at[i] == '"' || text.at[i] == '\'')
            if (i + 1 < text.size)
                name = (struct takt_text){text.at + i + 1, text.size - i - 1};
    while (name.size > 0 &&
           (name.at[name.size - 1] == '"' || name.at[name.size - 1] == '\''))
        name.size--;
    const bool is_f64 = takt__text_in(name, "float64 double f8 float");
    const bool is_f32 = takt__text_in(name, "float32 single f4") ||
                        (value->is_torch && takt__text_is(name, "float"));
    value->is_dtype_known = is_f32 || is_f64;
    value->dtype = is_f32 ? TAKT_F32 : TAKT_F64;
}

static struct takt_python_value made(bool is_torch)
{
    return (struct takt_python_value){
        .kind = TAKT_PYTHON_ARRAY,
        .is_torch = is_torch,
        .is_dtype_known = true,
        .dtype = is_torch ? TAKT_F32 : TAKT_F64,
    };
}

/* Functions that make an array of a shape; false: it is none of them. */
static bool create(const struct takt_source *source, TSNode call,
                   struct takt_text name, bool is_random,
                   struct takt_python_value *out)
{
    if (takt__text_in(name, "rand randn") ||
        (out->is_torch && takt__text_in(name, "zeros ones empty"))) {
        if (takt__python_argument_count(call) == 0)
            *out = number;
        else
            add_arguments(source, call, out);
    } else if (is_random) {
        const bool has_first =
            takt__text_in(name, "random random_sample standard_normal");
        TSNode size =
            takt__python_argument(source, call, has_first ? 0 : 2, "size");
        if (ts_node_is_null(size))
            *out = number;
        else
            add_shape(source, size, out);
    } else if (takt__text_in(name, "zeros ones empty full")) {
        add_shape(source, takt__python_argument(source, call, 0, "shape"), out);
    } else if (takt__text_in(name, "eye identity")) {
        TSNode size = takt__python_argument(source, call, 0, NULL);
        add_size(source, size, out);
        add_size(source, size, out);
    } else if (takt__text_in(name, "hanning hamming blackman")) {
        add_shape(source, takt__python_argument(source, call, 0, NULL), out);
    } else if (takt__text_in(name, "arange")) {
        if (takt__python_argument_count(call) == 1)
            add_size(source, takt__python_argument(source, call, 0, NULL), out);
        else
            out->rank = 1;
        out->is_dtype_known = false;
    } else if (takt__text_in(name, "linspace logspace")) {
        TSNode count = takt__python_argument(source, call, 2, "num");
        out->rank = 0;
        if (ts_node_is_null(count))
            out->rank = 1;
        else
            add_size(source, count, out);
    } else {
        return false;
    }
    return true;
}

/* array(x), asarray(x), zeros_like(x), Parameter(x) */
static bool convert(const struct takt_source *source, TSNode call,
                    struct takt_text name, struct takt_python_value *out)
{
    static const char converters[] =
        "array asarray asanyarray ascontiguousarray asfortranarray "
        "atleast_1d tensor as_tensor from_numpy Parameter zeros_like ones_like "
        "empty_like full_like rand_like randn_like asarray_chkfinite";
    TSNode first = takt__python_argument(source, call, 0, NULL);

    if (!takt__text_in(name, converters) || ts_node_is_null(first))
        return false;
    const bool is_torch = out->is_torch;
    const struct takt_python_value value = takt__python_value(source, first);
    if (value.kind == TAKT_PYTHON_ARRAY) {
        *out = value;
        out->is_torch = is_torch;
        return true;
    }
    out->is_dtype_known = false;
    TSNode list = takt__python_follow(source, first);
    if (takt__node_is(list, "list"))
        add_list(list, out);
    else
        out->rank = TAKT_PYTHON_RANK_UNKNOWN;
    return true;
}

static const char other_arrays[] =
    "atleast_2d atleast_3d concatenate concat cat stack hstack vstack dstack "
    "column_stack where outer einsum tensordot "
    "cumsum cumprod sort diff gradient pad tile repeat roll flip fliplr flipud "
    "squeeze expand_dims broadcast_to ravel reshape swapaxes moveaxis tril "
    "triu diag fromiter frombuffer fromfile loadtxt genfromtxt convolve "
    "correlate kron cross fft ifft rfft irfft fft2 ifft2 inv pinv solve "
    "cholesky matrix_power randint integers choice permutation flatten "
    "unsqueeze permute";

/* Of an array, an array; of a number, a number. */
static const char like_operand[] =
    "interp floor ceil rint round sin cos tan arcsin arccos arctan arctan2 "
    "conj conjugate real imag sinh cosh log2 log10 log1p expm1 exp2 cbrt sign "
    "rsqrt pow";

/* Of one or two, the same. */
static const char like_operands[] =
    "maximum minimum fmax fmin power square hypot";

static bool has_axis(const struct takt_source *source, TSNode call,
                     unsigned position)
{
    return !ts_node_is_null(
               takt__python_argument(source, call, position, "axis")) ||
           !ts_node_is_null(
               takt__python_argument(source, call, position, "dim")) ||
           !ts_node_is_null(
               takt__python_argument(source, call, position, "keepdims"));
}

static const char reductions[] =
    "sum mean max min argmax argmin dot norm1 norm2 variance";

static struct takt_python_value of_product(const struct takt_source *source,
                                           TSNode first, TSNode second,
                                           bool is_torch)
{
    if (ts_node_is_null(second))
        return takt__python_some_array(is_torch);
    if (strcmp(takt__python_product_op(source, first, second), "dot") == 0)
        return number;
    struct takt_python_value value =
        takt__python_product_of(source, first, second);
    if (value.kind == TAKT_PYTHON_UNKNOWN) {
        value = takt__python_some_array(is_torch);
        value.is_doubtful = true;
    }
    return value;
}

/* What an op makes of its operands. */
static struct takt_python_value of_op(const struct takt_source *source,
                                      TSNode call, const char *op,
                                      bool is_method, bool is_torch)
{
    const struct takt_text name = {op, strlen(op)};
    TSNode first = takt__python_operand(source, call, 0);
    TSNode second = takt__python_operand(source, call, 1);
    struct takt_python_value a = takt__python_value(source, first);

    if (strcmp(op, "dot") == 0)
        return number; /* np.vdot, np.inner; np.dot is any product */
    if (takt__text_in(name, "matmul gemv batched_matmul"))
        return of_product(source, first, second, is_torch);
    if (takt__text_in(name, reductions))
        return has_axis(source, call, is_method ? 0 : 1)
                   ? takt__python_some_array(is_torch)
                   : number;
    if (strcmp(op, "transpose") == 0)
        return a.kind != TAKT_PYTHON_ARRAY ? takt__python_some_array(is_torch)
               : a.rank == 2               ? takt__python_turned(a)
                             : takt__python_some_array(a.is_torch);
    if (takt__word_in(op, "conv2d pooling"))
        return takt__python_some_array(is_torch);
    /* NumPy's functions take numbers as well, and are used so. */
    if (a.kind == TAKT_PYTHON_UNKNOWN && !is_torch &&
        takt__text_in(name, "sqrt exp exp2 expm1 log log2 log1p sin cos abs "
                            "tanh neg"))
        return unknown;
    if (a.kind == TAKT_PYTHON_UNKNOWN)
        return takt__python_some_array(is_torch);
    return a.kind == TAKT_PYTHON_THING ? takt__python_some_array(is_torch) : a;
}

static struct takt_python_value of_method(const struct takt_source *source,
                                          TSNode call,
                                          struct takt_python_value array,
                                          struct takt_text name)
{
    struct takt_python_value out = array;

    if (takt__text_in(name, "astype to type")) {
        TSNode type = takt__python_argument(source, call, 0, "dtype");
        if (!takt__text_is(name, "to") || !ts_node_is_null(type))
            set_dtype(source, type, &out);
        if (takt__text_is(name, "to") && !out.is_dtype_known) {
            out.is_dtype_known = array.is_dtype_known; /* a device */
            out.dtype = array.dtype;
        }
        return out;
    }
    if (takt__text_in(name, "float double")) {
        out.is_dtype_known = true;
        out.dtype = takt__text_is(name, "float") ? TAKT_F32 : TAKT_F64;
        return out;
    }
    if (takt__text_in(name, "copy clone contiguous detach cuda cpu numpy "
                            "requires_grad_ conj round abs"))
        return out;
    if (takt__text_in(name, "reshape view resize")) {
        out.rank = 0;
        out.source = TAKT_SIZE_UNKNOWN;
        memset(out.dim, 0, sizeof out.dim);
        add_arguments(source, call, &out);
        return out;
    }
    if (takt__text_in(name, "item size dim numel __len__ any all"))
        return number;
    if (takt__text_in(name, "tolist tobytes tofile dump"))
        return thing;
    const char *op = takt__python_method_op(array.is_torch, name);
    if (op != NULL)
        return of_op(source, call, op, true, array.is_torch);
    if (takt__text_in(name, "flatten ravel"))
        return (struct takt_python_value){
            .kind = TAKT_PYTHON_ARRAY, .is_torch = out.is_torch, .rank = 1};
    if (takt__text_in(name, like_operand))
        return array;
    return takt__text_in(name, other_arrays) ||
                   takt__text_in(name, like_operands)
               ? takt__python_some_array(array.is_torch)
               : unknown;
}

static struct takt_python_value of_operands(const struct takt_source *source,
                                            TSNode call, bool is_torch)
{
    bool has_numbers = true, has_array = is_torch;

    for (unsigned i = 0; i < 2; i++) {
        TSNode operand = takt__python_argument(source, call, i, NULL);
        if (ts_node_is_null(operand))
            continue;
        const enum takt_python_kind kind =
            takt__python_value(source, operand).kind;
        has_numbers &= kind == TAKT_PYTHON_NUMBER;
        has_array |= kind == TAKT_PYTHON_ARRAY || kind == TAKT_PYTHON_THING ||
                     (takt__node_is(operand, "binary_operator") &&
                      takt__python_operator(source, operand) == '@');
    }
    return has_numbers ? number
           : has_array ? takt__python_some_array(is_torch)
                       : unknown;
}

static struct takt_python_value of_function(const struct takt_source *source,
                                            TSNode call, const char *dotted)
{
    const char *last = strrchr(dotted, '.') + 1;
    const struct takt_text name = {last, strlen(last)};
    const bool is_torch = strncmp(dotted, "torch.", 6) == 0;
    const bool is_numpy = strncmp(dotted, "numpy.", 6) == 0;
    struct takt_python_value out = made(is_torch);

    if (strncmp(dotted, "math.", 5) == 0 ||
        strncmp(dotted, "statistics.", 11) == 0)
        return number;
    const char *op = takt__python_function_op(dotted);
    if (op != NULL && strncmp(dotted, "torch.nn.", 9) == 0 && last[0] <= 'Z')
        return unknown; /* a layer */
    if (op != NULL)
        return of_op(source, call, op, false, is_torch);
    if (!is_torch && !is_numpy)
        return unknown;
    if (create(source, call, name, strncmp(dotted, "numpy.random.", 13) == 0,
               &out) ||
        convert(source, call, name, &out)) {
        set_dtype(source, takt__python_argument(source, call, 99, "dtype"),
                  &out);
        return out;
    }
    if (takt__text_in(name, like_operand))
        return takt__python_value(source,
                                  takt__python_argument(source, call, 0, NULL));
    if (takt__text_in(name, like_operands))
        return of_operands(source, call, is_torch);
    return takt__text_in(name, other_arrays) ? takt__python_some_array(is_torch)
                                             : unknown;
}

static struct takt_python_value of_builtin(const struct takt_source *source,
                                           TSNode call, const char *name)
{
    const struct takt_text word = {name, strlen(name)};

    if (takt__text_in(word, "len int float round ord sum max min"))
        return number;
    if (takt__text_is(word, "abs"))
        return takt__python_value(source,
                                  takt__python_argument(source, call, 0, NULL));
    return takt__text_in(word, "str list dict set tuple bytes sorted zip map "
                               "range open repr enumerate filter input")
               ? thing
               : unknown;
}

/* x.dot(y), x.sum(axis=0), x.mean(1), (a - b).sum(), table["x"].mean(). */
static bool is_called_like_array(const struct takt_source *source, TSNode call)
{
    TSNode function = takt__node_field(call, "function");
    TSNode object = takt__node_field(function, "object");
    TSNode first = takt__python_argument(source, call, 0, NULL);
    const struct takt_text name =
        takt__node_text(source, takt__node_field(function, "attribute"));

    if (takt__text_is(takt__node_text(source, object), "self"))
        return false;
    if (takt__text_in(name, "dot"))
        return takt__python_argument_count(call) == 1;
    if (!takt__text_in(name, "sum mean max min argmax argmin var"))
        return false;
    if (takt__python_argument_count(call) == 0)
        return takt__node_in(object, "parenthesized_expression subscript") ||
               takt__text_in(name, "argmax argmin");
    return takt__node_in(first, "integer unary_operator") ||
           !ts_node_is_null(takt__python_argument(source, call, 99, "axis"));
}

struct takt_python_value takt__python_receiver(const struct takt_source *source,
                                               TSNode call)
{
    const struct takt_python_notes *notes = source->notes;
    TSNode object =
        takt__node_field(takt__node_field(call, "function"), "object");
    const struct takt_python_value value = takt__python_value(source, object);

    if (value.kind != TAKT_PYTHON_UNKNOWN || !notes->has_arrays ||
        notes->has_symbols || !is_called_like_array(source, call))
        return value;
    return takt__python_some_array(notes->has_torch);
}

struct takt_python_value takt__python_result(const struct takt_source *source,
                                             TSNode call)
{
    char dotted[TAKT_PYTHON_DOTTED];
    TSNode function = takt__node_field(call, "function");
    TSNode object = takt__node_field(function, "object");

    if (takt__python_is_own_class(source, function))
        return thing;
    if (takt__python_dotted(source, function, dotted)) {
        if (strncmp(dotted, "builtins.", 9) == 0)
            return of_builtin(source, call, dotted + 9);
        return strchr(dotted, '.') == NULL ? unknown
                                           : of_function(source, call, dotted);
    }
    if (ts_node_is_null(object))
        return takt__python_returned(source, function);
    const struct takt_text name =
        takt__node_text(source, takt__node_field(function, "attribute"));
    const struct takt_python_value value = takt__python_receiver(source, call);
    if (value.kind == TAKT_PYTHON_ARRAY)
        return of_method(source, call, value, name);
    const struct takt_python_notes *notes = source->notes;
    if (notes->has_arrays && takt__text_in(name, "rand randn"))
        return takt__python_argument_count(call) == 0
                   ? number
                   : takt__python_some_array(false);
    return takt__text_is(name, "to_numpy") ? takt__python_some_array(false)
                                           : unknown;
}
