/* SPDX-License-Identifier: MIT */
/*
 * blas_subject.h - a call of BLAS chosen at random, with its operands.
 *
 * Whatever must not be read is NaN: gaps, margins, the other triangle, the
 * diagonal where it is 1, and C where beta is 0.
 */
#pragma once

#include <math.h>

#include "baseline_request.h"
#include "support/random.h"
#include "support/tap.h"

static uint64_t random_state = 8;

/* ---- operands ------------------------------------------------------------ */

enum { margin = 64 }; /* bytes on either side that must not be touched */

struct operand {
    char *image, *before;
    size_t bytes;
    int64_t rows, columns, ld; /* of a vector: 1 row, ld is the step */
    bool is_vector;
};

struct subject {
    struct baseline_request request;
    struct operand operand[3]; /* a, b, c */
    bool is_tiny, is_huge;
    bool is_simple; /* nothing about it keeps it from being routed */
};

static inline int64_t pick(const int64_t *from, size_t count)
{
    return from[random_next(&random_state) % count];
}
#define PICK(...)                        \
    pick((const int64_t[]){__VA_ARGS__}, \
         sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

static inline size_t width_of(enum takt_blas_type letter)
{
    return letter == TAKT_S ? 4 : letter == TAKT_Z ? 16 : 8;
}

static inline int letter_of(const struct baseline_request *r, int word)
{
    if (r->order != 0)
        return baseline_letter_of(word);
    return word >= 'a' ? word - 'a' + 'A' : word;
}

static inline void set_matrix(struct operand *o, int64_t rows, int64_t columns)
{
    o->rows = rows;
    o->columns = columns;
}

static inline void set_vector(struct operand *o, int64_t elements)
{
    set_matrix(o, 1, elements);
    o->is_vector = true;
}

/* The sizes of the operands. */
static inline void measure(struct subject *s)
{
    const struct baseline_request *r = &s->request;
    struct operand *a = &s->operand[0], *b = &s->operand[1];
    struct operand *c = &s->operand[2];
    const bool ta = letter_of(r, r->transa) != 'N';
    const bool tb = letter_of(r, r->transb) != 'N';
    const int64_t order = letter_of(r, r->side) == 'L' ? r->m : r->n;

    switch (r->routine) {
    case TAKT_GEMM:
        set_matrix(a, ta ? r->k : r->m, ta ? r->m : r->k);
        set_matrix(b, tb ? r->n : r->k, tb ? r->k : r->n);
        set_matrix(c, r->m, r->n);
        break;
    case TAKT_SYRK:
    case TAKT_SYR2K:
        set_matrix(a, ta ? r->k : r->n, ta ? r->n : r->k);
        set_matrix(b, a->rows, a->columns);
        set_matrix(c, r->n, r->n);
        break;
    case TAKT_SYMM:
    case TAKT_TRMM:
    case TAKT_TRSM:
        set_matrix(a, order, order);
        set_matrix(b, r->m, r->n);
        set_matrix(c, r->m, r->n);
        break;
    case TAKT_GEMV:
        set_matrix(a, r->m, r->n);
        set_vector(b, ta ? r->m : r->n);
        set_vector(c, ta ? r->n : r->m);
        break;
    case TAKT_GER:
        set_vector(a, r->m);
        set_vector(b, r->n);
        set_matrix(c, r->m, r->n);
        break;
    default:
        set_vector(b, r->n);
        set_vector(c, r->n);
    }
}

static inline int64_t choose_ld(const struct subject *s,
                                const struct operand *o)
{
    const bool is_level_1 = s->request.routine >= TAKT_AXPY;
    const int64_t line =
        s->request.order == BASELINE_BY_ROWS ? o->columns : o->rows;

    if (o->is_vector && s->is_simple)
        return 1;
    if (o->is_vector)
        return is_level_1 ? PICK(1, 1, 1, 1, 2, -1, -3, 0)
                          : PICK(1, 1, 1, 2, -1, -3);
    return (line > 1 ? line : 1) + PICK(0, 0, 1, 3);
}

static inline int64_t elements_of(const struct subject *s,
                                  const struct operand *o)
{
    const bool is_by_rows = s->request.order == BASELINE_BY_ROWS;
    const int64_t lines = is_by_rows ? o->rows : o->columns;
    const int64_t across = is_by_rows ? o->columns : o->rows;

    if (o->rows == 0 || o->columns == 0)
        return 0;
    if (o->is_vector)
        return 1 + (o->columns - 1) * (o->ld < 0 ? -o->ld : o->ld);
    return (lines - 1) * o->ld + across;
}

/* ---- values -------------------------------------------------------------- */

static inline void put(const struct subject *s, struct operand *o, int64_t at,
                       double value)
{
    const enum takt_blas_type letter = s->request.letter;
    const bool is_f64 = letter == TAKT_D || letter == TAKT_Z;
    const int parts = letter >= TAKT_C ? 2 : 1;

    for (int part = 0; part < parts; part++) {
        char *to = o->image + margin +
                   ((size_t)at * (size_t)parts + (size_t)part) *
                       (is_f64 ? sizeof(double) : sizeof(float));
        const float narrow = (float)value;
        memcpy(to, is_f64 ? (void *)&value : (void *)&narrow,
               is_f64 ? sizeof value : sizeof narrow);
    }
}

/* Whether the element is one that counts. */
static inline bool is_read(const struct subject *s, size_t which, int64_t row,
                           int64_t column)
{
    const struct baseline_request *r = &s->request;
    const bool is_rank = r->routine == TAKT_SYRK || r->routine == TAKT_SYR2K;
    const bool is_solve = r->routine == TAKT_TRMM || r->routine == TAKT_TRSM;
    const bool is_upper = letter_of(r, r->uplo) == 'U';

    if (which == 0 && is_solve && row == column)
        return letter_of(r, r->diag) != 'U';
    if ((which == 0 && (is_solve || r->routine == TAKT_SYMM)) ||
        (which == 2 && is_rank))
        return row == column || is_upper == (column > row);
    return true;
}

static inline double value_for(const struct subject *s, size_t which,
                               int64_t row, int64_t column)
{
    const bool is_f64 = s->request.letter == TAKT_D;
    const double value = 2 * random_unit(&random_state) - 1;

    if (s->request.routine == TAKT_TRSM && which == 0) /* stays tame */
        return row == column ? value + copysign(1, value)
                             : value / (double)s->operand[0].rows;
    if (s->is_huge)
        return value * (is_f64 ? 1e300 : 1e37);
    return s->is_tiny ? value * (is_f64 ? 1e-300 : 1e-37) : value;
}

static inline void fill(struct subject *s, size_t which)
{
    struct operand *o = &s->operand[which];
    const bool is_by_rows = s->request.order == BASELINE_BY_ROWS;
    const bool is_scratch =
        which == 2 && s->request.beta[0] == 0 &&
        strchr(baseline_arguments(s->request.routine), 'F') &&
        s->request.letter <= TAKT_D;

    o->bytes =
        (size_t)elements_of(s, o) * width_of(s->request.letter) + 2 * margin;
    o->image = malloc(o->bytes);
    o->before = malloc(o->bytes);
    REQUIRE(o->image != NULL && o->before != NULL);
    memset(o->image, 0xFF, o->bytes);
    for (int64_t i = 0; i < o->rows && !is_scratch; i++)
        for (int64_t j = 0; j < o->columns; j++)
            if (is_read(s, which, i, j))
                put(s, o,
                    o->is_vector ? j * (o->ld < 0 ? -o->ld : o->ld)
                    : is_by_rows ? i * o->ld + j
                                 : i + j * o->ld,
                    value_for(s, which, i, j));
    memcpy(o->before, o->image, o->bytes);
}

static inline double choose_factor(void)
{
    static const double factors[] = {0, 1, -1, 0.5, 1.75, NAN, -0.0, 1};

    return factors[random_next(&random_state) % 8];
}

static inline int choose_word(bool is_c, const char *letters, int first)
{
    const size_t count = strlen(letters);
    const size_t which = random_next(&random_state) % count;
    const bool is_small = random_next(&random_state) % 4 == 0;

    if (is_c)
        return first + (int)which;
    return letters[which] + (is_small ? 'a' - 'A' : 0);
}

/* The words, sizes and factors of a call that is in order. */
static inline void choose(struct subject *s, enum takt_routine routine,
                          enum takt_blas_type letter, bool is_c)
{
    struct baseline_request *r = &s->request;

    *r = (struct baseline_request){.routine = routine, .letter = letter};
    if (is_c)
        r->order =
            r->routine >= TAKT_AXPY ? BASELINE_BY_COLUMNS : (int)PICK(101, 102);
    r->transa = choose_word(is_c, "NTC", 111);
    r->transb = choose_word(is_c, "NTC", 111);
    r->uplo = choose_word(is_c, "UL", 121);
    r->diag = choose_word(is_c, "NU", 131);
    r->side = choose_word(is_c, "LR", 141);
    r->m = PICK(0, 1, 1, 2, 3, 5, 8, 13, 17, 26, 40);
    r->n = PICK(0, 1, 1, 2, 3, 5, 8, 13, 17, 26, 40);
    r->k = PICK(0, 1, 1, 2, 3, 5, 8, 13, 17, 26, 40);
    if (r->routine >= TAKT_AXPY)
        r->n = PICK(-1, 0, 1, 2, 3, 7, 8, 33, 100, 300);
    for (int part = 0; part < 2; part++) {
        r->alpha[part] = choose_factor();
        r->beta[part] = choose_factor();
    }
    if (s->is_simple) {
        r->m = r->n = r->k = 8;
        r->alpha[0] = r->beta[0] = 1;
    }
    s->is_huge = r->routine == TAKT_NRM2 && PICK(0, 0, 1) == 1;
    s->is_tiny = r->routine == TAKT_NRM2 && PICK(0, 0, 1) == 1;
}

static inline void make_operands(struct subject *s)
{
    struct baseline_request *r = &s->request;
    struct operand *o = s->operand;

    memset(o, 0, sizeof s->operand);
    if (r->n >= 0)
        measure(s);
    for (size_t i = 0; i < 3; i++) {
        o[i].ld = choose_ld(s, &o[i]);
        fill(s, i);
    }
    r->a = o[0].image + margin;
    r->b = o[1].image + margin;
    r->c = o[2].image + margin;
    r->lda = o[0].ld;
    r->ldb = o[1].ld;
    r->ldc = o[2].ld;
    if (r->routine >= TAKT_AXPY && r->ldb == r->ldc && PICK(0, 1) == 1)
        r->b = r->c; /* a vector with itself */
}

static inline void restore(struct subject *s)
{
    for (size_t i = 0; i < 3; i++)
        memcpy(s->operand[i].image, s->operand[i].before, s->operand[i].bytes);
}

static inline void free_operands(struct subject *s)
{
    for (size_t i = 0; i < 3; i++) {
        free(s->operand[i].image);
        free(s->operand[i].before);
    }
}
