/* SPDX-License-Identifier: MIT */
/*
 * python_compose.c - expressions that are one op together: softmax, attention,
 * layer norm, norms, dots.
 *
 * A composition is reported where its result stands; its parts may have been
 * given names in lines above, which are then claimed.
 */
#include "python.h"

#include <string.h>

enum { DEEPEST = 10 };

static bool is_kind(const struct takt_source *source, TSNode node,
                    enum takt_python_kind kind)
{
    return takt__python_value(source, node).kind == kind;
}

/* ---- parts of compositions ----------------------------------------------- */

/* What a name stands for, claimed: it is part of the composition. */
static TSNode part(const struct takt_source *source, TSNode node, TSNode *claim)
{
    TSNode to = takt__python_follow(source, node);

    if (!ts_node_eq(to, takt__python_bare(node)))
        *claim = to;
    return to;
}

static void claim(const struct takt_source *source, const TSNode *nodes,
                  unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (nodes[i].id != NULL)
            takt__python_claim(source, nodes[i]);
}

/* The last part of the name of what is called: "exp" of np.exp and x.exp. */
static struct takt_text called(const struct takt_source *source, TSNode call)
{
    TSNode function = takt__node_field(call, "function");

    if (ts_node_is_null(function))
        return (struct takt_text){"", 0};
    TSNode name = takt__node_field(function, "attribute");
    return takt__node_text(source, ts_node_is_null(name) ? function : name);
}

/* What is called with it: the first argument, or the object of a method. */
static TSNode subject(const struct takt_source *source, TSNode call)
{
    char dotted[TAKT_PYTHON_DOTTED];
    TSNode function = takt__node_field(call, "function");
    TSNode object = takt__node_field(function, "object");

    if (ts_node_is_null(object) ||
        (takt__python_dotted(source, function, dotted) &&
         strncmp(dotted, "builtins.", 9) != 0))
        return takt__python_argument(source, call, 0, NULL);
    return object;
}

static bool is_call(const struct takt_source *source, TSNode node,
                    const char *names)
{
    return takt__node_is(node, "call") &&
           takt__text_in(called(source, node), names) &&
           !ts_node_is_null(subject(source, node));
}

static bool is_library_call(const struct takt_source *source, TSNode node,
                            const char *functions)
{
    char dotted[TAKT_PYTHON_DOTTED];

    return takt__node_is(node, "call") &&
           takt__python_dotted(source, takt__node_field(node, "function"),
                               dotted) &&
           takt__text_in((struct takt_text){dotted, strlen(dotted)}, functions);
}

static bool is_exp(const struct takt_source *source, TSNode node)
{
    return is_library_call(source, node, "numpy.exp torch.exp") ||
           (is_call(source, node, "exp") &&
            is_kind(source, subject(source, node), TAKT_PYTHON_ARRAY));
}

static bool has_axis(const struct takt_source *source, TSNode call)
{
    return !ts_node_is_null(takt__python_argument(source, call, 99, "axis")) ||
           !ts_node_is_null(takt__python_argument(source, call, 99, "dim"));
}

/* ---- softmax, sigmoid, mean ---------------------------------------------- */

static bool is_softmax(const struct takt_source *source, TSNode node)
{
    TSNode claims[3] = {{{0}, NULL, NULL}};
    TSNode left = takt__node_field(node, "left");
    TSNode above = part(source, left, &claims[0]);
    TSNode below = part(source, takt__node_field(node, "right"), &claims[1]);

    if (!is_exp(source, above) || !is_call(source, below, "sum"))
        return false;
    TSNode summed = subject(source, below);
    if (!takt__python_same(source, summed, left) &&
        !takt__python_same(source, part(source, summed, &claims[2]), above))
        return false;
    claim(source, claims, 3);
    return true;
}

/* 1 / (1 + exp(-x)) */
static bool is_sigmoid(const struct takt_source *source, TSNode node)
{
    TSNode below = takt__python_bare(takt__node_field(node, "right"));

    if (!takt__python_is_literal(source, takt__node_field(node, "left"), 1.0) ||
        !takt__node_is(below, "binary_operator") ||
        takt__python_operator(source, below) != '+')
        return false;
    TSNode one = takt__node_field(below, "left");
    TSNode other = takt__python_bare(takt__node_field(below, "right"));
    if (is_exp(source, takt__python_bare(one))) {
        const TSNode kept = one;
        one = other;
        other = takt__python_bare(kept);
    }
    return takt__python_is_literal(source, one, 1.0) && is_exp(source, other) &&
           takt__node_is(takt__python_bare(subject(source, other)),
                         "unary_operator");
}

