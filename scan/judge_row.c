/* SPDX-License-Identifier: MIT */
/*
 * judge_row.c - what loops make together with those beside them: the largest,
 * the exponentials and their sum, and a division are a softmax; products around
 * one are attention.
 */
#include "judge.h"

#include <string.h>

static bool is_op(const struct takt_row *row, unsigned at, const char *op)
{
    return at < row->count && row->verdict[at].op != NULL &&
           !strcmp(row->verdict[at].op, op);
}

static bool is_role(const struct takt_row *row, unsigned at,
                    enum takt_role role)
{
    return at < row->count && row->verdict[at].role == role;
}

static unsigned steps(const struct takt_row *row, unsigned at, const char *ops)
{
    unsigned count = 0;

    while (at + count < row->count && row->verdict[at + count].op != NULL &&
           row->verdict[at + count].role == TAKT_ROLE_NONE &&
           takt__word_in(row->verdict[at + count].op, ops))
        count++;
    return count;
}

/* How many from `at` are the exponentials of a softmax and their sum; 0: they
 * are none. */
static unsigned exponentials(const struct takt_row *row, unsigned at)
{
    unsigned next = at + is_op(row, at, "max");

    next += is_op(row, next, "sub");
    if (is_role(row, next, TAKT_ROLE_EXP_SUM))
        return next + 1 - at;
    return is_role(row, next, TAKT_ROLE_EXP) && is_op(row, next + 1, "sum")
               ? next + 2 - at
               : 0;
}

/* The same of a softmax. They may be had anew, where they are divided. */
static unsigned softmax(const struct takt_row *row, unsigned at)
{
    const unsigned count = exponentials(row, at), next = at + count;

    return count > 0 &&
                   (is_op(row, next, "scale") || is_op(row, next, "div") ||
                    (is_op(row, next - 1, "sum") && is_op(row, next, "exp")))
               ? count + 1
               : 0;
}

/* The mean may have been had without a loop. */
static unsigned layernorm(const struct takt_row *row, unsigned at)
{
    const unsigned next =
        at + (is_op(row, at, "mean") || is_op(row, at, "sum"));

    return is_op(row, next, "variance") &&
                   is_role(row, next + 1, TAKT_ROLE_NORMALIZE)
               ? next + 2 - at
               : 0;
}

static bool is_product(const struct takt_row *row, unsigned at)
{
    return is_op(row, at, "gemv") || is_op(row, at, "matmul");
}

/* Scores may be scaled and masked, and in rows of their own: a softmax that is
 * a verdict already. What is divided by the sum may be the product. */
static unsigned attention(const struct takt_row *row, unsigned at)
{
    static const char between[] = "scale div mul add sub tanh";

    if (!is_product(row, at))
        return 0;
    unsigned next = at + 1;
    next += steps(row, next, between);
    const unsigned middle =
        is_op(row, next, "softmax") ? 1 : exponentials(row, next);
    next += middle;
    next += steps(row, next, between);
    return middle > 0 && is_product(row, next) ? next + 1 - at : 0;
}

unsigned takt__judge_row(const struct takt_row *row, const char **op)
{
    unsigned count;

    *op = NULL;
    if (row->count < 2)
        return 0;
    if ((count = attention(row, 0)) > 0)
        *op = "attention";
    else if ((count = softmax(row, 0)) > 0)
        *op = "softmax";
    else if ((count = layernorm(row, 0)) > 0)
        *op = "layernorm";
    return count;
}

static size_t known(const struct takt_found_size *size, unsigned at)
{
    return at < size->shape.rank ? size->shape.dim[at] : 0;
}

/* rows: how many there are, or 0; for attention, the queries. */
void takt__judge_tell_row(struct takt_ir_verdict *out,
                          const struct takt_row *row, const char *op,
                          uint64_t rows, enum takt_size_source of_rows)
{
    const struct takt_found_size *first = &row->verdict[0].size;
    const struct takt_found_size *size =
        first->shape.rank > 0 ? first : &row->verdict[1].size;
    const enum takt_size_source source =
        size->shape.rank > 0 ? size->source : of_rows;

    out->op = op;
    out->role = TAKT_ROLE_NONE;
    out->is_fused = false;
    out->is_typed = true;
    out->is_f64 = row->verdict[row->count - 1].is_f64;
    memset(&out->size, 0, sizeof out->size);
    if (strcmp(op, "attention") != 0)
        takt__tell_size(&out->size, source, 2,
                        (uint64_t[]){rows, known(size, 0)});
    else if (is_op(row, 0, "gemv"))
        takt__tell_size(
            &out->size, source, 5,
            (uint64_t[]){1, 1, rows, known(first, 0), known(first, 1)});
    else
        takt__tell_size(&out->size, source, 5,
                        (uint64_t[]){1, 1, known(first, 0), known(first, 1),
                                     known(first, 2)});
    if (known(size, 0) == 0 && (rows == 0 || of_rows == TAKT_SIZE_UNKNOWN))
        out->size = (struct takt_found_size){0};
}

/* Whether a loop like this is a part of anything. */
bool takt__judge_may_be_part(const struct takt_ir_verdict *verdict)
{
    if (verdict->role != TAKT_ROLE_NONE && verdict->role != TAKT_ROLE_SQUARES)
        return true;
    return verdict->op != NULL &&
           takt__word_in(verdict->op, "max sum scale div mean softmax gemv "
                                      "variance matmul");
}
