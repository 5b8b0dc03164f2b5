/* SPDX-License-Identifier: MIT */
/*
 * bench_limit.c - runs the loops of bench_loops.h for the best figure.
 *
 * Threads pass over their own part again and again between two barriers, so
 * that starting and joining them is not counted: a limit has no overhead.
 */
#include "bench_limit.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Passes over n floats of as many streams. */
typedef void pass_over(size_t n, const float *const *in, unsigned streams,
                       float *out);

struct loops {
    double (*multiply_add)(size_t rounds, float *sink);
    pass_over *read, *write, *write_past;
};

/* clang-format off */
#define PUT(p, v) (is_past ? STREAM(p, v) : STORE(p, v))
#if defined(__x86_64__)
#include <immintrin.h>

#define LOOP(name) name##_avx512
#define LOOP_TARGET __attribute__((target("avx512f")))
#define VECTOR __m512
#define FLOATS 16
#define LOAD(p) _mm512_load_ps(p)
#define STORE(p, v) _mm512_store_ps(p, v)
#define STREAM(p, v) _mm512_stream_ps(p, v)
#define ADD(a, b) _mm512_add_ps(a, b)
#define FMA(a, b, c) _mm512_fmadd_ps(a, b, c)
#define SET1(x) _mm512_set1_ps(x)
#include "bench_loops.h"

#define LOOP(name) name##_avx2
#define LOOP_TARGET __attribute__((target("avx2,fma")))
#define VECTOR __m256
#define FLOATS 8
#define LOAD(p) _mm256_load_ps(p)
#define STORE(p, v) _mm256_store_ps(p, v)
#define STREAM(p, v) _mm256_stream_ps(p, v)
#define ADD(a, b) _mm256_add_ps(a, b)
#define FMA(a, b, c) _mm256_fmadd_ps(a, b, c)
#define SET1(x) _mm256_set1_ps(x)
#include "bench_loops.h"

#define LOOP(name) name##_plain
#define LOOP_TARGET
#define VECTOR __m128
#define FLOATS 4
#define LOAD(p) _mm_load_ps(p)
#define STORE(p, v) _mm_store_ps(p, v)
#define STREAM(p, v) _mm_stream_ps(p, v)
#define ADD(a, b) _mm_add_ps(a, b)
#define FMA(a, b, c) _mm_add_ps(_mm_mul_ps(a, b), c)
#define SET1(x) _mm_set1_ps(x)
#include "bench_loops.h"

static const struct loops *best_loops(const takt_machine *machine)
{
    const takt_isa isa = takt_machine_best_isa(machine);

    if (isa == TAKT_ISA_AVX512)
        return &loops_avx512;
    return isa == TAKT_ISA_AVX2 ? &loops_avx2 : &loops_plain;
}
#elif defined(__aarch64__)
#include <arm_neon.h>

#define LOOP(name) name##_neon
#define LOOP_TARGET
#define VECTOR float32x4_t
#define FLOATS 4
#define LOAD(p) vld1q_f32(p)
#define STORE(p, v) vst1q_f32(p, v)
#define STREAM(p, v) vst1q_f32(p, v)
#define ADD(a, b) vaddq_f32(a, b)
#define FMA(a, b, c) vfmaq_f32(c, a, b)
#define SET1(x) vdupq_n_f32(x)
#include "bench_loops.h"

static const struct loops *best_loops(const takt_machine *machine)
{
    (void)machine;
    return &loops_neon;
}
#endif
/* clang-format on */

enum {
    tries = 5,
    grain = 64, /* floats; every loop takes a multiple of it */
    skew = 80,  /* floats between arrays, lest their lines compete for sets */
    most_threads = 256,
};

static const double try_s = 0.002;
static const double warm_up_s = 0.0005; /* until wide units are at full speed */

double measure_flops(const takt_machine *machine)
{
    const struct loops *loops = best_loops(machine);
    _Alignas(64) float sink[16];
    double best = 0;

    for (double start = now_s(); now_s() - start < warm_up_s;)
        loops->multiply_add(1000, sink);
    for (int i = 0; i < 10 * tries; i++) {
        const double start = now_s();
        const double flops = loops->multiply_add(5000, sink);
        const double rate = flops / (now_s() - start);
        best = rate > best ? rate : best;
    }
    return best;
}

/* What all threads of a measurement share. */
struct team {
    pthread_mutex_t gate; /* held until it is known whether all have started */
    pthread_barrier_t barrier;
    bool is_complete;
};

/* One thread's share. */
struct share {
    pass_over *loop;
    const struct traffic *traffic;
    struct team *team;
    const float *in[3];
    float *out; /* 16 floats at least */
    size_t n;
    size_t passes;
    double seconds; /* of the best try */
};