/* sum(x) / len(x) */
static const char *quotient_of_sum(const struct takt_source *source,
                                   TSNode node)
{
    TSNode above = takt__python_bare(takt__node_field(node, "left"));
    TSNode below = takt__python_bare(takt__node_field(node, "right"));

    if (!is_library_call(source, below, "builtins.len") ||
        !takt__node_is(above, "call"))
        return NULL;
    const char *op = takt__python_builtin(source, above);
    if (op == NULL && is_library_call(source, above, "numpy.sum math.fsum"))
        op = "sum";
    if (op == NULL)
        return NULL;
    if (strcmp(op, "variance") == 0)
        return op;
    return strcmp(op, "sum") == 0 &&
                   takt__python_same(source, subject(source, above),
                                     subject(source, below))
               ? "mean"
               : NULL;
}

/* ---- layer norm ---------------------------------------------------------- */

/* Whether it is the mean, variance ... of x: np.mean(x, ...), x.mean(...). */
static bool is_statistic(const struct takt_source *source, TSNode node,
                         const char *names, TSNode of, TSNode *claimed)
{
    TSNode call = part(source, node, claimed);

    return is_call(source, call, names) &&
           takt__python_same(source, subject(source, call), of);
}

/* x - mean, also where it is multiplied by a gain; null: it is not there. */
static TSNode centred(const struct takt_source *source, TSNode node,
                      TSNode claims[2])
{
    for (unsigned i = 0; i < DEEPEST; i++) {
        node = part(source, node, &claims[0]);
        if (!takt__node_is(node, "binary_operator"))
            break;
        TSNode left = takt__node_field(node, "left");
        TSNode right = takt__node_field(node, "right");
        const char sign = takt__python_operator(source, node);
        if (sign == '-' &&
            is_statistic(source, right, "mean", left, &claims[1]))
            return left;
        if (sign != '*')
            break;
        node = right;
    }
    return (TSNode){{0}, NULL, NULL};
}

/* sqrt(var + eps), (var + eps) ** 0.5, std + eps, std */
static bool is_spread(const struct takt_source *source, TSNode node, TSNode of,
                      TSNode claims[2])
{
    const char *names = "std";

    node = part(source, node, &claims[0]);
    if (is_call(source, node, "sqrt")) {
        names = "var";
        node = takt__python_bare(subject(source, node));
    } else if (takt__node_is(node, "binary_operator") &&
               takt__python_operator(source, node) == 'p' &&
               takt__python_is_literal(source, takt__node_field(node, "right"),
                                       0.5)) {
        names = "var";
        node = takt__python_bare(takt__node_field(node, "left"));
    }
    if (takt__node_is(node, "binary_operator") &&
        takt__python_operator(source, node) == '+')
        node = takt__node_field(node, "left");
    return is_statistic(source, node, names, of, &claims[1]);
}

static bool is_layernorm(const struct takt_source *source, TSNode node)
{
    TSNode claims[4] = {{{0}, NULL, NULL}};

    if (!takt__python_has_arrays(source))
        return false;
    TSNode of = centred(source, takt__node_field(node, "left"), claims);
    if (ts_node_is_null(of) ||
        !is_spread(source, takt__node_field(node, "right"), of, claims + 2))
        return false;
    claim(source, claims, 4);
    return true;
}

/* ---- attention ----------------------------------------------------------- */

static bool is_product(const struct takt_source *source, TSNode node)
{
    if (takt__node_is(node, "binary_operator"))
        return takt__python_operator(source, node) == '@';
    return is_call(source, node, "matmul bmm dot mm einsum");
}

/* Whether a product is in it, scaled or masked. */
static bool has_product(const struct takt_source *source, TSNode node,
                        TSNode claims[DEEPEST])
{
    for (unsigned i = 0; i < DEEPEST; i++) {
        node = part(source, node, &claims[i]);
        if (is_product(source, node))
            return true;
        if (takt__node_is(node, "binary_operator") &&
            takt__python_operator(source, node) != 0 &&
            strchr("*/+", takt__python_operator(source, node)) != NULL)
            node = is_kind(source, takt__node_field(node, "left"),
                           TAKT_PYTHON_NUMBER)
                       ? takt__node_field(node, "right")
                       : takt__node_field(node, "left");
        else if (is_call(source, node, "masked_fill masked_fill_ mul div"))
            node = subject(source, node);
        else
            return false;
    }
    return false;
}

