/* SPDX-License-Identifier: MIT */
/*
 * c_family_nest.c - reads what a nest of loops does, statement by statement:
 * what is written where, and with which effect.
 */
#include "c_family_expr.h"

#include <string.h>

enum { DEEPEST = 40 };

static bool collect(struct takt_c_nest *nest, TSNode node, uint32_t around,
                    unsigned depth);

static bool add_leaf(struct takt_c_nest *nest, struct takt_c_leaf leaf)
{
    if (leaf.target == NULL || leaf.value == NULL ||
        nest->leaves == TAKT_C_LEAVES)
        return false;
    nest->leaf[nest->leaves++] = leaf;
    return true;
}

static bool collect_declaration(struct takt_c_nest *nest, TSNode node,
                                uint32_t around)
{
    const uint32_t count = ts_node_child_count(node);

    for (uint32_t i = 0; i < count; i++) {
        const TSNode one = ts_node_child(node, i);
        if (!takt__node_is(one, "init_declarator"))
            continue;
        bool is_function = false;
        const TSNode name = takt__c_declared_name(one, &is_function);
        struct takt_c_local *local =
            takt__c_local(nest, takt__node_text(nest->source, name));
        struct takt_c_expr *value = takt__c_expr(
            nest, takt__node_field(one, "value"),
            local != NULL && local->type.element == TAKT_C_INTEGER, 0);
        if (local != NULL && value != NULL && local->type.rank > 0 &&
            value->type.element == TAKT_C_UNKNOWN)
            value = takt__c_expr_typed(nest, value, local->type);
        if (local == NULL || value == NULL)
            return false;
        local->value = value;
        if (!local->is_assigned)
            continue;
        struct takt_c_expr *target = takt__c_expr(nest, name, false, 0);
        if (!add_leaf(nest, (struct takt_c_leaf){.target = target,
                                                 .value = value,
                                                 .around = around,
                                                 .is_declaration = true}))
            return false;
    }
    return true;
}

/* s = s + x is s += x; s = max(s, x) takes the largest. */
static void simplify(struct takt_c_leaf *leaf)
{
    struct takt_c_expr *v = leaf->value;

    if (leaf->effect != TAKT_C_STORE)
        return;
    const bool is_max = takt__c_is_call(v, "fmax");
    if ((v->sort == TAKT_C_ADD || is_max || takt__c_is_call(v, "fmin")) &&
        v->parts == 2)
        for (unsigned i = 0; i < 2; i++)
            if (takt__c_same(v->part[i], leaf->target)) {
                leaf->effect = v->sort == TAKT_C_ADD ? TAKT_C_SUM
                               : is_max              ? TAKT_C_MAX
                                                     : TAKT_C_MIN;
                leaf->value = v->part[1 - i];
                return;
            }
    if (v->sort == TAKT_C_SUB && takt__c_same(v->part[0], leaf->target)) {
        leaf->effect = TAKT_C_DIFFERENCE;
        leaf->value = v->part[1];
    }
}

/* fma(a, b, s) into s adds a * b. */
static void simplify_fma(struct takt_c_nest *nest, struct takt_c_leaf *leaf)
{
    struct takt_c_expr *v = leaf->value;

    if (leaf->effect != TAKT_C_STORE || !takt__c_is_call(v, "fma") ||
        v->parts != 3 || !takt__c_same(v->part[2], leaf->target))
        return;
    struct takt_c_expr *product =
        takt__c_expr_pair(nest, TAKT_C_MUL, v->part[0], v->part[1]);
    if (product != NULL) {
        leaf->effect = TAKT_C_SUM;
        leaf->value = product;
    }
}

