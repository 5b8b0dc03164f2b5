/* SPDX-License-Identifier: MIT */
/*
 * solver.c - operands go in through the slots of staged transfers; results come
 * out into pinned memory of their own, and to the program when all of them are
 * there and were found right. So a routine that fails at any point has left the
 * operands as they were, and LAPACK can run it on them.
 */
#include "gpu/solver.h"

#include <string.h>

#include "base/size.h"
#include "gpu/devices.h"
#include "gpu/memory.h"
#include "gpu/times.h"
#include "gpu/transfer.h"
#include "gpu/values.h"

/* Pinned memory is taken from all of the machine. */
static const size_t most_results = (size_t)1 << 30;

struct solver_operand {
    takt_solver_matrix at;
    size_t length, count; /* elements side by side, and how many of these */
    size_t size;          /* of an element */
    char part;            /* that is written: 'L', 'U', or 'G' for all */
    size_t result;        /* where it lies in the pinned memory */
};

struct solver_task {
    struct takt_device *device;
    const takt_solver_call *call;
    struct solver_operand of[TAKT_SOLVER_OPERANDS];
    struct takt_solver_job job;
    struct takt_block block; /* of the device */
    size_t info;             /* in the pinned memory */
    size_t bytes;            /* of the pinned memory */
    _Atomic bool is_bad;     /* a value is not finite */
    _Atomic bool is_safe;    /* a value is as large as is_input_right() asks */
};

/* ---- operands ------------------------------------------------------------ */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void lay_out(struct solver_task *task, enum takt_solver_operand which,
                    const takt_solver_matrix *at, size_t rows, size_t cols)
{
    const bool is_by_rows = task->call->is_by_rows != 0;

    task->of[which] =
        (struct solver_operand){.at = *at,
                                .length = is_by_rows ? cols : rows,
                                .count = is_by_rows ? rows : cols,
                                .size = takt_dtype_size(task->call->dtype),
                                .part = 'G'};
}

static void lay_out_list(struct solver_task *task,
                         enum takt_solver_operand which, void *at, size_t count,
                         size_t size, bool is_in)
{
    task->of[which] = (struct solver_operand){
        .at = {is_in ? at : NULL, count, is_in ? NULL : at, count},
        .length = count,
        .count = 1,
        .size = size,
        .part = 'G'};
}

/* As it lies by columns: by rows, the other one. */
static char triangle(const takt_solver_call *call)
{
    return (call->uplo == 'U') != (call->is_by_rows != 0) ? 'U' : 'L';
}

static void lay_out_vectors(struct solver_task *task)
{
    const takt_solver_call *call = task->call;
    const size_t few = least(call->m, call->n);

    task->of[TAKT_SOLVER_A].at.out = NULL;
    if (call->job == 'N')
        return;
    lay_out(task, TAKT_SOLVER_U, &call->u, call->m,
            call->job == 'A' ? call->m : few);
    lay_out(task, TAKT_SOLVER_VT, &call->vt, call->job == 'A' ? call->n : few,
            call->n);
    task->of[TAKT_SOLVER_U].at.in = task->of[TAKT_SOLVER_VT].at.in = NULL;
}

static void lay_out_all(struct solver_task *task)
{
    const takt_solver_call *call = task->call;
    const takt_solver_routine routine = call->routine;
    const bool is_square = routine == TAKT_SOLVER_POTRF ||
                           routine == TAKT_SOLVER_GESV ||
                           routine == TAKT_SOLVER_SYEVD;
    const size_t rows = is_square ? call->n : call->m;
    const size_t few = least(rows, call->n);
    const size_t size = takt_dtype_size(call->dtype);

    lay_out(task, TAKT_SOLVER_A, &call->a, rows, call->n);
    if (routine == TAKT_SOLVER_POTRF)
        task->of[TAKT_SOLVER_A].part = triangle(call);
    if (routine == TAKT_SOLVER_SYEVD && call->job == 'N')
        task->of[TAKT_SOLVER_A].at.out = NULL;
    if (routine == TAKT_SOLVER_GESDD)
        lay_out_vectors(task);
    if (routine == TAKT_SOLVER_GESV)
        lay_out(task, TAKT_SOLVER_B, &call->b, call->n, call->k);
    if (routine == TAKT_SOLVER_GESV || routine == TAKT_SOLVER_GETRF)
        lay_out_list(task, TAKT_SOLVER_PIVOTS, call->pivots, few, sizeof(int),
                     false);
    else if (routine != TAKT_SOLVER_POTRF)
        lay_out_list(task, TAKT_SOLVER_VALUES, call->values,
                     routine == TAKT_SOLVER_ORGQR ? call->k : few, size,
                     routine == TAKT_SOLVER_ORGQR);
}

