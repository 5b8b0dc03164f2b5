/* SPDX-License-Identifier: MIT */
/*
 * test_flags.c - which floating-point exceptions an op raises: on every expert
 * those that scalar code raises, and none on ordinary values.
 */
#define _GNU_SOURCE /* feenableexcept(), MAP_ANONYMOUS in guard.h */
#include <fenv.h>

#include "parity/trial.h"
#include "pool/scratch.h"

enum {
    serious = FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW,
    longest = 70,
    shapes = is_sanitized ? 8 : 24
};

static takt_ctx *ctx;

/* ---- calls -----------------------------------------------------------------
 */

static bool can_be_run(const takt_op *op, takt_dtype dtype)
{
    return takt__op_entry(op)->form != TAKT_FORM_view &&
           (op->dtypes >> dtype & 1) != 0;
}

/* Neither zero nor negative: nothing is invalid about these. */
static void fill_ordinary(void *at, takt_dtype dtype, size_t n)
{
    uint64_t seed = n;

    trial_fill(at, dtype, n, &seed);
    for (size_t i = 0; i < n; i++)
        if (dtype == TAKT_F64)
            ((double *)at)[i] = 1.5 + ((double *)at)[i];
        else
            ((float *)at)[i] = 1.5F + ((float *)at)[i];
}

static bool is_vector(const takt_op *op)
{
    const enum takt_form form = takt__op_entry(op)->form;
    return form == TAKT_FORM_map || form == TAKT_FORM_reduce;
}

/* The k-th call of an op on ordinary values; vectors have k + 1 elements. */
static struct trial ordinary_call(const takt_op *op, takt_dtype dtype, size_t k)
{
    enum { of_257_elements = 18 };
    struct trial t = trial_make(op, dtype, is_vector(op) ? of_257_elements : k);

    if (is_vector(op))
        t.call.shape.dim[0] = k + 1;
    for (int i = 0; i < trial_inputs; i++)
        if (t.in[i] > 0)
            fill_ordinary((void *)t.call.in[i], dtype, t.in[i]);
    make_dominant(&t.call);
    if (t.call.in[1] == t.call.out)
        fill_ordinary(t.call.out, dtype, t.out);
    return t;
}

static size_t calls_of(const takt_op *op)
{
    return is_vector(op) ? longest : shapes;
}

static int flags_of(const takt_call *call, size_t expert)
{
    feclearexcept(FE_ALL_EXCEPT);
    EXPECT_INT(takt_run_on(ctx, call, expert), TAKT_OK);
    return fetestexcept(FE_ALL_EXCEPT);
}

/* What kernels find in working memory must not matter: neither signalling NaN
 * nor the largest floats, and zeros neither. */
static const uint32_t leftovers[] = {0x7fa00000, 0x7f7fffff, 0};

static void leave_in_scratch(uint32_t word)
{
    enum { bytes = 1 << 20 };
    uint32_t *words = takt__scratch_get(takt__scratch_of_thread(), bytes);

    REQUIRE(words != NULL);
    for (size_t i = 0; i < bytes / sizeof *words; i++)
        words[i] = word;
}

/* ---- ordinary values -------------------------------------------------------
 */

static size_t current;

static void each_ordinary_call(void (*check)(const struct trial *))
{
    for (size_t i = 0; i < takt_op_count() * 2; i++) {
        const takt_op *op = takt_op_at(i / 2);
        const takt_dtype dtype = (takt_dtype)(i % 2);
        for (size_t k = 0; can_be_run(op, dtype) && k < calls_of(op); k++) {
            const struct trial t = ordinary_call(op, dtype, k);
            const size_t *d = t.call.shape.dim;
            DOING("%s %s on %s, %zux%zux%zu...", op->name,
                  takt_dtype_name(dtype), takt_ctx_expert(ctx, current, NULL),
                  d[0], d[1], d[2]);
            check(&t);
        }
    }
}

static void expect_no_flags(const struct trial *t)
{
    const size_t rounds =
        is_vector(t->call.op) ? 1 : sizeof leftovers / sizeof leftovers[0];

    for (size_t i = 0; i < rounds; i++) {
        if (rounds > 1)
            leave_in_scratch(leftovers[i]);
        const int flags = flags_of(&t->call, current) & serious;
        TAP_CHECK(flags == 0, "%s: raises %#x, scratch had %#x", guard_doing,
                  (unsigned)flags, leftovers[i]);
    }
}

static void raises_nothing_on_ordinary_values(void)
{
    each_ordinary_call(expect_no_flags);
}

/* ---- any values ------------------------------------------------------------
 */

/* Of either sign, small and large, and zeros among them. */
static void fill_wide(void *at, takt_dtype dtype, size_t n)
{
    uint64_t seed = 3 * n + 1;

    for (size_t i = 0; i < n; i++) {
        const double unit = 2 * random_unit(&seed) - 1;
        const double x = random_next(&seed) % 8 == 0
                             ? 0
                             : ldexp(unit, (int)(random_next(&seed) % 24) - 12);
        if (dtype == TAKT_F64)
            ((double *)at)[i] = x;
        else
            ((float *)at)[i] = (float)x;
    }
}

/* All far below 0: next to these, a 0 that fills up a vector is large. */
static void fill_low(void *at, takt_dtype dtype, size_t n)
{
    fill_wide(at, dtype, n);
    for (size_t i = 0; i < n; i++)
        if (dtype == TAKT_F64)
            ((double *)at)[i] = -1000 - fabs(((double *)at)[i]);
        else
            ((float *)at)[i] = -1000 - fabsf(((float *)at)[i]);
}

typedef void fill(void *at, takt_dtype dtype, size_t n);

