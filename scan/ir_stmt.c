/* SPDX-License-Identifier: MIT */
/*
 * ir_stmt.c - single things that a nest of loops does, brought into the
 * form that is judged: s = s + x as s += x, and what is done several times at
 * once as what is done once.
 */
#include "ir.h"

bool takt__ir_effect(struct takt_text sign, enum takt_ir_effect *out)
{
    static const char *const signs[] = {[TAKT_IR_STORE] = "=",
                                        [TAKT_IR_SUM] = "+=",
                                        [TAKT_IR_DIFFERENCE] = "-=",
                                        [TAKT_IR_PRODUCT] = "*=",
                                        [TAKT_IR_QUOTIENT] = "/="};

    for (*out = TAKT_IR_STORE; *out <= TAKT_IR_QUOTIENT; ++*out)
        if (takt__text_is(sign, signs[*out]))
            return true;
    return false;
}

struct takt_ir_expr *takt__ir_after(struct takt_ir_nest *nest,
                                    enum takt_ir_effect effect,
                                    struct takt_ir_expr *to,
                                    struct takt_ir_expr *value)
{
    static const enum takt_ir_sort sorts[] = {[TAKT_IR_SUM] = TAKT_IR_ADD,
                                              [TAKT_IR_DIFFERENCE] =
                                                  TAKT_IR_SUB,
                                              [TAKT_IR_PRODUCT] = TAKT_IR_MUL,
                                              [TAKT_IR_QUOTIENT] = TAKT_IR_DIV};

    return effect == TAKT_IR_STORE
               ? value
               : takt__ir_pair(nest, sorts[effect], to, value);
}

bool takt__ir_add(struct takt_ir_nest *nest, struct takt_ir_stmt stmt)
{
    if (stmt.target == NULL || stmt.value == NULL ||
        nest->stmt_count == TAKT_IR_STMTS)
        return false;
    nest->stmt[nest->stmt_count++] = stmt;
    return true;
}

/* s = s + x is s += x; s = max(s, x) takes the largest. */
static void simplify(struct takt_ir_stmt *stmt)
{
    struct takt_ir_expr *v = stmt->value;

    if (stmt->effect != TAKT_IR_STORE)
        return;
    const bool is_max = takt__ir_is_call(v, "fmax");
    const bool is_product = v->sort == TAKT_IR_MUL;
    if ((v->sort == TAKT_IR_ADD || is_product || is_max ||
         takt__ir_is_call(v, "fmin")) &&
        v->parts == 2)
        for (unsigned i = 0; i < 2; i++)
            if (takt__ir_same(v->part[i], stmt->target)) {
                stmt->effect = is_product               ? TAKT_IR_PRODUCT
                               : v->sort == TAKT_IR_ADD ? TAKT_IR_SUM
                               : is_max                 ? TAKT_IR_MAX
                                                        : TAKT_IR_MIN;
                stmt->value = v->part[1 - i];
                return;
            }
    if (v->sort == TAKT_IR_SUB && takt__ir_same(v->part[0], stmt->target)) {
        stmt->effect = TAKT_IR_DIFFERENCE;
        stmt->value = v->part[1];
    }
}

/* Without a number that is added. */
static const struct takt_ir_expr *unshifted(const struct takt_ir_expr *e)
{
    while (e->sort == TAKT_IR_ADD) {
        if (e->part[1]->sort == TAKT_IR_NUMBER)
            e = e->part[0];
        else if (e->part[0]->sort == TAKT_IR_NUMBER)
            e = e->part[1];
        else
            break;
    }
    return e;
}

