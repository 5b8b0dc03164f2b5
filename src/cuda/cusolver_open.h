/* SPDX-License-Identifier: MIT */
/*
 * cusolver_open.h - NVIDIA's LAPACK as a table of its functions.
 *
 * It has 140 MB and needs others of as many: it is loaded when a program calls
 * for it, not with the device.
 */
#pragma once

#include "gpu/device.h"

struct takt_cuda;

/* use_(member, name, parameters behind the handle): S and D of each. */
/* clang-format off */
#define TAKT_CUSOLVER_FUNCTIONS(use_)                                                        \
    use_(potrf_room, potrf_bufferSize, int uplo, int n, void *a, int lda, int *room) \
    use_(potrf, potrf, int uplo, int n, void *a, int lda, void *work, int room, void *info) \
    use_(getrf_room, getrf_bufferSize, int m, int n, void *a, int lda, int *room) \
    use_(getrf, getrf, int m, int n, void *a, int lda, void *work, void *pivots, void *info) \
    use_(getrs, getrs, int trans, int n, int k, const void *a, int lda, const void *pivots, void *b, int ldb, void *info) \
    use_(geqrf_room, geqrf_bufferSize, int m, int n, void *a, int lda, int *room) \
    use_(geqrf, geqrf, int m, int n, void *a, int lda, void *tau, void *work, int room, void *info) \
    use_(orgqr_room, orgqr_bufferSize, int m, int n, int k, const void *a, int lda, const void *tau, int *room) \
    use_(orgqr, orgqr, int m, int n, int k, void *a, int lda, const void *tau, void *work, int room, void *info) \
    use_(syevd_room, syevd_bufferSize, int job, int uplo, int n, const void *a, int lda, const void *w, int *room) \
    use_(syevd, syevd, int job, int uplo, int n, void *a, int lda, void *w, void *work, int room, void *info) \
    use_(gesvd_room, gesvd_bufferSize, int m, int n, int *room)                \
    use_(gesvd, gesvd, signed char job_u, signed char job_vt, int m, int n, void *a, int lda, void *s, void *u, int ldu, void *vt, int ldvt, void *work, int room, void *rest, void *info)
/* clang-format on */

struct takt_cusolver {
    void *handle; /* cusolverDnHandle_t */
    int (*create)(void **handle);
    int (*destroy)(void *handle);
    int (*set_stream)(void *handle, void *stream);
#define MEMBER(member_, name_, ...) int (*member_[2])(void *, __VA_ARGS__);
    TAKT_CUSOLVER_FUNCTIONS(MEMBER)
#undef MEMBER
};

/* Loads the library for a device, unless it is there. */
bool takt__cusolver_open(struct takt_device *device);

/* With the lock of the device held and its context current. */
void takt__cusolver_close(struct takt_cuda *cuda);