/* x > m ? x : m into m is the largest, too. */
static void simplify_pick(struct takt_c_leaf *leaf)
{
    const struct takt_c_expr *v = leaf->value;

    if (leaf->effect != TAKT_C_STORE || v->sort != TAKT_C_PICK ||
        (v->part[0]->sort != TAKT_C_LESS && v->part[0]->sort != TAKT_C_GREATER))
        return;
    const bool is_greater = v->part[0]->sort == TAKT_C_GREATER;
    struct takt_c_expr *a = v->part[0]->part[0], *b = v->part[0]->part[1];
    struct takt_c_expr *yes = v->part[1], *no = v->part[2];
    const bool is_first = takt__c_same(a, yes) && takt__c_same(b, no);
    const bool is_second = takt__c_same(a, no) && takt__c_same(b, yes);
    if (!is_first && !is_second)
        return;
    if (!takt__c_same(a, leaf->target) && !takt__c_same(b, leaf->target))
        return;
    leaf->value = takt__c_same(a, leaf->target) ? b : a;
    leaf->effect = is_greater == is_first ? TAKT_C_MAX : TAKT_C_MIN;
}

/* float v = x[i]; v *= 2; y[i] = v: v is only a name for what comes next. */
static bool is_passing(struct takt_c_nest *nest, TSNode name, uint32_t around)
{
    const struct takt_c_local *local =
        takt__c_local(nest, takt__node_text(nest->source, name));

    return local != NULL && local->is_declared && !local->is_assigned &&
           local->declared == around;
}

static bool pass_on(struct takt_c_nest *nest, TSNode node, TSNode name,
                    struct takt_text sign)
{
    static const struct {
        const char *sign;
        enum takt_c_sort sort;
    } signs[] = {{"+=", TAKT_C_ADD},
                 {"-=", TAKT_C_SUB},
                 {"*=", TAKT_C_MUL},
                 {"/=", TAKT_C_DIV}};
    struct takt_c_local *local =
        takt__c_local(nest, takt__node_text(nest->source, name));
    struct takt_c_expr *value =
        takt__c_expr(nest, takt__node_field(node, "right"), false, 0);

    if (value == NULL || nest->is_choosing)
        return false;
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (takt__text_is(sign, signs[i].sign)) {
            if (local->value == NULL)
                return false;
            local->value =
                takt__c_expr_pair(nest, signs[i].sort, local->value, value);
            return local->value != NULL;
        }
    local->value = value;
    return takt__text_is(sign, "=");
}

static bool collect_assignment(struct takt_c_nest *nest, TSNode node,
                               uint32_t around)
{
    static const struct {
        const char *sign;
        enum takt_c_effect effect;
    } signs[] = {{"=", TAKT_C_STORE},
                 {"+=", TAKT_C_SUM},
                 {"-=", TAKT_C_DIFFERENCE},
                 {"*=", TAKT_C_PRODUCT},
                 {"/=", TAKT_C_QUOTIENT}};
    const struct takt_text sign =
        takt__node_text(nest->source, takt__node_field(node, "operator"));
    const TSNode left = takt__c_bare(takt__node_field(node, "left"));
    struct takt_c_leaf leaf = {.around = around};
    bool is_known = false;

    if (takt__node_is(left, "identifier")) {
        const struct takt_c_local *local =
            takt__c_local(nest, takt__node_text(nest->source, left));
        if (local != NULL && local->is_stepped && !local->is_assigned)
            return true; /* a pointer or counter that moves on */
    }
    if (takt__node_is(left, "identifier") && is_passing(nest, left, around))
        return pass_on(nest, node, left, sign);
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (takt__text_is(sign, signs[i].sign)) {
            leaf.effect = signs[i].effect;
            is_known = true;
        }
    TSNode right = takt__c_bare(takt__node_field(node, "right"));
    if (!ts_node_is_null(right) &&
        takt__node_is(right, "assignment_expression")) { /* a = b = c */
        if (leaf.effect != TAKT_C_STORE ||
            !collect_assignment(nest, right, around) || nest->leaves == 0 ||
            nest->leaf[nest->leaves - 1].effect != TAKT_C_STORE)
            return false;
        leaf.value = nest->leaf[nest->leaves - 1].value;
    } else
        leaf.value = takt__c_expr(nest, right, false, 0);
    leaf.target = takt__c_expr(nest, left, false, 0);
    if (!is_known || leaf.target == NULL || leaf.value == NULL)
        return false;
    if (leaf.target->sort != TAKT_C_NAME && leaf.target->sort != TAKT_C_ACCESS)
        return false;
    simplify(&leaf);
    simplify_fma(nest, &leaf);
    simplify_pick(&leaf);
    return add_leaf(nest, leaf);
}

