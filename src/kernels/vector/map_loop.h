/* SPDX-License-Identifier: MIT */
/*
 * map_loop.h - the one loop behind every element-wise kernel.
 *
 * Included by map_f32.c, map_f64.c, map_math_f32.c and map_math_f64.c, after
 * f32.h or f64.h.
 *
 * There is no scalar tail. Where the ISA has masks the last vector is a masked
 * one. Elsewhere it overlaps the one before: it is computed before anything is
 * written and stored after everything else, so an element computed twice is
 * computed from the same input and in place is safe. The first vector of a
 * long stretch overlaps the second in the same way, so that the loop can write
 * at aligned addresses: a 64-byte store across two cache lines costs twice.
 */
#include "kernels/kernel.h"

typedef VREAL map_op(VREAL a, VREAL b, VREAL c, VREAL p, VREAL q);

enum {
    MAP_LINE = 64 / sizeof(REAL), /* one turn of the loop: a cache line */
    MAP_ALIGNS = 16 * LANES,      /* elements from which aligning pays */
    MAP_KEEPS = 1 - V_MASKS       /* least the loop leaves to `last` */
};

struct map_loop {
    map_op *op;   /* a constant, so that it is inlined */
    int operands; /* 1: a; 2: a, b; 3: a, b, c */
    bool streams; /* write past the caches */
    const REAL *a, *b, *c;
    REAL *out;
    VREAL p, q;
};

VINLINE VREAL map_at(struct map_loop m, size_t i)
{
    const VREAL zero = V(zero)();
    const VREAL a = V(load)(m.a + i);
    const VREAL b = m.operands > 1 ? V(load)(m.b + i) : zero;
    const VREAL c = m.operands > 2 ? V(load)(m.c + i) : zero;
    return m.op(a, b, c, m.p, m.q);
}

/* The first n lanes from memory, and ones: lanes beyond n must not divide by
 * zero. */
VINLINE VREAL map_load_n(const REAL *p, size_t n)
{
    enum { most = 16 };
    static const REAL ones_from[2 * most] = {
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    };

    return V(or)(V(load_n)(p, n), V(load)(ones_from + most - n));
}

/* The n <= LANES elements from i on. */
VINLINE void map_part(struct map_loop m, size_t i, size_t n)
{
    const VREAL zero = V(zero)();
    const VREAL a = map_load_n(m.a + i, n);
    const VREAL b = m.operands > 1 ? map_load_n(m.b + i, n) : zero;
    const VREAL c = m.operands > 2 ? map_load_n(m.c + i, n) : zero;
    V(store_n)(m.out + i, m.op(a, b, c, m.p, m.q), n);
}

/* LANES <= n <= 4 * LANES: straight on, everything read before anything is
 * written. */
VINLINE void map_few(struct map_loop m, size_t n)
{
    const VREAL last = map_at(m, n - LANES);

    if (n > LANES) {
        const VREAL v0 = map_at(m, 0);
        if (n > 2 * LANES) {
            const VREAL v1 = map_at(m, LANES);
            if (n > 3 * LANES)
                V(store)(m.out + 2 * LANES, map_at(m, 2 * LANES));
            V(store)(m.out + LANES, v1);
        }
        V(store)(m.out, v0);
    }
    V(store)(m.out + n - LANES, last);
}

VINLINE void map_put(struct map_loop m, size_t i, VREAL v)
{
    if (m.streams)
        V(stream)(m.out + i, v);
    else
        V(store)(m.out + i, v);
}

/* Elements from `out` to the next address aligned to a vector; < LANES. */
VINLINE size_t map_lead(const REAL *out)
{
    return -((uintptr_t)out / sizeof *out) % LANES;
}

/* From i to n, what the loop left. `last` is the vector that ends at n, as
 * computed before anything was written; with masks it is not needed. */
VINLINE void map_end(struct map_loop m, size_t i, size_t n, VREAL last)
{
    if (!V_MASKS)
        V(store)(m.out + n - LANES, last);
    else if (i < n)
        map_part(m, i, n - i);
}

/* n > 4 * LANES. */
VINLINE void map_long(struct map_loop m, size_t n)
{
    const size_t lead = m.streams || n > MAP_ALIGNS ? map_lead(m.out) : 0;
    const VREAL first = lead > 0 ? map_at(m, 0) : V(zero)();
    const VREAL last = V_MASKS ? V(zero)() : map_at(m, n - LANES);
    size_t i = lead;

    for (; n - i >= MAP_LINE + MAP_KEEPS; i += MAP_LINE)
        for (size_t k = 0; k < MAP_LINE; k += LANES)
            map_put(m, i + k, map_at(m, i + k));
    for (; n - i >= LANES + MAP_KEEPS; i += LANES)
        map_put(m, i, map_at(m, i));
    map_end(m, i, n, last);
    if (lead > 0)
        V(store)(m.out, first);
}

VINLINE void map_run(struct map_loop m, size_t n)
{
    if (n > 4 * LANES)
        map_long(m, n);
    else if (n >= LANES)
        map_few(m, n);
    else if (n > 0)
        map_part(m, 0, n);
}

/* For ops bound by arithmetic: few copies of a long body. Unrolling it gains
 * nothing, and aligning nothing that shows. */
VINLINE void map_run_deep(struct map_loop m, size_t n)
{
    if (n < LANES) {
        if (n > 0)
            map_part(m, 0, n);
        return;
    }
    const VREAL last = V_MASKS ? V(zero)() : map_at(m, n - LANES);
    size_t i = 0;

    for (; n - i >= LANES + MAP_KEEPS; i += LANES)
        V(store)(m.out + i, map_at(m, i));
    map_end(m, i, n, last);
}

/* `out` that is not aligned to its own elements cannot be streamed to. */
VINLINE void map_run_nt(struct map_loop m, size_t n)
{
    m.streams = (uintptr_t)m.out % sizeof *m.out == 0;
    if (n <= 4 * LANES || !m.streams) {
        m.streams = false;
        map_run(m, n);
        return;
    }
    map_long(m, n);
    v_fence();
}

#define MAP_OP(name, result)                                                \
    VINLINE VREAL name##_lanes(VREAL a, VREAL b, VREAL c, VREAL p, VREAL q) \
    {                                                                       \
        (void)a, (void)b, (void)c, (void)p, (void)q;                        \
        return result;                                                      \
    }

#define MAP_KERNEL(kernel, name, count, run)                           \
    takt_map_kernel kernel;                                            \
    void kernel(size_t n, const void *a, const void *b, const void *c, \
                void *out, double p, double q)                         \
    {                                                                  \
        const struct map_loop m = {.op = name##_lanes,                 \
                                   .operands = count,                  \
                                   .a = a,                             \
                                   .b = b,                             \
                                   .c = c,                             \
                                   .out = out,                         \
                                   .p = V(set1)((REAL)p),              \
                                   .q = V(set1)((REAL)q)};             \
        run(m, n);                                                     \
    }

/* The op, its kernel and the variant that writes past the caches. */
#define MAP(op, operands, result)                    \
    MAP_OP(op, result)                               \
    MAP_KERNEL(TAKT_K(F(op)), op, operands, map_run) \
    MAP_KERNEL(TAKT_K_NT(F(op)), op, operands, map_run_nt)
