/* SPDX-License-Identifier: MIT */
/*
 * cusolver.c - routines of LAPACK by NVIDIA's library.
 *
 * It reads matrices by columns, as LAPACK does. Of a matrix by rows it sees the
 * transpose: for a symmetric one that is the other triangle, for singular
 * values it exchanges U and V; all others are turned over on the device, which
 * takes less than a thousandth of their time.
 *
 * Its functions count in int: larger matrices are refused.
 */
#include "cuda/cusolver.h"

#include <limits.h>

#include "base/size.h"
#include "cuda/cublas.h"
#include "cuda/cusolver_open.h"
#include "cuda/device_parts.h"

/* cusolverStatus_t; cublasFillMode_t; cusolverEigMode_t; cublasOperation_t */
enum { SUCCESS = 0, INVALID_VALUE = 3 };
enum { LOWER = 0, UPPER = 1 };
enum { NO_VECTORS = 0, VECTORS = 1 };
enum { AS_IT_LIES = 0 };

/* ---- a routine ----------------------------------------------------------- */

struct cusolver_task {
    struct takt_cuda *cuda;
    const struct takt_cusolver *solver;
    const takt_solver_call *call;
    takt_dtype dtype;
    int m, n, k;
    int work_room; /* elements */
    /* On the device. While room is asked for, anything there is. */
    void *of[TAKT_SOLVER_OPERANDS], *info, *work;
    char *spare; /* behind `work` */
};