static size_t bytes_of(const struct solver_operand *of)
{
    return takt__size_mul(takt__size_mul(of->length, of->count), of->size);
}

/* ---- what is right ------------------------------------------------------- */

static bool is_letter(char letter, const char *of)
{
    return letter != '\0' && strchr(of, letter) != NULL;
}

static bool has_letters(const takt_solver_call *call)
{
    switch (call->routine) {
    case TAKT_SOLVER_POTRF:
        return is_letter(call->uplo, "LU");
    case TAKT_SOLVER_SYEVD:
        return is_letter(call->uplo, "LU") && is_letter(call->job, "NV");
    case TAKT_SOLVER_GESDD:
        return is_letter(call->job, "NSA");
    default:
        return true;
    }
}

static bool has_sizes(const takt_solver_call *call)
{
    const bool is_orgqr = call->routine == TAKT_SOLVER_ORGQR;

    if (call->n == 0 || (call->routine == TAKT_SOLVER_GESV && call->k == 0))
        return false;
    if (is_orgqr)
        return call->m >= call->n && call->n >= call->k && call->k > 0;
    return call->m > 0 || call->routine == TAKT_SOLVER_POTRF ||
           call->routine == TAKT_SOLVER_GESV ||
           call->routine == TAKT_SOLVER_SYEVD;
}

/* Stretches must not overlap, and all of them must have an address. */
static bool has_distance(const struct solver_operand *of, size_t ld)
{
    return ld >= of->length && takt__size_mul(takt__size_mul(ld, of->count),
                                              of->size) <= PTRDIFF_MAX;
}

static bool has_place(const struct solver_operand *of)
{
    return of->length == 0 ||
           ((of->at.in == NULL || has_distance(of, of->at.in_ld)) &&
            (of->at.out == NULL || has_distance(of, of->at.out_ld)) &&
            bytes_of(of) < SIZE_MAX / 4);
}

bool takt__solver_is_valid(const takt_solver_call *call)
{
    struct solver_task task = {.call = call};

    if ((unsigned)call->routine > TAKT_SOLVER_GESDD ||
        (unsigned)call->dtype > TAKT_F64 || !has_letters(call) ||
        !has_sizes(call) || call->a.in == NULL ||
        (call->routine == TAKT_SOLVER_GESV && call->b.in == NULL))
        return false;
    lay_out_all(&task);
    for (unsigned i = 0; i < TAKT_SOLVER_OPERANDS; i++)
        if (!has_place(&task.of[i]))
            return false;
    const struct solver_operand *values = &task.of[TAKT_SOLVER_VALUES];
    return values->length == 0 || call->values != NULL;
}

/* ---- several threads ------------------------------------------------------
 */

/* Rows of an operand, cut for threads. */
struct solver_sweep {
    struct solver_task *task;
    const struct solver_operand *of;
    void (*visit)(struct solver_task *task, const struct solver_operand *of,
                  size_t first, size_t last);
};

static void sweep_part(void *self, unsigned part, unsigned parts, void *scratch)
{
    const struct solver_sweep *sweep = self;
    const size_t count = sweep->of->count;

    (void)scratch;
    sweep->visit(sweep->task, sweep->of, count * part / parts,
                 count * (part + 1) / parts);
}

static void sweep(struct solver_sweep sweep)
{
    enum { enough = 1 << 19, most = 12 };
    const struct takt_devices *all = sweep.task->device->all;
    const size_t useful = 1 + bytes_of(sweep.of) / enough;
    const size_t parts = least(least(all->threads, most), useful);

    if (parts < 2 || takt__pool_run(all->pool, (unsigned)parts, 0, sweep_part,
                                    &sweep) != TAKT_OK)
        sweep_part(&sweep, 0, 1, NULL);
}

/* Of a symmetric matrix the triangle that is meant. */
static void look_at(struct solver_task *task, const struct solver_operand *of,
                    size_t first, size_t last)
{
    const char part =
        task->call->routine == TAKT_SOLVER_SYEVD ? triangle(task->call) : 'G';
    const double smallest = takt__values_least_safe(of->size);

    for (size_t i = first; i < last; i++) {
        const size_t from = part == 'L' ? i : 0;
        const size_t to = part == 'U' ? i + 1 : of->length;
        const double most = takt__values_largest(
            (const char *)of->at.in + (i * of->at.in_ld + from) * of->size,
            to - from, of->size);
        if (most > 1 / smallest)
            atomic_store(&task->is_bad, true);
        if (most >= smallest)
            atomic_store(&task->is_safe, true);
    }
}