static void pass(const struct share *share)
{
    for (size_t i = 0; i < share->passes; i++)
        share->loop(share->n, share->in, share->traffic->streams, share->out);
}

/* Every thread runs this; only what the first one measures is read. */
static void *run_share(void *self)
{
    struct share *share = self;
    struct team *team = share->team;

    pthread_mutex_lock(&team->gate);
    const bool is_complete = team->is_complete;
    pthread_mutex_unlock(&team->gate);
    for (int i = 0; is_complete && i < tries; i++) {
        pass(share); /* warms up */
        pthread_barrier_wait(&team->barrier);
        const double start = now_s();
        pass(share);
        pthread_barrier_wait(&team->barrier);
        const double seconds = now_s() - start;
        if (share->seconds == 0 || seconds < share->seconds)
            share->seconds = seconds;
    }
    return NULL;
}

/* All shares at once; the seconds of the best try, 0 when a thread could not
 * be started. */
static double run_shares(struct share *share, unsigned threads)
{
    struct team team = {.gate = PTHREAD_MUTEX_INITIALIZER};
    pthread_t thread[most_threads];
    unsigned started = 1;

    if (pthread_barrier_init(&team.barrier, NULL, threads) != 0)
        return 0;
    for (unsigned i = 0; i < threads; i++)
        share[i].team = &team;
    pthread_mutex_lock(&team.gate);
    while (started < threads && pthread_create(&thread[started], NULL,
                                               run_share, &share[started]) == 0)
        started++;
    team.is_complete = started == threads;
    pthread_mutex_unlock(&team.gate);
    run_share(&share[0]);
    for (unsigned i = 1; i < started; i++)
        pthread_join(thread[i], NULL);
    pthread_barrier_destroy(&team.barrier);
    return share[0].seconds;
}

/* How many passes take about `try_s`. */
static size_t count_passes(struct share share)
{
    share.passes = 1;
    pass(&share);
    for (;;) {
        const double start = now_s();
        pass(&share);
        const double seconds = now_s() - start;
        if (seconds > try_s / 10)
            return (size_t)((double)share.passes * try_s / seconds) + 1;
        share.passes *= 4;
    }
}

static double measure(struct share *share, unsigned threads, pass_over *loop)
{
    const struct traffic *traffic = share[0].traffic;
    const double arrays = traffic->streams + (traffic->is_written ? 1 : 0);

    share[0].loop = loop;
    const size_t passes = count_passes(share[0]);
    for (unsigned i = 0; i < threads; i++) {
        share[i].loop = loop;
        share[i].passes = passes;
        share[i].seconds = 0;
    }
    const double seconds = run_shares(share, threads);
    if (seconds == 0)
        return 0;
    return arrays * (double)share[0].n * sizeof(float) * (double)passes *
           threads / seconds;
}

/* Cuts one allocation into arrays and those into shares. */
static void cut(struct share *share, unsigned threads, float *memory, size_t n)
{
    const struct traffic *traffic = share[0].traffic;
    const size_t each = n / threads;

    for (unsigned i = 0; i < threads; i++) {
        share[i] = share[0];
        share[i].n = each;
        for (unsigned s = 0; s < traffic->streams; s++)
            share[i].in[s] = memory + s * (n + skew) + i * each;
        share[i].out = memory + traffic->streams * (n + skew) +
                       i * (traffic->is_written ? each : grain);
    }
}

double measure_bandwidth(const takt_machine *machine,
                         const struct traffic *traffic, unsigned threads)
{
    const struct loops *loops = best_loops(machine);
    struct traffic wanted = *traffic;
    wanted.streams = traffic->streams > 3 ? 3 : traffic->streams;
    threads = threads > most_threads ? most_threads : threads;
    const size_t unit = grain * (size_t)threads;
    const double arrays = wanted.streams + (wanted.is_written ? 1 : 0);
    const size_t n =
        ((size_t)(wanted.bytes / arrays / sizeof(float)) / unit + 1) * unit;
    const size_t floats = (size_t)arrays * (n + skew) + unit;
    struct share *share = calloc(threads, sizeof *share);
    float *memory = aligned_alloc(64, floats * sizeof(float));
    double best = 0;

    if (share != NULL && memory != NULL) {
        memset(memory, 0, floats * sizeof(float));
        share[0].traffic = &wanted;
        cut(share, threads, memory, n);
        best = measure(share, threads,
                       wanted.is_written ? loops->write : loops->read);
        if (wanted.is_written) /* or past the caches */
            best = fmax(best, measure(share, threads, loops->write_past));
    }
    free(memory);
    free(share);
    return best;
}
