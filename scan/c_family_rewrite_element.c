/* SPDX-License-Identifier: MIT */
/* c_family_rewrite_element.c - loops over elements, and sums of them. */
#include "c_family_rewrite.h"

#include <string.h>

/* ---- elements ---- */

/* An element of the loop's own round; one that lies elsewhere in the array
 * that is written has an order. */
static bool is_plain(const struct takt_rw_call *call,
                     const struct takt_rw_access *access)
{
    return access->element == call->element &&
           takt__rw_is_one(&access->coefficient[0]) &&
           (call->target.rank == 0 ||
            !takt__rw_is_same_base(access, &call->target) ||
            takt__rw_is_same(access, &call->target));
}

static bool take(struct takt_rw_call *call, TSNode node,
                 struct takt_rw_access *out)
{
    return takt__rw_access(call->nest, takt__rw_resolve(call->nest, node),
                           out) &&
           is_plain(call, out);
}

static bool tell(struct takt_rw_call *call, const char *name, const char *alpha,
                 const struct takt_rw_access *const *operand, unsigned count)
{
    struct takt_rw_text *out = &call->arguments;

    call->name = name;
    if (!takt__rw_put_extent(out, call->nest, &call->nest->loop[0]))
        return false;
    if (alpha != NULL)
        takt__rw_put(out, ", %s", alpha);
    for (unsigned i = 0; i < count; i++) {
        takt__rw_put(out, ", ");
        takt__rw_put_address(out, call->nest, operand[i]);
    }
    return !out->is_cut;
}

static bool tell_pair(struct takt_rw_call *call, const char *name,
                      const struct takt_rw_access *a,
                      const struct takt_rw_access *b)
{
    const struct takt_rw_access *const all[] = {a, b, &call->target};

    return tell(call, name, NULL, all, 3);
}

/* sqrtf(a[i]), of the type's own function. */
static bool write_function(struct takt_rw_call *call, TSNode node)
{
    static const char *const names[][3] = {
        {"sqrt", "sqrtf", "sqrt"},    {"abs", "fabsf", "fabs"},
        {"exp", "expf", "exp"},       {"log", "logf", "log"},
        {"tanh", "tanhf", "tanh"},    {"sin", "sinf", "sin"},
        {"cos", "cosf", "cos"},       {"exp2", "exp2f", "exp2"},
        {"expm1", "expm1f", "expm1"}, {"log1p", "log1pf", "log1p"},
        {"log2", "log2f", "log2"}};
    const TSNode list = takt__node_field(node, "arguments");
    const struct takt_text name =
        takt__node_text(call->nest->source, takt__node_field(node, "function"));
    struct takt_rw_access a;

    if (ts_node_is_null(list) || ts_node_named_child_count(list) != 1 ||
        !take(call, takt__c_first(list), &a))
        return false;
    const struct takt_rw_access *const all[] = {&a, &call->target};
    const bool is_std = name.size > 5 && memcmp(name.at, "std::", 5) == 0;
    const struct takt_text plain = {name.at + (is_std ? 5 : 0),
                                    name.size - (is_std ? 5 : 0)};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (takt__text_is(
                plain,
                names[i][call->element == TAKT_IR_F64 || is_std ? 2 : 1]))
            return tell(call, names[i][0], NULL, all, 2);
    return false;
}

/* a * b + c, and alpha * x + y where y is what is written. */
static bool write_sum(struct takt_rw_call *call,
                      const struct takt_rw_product *product,
                      const struct takt_rw_access *plain)
{
    const struct takt_rw_access *const all[] = {
        &product->factor[0], &product->factor[1], plain, &call->target};
    const struct takt_rw_access *const two[] = {&product->factor[0], plain};

    if (!is_plain(call, &product->factor[0]))
        return false;
    if (product->factors == 2 && product->alpha.used == 0)
        return is_plain(call, &product->factor[1]) &&
               tell(call, "fma", NULL, all, 4);
    if (product->factors != 1)
        return false;
    if (product->alpha.used == 0)
        return tell_pair(call, "add", plain, &product->factor[0]);
    return takt__rw_is_same(plain, &call->target) &&
           tell(call, "axpy", product->alpha.at, two, 2);
}

static bool write_product(struct takt_rw_call *call,
                          const struct takt_rw_product *product)
{
    const struct takt_rw_access *const two[] = {&product->factor[0],
                                                &call->target};

    if (product->factors == 0 || !is_plain(call, &product->factor[0]))
        return false;
    if (product->factors == 2)
        return product->alpha.used == 0 &&
               is_plain(call, &product->factor[1]) &&
               tell_pair(call, "mul", &product->factor[0], &product->factor[1]);
    return product->alpha.used > 0
               ? tell(call, "scale", product->alpha.at, two, 2)
               : tell(call, "copy", NULL, two, 2);
}

