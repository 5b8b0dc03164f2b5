/* SPDX-License-Identifier: MIT */
/*
 * rust_lower.c - the statements of loops and closures, and the names that they
 * bind.
 */
#include "rust_lower.h"

/* ---- names --------------------------------------------------------------- */

bool takt__rust_bind_name(struct takt_rust_nest *nest, struct takt_text name,
                          struct takt_rust_part *part)
{
    if (part == NULL || nest->locals == TAKT_RUST_LOCALS)
        return false;
    nest->local[nest->locals++] = (struct takt_rust_local){
        .name = name, .part = part, .declared = nest->around};
    return true;
}

bool takt__rust_bind(struct takt_rust_nest *nest, TSNode pattern,
                     struct takt_rust_part *part)
{
    while (rust_is(pattern, "reference_pattern") ||
           rust_is(pattern, "mut_pattern") || rust_is(pattern, "ref_pattern"))
        pattern = takt__rust_child(pattern, takt__rust_children(pattern) - 1);
    if (part == NULL || ts_node_is_null(pattern))
        return false;
    if (rust_is(pattern, "parameter"))
        return takt__rust_bind(nest, takt__node_field(pattern, "pattern"),
                               part);
    if (rust_is(pattern, "identifier"))
        return takt__rust_bind_name(nest, rust_text(nest->rust, pattern), part);
    if (rust_is(pattern, "tuple_pattern") &&
        takt__rust_children(pattern) == 2 && part->of[0] != NULL)
        return takt__rust_bind(nest, takt__rust_child(pattern, 0),
                               part->of[0]) &&
               takt__rust_bind(nest, takt__rust_child(pattern, 1), part->of[1]);
    return takt__text_is(rust_text(nest->rust, pattern), "_");
}

static bool is_loop(TSNode node)
{
    return rust_is(node, "for_expression") || rust_is(node, "while_expression");
}

static bool assigns(TSNode node)
{
    return rust_is(node, "assignment_expression") ||
           rust_is(node, "compound_assignment_expr");
}

/* The names that are assigned somewhere within. */
static void find_assigned(struct takt_rust_nest *nest, TSNode node,
                          unsigned depth)
{
    if (depth == 0 || ts_node_is_null(node) || !takt__rust_step(nest->rust))
        return;
    if (assigns(node)) {
        const TSNode left = takt__rust_bare(nest->rust, takt__rust_left(node));
        const enum takt_rust_bound kind =
            rust_is(left, "identifier")
                ? takt__rust_binding(nest->rust, left).kind
                : TAKT_RUST_CLOSURE;
        if (kind != TAKT_RUST_CLOSURE && kind != TAKT_RUST_FOR &&
            nest->assigned < TAKT_RUST_ASSIGNED)
            nest->name[nest->assigned++] = rust_text(nest->rust, left);
    }
    const uint32_t count = takt__rust_children(node);
    for (uint32_t i = 0; i < count; i++)
        find_assigned(nest, takt__rust_child(node, i), depth - 1);
}

/* Whether a loop or closure within assigns that name. */
static bool is_assigned_within(struct takt_rust_nest *nest, TSNode node,
                               struct takt_text name, bool is_within,
                               unsigned depth)
{
    if (depth == 0 || ts_node_is_null(node) || !takt__rust_step(nest->rust))
        return false;
    if (is_within && assigns(node) &&
        takt__ir_same_text(
            rust_text(nest->rust,
                      takt__rust_bare(nest->rust, takt__rust_left(node))),
            name))
        return true;
    is_within |= is_loop(node) || rust_is(node, "closure_expression") ||
                 rust_is(node, "if_expression");
    const uint32_t count = takt__rust_children(node);
    for (uint32_t i = 0; i < count; i++)
        if (is_assigned_within(nest, takt__rust_child(node, i), name, is_within,
                               depth - 1))
            return true;
    return false;
}

/* ---- stores -------------------------------------------------------------- */

/* The floating-point type in an expression, the narrower where one says only
 * that it is one. */
static enum takt_ir_element float_in(const struct takt_ir_expr *e)
{
    enum takt_ir_element found = TAKT_IR_UNKNOWN;

