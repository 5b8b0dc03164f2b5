/* SPDX-License-Identifier: MIT */
/*
 * cpu_factor.c - what factors on k threads share: products, memory and rows.
 */
#include <math.h>
#include <string.h>

#include "base/size.h"
#include "expert/solve.h"
#include "kernels/gemm_team.h"
#include "pool/scratch.h"

/* ---- products ------------------------------------------------------------ */

/* Below it, waking and joining threads takes a good part of the product. */
static bool is_for_team(const struct takt_factor_job *job,
                        const struct takt_gemm *product)
{
    enum { least_work = 1 << 18 };

    return job->threads > 1 &&
           (double)product->m * (double)product->n * (double)product->k >=
               least_work;
}

void takt__factor_measure(void *self, const struct takt_gemm *product)
{
    struct takt_factor_job *job = self;
    size_t room;

    if (is_for_team(job, product)) {
        const struct takt_gemm_plan plan =
            takt__gemm_plan(product, job->gemm, job->blocks, job->threads);
        room = takt__gemm_team_room(&plan, job->threads);
    } else {
        room = job->gemm->room(product, job->blocks);
    }
    job->room = takt__size_max(job->room, room);
}

static void team_part(void *self, unsigned part, unsigned parts, void *scratch)
{
    (void)parts, (void)scratch;
    takt__gemm_team_work(self, part);
}

void takt__factor_multiply(void *self, const struct takt_gemm *product)
{
    struct takt_factor_job *job = self;

    if (!is_for_team(job, product)) {
        job->gemm->run(product, job->blocks, job->scratch);
        return;
    }
    const struct takt_gemm_plan plan =
        takt__gemm_plan(product, job->gemm, job->blocks, job->threads);
    struct takt_gemm_team *team = takt__gemm_team_open(
        product, job->gemm, job->blocks, &plan, job->threads, job->scratch);
    /* Without scratch of its own it cannot fail. */
    (void)takt__pool_run(job->pool, job->threads, 0, team_part, team);
}

struct takt_factor_job takt__factor_job_of(struct takt_experts *experts,
                                           const struct takt_expert *expert,
                                           takt_dtype dtype)
{
    return (struct takt_factor_job){.pool = experts->pool,
                                    .threads = expert->threads,
                                    .gemm = expert->slots->gemm[dtype],
                                    .blocks = &expert->slots->blocks[dtype]};
}

void *takt__factor_scratch(struct takt_factor_job *job, size_t before)
{
    struct takt_scratch *own = takt__scratch_of_thread();
    const size_t first = takt__size_round_up(before, 64);
    const size_t bytes = takt__size_max(takt__size_add(first, job->room), 1);
    char *memory = own == NULL ? NULL : takt__scratch_get(own, bytes);

    if (memory != NULL)
        job->scratch = memory + first;
    return memory;
}

/* ---- rows ---------------------------------------------------------------- */

void takt__fill_nan(const struct takt_rows *rows, takt_dtype dtype, void *to)
{
    for (size_t i = 0; i < rows->rows; i++)
        for (size_t j = 0; j < rows->cols; j++)
            if (dtype == TAKT_F64)
                ((double *)to)[i * rows->ld + j] = (double)NAN;
            else
                ((float *)to)[i * rows->ld + j] = NAN;
}

void takt__copy_rows(const struct takt_rows *rows, size_t size,
                     const void *from, size_t ld_from, void *to)
{
    for (size_t i = 0; i < rows->rows; i++)
        memcpy((char *)to + i * rows->ld * size,
               (const char *)from + i * ld_from * size, rows->cols * size);
}

size_t takt__factor_ld(size_t n, size_t size)
{
    const size_t whole = takt__size_round_up(n, TAKT_PANEL_COLS);

    return takt__size_mul(whole, size) % 2048 == 0 ? whole + TAKT_PANEL_COLS
                                                   : whole;
}
