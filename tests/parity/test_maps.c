/* SPDX-License-Identifier: MIT */
/*
 * test_maps.c - every element-wise kernel against its definition: all lengths
 * around the vectors, any alignment, in place, special values, and nothing
 * touched outside.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS in guard.h */
#include "op/op_id.h"
#include "parity/kernels.h"

enum { most = specials * specials * specials, longest = 150 };

static struct guard in_guard[3], out_guard;
static void *want;

struct map_case {
    const struct takt_kernel *kernel;
    const struct takt_kernel *scalar;
    const struct takt_tolerance *tolerance;
    enum takt_op_id op;
    unsigned inputs;
    bool is_double;
    size_t n;
    void *in[3]; /* NULL where the op has none */
    void *out;
    double p, q;
    bool is_near; /* about places: both near to each other will do */
};

static struct map_case case_of(const struct takt_kernel *kernel)
{
    struct map_case c = {
        .kernel = kernel,
        .scalar = kernel_of(TAKT_KERNEL_scalar, TAKT_KERNEL_KIND_map,
                            kernel->op, kernel->dtype),
        .tolerance = tolerance_find(kernel->op),
        .op = takt__op_id(takt_op_find(kernel->op)),
        .inputs = takt_op_find(kernel->op)->inputs,
        .is_double = kernel->dtype == TAKT_KERNEL_f64,
        .p = -0.75,
        .q = 0.5,
    };
    REQUIRE(c.scalar != NULL && c.tolerance != NULL);
    return c;
}

static void place(struct map_case *c, size_t n, enum guard_side side,
                  size_t away)
{
    const size_t bytes = n * size_of(c->is_double);

    c->n = n;
    c->out = guard_at(&out_guard, side, bytes, away);
    for (unsigned i = 0; i < 3; i++)
        c->in[i] = i < c->inputs ? guard_at(&in_guard[i], side, bytes,
                                            away > 0 ? away + 8 * i : 0)
                                 : NULL;
}

/* The functions again, in more digits than scalar kernels round to: slow, and
 * in an emulator very slow, so that lengths and places do without. */
static long double exact(enum takt_op_id op, bool is_double, double x)
{
    const long double wide = (long double)x;

    switch (op) {
#define FUNCTION(name_)   \
    case TAKT_OP_##name_: \
        return is_double ? name_##l(wide) : (long double)name_(x);
        FUNCTION(exp)
        FUNCTION(exp2)
        FUNCTION(expm1)
        FUNCTION(log)
        FUNCTION(log2)
        FUNCTION(log1p)
        FUNCTION(sin)
        FUNCTION(cos)
        FUNCTION(tanh)
    case TAKT_OP_sigmoid:
        return (x < 0 ? expl(wide) : 1) / (1 + expl(-fabsl(wide)));
    default:
        return wide * 0.5L * erfcl(-wide * 0.70710678118654752440084436L);
    }
}

/* What overflows the dtype and what is NaN must be what scalar says. */
static bool is_within_ulps(const struct map_case *c, double x, double got,
                           double scalar)
{
    const takt_dtype dtype = c->is_double ? TAKT_F64 : TAKT_F32;
    const double units = takt__units(c->tolerance, dtype);

    if (!isfinite(scalar) || scalar == 0)
        return same_value(got, scalar) ||
               (scalar == 0 && fabs(got) <= smallest_of(c->is_double));
    if (c->is_near)
        return fabs(got - scalar) <=
               2 * (units + 1) * eps_of(c->is_double) * fabs(scalar);
    const long double real = exact(c->op, c->is_double, x);
    const double off =
        (double)(fabsl((long double)got - real) / ulp_of(real, c->is_double));
    tolerance_note(c->kernel->op, isa_name(c->kernel->isa), c->is_double, off,
                   units);
    return off <= units;
}

/* axpy may round its product: within eps of |alpha x| + |y|, and infinite or
 * NaN where the product alone overflows. */
static bool is_within_magnitude(const struct map_case *c, double x, double got,
                                double scalar)
{
    const double alpha = c->is_double ? c->p : (double)(float)c->p;
    const double product = fabs(alpha * x);
    const double allowed = c->tolerance->units * eps_of(c->is_double) *
                               (2 * product + fabs(scalar)) +
                           2 * smallest_of(c->is_double);

    if (product > largest_of(c->is_double) && !isfinite(got))
        return true;
    return is_near(got, scalar, allowed, c->is_double);
}

static bool is_right(const struct map_case *c, const void *x, size_t i)
{
    const double got = get(c->out, c->is_double, i);
    const double scalar = get(want, c->is_double, i);

    if (c->tolerance->of == TAKT_ACCURACY_EXACT)
        return same_bits(c->out, want, c->is_double, i);
    if (c->tolerance->of == TAKT_ACCURACY_VALUE)
        return same_value(got, scalar);
    if (c->tolerance->of == TAKT_ACCURACY_MAGNITUDE)
        return is_within_magnitude(c, get(x, c->is_double, i), got, scalar);
    return is_within_ulps(c, get(x, c->is_double, i), got, scalar);
}