    if ((e->sort == TAKT_IR_ACCESS || e->sort == TAKT_IR_NAME ||
         e->sort == TAKT_IR_NUMBER) &&
        takt__ir_is_float(e->type.element))
        return e->type.element;
    for (unsigned i = 0; i < e->parts && e->sort != TAKT_IR_ACCESS; i++) {
        const enum takt_ir_element one = float_in(e->part[i]);
        if (one != TAKT_IR_UNKNOWN && one != TAKT_IR_FLOAT)
            return one;
        found = one == TAKT_IR_FLOAT ? one : found;
    }
    return found;
}

void takt__rust_set_float(struct takt_ir_expr *e, enum takt_ir_element element)
{
    if (e->sort == TAKT_IR_ACCESS && e->type.element == TAKT_IR_FLOAT)
        e->type.element = element;
    if (e->sort == TAKT_IR_ACCESS && e->type.element == TAKT_IR_UNKNOWN) {
        e->type.element = element;
        e->type.kind = TAKT_IR_ARRAY;
    }
    for (unsigned i = 0; i < e->parts && e->sort != TAKT_IR_ACCESS; i++)
        takt__rust_set_float(e->part[i], element);
}

/* Rust does not mix types: what one operand is, the others are, too. */
static void settle_types(struct takt_ir_expr *target,
                         struct takt_ir_expr *value)
{
    enum takt_ir_element element = float_in(value);

    if (element == TAKT_IR_UNKNOWN || element == TAKT_IR_FLOAT) {
        const enum takt_ir_element other = float_in(target);
        element = other != TAKT_IR_UNKNOWN ? other : element;
    }
    if (element == TAKT_IR_UNKNOWN)
        return;
    takt__rust_set_float(target, element);
    takt__rust_set_float(value, element);
}

/* What names were read from there is not what is there now. */
static void make_stale(struct takt_rust_nest *nest, struct takt_text array)
{
    for (unsigned i = 0; i < nest->locals; i++) {
        const struct takt_rust_part *part = nest->local[i].part;
        if (nest->local[i].is_let && part->value != NULL &&
            takt__ir_reads(part->value, array))
            nest->local[i].is_assigned = true;
    }
}

bool takt__rust_store(struct takt_rust_nest *nest, enum takt_ir_effect effect,
                      struct takt_ir_expr *target, struct takt_ir_expr *value)
{
    struct takt_ir_stmt stmt = {.effect = effect,
                                .target = target,
                                .value = value,
                                .around = nest->around};

    if (target == NULL || value == NULL ||
        (target->sort != TAKT_IR_NAME && target->sort != TAKT_IR_ACCESS))
        return false;
    if (nest->ir.loop_count > 0)
        takt__ir_simplify(&nest->ir, &stmt);
    settle_types(stmt.target, stmt.value);
    if (target->sort == TAKT_IR_ACCESS)
        make_stale(nest, target->text);
    return takt__ir_add(&nest->ir, stmt);
}

/* ---- statements ---------------------------------------------------------- */

/* let mut i = 0; while i < n: what a loop beside it counts with. */
static bool is_counter(const struct takt_rust_nest *nest, TSNode block,
                       struct takt_text name)
{
    const uint32_t count = takt__rust_children(block);

    for (uint32_t i = 0; i < count; i++) {
        const TSNode one =
            takt__rust_bare(nest->rust, takt__rust_child(block, i));
        const TSNode test = takt__node_field(one, "condition");
        if (rust_is(one, "while_expression") &&
            rust_is(test, "binary_expression") &&
            takt__ir_same_text(rust_text(nest->rust, takt__rust_left(test)),
                               name))
            return true;
    }
    return false;
}

