/* SPDX-License-Identifier: MIT */
/*
 * test_gemm_team.c - members of a team at work at the same time: the result has
 * the bits that one of them makes alone, whoever comes, and nothing races.
 */
#include "kernels/gemm_team.h"

#include <pthread.h>
#include <stdlib.h>

#include "support/random.h"
#include "support/tap.h"
#include "takt/machine.h"

enum { most = 16, tries = 100 };

/* Small caches: many areas, rounds and blocks. */
static const struct takt_gemm_caches caches[] = {
    {1024, 4096, 8192}, {2048, 1 << 16, 1 << 14}, {0, 0, 0}};

struct trial {
    const struct takt_gemm_kernels *kernels;
    struct takt_gemm_blocks blocks;
    struct takt_gemm_plan plan;
    struct takt_gemm gemm;
    unsigned threads;
    size_t bytes; /* of C */
};

static void *memory(size_t bytes)
{
    void *at = aligned_alloc(64, (bytes + 63) / 64 * 64);
    REQUIRE(at != NULL);
    return at;
}

static void *matrix(size_t elements, bool is_double, uint64_t *seed)
{
    double *at = memory(elements * sizeof *at);

    for (size_t i = 0; i < elements; i++)
        if (is_double)
            at[i] = random_unit(seed) - 0.5;
        else
            ((float *)(void *)at)[i] = (float)random_unit(seed) - 0.5F;
    return at;
}

static const struct takt_kernel *best_kernel(enum takt_kernel_dtype dtype)
{
    const struct takt_kernel *best = NULL;
    takt_machine *machine;
    size_t count;
    const struct takt_kernel *table = takt__kernel_table(&count);

    REQUIRE(takt_machine_create(NULL, &machine) == TAKT_OK);
    for (size_t i = 0; i < count; i++)
        if (table[i].kind == TAKT_KERNEL_KIND_gemm && table[i].dtype == dtype &&
            (machine->isas >> table[i].isa & 1) != 0 &&
            (best == NULL || table[i].isa > best->isa))
            best = &table[i];
    takt_machine_destroy(machine);
    REQUIRE(best != NULL);
    return best;
}

static struct trial open_trial(size_t number, uint64_t *seed)
{
    const bool is_double = number % 2 == 1;
    const size_t m = 1 + random_next(seed) % 300;
    const size_t n = 1 + random_next(seed) % 300;
    const size_t k = 1 + random_next(seed) % 200;
    const struct takt_kernel *kernel =
        best_kernel(is_double ? TAKT_KERNEL_f64 : TAKT_KERNEL_f32);
    struct trial t = {.kernels = kernel->run.gemm,
                      .threads = 2 + (unsigned)(number % (most - 1)),
                      .bytes = m * n * kernel->run.gemm->parts->size};

    t.gemm = (struct takt_gemm){.m = m,
                                .n = n,
                                .k = k,
                                .a = matrix(m * k, is_double, seed),
                                .a_row = k,
                                .a_col = 1,
                                .b = matrix(k * n, is_double, seed),
                                .b_row = number % 3 == 0 ? 1 : n,
                                .b_col = number % 3 == 0 ? k : 1,
                                .c = matrix(m * n, is_double, seed),
                                .ldc = n,
                                .alpha = 1,
                                .beta = 0.5};
    t.kernels->tune(&caches[number % 3], &t.blocks);
    t.plan = takt__gemm_plan(&t.gemm, t.kernels, &t.blocks, t.threads);
    return t;
}

static void close_trial(const struct trial *t)
{
    free((void *)(uintptr_t)t->gemm.a);
    free((void *)(uintptr_t)t->gemm.b);
    free(t->gemm.c);
}

struct member {
    struct takt_gemm_team *team;
    unsigned number;
    pthread_t thread;
};

static void *work(void *self)
{
    const struct member *member = self;

    takt__gemm_team_work(member->team, member->number);
    return NULL;
}

/* The product on the first `present` members, each on a thread of its own. */
static void *product(const struct trial *t, unsigned present)
{
    struct takt_gemm gemm = t->gemm;
    struct member members[most + 1];
    void *scratch = memory(takt__gemm_team_room(&t->plan, t->threads));

    gemm.c = memory(t->bytes);
    memcpy(gemm.c, t->gemm.c, t->bytes);
    struct takt_gemm_team *team = takt__gemm_team_open(
        &gemm, t->kernels, &t->blocks, &t->plan, t->threads, scratch);
    for (unsigned i = 0; i < present; i++) {
        members[i] = (struct member){.team = team, .number = i};
        REQUIRE(pthread_create(&members[i].thread, NULL, work, &members[i]) ==
                0);
    }
    for (unsigned i = 0; i < present; i++)
        pthread_join(members[i].thread, NULL);
    free(scratch);
    return gemm.c;
}

static void the_bits_do_not_depend_on_the_threads(void)
{
    uint64_t seed = 1;
    unsigned rounds = 0, direct = 0;

    for (size_t i = 0; i < tries; i++) {
        const struct trial t = open_trial(i, &seed);
        void *alone = product(&t, 1);
        void *all = product(&t, t.threads);
        void *half = product(&t, (t.threads + 1) / 2);
        TAP_CHECK(memcmp(alone, all, t.bytes) == 0 &&
                      memcmp(alone, half, t.bytes) == 0,
                  "%zu x %zu x %zu on %u threads: other bits", t.gemm.m,
                  t.gemm.n, t.gemm.k, t.threads);
        rounds += t.plan.copies && takt__gemm_rounds(&t.plan) > 2;
        direct += !t.plan.copies;
        free(alone);
        free(all);
        free(half);
        close_trial(&t);
    }
    TAP_CHECK(rounds > 5 && direct > 5,
              "%u with several rounds, %u without "
              "copies: too few of a kind",
              rounds, direct);
}

/* Fills A and B with NaN. */
static void forget_inputs(struct trial *t)
{
    const size_t size = t->kernels->parts->size;

    t->gemm.alpha = 0;
    memset((void *)(uintptr_t)t->gemm.a, 0xff, t->gemm.m * t->gemm.k * size);
    memset((void *)(uintptr_t)t->gemm.b, 0xff, t->gemm.k * t->gemm.n * size);
    t->plan = takt__gemm_plan(&t->gemm, t->kernels, &t->blocks, t->threads);
}

static bool is_half(const struct trial *t, const void *c)
{
    const bool is_double = t->kernels->parts->size == sizeof(double);

    for (size_t i = 0; i < t->gemm.m * t->gemm.n; i++)
        if (is_double ? ((const double *)c)[i] != 0.5 * ((double *)t->gemm.c)[i]
                      : ((const float *)c)[i] != 0.5F * ((float *)t->gemm.c)[i])
            return false;
    return true;
}

static void inputs_do_not_count_where_alpha_is_0(void)
{
    uint64_t seed = 2;

    for (size_t i = 0; i < tries; i++) {
        struct trial t = open_trial(i, &seed);
        forget_inputs(&t);
        void *all = product(&t, t.threads);
        TAP_CHECK(is_half(&t, all), "%zu x %zu x %zu on %u threads: not beta C",
                  t.gemm.m, t.gemm.n, t.gemm.k, t.threads);
        free(all);
        close_trial(&t);
    }
}

int main(void)
{
    RUN(the_bits_do_not_depend_on_the_threads);
    RUN(inputs_do_not_count_where_alpha_is_0);
    return tap_done();
}