static void expect_no_more(const struct trial *t, fill *fill_input)
{
    const takt_dtype dtype = t->call.dtype;

    if (is_factored(t->call.op))
        return; /* not every matrix has factors */
    for (int i = 0; i < trial_inputs; i++)
        if (t->in[i] > 0)
            fill_input((void *)t->call.in[i], dtype, t->in[i]);
    const int allowed = flags_of(&t->call, 0) & serious;
    if (t->call.in[1] == t->call.out)
        fill_ordinary(t->call.out, dtype, t->out);
    const int flags = flags_of(&t->call, current) & serious;
    TAP_CHECK((flags & ~allowed) == 0, "%s: raises %#x, scalar %#x",
              guard_doing, (unsigned)flags, (unsigned)allowed);
}

/* Equal and large: far from 0, and nothing apart from each other. */
static void fill_equal(void *at, takt_dtype dtype, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (dtype == TAKT_F64)
            ((double *)at)[i] = 1e37;
        else
            ((float *)at)[i] = 1e37F;
}

static void expect_no_more_than_scalar(const struct trial *t)
{
    expect_no_more(t, fill_wide);
    expect_no_more(t, fill_low);
    if (takt__op_entry(t->call.op)->form == TAKT_FORM_rows)
        expect_no_more(t, fill_equal);
}

static void raises_nothing_that_scalar_does_not(void)
{
    each_ordinary_call(expect_no_more_than_scalar);
}

#ifdef __GLIBC__
/* A trap ends the program. */
static void run_with_traps(const struct trial *t)
{
    feclearexcept(FE_ALL_EXCEPT);
    feenableexcept(serious);
    const takt_status status = takt_run_on(ctx, &t->call, current);
    fedisableexcept(serious);
    EXPECT_INT(status, TAKT_OK);
}

static void computes_ordinary_values_with_traps_on(void)
{
    if (feenableexcept(serious) == -1 || fegetexcept() != serious) {
        SKIP("this machine does not trap");
        return;
    }
    fedisableexcept(serious);
    each_ordinary_call(run_with_traps);
}
#endif

/* ---- where scalar code raises ----------------------------------------------
 */

struct special {
    const char *op;
    double a, b;
    int flags;
};

static const struct special specials[] = {
    {"add", INFINITY, -INFINITY, FE_INVALID},
    {"add", DBL_MAX, DBL_MAX, FE_OVERFLOW},
    {"sub", INFINITY, INFINITY, FE_INVALID},
    {"sub", -DBL_MAX, DBL_MAX, FE_OVERFLOW},
    {"mul", 0, INFINITY, FE_INVALID},
    {"mul", DBL_MAX, DBL_MAX, FE_OVERFLOW},
    {"div", 0, 0, FE_INVALID},
    {"div", INFINITY, INFINITY, FE_INVALID},
    {"div", 1, 0, FE_DIVBYZERO},
    {"div", DBL_MAX, 0.5, FE_OVERFLOW},
    {"sqrt", -1, 0, FE_INVALID},
    {"fma", DBL_MAX, DBL_MAX, FE_OVERFLOW},
    {"add", 1, -1, 0},
    {"div", 0, 1, 0},
    {"sqrt", 0, 0, 0},
};

static void put(const void *array, takt_dtype dtype, size_t i, double x)
{
    if (dtype == TAKT_F64)
        ((double *)array)[i] = x;
    else if (fabs(x) == DBL_MAX)
        ((float *)array)[i] = copysignf(FLT_MAX, (float)(x / DBL_MAX));
    else
        ((float *)array)[i] = (float)x;
}

static void check_special(const struct special *special, takt_dtype dtype,
                          size_t n, size_t at)
{
    const struct trial t =
        ordinary_call(takt_op_find(special->op), dtype, n - 1);

    put(t.call.in[0], dtype, at, special->a);
    if (t.call.in[1] != NULL)
        put(t.call.in[1], dtype, at, special->b);
    const int flags = flags_of(&t.call, current) & serious;
    TAP_CHECK(flags == special->flags,
              "%s %s on %s of %g and %g, [%zu] of %zu: raises %#x, not %#x",
              special->op, takt_dtype_name(dtype),
              takt_ctx_expert(ctx, current, NULL), special->a, special->b, at,
              n, (unsigned)flags, (unsigned)special->flags);
}

static void raises_what_ieee_754_says(void)
{
    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++)
        for (size_t n = 1; n <= longest; n++) {
            check_special(&specials[i], TAKT_F32, n, 0);
            check_special(&specials[i], TAKT_F32, n, n - 1);
            check_special(&specials[i], TAKT_F64, n, n / 2);
            check_special(&specials[i], TAKT_F64, n, n - 1);
        }
}

static void run_on_each_expert(const char *name, void (*test)(void))
{
    char line[120];
    const char *expert;

    for (current = 0; (expert = takt_ctx_expert(ctx, current, NULL)) != NULL;
         current++) {
        snprintf(line, sizeof line, "%s_%s", expert, name);
        tap_run(line, test);
    }
}

#define RUN_ON_EACH(test) run_on_each_expert(#test, test)

int main(void)
{
    guard_watch();
    signal(SIGFPE, guard_fault);
    trial_init();
    REQUIRE(takt_ctx_create(
                &(takt_ctx_options){
                    .store = "", .blas = "", .gpu = "", .threads = 2},
                &ctx) == TAKT_OK);
    RUN_ON_EACH(raises_nothing_on_ordinary_values);
    RUN_ON_EACH(raises_nothing_that_scalar_does_not);
    RUN_ON_EACH(raises_what_ieee_754_says);
#ifdef __GLIBC__
    RUN_ON_EACH(computes_ordinary_values_with_traps_on);
#endif
    takt_ctx_destroy(ctx);
    return tap_done();
}