static bool lower_let(struct takt_rust_nest *nest, TSNode node, TSNode block,
                      unsigned depth)
{
    TSNode pattern = takt__node_field(node, "pattern");
    const TSNode value = takt__node_field(node, "value");

    if (rust_is(pattern, "mut_pattern"))
        pattern = takt__rust_child(pattern, takt__rust_children(pattern) - 1);
    if (ts_node_is_null(value))
        return false;
    const struct takt_text name = rust_text(nest->rust, pattern);
    struct takt_rust_part *part = takt__rust_part_of(nest, value, depth + 1);
    if (part == NULL || !takt__rust_bind(nest, pattern, part))
        return false;
    if (rust_is(pattern, "identifier"))
        nest->local[nest->locals - 1].is_let = true;
    if (!rust_is(pattern, "identifier") ||
        !is_assigned_within(nest, block, name, false, TAKT_RUST_DEEPEST) ||
        is_counter(nest, block, name))
        return true;
    nest->local[nest->locals - 1].is_assigned = true;
    struct takt_ir_expr *target =
        takt__ir_name(&nest->ir, name,
                      takt__rust_ir_type(takt__rust_type_of(nest->rust, value,
                                                            TAKT_RUST_DEPTH)));
    if (target != NULL)
        target->is_varying = true;
    return takt__rust_store(nest, TAKT_IR_STORE, target, part->value);
}

struct takt_rust_part *takt__rust_block(struct takt_rust_nest *nest,
                                        TSNode body, unsigned depth)
{
    if (rust_is(body, "unsafe_block"))
        body = takt__rust_child(body, 0);
    if (!rust_is(body, "block"))
        return takt__rust_part_of(nest, body, depth + 1);
    const uint32_t count = takt__rust_children(body);
    for (uint32_t i = 0; i < count; i++) {
        const TSNode one = takt__rust_child(body, i);
        if (ts_node_is_extra(one))
            continue;
        if (i + 1 == count && !rust_is(one, "expression_statement"))
            return takt__rust_part_of(nest, one, depth + 1);
        if (!rust_is(one, "let_declaration") ||
            !lower_let(nest, one, body, depth))
            return NULL;
    }
    return NULL;
}

static bool lower_assignment(struct takt_rust_nest *nest, TSNode node,
                             unsigned depth)
{
    static const struct {
        const char *sign;
        enum takt_ir_effect effect;
        enum takt_ir_sort sort;
    } signs[] = {{"=", TAKT_IR_STORE, TAKT_IR_NUMBER},
                 {"+=", TAKT_IR_SUM, TAKT_IR_ADD},
                 {"-=", TAKT_IR_DIFFERENCE, TAKT_IR_SUB},
                 {"*=", TAKT_IR_PRODUCT, TAKT_IR_MUL},
                 {"/=", TAKT_IR_QUOTIENT, TAKT_IR_DIV}};
    const struct takt_text sign = rust_is(node, "assignment_expression")
                                      ? (struct takt_text){"=", 1}
                                      : takt__rust_operator(nest->rust, node);
    const TSNode left = takt__rust_bare(nest->rust, takt__rust_left(node));
    struct takt_ir_expr *value =
        takt__rust_expr(nest, takt__rust_right(node), false, depth + 1);
    size_t at = 0;

    while (at < sizeof signs / sizeof *signs &&
           !takt__text_is(sign, signs[at].sign))
        at++;
    if (value == NULL || at == sizeof signs / sizeof *signs)
        return false;
    const struct takt_rust_local *local =
        rust_is(left, "identifier")
            ? takt__rust_local(nest, rust_text(nest->rust, left))
            : NULL;
    struct takt_ir_expr *target = takt__rust_expr(nest, left, false, depth + 1);
    if (local != NULL && !local->is_assigned && target != NULL &&
        (target->sort != TAKT_IR_ACCESS ||
         rust_is(takt__rust_left(node), "identifier"))) {
        /* let mut v = x[i]; v *= 2.0: a name for what comes next */
        if (nest->is_choosing || local->declared != nest->around)
            return false;
        if (at > 0)
            value = takt__ir_pair(&nest->ir, signs[at].sort, target, value);
        nest->local[local - nest->local].part = takt__rust_one(nest, value);
        return value != NULL;
    }
    return takt__rust_store(nest, signs[at].effect, target, value);
}

