/* SPDX-License-Identifier: MIT */
/* loop_product.c - reads the arguments of matmul's loop, runs and counts it. */
#include "loop_product.h"

#include "base/fpenv.h"
#include "clock.h"
#include "loop_count.h"
#include "mode.h"
#include "product.h"
#include "router.h"
#include "stack.h"

struct takt_loop_product takt__loop_products[TAKT_LOOP_PRODUCTS];

ptrdiff_t takt__loop_product_least(void)
{
    enum { usual = 4096 }; /* some 5 us of NumPy's */

    return takt__mode_has(TAKT_MODE_EAGER) ? 1 : usual;
}

/* ---- arguments -----------------------------------------------------------
 *
 * (m,k),(k,n)->(m,n): the length of the stack, m, k and n; then bytes to the
 * next matrix of each operand, and those to the next row and column.
 */

static struct takt_number_product
read_product(const struct takt_loop_product *self, char **args,
             const ptrdiff_t *dimensions, const ptrdiff_t *steps)
{
    return (struct takt_number_product){.number = self->number,
                                        .m = (size_t)dimensions[1],
                                        .k = (size_t)dimensions[2],
                                        .n = (size_t)dimensions[3],
                                        .a = args[0],
                                        .a_row = steps[3],
                                        .a_col = steps[4],
                                        .b = args[1],
                                        .b_row = steps[5],
                                        .b_col = steps[6],
                                        .c = args[2],
                                        .c_row = steps[7],
                                        .c_col = steps[8]};
}

static ptrdiff_t distance(ptrdiff_t step)
{
    return step < 0 ? -step : step;
}

/* Bytes from the first to the end of the last number of a matrix. */
struct extent {
    uintptr_t first, end;
};

static struct extent extent_of(const char *at, size_t rows, ptrdiff_t row,
                               size_t cols, ptrdiff_t col, size_t size)
{
    const ptrdiff_t down = (ptrdiff_t)(rows - 1) * row;
    const ptrdiff_t across = (ptrdiff_t)(cols - 1) * col;
    const ptrdiff_t before = (down < 0 ? down : 0) + (across < 0 ? across : 0);
    const ptrdiff_t after = (down > 0 ? down : 0) + (across > 0 ? across : 0);

    return (struct extent){(uintptr_t)at + (uintptr_t)before,
                           (uintptr_t)at + (uintptr_t)after + size};
}

static bool are_apart(struct extent a, struct extent b)
{
    return a.end <= b.first || b.end <= a.first;
}

/* Every number of C has a place of its own, where nothing else is. */
static bool is_regular(const struct takt_loop_product *self,
                       const struct takt_number_product *p)
{
    const size_t size = self->loop.form.size[2];
    const struct extent c =
        extent_of(p->c, p->m, p->c_row, p->n, p->c_col, size);
    const ptrdiff_t row = distance(p->c_row), col = distance(p->c_col);
    const bool is_by_rows =
        col >= (ptrdiff_t)size && row >= col * (ptrdiff_t)p->n;
    const bool is_by_cols =
        row >= (ptrdiff_t)size && col >= row * (ptrdiff_t)p->m;

    return (is_by_rows || is_by_cols) &&
           are_apart(c,
                     extent_of(p->a, p->m, p->a_row, p->k, p->a_col, size)) &&
           are_apart(c, extent_of(p->b, p->k, p->b_row, p->n, p->b_col, size));
}

/* Copies of a matrix that is hardly used cost more than they save. */
static bool is_wide(const struct takt_number_product *p)
{
    enum { least = 4 };

    return takt__mode_has(TAKT_MODE_EAGER) ||
           (p->m >= least && p->n >= least && p->k >= least);
}

/* ---- one product --------------------------------------------------------- */

/* A thread has to be worth waking: so many multiplications for each. */
static unsigned threads_for(const struct takt_route *route, ptrdiff_t work)
{
    enum { each = 1 << 18 };
    const ptrdiff_t fit = work / each;

    if (route == NULL || takt__mode_has(TAKT_MODE_EAGER))
        return route == NULL ? 1 : route->team;
    return fit < 2 ? 1 : fit < route->team ? (unsigned)fit : route->team;
}

/* NumPy's loop for some places of the first row, whose bits are the same. It
 * takes a percent of the time of so many products, if it is 300 times as slow.
 */
static void compare_with_own(struct takt_loop_product *self, char **args,
                             const struct takt_number_product *p,
                             const ptrdiff_t *steps, void *data)
{
    enum { first = 2, one_of = 16, part = 4096, least = 4096 };
    const uint32_t calls =
        atomic_fetch_add_explicit(&self->calls, 1, memory_order_relaxed);
    const size_t work = p->m * p->n * p->k;
    const size_t wanted = work / part > least ? work / part : least;
    const size_t cols = wanted / p->k < 1      ? 1
                        : wanted / p->k > p->n ? p->n
                                               : wanted / p->k;
    const ptrdiff_t dimensions[] = {1, 1, (ptrdiff_t)p->k, (ptrdiff_t)cols};

    if (!takt__mode_has(TAKT_MODE_STATS) ||
        (calls >= first && calls % one_of != 0))
        return;
    const uint64_t start_ns = takt__now_ns();
    self->loop.own(args, dimensions, steps, data);
    takt__loop_note(takt__loop_kind(&self->loop, (ptrdiff_t)work),
                    TAKT_LOOP_WHOLE, cols * p->k, takt__now_ns() - start_ns);
}

static bool run_product(struct takt_loop_product *self, char **args,
                        const ptrdiff_t *dimensions, const ptrdiff_t *steps,
                        void *data)
{
    const struct takt_number_product product =
        read_product(self, args, dimensions, steps);
    const ptrdiff_t work = dimensions[1] * dimensions[2] * dimensions[3];
    struct takt_loop_kind *kind = takt__loop_kind(&self->loop, work);
    enum takt_why why;

    if (!is_wide(&product) || !is_regular(self, &product) || !takt__has_stack())
        return false;
    const struct takt_route *route = takt__loop_route(&why);
    const uint64_t start_ns = takt__now_ns();
    if (!takt__product_run(&product, route, threads_for(route, work)))
        return false;
    const uint64_t ns = takt__now_ns() - start_ns;
    const struct takt_fpenv callers = takt__fpenv_save();
    if (route == NULL && why == TAKT_WHY_STARTING)
        takt__router_spent(ns);
    compare_with_own(self, args, &product, steps, data);
    takt__loop_note(kind, TAKT_LOOP_SPLIT, (size_t)work, ns);
    takt__loop_compare(&self->loop, kind, work, ns);
    takt__loop_count(&self->loop, TAKT_LOOP_SPLIT, work, ns);
    takt__fpenv_restore(callers);
    return true;
}

void takt__loop_product(struct takt_loop_product *self, char **args,
                        const ptrdiff_t *dimensions, const ptrdiff_t *steps,
                        void *data)
{
    const ptrdiff_t one[] = {1, dimensions[1], dimensions[2], dimensions[3]};

    for (ptrdiff_t i = 0; i < dimensions[0]; i++) {
        char *at[] = {args[0] + i * steps[0], args[1] + i * steps[1],
                      args[2] + i * steps[2]};
        if (!run_product(self, at, one, steps, data))
            self->loop.own(at, one, steps, data);
    }
}