static TSNode only_statement(TSNode node)
{
    while (!ts_node_is_null(node) &&
           takt__node_is(node, "compound_statement") &&
           ts_node_named_child_count(node) == 1)
        node = takt__c_first(node);
    return node;
}

/* if (x > m) m = x;   if (x > m) { m = x; at = i; }   if (x[i] > x[at]) at = i;
 * and if (x[i] < 0) x[i] = 0: becomes out = x[i] < 0 ? 0 : x[i]. */
static bool fold_choice(struct takt_c_nest *nest,
                        const struct takt_c_expr *condition, unsigned first)
{
    struct takt_c_leaf *leaf = &nest->leaf[first];
    const unsigned count = nest->leaves - first;
    const bool is_greater = condition->sort == TAKT_C_GREATER;
    struct takt_c_expr *a = condition->part[0], *b = condition->part[1];

    if (count == 2 && nest->leaf[first + 1].value->sort != TAKT_C_STEP &&
        leaf->value->sort == TAKT_C_STEP) { /* either order */
        const struct takt_c_leaf other = *leaf;
        *leaf = nest->leaf[first + 1];
        nest->leaf[first + 1] = other;
    }
    if (leaf->effect != TAKT_C_STORE || count > 2)
        return false;
    const bool is_a =
        takt__c_same(a, leaf->value) && takt__c_same(b, leaf->target);
    const bool is_b =
        takt__c_same(b, leaf->value) && takt__c_same(a, leaf->target);
    if ((is_a || is_b) && takt__c_has_access(leaf->value)) {
        const bool is_max = is_a == is_greater;
        leaf->effect = is_max ? TAKT_C_MAX : TAKT_C_MIN;
        if (count == 2) {
            if (nest->leaf[first + 1].value->sort != TAKT_C_STEP)
                return false;
            leaf->effect = is_max ? TAKT_C_ARGMAX : TAKT_C_ARGMIN;
            nest->leaves--;
        }
        return true;
    }
    if (count != 1)
        return false;
    if (leaf->value->sort == TAKT_C_STEP && leaf->target->sort == TAKT_C_NAME &&
        a->sort == TAKT_C_ACCESS) { /* if (v[i] > v[best]) best = i */
        leaf->effect = is_greater ? TAKT_C_ARGMAX : TAKT_C_ARGMIN;
        leaf->value = a;
        return true;
    }
    if (leaf->target->sort != TAKT_C_ACCESS || !takt__c_same(a, leaf->target))
        return false;
    struct takt_c_expr *both = takt__c_expr_new(nest, TAKT_C_PICK);
    if (both == NULL)
        return false;
    both->parts = 3;
    both->part[0] = takt__c_expr_pair(nest, condition->sort, a, b);
    both->part[1] = leaf->value;
    both->part[2] = leaf->target;
    both->steps = leaf->target->steps | leaf->value->steps;
    leaf->value = both;
    return both->part[0] != NULL;
}

/* v[best], where best is assigned: the base is what matters. */
static struct takt_c_expr *best_so_far(struct takt_c_nest *nest, TSNode node)
{
    node = takt__c_bare(node);
    if (!takt__node_is(node, "subscript_expression"))
        return NULL;
    struct takt_c_expr *base =
        takt__c_expr(nest, takt__node_field(node, "argument"), false, 0);
    return base == NULL || base->sort != TAKT_C_NAME ? NULL : base;
}