/* out.push(x): the next element is written. */
static bool lower_push(struct takt_rust_nest *nest, TSNode call, unsigned depth)
{
    struct takt_ir_nest *ir = &nest->ir;
    struct takt_ir_expr *to =
        takt__rust_expr(nest, takt__rust_receiver(call), false, depth + 1);
    const unsigned prefixes = nest->prefixes;
    uint32_t loops = 0;

    for (unsigned i = 0; i < ir->loop_count; i++)
        if (nest->around & (UINT32_C(1) << i))
            loops |= ir->loop[i].bit;
    struct takt_ir_expr *at =
        takt__ir_count(ir, (struct takt_text){"", 0}, loops);
    if (to == NULL || to->sort != TAKT_IR_NAME || at == NULL || prefixes == 3)
        return false;
    nest->prefix[nest->prefixes++] = at;
    struct takt_ir_expr *value =
        takt__rust_expr(nest, takt__rust_argument(call, 0), false, depth + 1);
    nest->prefixes = prefixes;
    if (takt__rust_is_collected(value))
        return true;
    struct takt_ir_expr *target = takt__ir_new(ir, TAKT_IR_ACCESS);
    if (target == NULL)
        return false;
    target->text = to->text;
    target->type = to->type;
    if (!takt__ir_is_float(to->type.element))
        target->type = (struct takt_ir_type){.kind = TAKT_IR_ARRAY,
                                             .element = TAKT_IR_UNKNOWN};
    return takt__rust_store(nest, TAKT_IR_STORE, takt__ir_part(target, at),
                            value);
}

/* m.set((i, j), x), m.set(i, j, x): an element is written. */
static bool lower_set(struct takt_rust_nest *nest, TSNode call, unsigned depth)
{
    const unsigned count = takt__rust_argument_count(call);
    const TSNode first = takt__rust_argument(call, 0);
    struct takt_ir_expr *e = takt__ir_address(
        &nest->ir,
        takt__rust_expr(nest, takt__rust_receiver(call), false, depth + 1));
    const bool is_pair = rust_is(first, "tuple_expression");
    const uint32_t parts = is_pair ? takt__rust_children(first) : count - 1;

    for (uint32_t i = 0; i < parts && e != NULL; i++) {
        struct takt_ir_expr *at = takt__rust_expr(
            nest,
            is_pair ? takt__rust_child(first, i) : takt__rust_argument(call, i),
            true, depth + 1);
        e = takt__ir_is_plain_index(at) ? takt__ir_part(e, at) : NULL;
    }
    if (e == NULL || parts == 0)
        return false;
    e->sort = TAKT_IR_ACCESS;
    e->type.kind = TAKT_IR_ARRAY;
    return takt__rust_store(
        nest, TAKT_IR_STORE, e,
        takt__rust_expr(nest, takt__rust_argument(call, count - 1), false,
                        depth + 1));
}

/* v.swap(i, j), std::mem::swap(&mut a[i], &mut b[i]). */
static bool lower_swap(struct takt_rust_nest *nest, TSNode call, unsigned depth)
{
    struct takt_ir_expr *side[2];
    const TSNode of = takt__rust_receiver(call);
    struct takt_ir_expr *base =
        ts_node_is_null(of) ? NULL
                            : takt__rust_expr(nest, of, false, depth + 1);

    for (unsigned i = 0; i < 2; i++) {
        const TSNode argument = takt__rust_argument(call, i);
        side[i] = takt__rust_expr(nest, argument, base != NULL, depth + 1);
        if (base != NULL && side[i] != NULL)
            side[i] = takt__ir_element(&nest->ir, base, side[i]);
    }
    return takt__rust_store(nest, TAKT_IR_SWAP, side[0], side[1]);
}

/* Zip::from(a).and(b).for_each(|x, y| ..): the arrays, the last first. */
static unsigned zipped_arrays(const struct takt_rust *rust, TSNode call,
                              TSNode part[6])
{
    unsigned count = 0;

    for (TSNode at = takt__rust_receiver(call); count < 6;
         at = takt__rust_receiver(at)) {
        const TSNode callee = takt__rust_callee(at);
        const bool is_first = rust_is(at, "call_expression") &&
                              !ts_node_is_null(callee) &&
                              takt__text_is(rust_text(rust, callee), "from");
        if (!is_first && !takt__rust_calls(rust, at, "and"))
            return 0;
        part[count++] = takt__rust_argument(at, 0);
        if (is_first)
            return count;
    }
    return 0;
}