static void *at(uint64_t address)
{
    return (void *)(uintptr_t)address;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* As the library sees a matrix by rows, the other triangle. */
static int triangle(const takt_solver_call *call)
{
    const bool is_upper = call->uplo == 'U';

    return is_upper != (call->is_by_rows != 0) ? UPPER : LOWER;
}

static int eigen_job(const takt_solver_call *call)
{
    return call->job == 'V' ? VECTORS : NO_VECTORS;
}

/* The matrix of gesdd as it lies by columns: tall, or to be turned over. */
struct svd_shape {
    int rows, cols;
    bool is_flat;
};

static struct svd_shape span_of(const struct cusolver_task *task)
{
    const bool is_by_rows = task->call->is_by_rows != 0;
    const int rows = is_by_rows ? task->n : task->m;
    const int cols = is_by_rows ? task->m : task->n;

    return (struct svd_shape){rows, cols, rows < cols};
}

static int ask_room(struct cusolver_task *task)
{
    const struct takt_cusolver *solver = task->solver;
    const takt_dtype t = task->dtype;
    const int m = task->m, n = task->n, k = task->k;
    void *handle = solver->handle, *a = task->of[TAKT_SOLVER_A];
    const struct svd_shape span = span_of(task);
    int *room = &task->work_room;

    switch (task->call->routine) {
    case TAKT_SOLVER_POTRF:
        return solver->potrf_room[t](handle, triangle(task->call), n, a, n,
                                     room);
    case TAKT_SOLVER_GETRF:
        return solver->getrf_room[t](handle, m, n, a, m, room);
    case TAKT_SOLVER_GESV:
        return solver->getrf_room[t](handle, n, n, a, n, room);
    case TAKT_SOLVER_GEQRF:
        return solver->geqrf_room[t](handle, m, n, a, m, room);
    case TAKT_SOLVER_ORGQR:
        return solver->orgqr_room[t](handle, m, n, k, a, m,
                                     task->of[TAKT_SOLVER_VALUES], room);
    case TAKT_SOLVER_SYEVD:
        return solver->syevd_room[t](handle, eigen_job(task->call),
                                     triangle(task->call), n, a, n,
                                     task->of[TAKT_SOLVER_VALUES], room);
    case TAKT_SOLVER_GESDD:
        return solver->gesvd_room[t](
            handle, span.is_flat ? span.cols : span.rows,
            span.is_flat ? span.rows : span.cols, room);
    }
    return INVALID_VALUE;
}

/* Elements of matrices that are turned over: all operands at most, U and V
 * being square. */
static size_t spare_elements(const struct cusolver_task *task)
{
    const size_t m = task->call->m, n = task->call->n, k = task->call->k;
    const bool is_gesdd = task->call->routine == TAKT_SOLVER_GESDD;

    if (is_gesdd && span_of(task).is_flat)
        return m * n + m * m + n * n;
    if (is_gesdd || !task->call->is_by_rows)
        return 0;
    return task->call->routine == TAKT_SOLVER_GESV    ? n * n + n * k
           : task->call->routine == TAKT_SOLVER_POTRF ? 0
           : task->call->routine == TAKT_SOLVER_SYEVD ? n * n
                                                      : m * n;
}

static bool fits(const takt_solver_call *call)
{
    const size_t m = call->m, n = call->n, k = call->k;

    return m <= INT_MAX && n <= INT_MAX && k <= INT_MAX &&
           takt__size_mul(m, n) <= INT_MAX && takt__size_mul(n, k) <= INT_MAX;
}

static bool prepare(struct takt_cuda *cuda, const takt_solver_call *call,
                    struct cusolver_task *out)
{
    *out = (struct cusolver_task){.cuda = cuda,
                                  .solver = cuda->cusolver,
                                  .call = call,
                                  .dtype = call->dtype,
                                  .m = (int)call->m,
                                  .n = (int)call->n,
                                  .k = (int)call->k};
    for (unsigned i = 0; i < TAKT_SOLVER_OPERANDS; i++)
        out->of[i] = at(cuda->scratch.address);
    return cuda->cusolver != NULL && fits(call);
}

/* Matrices that are turned over lie behind the library's own memory. */
static size_t work_bytes(const struct cusolver_task *task)
{
    return takt__size_round_up(
        (size_t)task->work_room * takt_dtype_size(task->dtype), 256);
}

static size_t room_bytes(const struct cusolver_task *task)
{
    return takt__size_add(
        work_bytes(task),
        takt__size_mul(spare_elements(task), takt_dtype_size(task->dtype)));
}

static takt_status ask(struct takt_device *device, const takt_solver_call *call,
                       size_t *bytes)
{
    struct takt_cuda *cuda = takt__cuda_enter(device);
    struct cusolver_task task;

    if (cuda == NULL)
        return TAKT_ELOST;
    const bool is_known = prepare(cuda, call, &task) &&
                          ask_room(&task) == SUCCESS && task.work_room >= 0;
    takt__cuda_leave(cuda);
    if (!is_known)
        return TAKT_ENODEV;
    *bytes = room_bytes(&task);
    return TAKT_OK;
}

/* ---- running ------------------------------------------------------------- */

/* Space for so many elements of what is turned over. */
static void *take(struct cusolver_task *task, int rows, int cols)
{
    void *const taken = task->spare;

    task->spare += (size_t)rows * (size_t)cols * takt_dtype_size(task->dtype);
    return taken;
}

static bool turn(const struct cusolver_task *task, int rows, int cols,
                 const void *from, void *to)
{
    return takt__cublas_transpose(task->cuda, task->dtype, (size_t)rows,
                                  (size_t)cols, (uint64_t)(uintptr_t)from,
                                  (uint64_t)(uintptr_t)to);
}

/* A matrix of rows x cols by columns: where it lies, or a copy if it lies by
 * rows. A row or a column lies the same way in both. NULL: it failed. */
static void *by_columns(struct cusolver_task *task, int rows, int cols,
                        void *matrix)
{
    if (!task->call->is_by_rows || rows == 1 || cols == 1)
        return matrix;
    void *const copy = take(task, rows, cols);
    return turn(task, cols, rows, matrix, copy) ? copy : NULL;
}

/* And back. */
static bool bring_back(const struct cusolver_task *task, int rows, int cols,
                       const void *copy, void *matrix)
{
    return copy == matrix || turn(task, rows, cols, copy, matrix);
}

static void *second_info(const struct cusolver_task *task)
{
    return (int *)task->info + 1;
}

static bool run_potrf(struct cusolver_task *task)
{
    return task->solver->potrf[task->dtype](
               task->solver->handle, triangle(task->call), task->n,
               task->of[TAKT_SOLVER_A], task->n, task->work, task->work_room,
               task->info) == SUCCESS;
}

static bool factor(const struct cusolver_task *task, int m, void *a)
{
    return task->solver->getrf[task->dtype](
               task->solver->handle, m, task->n, a, m, task->work,
               task->of[TAKT_SOLVER_PIVOTS], task->info) == SUCCESS;
}

static bool run_getrf(struct cusolver_task *task)
{
    void *const matrix = task->of[TAKT_SOLVER_A];
    void *const a = by_columns(task, task->m, task->n, matrix);

    return a != NULL && factor(task, task->m, a) &&
           bring_back(task, task->m, task->n, a, matrix);
}

static bool run_gesv(struct cusolver_task *task)
{
    const int n = task->n, k = task->k;
    void *const matrix = task->of[TAKT_SOLVER_A];
    void *const right = task->of[TAKT_SOLVER_B];
    void *const a = by_columns(task, n, n, matrix);
    void *const b = a == NULL ? NULL : by_columns(task, n, k, right);

    return b != NULL && factor(task, n, a) &&
           task->solver->getrs[task->dtype](task->solver->handle, AS_IT_LIES, n,
                                            k, a, n,
                                            task->of[TAKT_SOLVER_PIVOTS], b, n,
                                            second_info(task)) == SUCCESS &&
           (task->call->a.out == NULL || bring_back(task, n, n, a, matrix)) &&
           bring_back(task, n, k, b, right);
}

static bool run_geqrf(struct cusolver_task *task)
{
    const int m = task->m, n = task->n;
    void *const matrix = task->of[TAKT_SOLVER_A];
    void *const a = by_columns(task, m, n, matrix);

    return a != NULL &&
           task->solver->geqrf[task->dtype](
               task->solver->handle, m, n, a, m, task->of[TAKT_SOLVER_VALUES],
               task->work, task->work_room, task->info) == SUCCESS &&
           bring_back(task, m, n, a, matrix);
}

static bool run_orgqr(struct cusolver_task *task)
{
    const int m = task->m, n = task->n;
    void *const matrix = task->of[TAKT_SOLVER_A];
    void *const a = by_columns(task, m, n, matrix);

    return a != NULL &&
           task->solver->orgqr[task->dtype](task->solver->handle, m, n, task->k,
                                            a, m, task->of[TAKT_SOLVER_VALUES],
                                            task->work, task->work_room,
                                            task->info) == SUCCESS &&
           bring_back(task, m, n, a, matrix);
}

/* Its vectors come by columns. */
static bool run_syevd(struct cusolver_task *task)
{
    const int n = task->n;
    const size_t bytes = (size_t)n * (size_t)n * takt_dtype_size(task->dtype);
    void *const a = task->of[TAKT_SOLVER_A];

    if (task->solver->syevd[task->dtype](
            task->solver->handle, eigen_job(task->call), triangle(task->call),
            n, a, n, task->of[TAKT_SOLVER_VALUES], task->work, task->work_room,
            task->info) != SUCCESS)
        return false;
    if (!task->call->is_by_rows || task->call->job != 'V')
        return true;
    void *const turned = take(task, n, n);
    return turn(task, n, n, a, turned) &&
           task->cuda->api->cuMemcpyDtoDAsync(
               (uint64_t)(uintptr_t)a, (uint64_t)(uintptr_t)turned, bytes,
               task->cuda->stream[TAKT_QUEUE_COMPUTE]) == TAKT_CUDA_SUCCESS;
}

/* Of a matrix of rows x cols by columns, which is not flat. */
static bool decompose(const struct cusolver_task *task, int rows, int cols,
                      void *a, void *u, void *vt)
{
    const signed char job = (signed char)task->call->job;

    return task->solver->gesvd[task->dtype](
               task->solver->handle, job, job, rows, cols, a, rows,
               task->of[TAKT_SOLVER_VALUES], u, rows, vt, cols, task->work,
               task->work_room, NULL, task->info) == SUCCESS;
}

/* By rows there is the transpose: its U is V, and its V is U. */
static bool run_gesdd(struct cusolver_task *task)
{
    const bool is_by_rows = task->call->is_by_rows != 0;
    const struct svd_shape span = span_of(task);
    void *const a = task->of[TAKT_SOLVER_A];
    void *const u = task->of[is_by_rows ? TAKT_SOLVER_VT : TAKT_SOLVER_U];
    void *const vt = task->of[is_by_rows ? TAKT_SOLVER_U : TAKT_SOLVER_VT];
    const int few = least(span.rows, span.cols);
    const int many = task->call->job == 'A' ? span.cols : few;

    if (!span.is_flat)
        return decompose(task, span.rows, span.cols, a, u, vt);
    void *const turned = take(task, span.cols, span.rows);
    void *const other_u = take(task, span.cols, many);
    void *const other_vt = take(task, few, few);
    if (!turn(task, span.rows, span.cols, a, turned) ||
        !decompose(task, span.cols, span.rows, turned, other_u, other_vt))
        return false;
    return task->call->job == 'N' || (turn(task, few, few, other_vt, u) &&
                                      turn(task, span.cols, many, other_u, vt));
}

static bool run(struct cusolver_task *task)
{
    static bool (*const routine[])(struct cusolver_task * task) = {
        [TAKT_SOLVER_POTRF] = run_potrf, [TAKT_SOLVER_GETRF] = run_getrf,
        [TAKT_SOLVER_GESV] = run_gesv,   [TAKT_SOLVER_GEQRF] = run_geqrf,
        [TAKT_SOLVER_ORGQR] = run_orgqr, [TAKT_SOLVER_SYEVD] = run_syevd,
        [TAKT_SOLVER_GESDD] = run_gesdd};

    return routine[task->call->routine](task);
}

static void *address_of(struct takt_location location)
{
    return location.block == NULL
               ? NULL
               : at(location.block->address + location.offset);
}

static takt_status begin(struct takt_device *device,
                         const struct takt_solver_job *job)
{
    struct takt_cuda *cuda = takt__cuda_enter(device);
    struct cusolver_task task;

    if (cuda == NULL)
        return TAKT_ELOST;
    bool is_done = prepare(cuda, job->call, &task);
    for (unsigned i = 0; i < TAKT_SOLVER_OPERANDS; i++)
        task.of[i] = address_of(job->of[i]);
    task.info = address_of(job->info);
    task.work = address_of(job->room);
    is_done = is_done && ask_room(&task) == SUCCESS &&
              room_bytes(&task) <= job->room_bytes;
    task.spare = (char *)task.work + work_bytes(&task);
    is_done = is_done && run(&task);
    takt__cuda_leave(cuda);
    return is_done ? TAKT_OK : TAKT_ENODEV;
}

const struct takt_solver_driver takt__cusolver_driver = {
    .open = takt__cusolver_open, .room = ask, .begin = begin};
