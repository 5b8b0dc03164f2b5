/* SPDX-License-Identifier: MIT */
/* ops_solve.c - the one-line calls of factors and systems of equations. */
#include "call/call.h"
#include "op/op_id.h"
#include "takt/ops.h"

#define CHOLESKY(dtype_, id_, real_)                                          \
    takt_status takt_cholesky_##dtype_(size_t n, const real_ *a, size_t ld_a, \
                                       real_ *l, size_t ld_l)                 \
    {                                                                         \
        takt_call call = {.op = takt_op_at(TAKT_OP_cholesky),                 \
                          .dtype = id_,                                       \
                          .shape = {2, {n, n}},                               \
                          .in = {a},                                          \
                          .out = l,                                           \
                          .ld = {ld_a, 0, ld_l}};                             \
                                                                              \
        return takt__call(&call);                                             \
    }

#define SOLVE(dtype_, id_, real_)                                             \
    takt_status takt_solve_##dtype_(size_t n, size_t nrhs, const real_ *a,    \
                                    size_t ld_a, const real_ *b, size_t ld_b, \
                                    real_ *x, size_t ld_x)                    \
    {                                                                         \
        takt_call call = {.op = takt_op_at(TAKT_OP_solve),                    \
                          .dtype = id_,                                       \
                          .shape = {2, {n, nrhs}},                            \
                          .in = {a, b},                                       \
                          .out = x,                                           \
                          .ld = {ld_a, ld_b, ld_x}};                          \
                                                                              \
        return takt__call(&call);                                             \
    }

#define QR(dtype_, id_, real_)                                         \
    takt_status takt_qr_##dtype_(size_t m, size_t n, const real_ *a,   \
                                 size_t ld_a, real_ *qr, size_t ld_qr) \
    {                                                                  \
        takt_call call = {.op = takt_op_at(TAKT_OP_qr),                \
                          .dtype = id_,                                \
                          .shape = {2, {m, n}},                        \
                          .in = {a},                                   \
                          .out = qr,                                   \
                          .ld = {ld_a, 0, ld_qr}};                     \
                                                                       \
        return takt__call(&call);                                      \
    }

#define LSTSQ(dtype_, id_, real_)                                     \
    takt_status takt_lstsq_##dtype_(                                  \
        size_t m, size_t n, size_t nrhs, const real_ *a, size_t ld_a, \
        const real_ *b, size_t ld_b, real_ *x, size_t ld_x)           \
    {                                                                 \
        takt_call call = {.op = takt_op_at(TAKT_OP_lstsq),            \
                          .dtype = id_,                               \
                          .shape = {3, {m, n, nrhs}},                 \
                          .in = {a, b},                               \
                          .out = x,                                   \
                          .ld = {ld_a, ld_b, ld_x}};                  \
                                                                      \
        return takt__call(&call);                                     \
    }

/* clang-format off */
CHOLESKY(f32, TAKT_F32, float)
CHOLESKY(f64, TAKT_F64, double)
SOLVE(f32, TAKT_F32, float)
SOLVE(f64, TAKT_F64, double)
QR(f32, TAKT_F32, float)
QR(f64, TAKT_F64, double)
LSTSQ(f32, TAKT_F32, float)
LSTSQ(f64, TAKT_F64, double)
/* clang-format on */