/* Whether both are the same but for numbers in their indices. */
static bool is_shifted(const struct takt_ir_expr *a,
                       const struct takt_ir_expr *b)
{
    if (a->sort != b->sort || a->parts != b->parts ||
        !takt__ir_same_text(a->text, b->text))
        return false;
    if (a->sort != TAKT_IR_ACCESS && a->parts == 0)
        return takt__ir_same(a, b);
    for (unsigned i = 0; i < a->parts; i++) {
        const struct takt_ir_expr *x = a->part[i], *y = b->part[i];
        if (a->sort != TAKT_IR_ACCESS
                ? !is_shifted(x, y)
                : !takt__ir_same(x, y) &&
                      !takt__ir_same(unshifted(x), unshifted(y)))
            return false;
    }
    return true;
}

/* s += a[i] * b[i] + a[i + 1] * b[i + 1], two at a time: how many there are in
 * it that are the first, further on; 0: others are, too. */
static unsigned repeats(const struct takt_ir_expr *e,
                        const struct takt_ir_expr *first)
{
    if (e->sort != TAKT_IR_ADD)
        return e == first || (!takt__ir_same(e, first) && is_shifted(e, first));
    const unsigned left = repeats(e->part[0], first);
    const unsigned right = repeats(e->part[1], first);
    return left == 0 || right == 0 ? 0 : left + right;
}

static void roll_up(const struct takt_ir_nest *nest, struct takt_ir_stmt *stmt)
{
    struct takt_ir_expr *first = stmt->value;
    const struct takt_ir_loop *loop = &nest->loop[nest->open - 1];

    while (first->sort == TAKT_IR_ADD)
        first = first->part[0];
    if (stmt->effect == TAKT_IR_SUM && stmt->target->sort == TAKT_IR_NAME &&
        first != stmt->value && loop->stride != 1 &&
        repeats(stmt->value, first) > 0)
        stmt->value = first;
}

/* fma(a, b, s) into s adds a * b. */
static void simplify_fma(struct takt_ir_nest *nest, struct takt_ir_stmt *stmt)
{
    struct takt_ir_expr *v = stmt->value;

    if (stmt->effect != TAKT_IR_STORE || !takt__ir_is_call(v, "fma") ||
        v->parts != 3 || !takt__ir_same(v->part[2], stmt->target))
        return;
    struct takt_ir_expr *product =
        takt__ir_pair(nest, TAKT_IR_MUL, v->part[0], v->part[1]);
    if (product != NULL) {
        stmt->effect = TAKT_IR_SUM;
        stmt->value = product;
    }
}

void takt__ir_simplify(struct takt_ir_nest *nest, struct takt_ir_stmt *stmt)
{
    simplify(stmt);
    roll_up(nest, stmt);
    simplify_fma(nest, stmt);
}

/* ---- what is done only if -------------------------------------------------
 */

/* Where something was found: an index, and nothing that is read. */
static bool is_place(const struct takt_ir_stmt *stmt)
{
    return stmt->effect == TAKT_IR_STORE && stmt->value->loops != 0 &&
           !takt__ir_has_access(stmt->value);
}

/* Of several things that are kept, one is a value, and the others say where it
 * was: that one goes first. */
static bool put_places_last(struct takt_ir_stmt *stmt, unsigned count)
{
    unsigned values = 0;

    for (unsigned i = 0; i < count; i++) {
        if (is_place(&stmt[i]))
            continue;
        const struct takt_ir_stmt value = stmt[i];
        stmt[i] = stmt[0];
        stmt[0] = value;
        values++;
    }
    return values == 1 || count == 1;
}

/* x *= a as x = x * a. */
static bool as_stored(struct takt_ir_nest *nest, struct takt_ir_stmt *stmt)
{
    static const enum takt_ir_sort sorts[] = {[TAKT_IR_SUM] = TAKT_IR_ADD,
                                              [TAKT_IR_DIFFERENCE] =
                                                  TAKT_IR_SUB,
                                              [TAKT_IR_PRODUCT] = TAKT_IR_MUL,
                                              [TAKT_IR_QUOTIENT] = TAKT_IR_DIV};

    if (stmt->effect == TAKT_IR_STORE)
        return true;
    if (stmt->effect >= TAKT_IR_MAX || stmt->target->sort != TAKT_IR_ACCESS)
        return false;
    stmt->value =
        takt__ir_pair(nest, sorts[stmt->effect], stmt->target, stmt->value);
    stmt->effect = TAKT_IR_STORE;
    return stmt->value != NULL;
}

