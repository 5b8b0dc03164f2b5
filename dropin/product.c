/* SPDX-License-Identifier: MIT */
/* product.c - panels and blocks, and the threads that compute them. */
#include "product.h"

#include <float.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "half.h"

/* So many steps of a tile's panels stay in the nearest cache. */
enum { steps_at_once = 128 };

/* A panel has the rows of A, or the columns of B, of one tile: `width` numbers
 * for each step. What is missing in the last one repeats its last row. */
struct panels {
    const char *from;
    ptrdiff_t across, along; /* bytes to the next row and to the next step */
    size_t width, length;    /* rows of a panel, and of the matrix */
    size_t count;
    char *to;
};

struct product_job {
    const struct takt_number_product *product;
    const struct takt_product_tile *tile;
    struct panels a, b;
    _Atomic size_t next_panel, next_block;
    _Atomic int raised;
};

static size_t panel_bytes(const struct product_job *job,
                          const struct panels *panels)
{
    return panels->width * job->product->k * job->tile->size;
}

/* ---- copies -------------------------------------------------------------- */

/* Row by row of A. */
static void copy_rows(const struct product_job *job,
                      const struct panels *panels, size_t panel)
{
    const size_t first = panel * panels->width;
    char *to = panels->to + panel * panel_bytes(job, panels);

    for (size_t i = 0; i < panels->width; i++) {
        const size_t row =
            first + i < panels->length ? first + i : panels->length - 1;
        takt__product_copy(job->product->number, job->product->k,
                           panels->from + (ptrdiff_t)row * panels->across,
                           panels->along, to + i * job->tile->size,
                           panels->width);
    }
}

/* Step by step of B, whose numbers of one step lie together mostly. */
static void copy_steps(const struct product_job *job,
                       const struct panels *panels, size_t panel)
{
    const size_t size = job->tile->size, first = panel * panels->width;
    const size_t left = panels->length - first;
    const size_t count = left < panels->width ? left : panels->width;
    const char *from = panels->from + (ptrdiff_t)first * panels->across;
    char *to = panels->to + panel * panel_bytes(job, panels);

    for (size_t step = 0; step < job->product->k; step++) {
        takt__product_copy(job->product->number, count, from, panels->across,
                           to, 1);
        for (size_t i = count; i < panels->width; i++)
            memcpy(to + i * size, to + (count - 1) * size, size);
        from += panels->along;
        to += panels->width * size;
    }
}

static void copy_panel(const struct product_job *job,
                       const struct panels *panels, size_t panel)
{
    const bool is_along =
        (panels->along < 0 ? -panels->along : panels->along) <
        (panels->across < 0 ? -panels->across : panels->across);

    (is_along ? copy_rows : copy_steps)(job, panels, panel);
}

static void copy_part(void *self, unsigned part, unsigned parts)
{
    struct product_job *job = self;
    size_t panel;

    (void)part;
    (void)parts;
    while ((panel = atomic_fetch_add_explicit(&job->next_panel, 1,
                                              memory_order_relaxed)) <
           job->a.count + job->b.count)
        if (panel < job->a.count)
            copy_panel(job, &job->a, panel);
        else
            copy_panel(job, &job->b, panel - job->a.count);
}

/* ---- blocks -------------------------------------------------------------- */

struct block {
    size_t first_row, rows, first_col, cols; /* of C */
};

static size_t block_cols(const struct product_job *job)
{
    return TAKT_BLOCK_BYTES / job->tile->size;
}

static size_t blocks_across(const struct product_job *job)
{
    return (job->product->n + block_cols(job) - 1) / block_cols(job);
}

static size_t block_count(const struct product_job *job)
{
    return (job->product->m + TAKT_BLOCK_ROWS - 1) / TAKT_BLOCK_ROWS *
           blocks_across(job);
}

static size_t at_most(size_t value, size_t most)
{
    return value < most ? value : most;
}

static struct block block_of(const struct product_job *job, size_t number)
{
    const size_t first_row = number / blocks_across(job) * TAKT_BLOCK_ROWS;
    const size_t first_col = number % blocks_across(job) * block_cols(job);

    return (struct block){
        first_row, at_most(job->product->m - first_row, TAKT_BLOCK_ROWS),
        first_col, at_most(job->product->n - first_col, block_cols(job))};
}

/* Adds `steps` steps to all tiles of a block. */
static void add_steps(const struct product_job *job, const struct block *block,
                      size_t first_step, size_t steps, char *sums)
{
    const struct takt_product_tile *tile = job->tile;
    const size_t row_bytes = tile->rows * TAKT_BLOCK_BYTES;

    for (size_t j = 0; j < block->cols; j += tile->cols) {
        const char *b =
            job->b.to +
            (block->first_col + j) / tile->cols * panel_bytes(job, &job->b) +
            first_step * tile->cols * tile->size;
        for (size_t i = 0; i < block->rows; i += tile->rows)
            tile->add(steps,
                      job->a.to +
                          (block->first_row + i) / tile->rows *
                              panel_bytes(job, &job->a) +
                          first_step * tile->rows * tile->size,
                      b, sums + i / tile->rows * row_bytes + j * tile->size,
                      block_cols(job));
    }
}

static int store(const struct product_job *job, const struct block *block,
                 const char *sums)
{
    const struct takt_number_product *product = job->product;
    char *to = product->c + (ptrdiff_t)block->first_row * product->c_row +
               (ptrdiff_t)block->first_col * product->c_col;
    int raised = 0;

    for (size_t i = 0; i < block->rows; i++)
        raised |= takt__product_store(
            product->number, block->cols, sums + i * TAKT_BLOCK_BYTES,
            to + (ptrdiff_t)i * product->c_row, product->c_col);
    return raised;
}