/* out[i] = left + right. */
static bool write_binary(struct takt_rw_call *call, TSNode node)
{
    const struct takt_text sign =
        takt__node_text(call->nest->source, takt__node_field(node, "operator"));
    const TSNode left = takt__node_field(node, "left");
    const TSNode right = takt__node_field(node, "right");
    struct takt_rw_access a, b;
    struct takt_rw_product product = {0};

    if (takt__text_is(sign, "*"))
        return takt__rw_product(call->nest, node, call->element, 0, &product) &&
               write_product(call, &product);
    if (takt__text_in(sign, "- /"))
        return take(call, left, &a) && take(call, right, &b) &&
               tell_pair(call, sign.at[0] == '-' ? "sub" : "div", &a, &b);
    if (!takt__text_is(sign, "+"))
        return false;
    if (take(call, left, &a))
        return takt__rw_product(call->nest, right, call->element, 0,
                                &product) &&
               write_sum(call, &product, &a);
    return take(call, right, &b) &&
           takt__rw_product(call->nest, left, call->element, 0, &product) &&
           write_sum(call, &product, &b);
}

static bool write_store(struct takt_rw_call *call, TSNode value)
{
    struct takt_rw_access a;

    value = takt__rw_resolve(call->nest, value);
    if (takt__node_is(value, "binary_expression"))
        return write_binary(call, value);
    if (takt__node_is(value, "call_expression"))
        return write_function(call, value);
    const struct takt_rw_access *const all[] = {&a, &call->target};
    if (takt__node_is(value, "unary_expression") &&
        call->nest->source->text[ts_node_start_byte(value)] == '-')
        return take(call, takt__node_field(value, "argument"), &a) &&
               tell(call, "neg", NULL, all, 2);
    return take(call, value, &a) && tell(call, "copy", NULL, all, 2);
}

/* out[i] += value, and the like. */
static bool write_update(struct takt_rw_call *call, const char *sign,
                         TSNode value)
{
    struct takt_rw_product product = {0};
    const struct takt_rw_access *const own[] = {&call->target, &call->target};

    if (!takt__rw_product(call->nest, value, call->element, 0, &product))
        return false;
    if (sign[0] == '+')
        return product.factors > 0 && write_sum(call, &product, &call->target);
    if (product.factors == 0)
        return sign[0] == '*' && tell(call, "scale", product.alpha.at, own, 2);
    if (product.factors != 1 || product.alpha.used > 0 ||
        !is_plain(call, &product.factor[0]))
        return false;
    return tell_pair(call,
                     sign[0] == '-'   ? "sub"
                     : sign[0] == '*' ? "mul"
                                      : "div",
                     &call->target, &product.factor[0]);
}

bool takt__rw_write_elements(struct takt_rw_call *call)
{
    const struct takt_rw_stmt *stmt = &call->nest->stmt[0];

    if (!takt__rw_access(call->nest, stmt->left, &call->target) ||
        !takt__rw_is_one(&call->target.coefficient[0]))
        return false;
    call->element = call->target.element;
    if (strcmp(stmt->sign, "=") == 0)
        return write_store(call, stmt->right);
    return strlen(stmt->sign) == 2 && stmt->sign[1] == '=' &&
           strchr("+-*/", stmt->sign[0]) != NULL &&
           write_update(call, stmt->sign, stmt->right);
}

/* ---- sums ---- */

/* s += a[i], s += a[i] * b[i], s += fabs(a[i]). */
bool takt__rw_write_reduction(struct takt_rw_call *call)
{
    const struct takt_rw_stmt *stmt = &call->nest->stmt[0];
    const struct takt_c_type type = takt__c_type_of(
        call->nest->place, takt__node_text(call->nest->source, stmt->left));
    const TSNode value = takt__rw_resolve(call->nest, stmt->right);
    struct takt_rw_product product = {0};
    struct takt_rw_access a;

    call->element = type.element;
    if (strcmp(stmt->sign, "+=") != 0 || type.rank != 0 || type.is_volatile ||
        (type.element != TAKT_IR_F32 && type.element != TAKT_IR_F64))
        return false;
    if (takt__node_is(value, "call_expression")) {
        const TSNode list = takt__node_field(value, "arguments");
        const struct takt_rw_access *const one[] = {&a};
        return takt__text_is(
                   takt__node_text(call->nest->source,
                                   takt__node_field(value, "function")),
                   type.element == TAKT_IR_F64 ? "fabs" : "fabsf") &&
               take(call, takt__c_first(list), &a) &&
               tell(call, "norm1", NULL, one, 1);
    }
    if (!takt__rw_product(call->nest, value, call->element, 0, &product) ||
        product.alpha.used > 0 || product.factors == 0 ||
        !is_plain(call, &product.factor[0]))
        return false;
    const struct takt_rw_access *const all[] = {&product.factor[0],
                                                &product.factor[1]};
    if (product.factors == 1)
        return tell(call, "sum", NULL, all, 1);
    return is_plain(call, &product.factor[1]) &&
           tell(call, "dot", NULL, all, 2);
}