/* `x` has the first operand, which an in-place call has overwritten. */
static void compare(const struct map_case *c, const void *x)
{
    for (size_t i = 0; i < c->n; i++)
        if (!is_right(c, x, i)) {
            TAP_CHECK(false, "%s: [%zu] is %.9g, not %.9g", guard_doing, i,
                      get(c->out, c->is_double, i), get(want, c->is_double, i));
            return;
        }
    TAP_CHECK(guard_is_whole(&out_guard, c->out, c->n * size_of(c->is_double)),
              "%s: wrote outside", guard_doing);
}

static void run_scalar(const struct map_case *c)
{
    c->scalar->run.map(c->n, c->in[0], c->in[1], c->in[2], want, c->p, c->q);
}

static void run_kernel(const struct map_case *c)
{
    DOING("%s %s %s%s, n %zu, p %g, q %g", c->kernel->op,
          c->is_double ? "f64" : "f32", isa_name(c->kernel->isa),
          c->kernel->kind == TAKT_KERNEL_KIND_stream_map ? " streaming" : "",
          c->n, c->p, c->q);
    c->kernel->run.map(c->n, c->in[0], c->in[1], c->in[2], c->out, c->p, c->q);
}

static void check(const struct map_case *c)
{
    guard_paint(&out_guard, c->out, c->n * size_of(c->is_double));
    run_scalar(c);
    run_kernel(c);
    compare(c, c->in[0]);
}

static void fill(const struct map_case *c, uint64_t *seed)
{
    for (unsigned i = 0; i < c->inputs; i++)
        fill_unit(c->in[i], c->is_double, c->n, seed);
}

/* ---- lengths and places -------------------------------------------------- */

static void lengths_of(const struct takt_kernel *kernel)
{
    static const size_t primes[] = {251, 509, 1021, 4099};
    struct map_case c = case_of(kernel);
    uint64_t seed = 1;

    c.is_near = true;
    for (size_t i = 0; i <= longest + 4; i += case_step()) {
        const size_t n = i <= longest ? i : primes[i - longest - 1];
        for (int side = GUARD_LOW; side < GUARD_SIDES; side++) {
            place(&c, n, (enum guard_side)side, 0);
            fill(&c, &seed);
            check(&c);
        }
    }
}

static void maps_match_at_every_length(void)
{
    each_kernel(TAKT_KERNEL_KIND_map, lengths_of);
    if (current_isa != TAKT_KERNEL_scalar)
        each_kernel(TAKT_KERNEL_KIND_stream_map, lengths_of);
}

static void alignments_of(const struct takt_kernel *kernel)
{
    static const size_t lengths[] = {1, 7, 16, 33, 67, 131, 517};
    struct map_case c = case_of(kernel);
    const size_t size = size_of(c.is_double);
    uint64_t seed = 2;

    c.is_near = true;
    for (size_t off = 1; off < 64 / size; off += case_step())
        for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
            place(&c, lengths[i], GUARD_LOW, off * size);
            fill(&c, &seed);
            check(&c);
        }
}

static void maps_match_at_every_alignment(void)
{
    each_kernel(TAKT_KERNEL_KIND_map, alignments_of);
    if (current_isa != TAKT_KERNEL_scalar)
        each_kernel(TAKT_KERNEL_KIND_stream_map, alignments_of);
}

/* ---- in place -------------------------------------------------------------
 */

static void in_place_of(const struct takt_kernel *kernel)
{
    static const size_t lengths[] = {1, 5, 17, 64, 97, 1021};
    static float before[2 * 1021];
    struct map_case c = case_of(kernel);
    uint64_t seed = 3;

    c.is_near = true;
    for (unsigned same = 0; same <= c.inputs; same++)
        for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
            place(&c, lengths[i], GUARD_HIGH, 0);
            guard_paint(&out_guard, c.out, c.n * size_of(c.is_double));
            for (unsigned k = 0; k < c.inputs; k++)
                if (same == k || same == c.inputs) /* the last: all of them */
                    c.in[k] = c.out;
            fill(&c, &seed);
            memcpy(before, c.in[0], c.n * size_of(c.is_double));
            run_scalar(&c);
            run_kernel(&c);
            compare(&c, before);
        }
}

static void maps_may_be_in_place(void)
{
    each_kernel(TAKT_KERNEL_KIND_map, in_place_of);
    if (current_isa != TAKT_KERNEL_scalar)
        each_kernel(TAKT_KERNEL_KIND_stream_map, in_place_of);
}

/* ---- special values -------------------------------------------------------
 */