/* if (x > m) m = x;   if (x > m) { m = x; at = i; }   if (x[i] > x[at]) at = i;
 * and if (x[i] < 0) x[i] = 0: becomes x[i] = x[i] < 0 ? 0 : x[i]. */
bool takt__ir_fold_choice(struct takt_ir_nest *nest,
                          struct takt_ir_expr *condition, unsigned first,
                          unsigned count)
{
    struct takt_ir_stmt *stmt = &nest->stmt[first];

    if (count == 1 && stmt->target->sort == TAKT_IR_NAME &&
        (stmt->effect == TAKT_IR_SUM || stmt->effect == TAKT_IR_DIFFERENCE)) {
        stmt->value = takt__ir_pick(nest, condition, stmt->value,
                                    takt__ir_number(nest, 0));
        return stmt->value != NULL;
    }
    if (!put_places_last(stmt, count) || !as_stored(nest, stmt))
        return false;
    if (count == 1 && is_place(stmt) && stmt->target->sort == TAKT_IR_NAME &&
        takt__ir_is_comparison(condition) &&
        condition->part[0]->sort == TAKT_IR_ACCESS) {
        stmt->effect = condition->sort == TAKT_IR_GREATER ? TAKT_IR_ARGMAX
                                                          : TAKT_IR_ARGMIN;
        stmt->value = condition->part[0];
        return true;
    }
    stmt->value = takt__ir_pick(nest, condition, stmt->value, stmt->target);
    if (stmt->value == NULL)
        return false;
    takt__ir_simplify(nest, stmt);
    if (stmt->effect == TAKT_IR_STORE)
        return count == 1 && stmt->target->sort == TAKT_IR_ACCESS;
    if (count > 1 && stmt->effect != TAKT_IR_MAX && stmt->effect != TAKT_IR_MIN)
        return false;
    if (count > 1)
        stmt->effect =
            stmt->effect == TAKT_IR_MAX ? TAKT_IR_ARGMAX : TAKT_IR_ARGMIN;
    nest->stmt_count -= count - 1;
    return true;
}

/* if (a) x = b; else x = c: is x = a ? b : c. */
static bool fold_stores(struct takt_ir_nest *nest,
                        struct takt_ir_expr *condition, unsigned first)
{
    struct takt_ir_stmt *yes = &nest->stmt[first], *no = yes + 1;

    if (nest->stmt_count != first + 2 || yes->effect != TAKT_IR_STORE ||
        no->effect != TAKT_IR_STORE || !takt__ir_same(yes->target, no->target))
        return false;
    yes->value = takt__ir_pick(nest, condition, yes->value, no->value);
    nest->stmt_count--;
    if (yes->value == NULL)
        return false;
    takt__ir_simplify(nest, yes);
    return true;
}

bool takt__ir_fold_either(struct takt_ir_nest *nest,
                          struct takt_ir_expr *condition, unsigned first)
{
    return fold_stores(nest, condition, first) ||
           (nest->stmt_count == first + 2 &&
            nest->stmt[first + 1].effect >= TAKT_IR_MAX &&
            takt__ir_fold_choice(nest, condition, first, 1));
}

/* Where, and not what, decides. */
bool takt__ir_is_guard(const struct takt_ir_expr *condition)
{
    return condition != NULL && !takt__ir_has_access(condition) &&
           !takt__ir_varies(condition);
}

void takt__ir_guard(struct takt_ir_nest *nest,
                    const struct takt_ir_expr *condition)
{
    if (condition->loops != 0)
        nest->is_guarded = true;
    else
        nest->is_optional = true;
}