/* ---- in ------------------------------------------------------------------ */

static bool is_in(const struct solver_operand *of)
{
    return of->length > 0 && of->at.in != NULL;
}

/* Where operands, the library's memory and the info lie on the device. */
static takt_status reserve(struct solver_task *task)
{
    struct takt_device *device = task->device;
    size_t used = 0;

    for (unsigned i = 0; i < TAKT_SOLVER_OPERANDS; i++) {
        if (task->of[i].length == 0)
            continue;
        task->job.of[i] = (struct takt_location){&task->block, used};
        used = takt__size_add(used,
                              takt__size_round_up(bytes_of(&task->of[i]), 256));
    }
    task->job.info = (struct takt_location){&task->block, used};
    used = takt__size_add(used, 256);
    task->job.room = (struct takt_location){&task->block, used};
    takt__device_lock(&device->lock);
    takt_status status =
        device->driver->solver->room(device, task->call, &task->job.room_bytes);
    if (status == TAKT_OK)
        status = takt__memory_take(
            device, takt__size_add(used, task->job.room_bytes), &task->block);
    takt__unlock(&device->lock);
    return status;
}

static void add_chunk(struct takt_transfer *transfer,
                      const struct solver_operand *of, struct takt_location at)
{
    const bool is_whole = of->at.in_ld == of->length;
    const size_t elements = of->length * of->count;

    transfer->chunk[transfer->chunks++] = (struct takt_chunk){
        .host = (char *)(uintptr_t)of->at.in,
        .pitch = is_whole ? of->size : of->at.in_ld * of->size,
        .rows = is_whole ? elements : of->count,
        .row_bytes = is_whole ? of->size : of->length * of->size,
        .at = at};
}

/* The info begins as 0: it is copied in like the operands. */
static takt_status send(struct solver_task *task)
{
    static const int no_info[2];
    const struct solver_operand info = {.at = {.in = no_info, .in_ld = 2},
                                        .length = 2,
                                        .count = 1,
                                        .size = sizeof no_info[0]};
    struct takt_transfer transfer = {.device = task->device,
                                     .pool = task->device->all->pool,
                                     .threads = task->device->all->threads};

    for (unsigned i = 0; i < TAKT_SOLVER_OPERANDS; i++)
        if (is_in(&task->of[i]))
            add_chunk(&transfer, &task->of[i], task->job.of[i]);
    add_chunk(&transfer, &info, task->job.info);
    const takt_status status = takt__transfer_cut(&transfer);
    return status != TAKT_OK ? status : takt__transfer_run(&transfer);
}

/* ---- out ----------------------------------------------------------------- */

static bool is_out(const struct solver_operand *of)
{
    return of->length > 0 && of->at.out != NULL;
}

static takt_status reserve_results(struct solver_task *task)
{
    struct takt_device *device = task->device;
    struct takt_block *results = &device->stage.results;
    takt_status status = TAKT_OK;

    task->bytes = 0;
    for (unsigned i = 0; i < TAKT_SOLVER_OPERANDS; i++) {
        struct solver_operand *of = &task->of[i];
        of->result = task->bytes;
        if (is_out(of))
            task->bytes = takt__size_add(task->bytes,
                                         takt__size_round_up(bytes_of(of), 64));
    }
    task->info = task->bytes;
    task->bytes = takt__size_add(task->bytes, 64);
    if (task->bytes > most_results)
        return TAKT_ENODEV;
    if (task->bytes <= results->bytes)
        return TAKT_OK;
    takt__device_lock(&device->lock);
    device->driver->release(device, results);
    status = device->driver->reserve(
        device, takt__size_round_up(task->bytes, 1 << 20), true, results);
    takt__unlock(&device->lock);
    return status;
}

static takt_status fetch(const struct solver_task *task,
                         struct takt_location from, size_t to, size_t bytes)
{
    struct takt_device *device = task->device;

    return device->driver->copy(
        device, TAKT_QUEUE_COMPUTE,
        (struct takt_location){&device->stage.results, to}, from, bytes);
}

/* Begins the routine and what follows it. */
static takt_status begin(struct solver_task *task)
{
    struct takt_device *device = task->device;

    takt__device_lock(&device->lock);
    takt_status status = device->driver->solver->begin(device, &task->job);
    for (unsigned i = 0; i < TAKT_SOLVER_OPERANDS && status == TAKT_OK; i++)
        if (is_out(&task->of[i]))
            status = fetch(task, task->job.of[i], task->of[i].result,
                           bytes_of(&task->of[i]));
    if (status == TAKT_OK)
        status = fetch(task, task->job.info, task->info, 2 * sizeof(int));
    takt__unlock(&device->lock);
    return status;
}