static bool has_parameters(const char *op)
{
    return strcmp(op, "scale") == 0 || strcmp(op, "axpy") == 0 ||
           strcmp(op, "clamp") == 0;
}

static void every_bit_pattern_of(struct map_case *c)
{
    uint64_t seed = 4;

    place(c, most, GUARD_HIGH, 0);
    for (unsigned i = 0; i < c->inputs; i++)
        fill_bits(c->in[i], c->is_double, c->n, &seed);
    check(c);
    for (unsigned i = 0; i < c->inputs; i++) /* sums that cancel */
        fill_unit(c->in[i], c->is_double, c->n, &seed);
    check(c);
}

static void specials_of(const struct takt_kernel *kernel)
{
    struct map_case c = case_of(kernel);
    const bool is_clamp = strcmp(kernel->op, "clamp") == 0;
    const size_t rounds = has_parameters(kernel->op) ? specials : 1;
    size_t n = specials;

    for (unsigned i = 1; i < c.inputs; i++)
        n *= specials;
    for (size_t k = 0; k < rounds * (is_clamp ? specials : 1);
         k += case_step()) {
        c.p = rounds > 1 ? special(c.is_double, k) : 0;
        c.q = is_clamp ? special(c.is_double, k / specials) : 0;
        if (is_clamp && !(c.p <= c.q))
            continue;
        place(&c, n, GUARD_HIGH, 0);
        for (unsigned i = 0; i < c.inputs; i++)
            fill_special(c.in[i], c.is_double, n, i);
        check(&c);
    }
    c.p = -0.75, c.q = 0.5;
    every_bit_pattern_of(&c);
}

static void maps_treat_special_values_alike(void)
{
    each_kernel(TAKT_KERNEL_KIND_map, specials_of);
    if (current_isa != TAKT_KERNEL_scalar)
        each_kernel(TAKT_KERNEL_KIND_stream_map, specials_of);
}

/* ---- functions over all numbers -------------------------------------------
 */

/* There are so many cases that an emulator tries a part of a part. */
static size_t square_step(void)
{
    return case_step() * case_step();
}

/* Steps through the bit patterns of all floats. */
static float next_float(uint64_t *seed)
{
    const uint32_t word = (uint32_t)*seed;
    float x;

    memcpy(&x, &word, sizeof x);
    *seed += (is_sanitized ? 640007 : 16001) * (uint64_t)square_step();
    return x;
}

/* Doubles of all exponents, where functions bend, and near their zeros. */
static double next_double(uint64_t *seed)
{
    const uint64_t word = random_next(seed);
    const double unit = 2 * random_unit(seed) - 1;
    double x;

    switch (word % 8) {
    case 0:
        return 750 * unit;
    case 1:
        return 40 * unit;
    case 2:
        return unit;
    case 3:
        return 1 + ldexp(unit, -(int)(word >> 8) % 50);
    case 4:
        x = 1.5707963267948966 * (double)(word >> 34);
        return nextafter(x, unit < 0 ? 0 : INFINITY);
    default:
        memcpy(&x, &word, sizeof x);
        return x;
    }
}

/* How many doubles; TAKT_TEST_DOUBLES asks for more. */
static size_t doubles(void)
{
    const char *given = getenv("TAKT_TEST_DOUBLES");

    return given != NULL ? strtoull(given, NULL, 10)
                         : (is_sanitized ? 1 << 12 : 1 << 15) / square_step();
}

static void all_numbers_of(const struct takt_kernel *kernel)
{
    struct map_case c = case_of(kernel);
    uint64_t seed = c.is_double ? 5 : 0;
    size_t left = doubles();

    if (c.tolerance->of != TAKT_ACCURACY_ULP)
        return;
    while (c.is_double ? left > 0 : seed <= UINT32_MAX) {
        place(&c, 4096, GUARD_HIGH, 0);
        for (size_t i = 0; i < c.n; i++)
            put(c.in[0], c.is_double, i,
                c.is_double ? next_double(&seed) : (double)next_float(&seed));
        check(&c);
        left -= left < c.n ? left : c.n;
    }
}

static void functions_are_accurate_over_all_numbers(void)
{
    each_kernel(TAKT_KERNEL_KIND_map, all_numbers_of);
}

int main(void)
{
    const size_t room = most * sizeof(double) + 4096;

    guard_watch();
    for (int i = 0; i < 3; i++)
        in_guard[i] = guard_make(room);
    out_guard = guard_make(room);
    want = malloc(room);
    REQUIRE(want != NULL);
    RUN_EACH_ISA(maps_match_at_every_length);
    RUN_EACH_ISA(maps_match_at_every_alignment);
    RUN_EACH_ISA(maps_may_be_in_place);
    RUN_EACH_ISA(maps_treat_special_values_alike);
    RUN_EACH_ISA(functions_are_accurate_over_all_numbers);
    free(want);
    tolerance_print();
    return tap_done();
}