/* softmax(q @ k.T / sqrt(d)) @ v */
static bool is_attention(const struct takt_source *source, TSNode left)
{
    TSNode claims[DEEPEST + 1] = {{{0}, NULL, NULL}};

    if (ts_node_is_null(left))
        return false;
    TSNode weights = part(source, left, &claims[0]);
    if (is_call(source, weights, "dropout"))
        weights = part(source, subject(source, weights), &claims[0]);
    if (!is_call(source, weights, "softmax") ||
        !has_product(source, subject(source, weights), claims + 1))
        return false;
    claim(source, claims, DEEPEST + 1);
    return true;
}

/* ---- norms, dots, gelu, relu --------------------------------------------- */

static bool is_binary(const struct takt_source *source, TSNode node, char sign)
{
    return takt__node_is(node, "binary_operator") &&
           takt__python_operator(source, node) == sign;
}

/* The sum of a product: np.sum(x * y), (x ** 2).sum(), and of magnitudes. */
static const char *sum_of(const struct takt_source *source, TSNode call)
{
    char dotted[TAKT_PYTHON_DOTTED];
    TSNode function = takt__node_field(call, "function");

    if (!is_call(source, call, "sum") || has_axis(source, call) ||
        takt__python_argument_count(call) > 1)
        return NULL;
    if (takt__python_dotted(source, function, dotted)
            ? strcmp(dotted, "numpy.sum") != 0 &&
                  strcmp(dotted, "torch.sum") != 0
            : takt__python_call_op(source, call) == NULL)
        return NULL;
    TSNode summed = takt__python_bare(subject(source, call));
    if (is_binary(source, summed, 'p'))
        return takt__python_is_literal(source,
                                       takt__node_field(summed, "right"), 2.0)
                   ? "dot"
                   : NULL;
    if (is_binary(source, summed, '*'))
        return is_kind(source, takt__node_field(summed, "left"),
                       TAKT_PYTHON_NUMBER) ||
                       is_kind(source, takt__node_field(summed, "right"),
                               TAKT_PYTHON_NUMBER)
                   ? NULL
                   : "dot";
    if (is_library_call(source, summed, "numpy.square torch.square"))
        return "dot";
    return is_library_call(source, summed, "numpy.abs numpy.absolute torch.abs")
               ? "norm1"
               : NULL;
}

/* Whether it is the sum of the squares of something. */
static bool is_sum_of_squares(const struct takt_source *source, TSNode node)
{
    node = takt__python_bare(node);
    if (is_binary(source, node, '@'))
        return takt__python_same(source, takt__node_field(node, "left"),
                                 takt__node_field(node, "right"));
    if (!takt__node_is(node, "call"))
        return false;
    const char *op = sum_of(source, node);
    if (op == NULL)
        op = takt__python_builtin(source, node);
    if (op != NULL && strcmp(op, "dot") == 0) {
        TSNode summed = takt__python_bare(subject(source, node));
        TSNode body = takt__node_field(summed, "body");
        if (!ts_node_is_null(body))
            summed = takt__python_bare(body);
        return !is_binary(source, summed, '*') ||
               takt__python_same(source, takt__node_field(summed, "left"),
                                 takt__node_field(summed, "right"));
    }
    op = takt__python_call_op(source, node);
    return op != NULL && strcmp(op, "dot") == 0 &&
           takt__python_same(source, takt__python_operand(source, node, 0),
                             takt__python_operand(source, node, 1));
}

/* 0.5 * x * (1 + tanh(...)), also with erf */
static bool is_gelu(const struct takt_source *source, TSNode node)
{
    bool has_half = false, has_gate = false;

    for (unsigned i = 0; i < DEEPEST && is_binary(source, node, '*'); i++) {
        TSNode gate = takt__python_bare(takt__node_field(node, "right"));
        if (is_binary(source, gate, '+')) {
            TSNode curve = takt__python_bare(takt__node_field(gate, "right"));
            has_gate |= takt__python_is_literal(
                            source, takt__node_field(gate, "left"), 1.0) &&
                        (is_library_call(source, curve,
                                         "numpy.tanh torch.tanh torch.erf "
                                         "scipy.special.erf"));
        }
        has_half |= takt__python_is_literal(source, gate, 0.5);
        node = takt__python_bare(takt__node_field(node, "left"));
    }
    return has_gate && (has_half || takt__python_is_literal(source, node, 0.5));
}