static void multiply_part(void *self, unsigned part, unsigned parts)
{
    struct product_job *job = self;
    _Alignas(64) char sums[TAKT_BLOCK_ROWS * TAKT_BLOCK_BYTES];
    const size_t count = block_count(job), k = job->product->k;
    size_t number;
    int raised = 0;

    (void)part;
    (void)parts;
    while ((number = atomic_fetch_add_explicit(&job->next_block, 1,
                                               memory_order_relaxed)) < count) {
        const struct block block = block_of(job, number);
        memset(sums, 0, sizeof sums);
        for (size_t step = 0; step < k; step += steps_at_once)
            add_steps(job, &block, step, at_most(k - step, steps_at_once),
                      sums);
        raised |= store(job, &block, sums);
    }
    if (raised != 0)
        atomic_fetch_or_explicit(&job->raised, raised, memory_order_relaxed);
}

/* ---- memory for the copies ------------------------------------------------
 *
 * Fresh memory would take as long as a small product: that of the last call is
 * kept, for one call at a time.
 */

enum { kept_bytes = 16 << 20, memory_alignment = 64 };

static struct {
    _Atomic bool is_taken; /* in a child of a fork perhaps for ever */
    void *at;
    size_t bytes;
} kept;

static void *take_memory(size_t bytes, bool *is_kept)
{
    *is_kept =
        bytes <= kept_bytes &&
        !atomic_exchange_explicit(&kept.is_taken, true, memory_order_acquire);
    if (!*is_kept)
        return aligned_alloc(memory_alignment, bytes);
    if (kept.bytes < bytes) {
        free(kept.at);
        kept.at = aligned_alloc(memory_alignment, bytes);
        kept.bytes = kept.at == NULL ? 0 : bytes;
    }
    if (kept.at == NULL)
        atomic_store_explicit(&kept.is_taken, false, memory_order_release);
    return kept.at;
}

static void return_memory(void *at, bool is_kept)
{
    if (is_kept)
        atomic_store_explicit(&kept.is_taken, false, memory_order_release);
    else
        free(at);
}

/* ---- exceptions ---------------------------------------------------------- */

/* feraiseexcept() is in another library than libc. */
static void raise_exceptions(int raised)
{
    static const volatile float most = FLT_MAX, least = FLT_MIN;
    volatile float result;

    if ((raised & TAKT_ROUNDING_OVERFLOWS) != 0)
        result = most * most;
    if ((raised & TAKT_ROUNDING_UNDERFLOWS) != 0)
        result = least * least;
    (void)result;
}

/* ---- the whole ----------------------------------------------------------- */

static void run(const struct takt_route *route, unsigned threads,
                takt_part part, struct product_job *job)
{
    if (route == NULL || threads < 2 ||
        route->takt->run_parts(route->ctx, threads, part, job) != TAKT_OK)
        part(job, 0, 1);
}

static size_t count_panels(size_t length, size_t width)
{
    return (length + width - 1) / width;
}

static struct product_job job_of(const struct takt_number_product *product)
{
    const struct takt_product_tile *tile =
        takt__product_tile(takt__sum_of(product->number));

    return (struct product_job){
        .product = product,
        .tile = tile,
        .a = {product->a, product->a_row, product->a_col, tile->rows,
              product->m, count_panels(product->m, tile->rows), NULL},
        .b = {product->b, product->b_col, product->b_row, tile->cols,
              product->n, count_panels(product->n, tile->cols), NULL}};
}

/* One piece, whose copies are small enough. */
static bool run_piece(const struct takt_number_product *piece,
                      const struct takt_route *route, unsigned threads,
                      int *raised)
{
    struct product_job job = job_of(piece);
    const size_t a_bytes = job.a.count * panel_bytes(&job, &job.a);
    const size_t b_bytes = job.b.count * panel_bytes(&job, &job.b);
    bool is_kept;
    char *memory = take_memory((a_bytes + b_bytes + memory_alignment - 1) /
                                   memory_alignment * memory_alignment,
                               &is_kept);

    if (memory == NULL)
        return false;
    job.a.to = memory;
    job.b.to = memory + a_bytes;
    run(route, threads, copy_part, &job);
    run(route, threads, multiply_part, &job);
    return_memory(memory, is_kept);
    *raised |= atomic_load_explicit(&job.raised, memory_order_relaxed);
    return true;
}

/* So many rows of a matrix are copied at once: whole blocks; 0: not one. */
static size_t rows_at_once(const struct takt_number_product *product,
                           size_t block)
{
    enum { most_bytes = 64 << 20 };
    const size_t size = takt__product_tile(takt__sum_of(product->number))->size;
    const size_t fit = most_bytes / size / product->k;

    return fit / block * block;
}

bool takt__product_run(const struct takt_number_product *product,
                       const struct takt_route *route, unsigned threads)
{
    const size_t rows = rows_at_once(product, TAKT_BLOCK_ROWS);
    const size_t cols = rows_at_once(product, TAKT_BLOCK_BYTES);
    bool is_done = rows > 0 && cols > 0;
    int raised = 0;

    for (size_t i = 0; is_done && i < product->m; i += rows)
        for (size_t j = 0; is_done && j < product->n; j += cols) {
            struct takt_number_product piece = *product;
            piece.m = at_most(product->m - i, rows);
            piece.n = at_most(product->n - j, cols);
            piece.a += (ptrdiff_t)i * product->a_row;
            piece.b += (ptrdiff_t)j * product->b_col;
            piece.c +=
                (ptrdiff_t)i * product->c_row + (ptrdiff_t)j * product->c_col;
            is_done = run_piece(&piece, route, threads, &raised);
        }
    raise_exceptions(raised);
    return is_done;
}