static bool lower_each(struct takt_rust_nest *nest, TSNode call, unsigned depth)
{
    const TSNode closure = takt__rust_argument(call, 0);
    const TSNode list = takt__node_field(closure, "parameters");
    const uint32_t around = nest->around;
    const unsigned locals = nest->locals;
    TSNode array[6];
    bool is_read = false;

    if (!rust_is(closure, "closure_expression"))
        return false;
    const unsigned count = zipped_arrays(nest->rust, call, array);
    struct takt_rust_part *part = takt__rust_open(
        nest, count > 0 ? array[count - 1] : takt__rust_receiver(call), depth);
    if (part != NULL && takt__rust_children(list) == (count > 0 ? count : 1))
        is_read = takt__rust_bind(nest, takt__rust_child(list, 0), part);
    for (unsigned i = 1; i < count && is_read; i++) {
        struct takt_ir_expr *e =
            takt__rust_expr(nest, array[count - 1 - i], false, depth + 1);
        is_read =
            e != NULL && part->value != NULL &&
            takt__rust_bind(
                nest, takt__rust_child(list, i),
                takt__rust_one(nest,
                               takt__ir_element(
                                   &nest->ir, e,
                                   part->value->part[part->value->parts - 1])));
    }
    is_read =
        is_read && takt__rust_statement(nest, takt__node_field(closure, "body"),
                                        depth + 1);
    nest->around = around;
    nest->locals = locals;
    return is_read;
}

/* ---- choices ------------------------------------------------------------- */

/* v[i] > v[best], where best is assigned: not to be read as it stands. */
static struct takt_ir_expr *against_best(struct takt_rust_nest *nest,
                                         TSNode test, unsigned depth)
{
    const struct takt_text sign = takt__rust_operator(nest->rust, test);
    TSNode side[2] = {takt__rust_bare(nest->rust, takt__rust_left(test)),
                      takt__rust_bare(nest->rust, takt__rust_right(test))};

    if (!rust_is(test, "binary_expression") ||
        (*sign.at != '<' && *sign.at != '>'))
        return NULL;
    for (unsigned i = 0; i < 2; i++) {
        struct takt_ir_expr *e =
            takt__rust_expr(nest, side[i], false, depth + 1);
        if (e == NULL || !rust_is(side[1 - i], "index_expression"))
            continue;
        return takt__ir_pair(
            &nest->ir,
            (*sign.at == '>') == (i == 0) ? TAKT_IR_GREATER : TAKT_IR_LESS, e,
            takt__rust_expr(nest, takt__rust_child(side[1 - i], 0), false,
                            depth + 1));
    }
    return NULL;
}

static struct takt_ir_expr *condition_of(struct takt_rust_nest *nest,
                                         TSNode test, unsigned depth)
{
    test = takt__rust_bare(nest->rust, test);
    if (rust_is(test, "binary_expression")) {
        static const char *const both[] = {"&&", "||", NULL};
        if (takt__rust_any(takt__rust_operator(nest->rust, test), both)) {
            const struct takt_ir_expr *a =
                condition_of(nest, takt__rust_left(test), depth + 1);
            const struct takt_ir_expr *b =
                condition_of(nest, takt__rust_right(test), depth + 1);
            return takt__ir_is_guard(a) && takt__ir_is_guard(b)
                       ? takt__ir_opaque(&nest->ir, a->loops | b->loops)
                       : NULL;
        }
    }
    struct takt_ir_expr *e = takt__rust_expr(nest, test, true, depth + 1);
    return e == NULL ? against_best(nest, test, depth) : e;
}

static bool lower_chosen(struct takt_rust_nest *nest, TSNode node,
                         unsigned depth)
{
    const bool was_choosing = nest->is_choosing;

    nest->is_choosing = true;
    const bool is_read = takt__rust_statement(nest, node, depth + 1);
    nest->is_choosing = was_choosing;
    return is_read;
}

static bool is_continue(TSNode block)
{
    return rust_is(takt__rust_tail(block), "continue_expression");
}