static bool collect_chosen(struct takt_c_nest *nest, TSNode then,
                           uint32_t around, unsigned depth)
{
    const bool was_choosing = nest->is_choosing;

    nest->is_choosing = true;
    const bool is_read = collect(nest, then, around, depth + 1);
    nest->is_choosing = was_choosing;
    return is_read;
}

static bool collect_choice(struct takt_c_nest *nest, TSNode node,
                           uint32_t around, unsigned depth)
{
    const TSNode test = takt__c_bare(takt__node_field(node, "condition"));
    const TSNode then = only_statement(takt__node_field(node, "consequence"));
    const unsigned first = nest->leaves;

    if (ts_node_is_null(test) || ts_node_is_null(then) ||
        !ts_node_is_null(takt__node_field(node, "alternative")))
        return false;
    const struct takt_c_expr *condition = takt__c_expr(nest, test, true, 0);
    if (condition != NULL && !takt__c_has_access(condition) &&
        !takt__c_varies(condition)) { /* where, and not what, decides */
        nest->is_guarded = true;
        if (takt__node_is(then, "continue_statement"))
            return true;
        return collect_chosen(nest, then, around, depth);
    }
    if (condition == NULL && takt__node_is(test, "binary_expression")) {
        struct takt_c_expr *a =
            takt__c_expr(nest, takt__node_field(test, "left"), false, 0);
        struct takt_c_expr *b =
            best_so_far(nest, takt__node_field(test, "right"));
        const char sign =
            *takt__node_text(nest->source, takt__node_field(test, "operator"))
                 .at;
        if (sign == '<' || sign == '>')
            condition = takt__c_expr_pair(
                nest, sign == '<' ? TAKT_C_LESS : TAKT_C_GREATER, a, b);
    }
    if (condition == NULL ||
        (condition->sort != TAKT_C_LESS && condition->sort != TAKT_C_GREATER))
        return false;
    return collect_chosen(nest, then, around, depth) && nest->leaves > first &&
           fold_choice(nest, condition, first);
}

static bool collect_loop(struct takt_c_nest *nest, TSNode node, unsigned depth)
{
    if (nest->next_loop == nest->loops)
        return false;
    struct takt_c_loop *loop = &nest->loop[nest->next_loop++];
    const TSNode body = takt__node_field(node, "body");
    return takt__c_read_head(nest, loop) && !ts_node_is_null(body) &&
           collect(nest, body, loop->around, depth + 1);
}

static bool collect_expression(struct takt_c_nest *nest, TSNode node,
                               uint32_t around)
{
    if (ts_node_is_null(node) || takt__node_is(node, "update_expression"))
        return true; /* `;`, or a step: the survey knows it */
    if (takt__node_is(node, "comma_expression"))
        return collect_expression(nest, takt__node_field(node, "left"),
                                  around) &&
               collect_expression(nest, takt__node_field(node, "right"),
                                  around);
    return takt__node_is(node, "assignment_expression") &&
           collect_assignment(nest, node, around);
}

static bool collect(struct takt_c_nest *nest, TSNode node, uint32_t around,
                    unsigned depth)
{
    const char *type = ts_node_type(node);

    if (depth > DEEPEST)
        return false;
    if (takt__c_is_loop(node))
        return collect_loop(nest, node, depth);
    if (!strcmp(type, "declaration"))
        return collect_declaration(nest, node, around);
    if (!strcmp(type, "expression_statement"))
        return collect_expression(nest, takt__c_first(node), around);
    if (!strcmp(type, "if_statement"))
        return collect_choice(nest, node, around, depth);
    if (!strcmp(type, "comment") || !strcmp(type, "preproc_call"))
        return true;
    if (strcmp(type, "compound_statement") != 0)
        return false;
    const uint32_t count = ts_node_named_child_count(node);
    for (uint32_t i = 0; i < count; i++)
        if (!collect(nest, ts_node_named_child(node, i), around, depth + 1))
            return false;
    return true;
}

bool takt__c_collect(struct takt_c_nest *nest, TSNode loop)
{
    nest->next_loop = 0;
    return collect_loop(nest, loop, 0);
}
