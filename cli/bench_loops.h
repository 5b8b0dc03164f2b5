/* SPDX-License-Identifier: MIT */
/*
 * bench_loops.h - loops that do nothing but use a part of the machine.
 *
 * No ordinary header: included once per instruction set by bench_limit.c,
 * which defines the vocabulary before:
 *
 *   LOOP(name)                the name of a loop for this instruction set
 *   LOOP_TARGET               the attribute that lets it use its instructions
 *   VECTOR, FLOATS            a vector register and the floats in one
 *   LOAD, STORE, STREAM       at addresses that are multiples of 64 bytes;
 *                             STREAM writes past the caches
 *   PUT                       STREAM if is_past, else STORE
 *   ADD, FMA, SET1
 */

/* Twelve sums that do not wait for each other: enough to fill two units with
 * a latency of five. Returns floating-point operations. */
LOOP_TARGET static double LOOP(multiply_add)(size_t rounds, float *sink)
{
    const VECTOR x = SET1(0.999f), y = SET1(0.001f);
    VECTOR a[12];

    for (int i = 0; i < 12; i++)
        a[i] = SET1((float)i);
    for (size_t r = 0; r < rounds; r++)
        for (int i = 0; i < 12; i++)
            a[i] = FMA(a[i], x, y);
    for (int i = 1; i < 12; i++)
        a[0] = ADD(a[0], a[i]);
    STORE(sink, a[0]);
    return 12.0 * 2 * FLOATS * (double)rounds;
}

LOOP_TARGET static void LOOP(read)(size_t n, const float *const *in,
                                   unsigned streams, float *sink)
{
    VECTOR a = SET1(0), b = a, c = a, d = a;

    for (unsigned s = 0; s < streams; s++)
        for (size_t i = 0; i < n; i += 4 * FLOATS) {
            a = ADD(a, LOAD(in[s] + i));
            b = ADD(b, LOAD(in[s] + i + FLOATS));
            c = ADD(c, LOAD(in[s] + i + 2 * FLOATS));
            d = ADD(d, LOAD(in[s] + i + 3 * FLOATS));
        }
    STORE(sink, ADD(ADD(a, b), ADD(c, d)));
}

/* Sums the streams; `is_past` is a constant wherever it is inlined. */
LOOP_TARGET __attribute__((always_inline)) static inline void
LOOP(put)(size_t n, const float *const *in, unsigned streams, float *out,
          bool is_past)
{
    const float *a = in[0], *b = in[1], *c = in[2];

    if (streams <= 1)
        for (size_t i = 0; i < n; i += FLOATS)
            PUT(out + i, LOAD(a + i));
    else if (streams == 2)
        for (size_t i = 0; i < n; i += FLOATS)
            PUT(out + i, ADD(LOAD(a + i), LOAD(b + i)));
    else
        for (size_t i = 0; i < n; i += FLOATS)
            PUT(out + i, ADD(LOAD(a + i), ADD(LOAD(b + i), LOAD(c + i))));
}

LOOP_TARGET static void LOOP(write)(size_t n, const float *const *in,
                                    unsigned streams, float *out)
{
    LOOP(put)(n, in, streams, out, false);
}

LOOP_TARGET static void LOOP(write_past)(size_t n, const float *const *in,
                                         unsigned streams, float *out)
{
    LOOP(put)(n, in, streams, out, true);
}

static const struct loops LOOP(loops) = {LOOP(multiply_add), LOOP(read),
                                         LOOP(write), LOOP(write_past)};

#undef LOOP
#undef LOOP_TARGET
#undef VECTOR
#undef FLOATS
#undef LOAD
#undef STORE
#undef STREAM
#undef ADD
#undef FMA
#undef SET1