static bool lower_if(struct takt_rust_nest *nest, TSNode node, unsigned depth)
{
    const TSNode then = takt__node_field(node, "consequence");
    const TSNode other = takt__node_field(node, "alternative");
    const unsigned first = nest->ir.stmt_count;
    struct takt_ir_expr *condition =
        condition_of(nest, takt__node_field(node, "condition"), depth);

    if (takt__ir_is_guard(condition)) {
        nest->ir.is_guarded = true;
        if (!ts_node_is_null(other))
            return false;
        return is_continue(then) || lower_chosen(nest, then, depth);
    }
    if (!takt__ir_is_comparison(condition) ||
        !lower_chosen(nest, then, depth) || nest->ir.stmt_count == first)
        return false;
    if (ts_node_is_null(other))
        return takt__ir_fold_choice(&nest->ir, condition, first,
                                    nest->ir.stmt_count - first);
    const unsigned middle = nest->ir.stmt_count;
    if (middle != first + 1 ||
        !lower_chosen(nest, takt__rust_child(other, 0), depth))
        return false;
    return takt__ir_fold_either(&nest->ir, condition, first) ||
           (nest->ir.stmt_count == middle + 1 &&
            nest->ir.stmt[middle].effect >= TAKT_IR_MAX &&
            takt__ir_fold_choice(&nest->ir, condition, first, 1));
}

/* if x < 0.0 { continue; }: the rest is done only otherwise. */
static TSNode passed_over(struct takt_rust_nest *nest, TSNode node,
                          unsigned depth)
{
    const TSNode test = takt__node_field(node, "condition");

    return rust_is(node, "if_expression") &&
                   is_continue(takt__node_field(node, "consequence")) &&
                   ts_node_is_null(takt__node_field(node, "alternative")) &&
                   !takt__ir_is_guard(condition_of(nest, test, depth))
               ? test
               : takt__rust_null();
}

/* ---- bodies -------------------------------------------------------------- */

static bool lower_body(struct takt_rust_nest *nest, TSNode block, uint32_t from,
                       unsigned depth)
{
    const uint32_t count = takt__rust_children(block);

    for (uint32_t i = from; i < count; i++) {
        const TSNode one = takt__rust_child(block, i);
        if (ts_node_is_extra(one))
            continue;
        if (rust_is(one, "let_declaration")) {
            if (!lower_let(nest, one, block, depth))
                return false;
            continue;
        }
        const TSNode test =
            passed_over(nest, takt__rust_bare(nest->rust, one), depth);
        if (ts_node_is_null(test)) {
            if (!takt__rust_statement(nest, one, depth + 1))
                return false;
            continue;
        }
        const unsigned first = nest->ir.stmt_count;
        struct takt_ir_expr *condition =
            takt__ir_opposite(&nest->ir, condition_of(nest, test, depth));
        const bool was_choosing = nest->is_choosing;
        nest->is_choosing = true;
        const bool is_read = lower_body(nest, block, i + 1, depth + 1);
        nest->is_choosing = was_choosing;
        return is_read && condition != NULL && nest->ir.stmt_count > first &&
               takt__ir_fold_choice(&nest->ir, condition, first,
                                    nest->ir.stmt_count - first);
    }
    return true;
}

static bool lower_for(struct takt_rust_nest *nest, TSNode node, unsigned depth)
{
    const uint32_t around = nest->around;
    const unsigned locals = nest->locals;
    struct takt_rust_part *part =
        takt__rust_open(nest, takt__node_field(node, "value"), depth);
    const bool is_read =
        takt__rust_bind(nest, takt__node_field(node, "pattern"), part) &&
        takt__rust_statement(nest, takt__node_field(node, "body"), depth + 1);

    nest->around = around;
    nest->locals = locals;
    return is_read;
}

/* i += 1, of what a loop counts with. */
static bool is_step(const struct takt_rust_nest *nest, TSNode node,
                    struct takt_text counter)
{
    node = takt__rust_bare(nest->rust, node);
    return rust_is(node, "compound_assignment_expr") &&
           takt__text_is(takt__rust_operator(nest->rust, node), "+=") &&
           takt__rust_literal_is(nest->rust, takt__rust_right(node), 1) &&
           takt__ir_same_text(rust_text(nest->rust, takt__rust_left(node)),
                              counter);
}