static const char *result_of(const struct solver_task *task, size_t at)
{
    return (const char *)task->device->stage.results.host + at;
}

/* A matrix with values that are not finite has values in its results that are
 * not. Of factors it is enough to look at the diagonal. */
static bool is_result_finite(const struct solver_task *task)
{
    const struct solver_operand *a = &task->of[TAKT_SOLVER_A];
    const struct solver_operand *b = &task->of[TAKT_SOLVER_B];
    const struct solver_operand *values = &task->of[TAKT_SOLVER_VALUES];
    const bool has_factors = task->call->routine == TAKT_SOLVER_POTRF ||
                             task->call->routine == TAKT_SOLVER_GETRF;

    if (is_out(values) && !takt__values_finite(result_of(task, values->result),
                                               values->length, values->size))
        return false;
    if (is_out(b) && !takt__values_finite(result_of(task, b->result),
                                          b->length * b->count, b->size))
        return false;
    for (size_t i = 0;
         has_factors && is_out(a) && i < least(a->length, a->count); i++)
        if (!takt__values_finite(result_of(task, a->result) +
                                     i * (a->length + 1) * a->size,
                                 1, a->size))
            return false;
    return true;
}

static bool is_result_right(const struct solver_task *task)
{
    int info[2];

    memcpy(info, result_of(task, task->info), sizeof info);
    return info[0] == 0 && info[1] == 0 && is_result_finite(task);
}

/* Writes stretches of a result, or their part of a triangle. */
static void write_out(struct solver_task *task, const struct solver_operand *of,
                      size_t first, size_t last)
{
    for (size_t i = first; i < last; i++) {
        const size_t from = of->part == 'L' ? i : 0;
        const size_t to = of->part == 'U' ? i + 1 : of->length;
        char *const stretch = (char *)of->at.out + i * of->at.out_ld * of->size;
        memcpy(stretch + from * of->size,
               result_of(task, of->result) + (i * of->length + from) * of->size,
               (to - from) * of->size);
        if (task->call->is_cleared) {
            memset(stretch, 0, from * of->size);
            memset(stretch + to * of->size, 0, (of->length - to) * of->size);
        }
    }
}

static void write_all(struct solver_task *task)
{
    for (unsigned i = 0; i < TAKT_SOLVER_OPERANDS; i++)
        if (is_out(&task->of[i]))
            sweep((struct solver_sweep){task, &task->of[i], write_out});
}

/* ---- the call ------------------------------------------------------------ */

/* Eigenvalues and singular values of what is not finite may be looked for
 * without an end; and lengths of columns are sums of squares, which are 0 or
 * infinite where values are too small or too large. */
static bool is_input_right(struct solver_task *task)
{
    const takt_solver_routine routine = task->call->routine;

    if (routine != TAKT_SOLVER_SYEVD && routine != TAKT_SOLVER_GESDD &&
        routine != TAKT_SOLVER_GEQRF)
        return true;
    sweep((struct solver_sweep){task, &task->of[TAKT_SOLVER_A], look_at});
    return !atomic_load(&task->is_bad) && atomic_load(&task->is_safe);
}

/* Nothing may be under way in memory that is given back. */
static takt_status compute(struct solver_task *task)
{
    takt_status status = send(task);

    if (status == TAKT_OK)
        status = begin(task);
    if (takt__queue_sync(task->device, TAKT_QUEUE_COMPUTE) != TAKT_OK)
        return TAKT_ELOST;
    if (status != TAKT_OK)
        return status;
    return is_result_right(task) ? TAKT_OK : TAKT_ENODEV;
}

takt_status takt__solver_run(struct takt_device *device,
                             const takt_solver_call *call)
{
    struct solver_task task = {
        .device = device, .call = call, .job = {.call = call}};

    lay_out_all(&task);
    if (!is_input_right(&task))
        return TAKT_ENODEV;
    takt__lock(&device->solving);
    takt_status status = reserve_results(&task);
    if (status == TAKT_OK)
        status = reserve(&task);
    if (status == TAKT_OK)
        status = compute(&task);
    if (status == TAKT_OK)
        write_all(&task);
    takt__lock(&device->lock);
    takt__memory_give(device, &task.block);
    takt__unlock(&device->lock);
    takt__unlock(&device->solving);
    return status;
}
