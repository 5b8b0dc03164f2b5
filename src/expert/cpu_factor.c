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

/* Below it, waking and joining threads takes a good part of the product, or
 * there are too few blocks of the result to share. */
static bool is_for_team(const struct takt_factor_job *job,
                        const struct takt_gemm *product)
{
    enum { least_work = 1 << 18, least_result = 1 << 11 };
    const double result = (double)product->m * (double)product->n;

    return job->threads > 1 && result >= least_result &&
           result * (double)product->k >= least_work;
}

static void measure(void *self, const struct takt_gemm *product)
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

static void multiply(void *self, const struct takt_gemm *product)
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

/* ---- columns ------------------------------------------------------------- */

/* How many columns a thread takes, in whole vectors. A part of less work takes
 * no longer than joining the threads. */
static size_t stretch_of(const struct takt_factor_job *job, size_t cols,
                         double work)
{
    enum { least_work = 1 << 17 };
    const double most = fmin(job->threads, work / least_work);
    const size_t parts = most < 1 ? 1 : (size_t)most;

    return takt__size_round_up(takt__size_ceil_div(cols, parts),
                               TAKT_PANEL_COLS);
}

static void measure_part(void *self, const struct takt_gemm *product,
                         void *scratch)
{
    struct takt_factor_job *job = self;

    (void)scratch;
    job->part_room =
        takt__size_max(job->part_room, job->gemm->room(product, job->blocks));
}

/* The stretches are equal but for the last one. */
static void measure_columns(void *self, size_t cols, double work,
                            takt_columns_task *task, void *of)
{
    const size_t stretch = stretch_of(self, cols, work);
    const size_t first = (takt__size_ceil_div(cols, stretch) - 1) * stretch;

    task(of, 0, takt__size_min(stretch, cols), NULL);
    task(of, first, cols - first, NULL);
}

static size_t room_of_parts(const struct takt_factor_job *job)
{
    return takt__size_mul(job->threads,
                          takt__size_round_up(job->part_room, 64));
}

static void multiply_part(void *self, const struct takt_gemm *product,
                          void *scratch)
{
    const struct takt_factor_job *job = self;

    job->gemm->run(product, job->blocks, scratch);
}

struct columns_job {
    const struct takt_factor_job *job;
    size_t cols, stretch;
    takt_columns_task *task;
    void *of;
};

static void columns_part(void *self, unsigned part, unsigned parts,
                         void *scratch)
{
    const struct columns_job *all = self;
    const size_t first = part * all->stretch;
    const size_t room = takt__size_round_up(all->job->part_room, 64);

    (void)parts, (void)scratch;
    all->task(all->of, first, takt__size_min(all->stretch, all->cols - first),
              (char *)all->job->scratch + part * room);
}

static void run_columns(void *self, size_t cols, double work,
                        takt_columns_task *task, void *of)
{
    const struct takt_factor_job *job = self;
    struct columns_job all = {.job = job,
                              .cols = cols,
                              .stretch = stretch_of(job, cols, work),
                              .task = task,
                              .of = of};
    const size_t parts = takt__size_ceil_div(cols, all.stretch);

    (void)takt__pool_run(job->pool, (unsigned)parts, 0, columns_part, &all);
}

struct takt_factoring
takt__factor_planned(struct takt_factor_job *job,
                     const struct takt_factor_kernels *plan)
{
    return (struct takt_factoring){plan, job, measure, measure_columns,
                                   measure_part};
}

struct takt_factoring
takt__factor_real(struct takt_factor_job *job,
                  const struct takt_factor_kernels *kernels)
{
    return (struct takt_factoring){kernels, job, multiply, run_columns,
                                   multiply_part};
}

/* ---- memory -------------------------------------------------------------- */

struct takt_factor_job takt__factor_job_of(struct takt_experts *experts,
                                           const struct takt_expert *expert,
                                           takt_dtype dtype)
{
    return (struct takt_factor_job){.pool = experts->pool,
                                    .threads = expert->threads,
                                    .gemm = expert->kernel_set->gemm[dtype],
                                    .blocks =
                                        &expert->kernel_set->blocks[dtype]};
}

void *takt__factor_scratch(struct takt_factor_job *job, size_t before)
{
    struct takt_scratch *own = takt__scratch_of_thread();
    const size_t first = takt__size_round_up(before, 64);
    const size_t room = takt__size_max(job->room, room_of_parts(job));
    const size_t bytes = takt__size_max(takt__size_add(first, room), 1);
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