/* while i < n { .. i += 1; } */
static bool lower_while(struct takt_rust_nest *nest, TSNode node,
                        unsigned depth)
{
    static const char *const signs[] = {"<", "<=", "!=", NULL};
    const TSNode test = takt__node_field(node, "condition");
    const TSNode body = takt__node_field(node, "body");
    const TSNode left = takt__rust_left(test);
    struct takt_ir_nest *ir = &nest->ir;
    const uint32_t around = nest->around;
    const unsigned locals = nest->locals, index = ir->loop_count;
    const uint32_t count = takt__rust_children(body);
    bool is_read = true, is_stepped = false;

    if (!rust_is(test, "binary_expression") || index == TAKT_IR_LOOPS ||
        !takt__rust_any(takt__rust_operator(nest->rust, test), signs) ||
        !rust_is(left, "identifier"))
        return false;
    struct takt_ir_loop *loop = &ir->loop[ir->loop_count++];
    *loop = (struct takt_ir_loop){.bit = UINT32_C(1) << index,
                                  .around = around | (UINT32_C(1) << index),
                                  .stride = 1};
    ir->open = ir->loop_count;
    const struct takt_text counter = rust_text(nest->rust, left);
    const struct takt_rust_extent extent =
        takt__rust_count(nest->rust, takt__rust_right(test), TAKT_RUST_DEPTH);
    loop->extent = extent.count;
    loop->source = extent.source;
    loop->to = takt__rust_expr(nest, takt__rust_right(test), true, depth + 1);
    if (loop->to == NULL || loop->to->loops != 0)
        return false;
    nest->around = loop->around;
    if (!takt__rust_bind_name(
            nest, counter,
            takt__rust_one(nest, takt__ir_count(ir, counter, loop->bit))))
        return false;
    for (uint32_t i = 0; i < count && is_read; i++) {
        const TSNode one = takt__rust_child(body, i);
        if (is_step(nest, one, counter))
            is_stepped = true;
        else if (rust_is(one, "let_declaration"))
            is_read = lower_let(nest, one, body, depth);
        else if (!ts_node_is_extra(one))
            is_read = takt__rust_statement(nest, one, depth + 1);
    }
    nest->around = around;
    nest->locals = locals;
    return is_read && is_stepped;
}

static bool lower_call(struct takt_rust_nest *nest, TSNode call, unsigned depth)
{
    const TSNode callee = takt__rust_callee(call);

    if (takt__rust_calls(nest->rust, call, "push") &&
        takt__rust_argument_count(call) == 1)
        return lower_push(nest, call, depth);
    if (takt__rust_calls(nest->rust, call, "for_each"))
        return lower_each(nest, call, depth);
    if (takt__rust_calls(nest->rust, call, "set") &&
        takt__rust_argument_count(call) > 1)
        return lower_set(nest, call, depth);
    if (takt__rust_argument_count(call) == 2 &&
        (takt__rust_calls(nest->rust, call, "swap") ||
         (!ts_node_is_null(callee) &&
          takt__text_is(rust_text(nest->rust, callee), "swap"))))
        return lower_swap(nest, call, depth);
    return takt__rust_ends_chain(nest, call) &&
           takt__rust_chain_value(nest, call, depth) != NULL;
}

bool takt__rust_statement(struct takt_rust_nest *nest, TSNode node,
                          unsigned depth)
{
    static const char *const checks[] = {"assert", "debug_assert",
                                         "debug_assert_eq", "assert_eq", NULL};
    const unsigned locals = nest->locals;

    while (rust_is(node, "expression_statement") ||
           rust_is(node, "unsafe_block"))
        node = takt__rust_child(node, 0);
    if (ts_node_is_null(node) || depth > TAKT_RUST_DEEPEST ||
        !takt__rust_step(nest->rust))
        return false;
    if (rust_is(node, "block")) {
        const bool is_read = lower_body(nest, node, 0, depth + 1);
        nest->locals = locals;
        return is_read;
    }
    if (rust_is(node, "for_expression"))
        return lower_for(nest, node, depth);
    if (rust_is(node, "while_expression"))
        return lower_while(nest, node, depth);
    if (assigns(node))
        return lower_assignment(nest, node, depth);
    if (rust_is(node, "if_expression"))
        return lower_if(nest, node, depth);
    if (rust_is(node, "call_expression"))
        return lower_call(nest, node, depth);
    return rust_is(node, "macro_invocation") &&
           takt__rust_is_any(nest->rust, takt__node_field(node, "macro"),
                             checks);
}

bool takt__rust_lower(struct takt_rust_nest *nest, TSNode node)
{
    find_assigned(nest, node, TAKT_RUST_DEEPEST);
    return takt__rust_statement(nest, node, 0) && nest->ir.loop_count > 0;
}