/* np.where(x > 0, x, 0) and np.where(x < 0, 0, x) */
static bool is_choice_of_positive(const struct takt_source *source, TSNode call)
{
    TSNode test =
        takt__python_bare(takt__python_argument(source, call, 0, NULL));
    TSNode yes = takt__python_argument(source, call, 1, NULL);
    TSNode no = takt__python_argument(source, call, 2, NULL);

    if (!is_library_call(source, call, "numpy.where torch.where") ||
        ts_node_is_null(no) || !takt__node_is(test, "comparison_operator") ||
        takt__node_children(test) != 2 ||
        !takt__python_is_literal(source, takt__node_child(test, 1), 0.0))
        return false;
    const struct takt_text sign =
        takt__node_text(source, takt__node_field(test, "operators"));
    const bool is_above = sign.size > 0 && sign.at[0] == '>';
    TSNode kept = is_above ? yes : no;
    return (is_above || (sign.size > 0 && sign.at[0] == '<')) &&
           takt__python_is_literal(source, is_above ? no : yes, 0.0) &&
           takt__python_same(source, kept, takt__node_child(test, 0)) &&
           !is_kind(source, kept, TAKT_PYTHON_NUMBER);
}

/* What a call limits to a number: x of np.minimum(x, 1.0); null. */
static TSNode limited(const struct takt_source *source, TSNode call,
                      const char *function)
{
    TSNode none = {{0}, NULL, NULL};
    TSNode first = takt__python_argument(source, call, 0, NULL);
    TSNode second = takt__python_argument(source, call, 1, NULL);

    if (!is_library_call(source, call, function) || ts_node_is_null(second))
        return none;
    const bool is_first = is_kind(source, first, TAKT_PYTHON_NUMBER);
    const bool is_second = is_kind(source, second, TAKT_PYTHON_NUMBER);
    return is_first == is_second ? none
           : is_first            ? takt__python_bare(second)
                                 : takt__python_bare(first);
}

/* np.minimum(np.maximum(x, low), high), and the other way round */
static bool is_clamp(const struct takt_source *source, TSNode call)
{
    static const char *const names[] = {"numpy.minimum", "numpy.maximum"};

    for (unsigned i = 0; i < 2; i++) {
        TSNode inner = limited(source, call, names[i]);
        if (!ts_node_is_null(inner) &&
            !ts_node_is_null(limited(source, inner, names[1 - i])))
            return true;
    }
    return false;
}

static const char *of_call(const struct takt_source *source, TSNode node)
{
    TSNode first = takt__python_argument(source, node, 0, NULL);
    TSNode second = takt__python_argument(source, node, 1, NULL);

    if (is_call(source, node, "matmul bmm dot mm") &&
        is_attention(source, takt__python_operand(source, node, 0)))
        return "attention";
    if (ts_node_is_null(first))
        return sum_of(source, node);
    if (is_library_call(source, node, "numpy.sqrt torch.sqrt math.sqrt") &&
        is_sum_of_squares(source, first))
        return "norm2";
    if (is_choice_of_positive(source, node))
        return "relu";
    if (is_clamp(source, node))
        return "clamp";
    if (is_library_call(source, node, "numpy.maximum") &&
        !ts_node_is_null(second) &&
        (takt__python_is_literal(source, first, 0.0) ||
         takt__python_is_literal(source, second, 0.0)))
        return "relu";
    if (is_library_call(source, node, "builtins.abs") &&
        is_kind(source, first, TAKT_PYTHON_ARRAY))
        return "abs";
    return sum_of(source, node);
}

const char *takt__python_composition(const struct takt_source *source,
                                     TSNode node)
{
    if (takt__node_is(node, "call"))
        return of_call(source, node);
    if (takt__node_is(node, "list_comprehension"))
        return takt__python_comprehension(source, node);
    switch (takt__python_operator(source, node)) {
    case '/':
        if (is_softmax(source, node))
            return "softmax";
        if (is_sigmoid(source, node))
            return "sigmoid";
        if (is_layernorm(source, node))
            return "layernorm";
        return quotient_of_sum(source, node);
    case '@':
        return is_attention(source, takt__node_field(node, "left"))
                   ? "attention"
                   : NULL;
    case '*':
        return is_gelu(source, node) ? "gelu" : NULL;
    case 'p':
        return takt__python_is_literal(source, takt__node_field(node, "right"),
                                       0.5) &&
                       is_sum_of_squares(source, takt__node_field(node, "left"))
                   ? "norm2"
                   : NULL;
    default:
        return NULL;
    }
}
