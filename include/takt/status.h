/* SPDX-License-Identifier: MIT */
/*
 * takt/status.h - status codes.
 *
 * Every function that can fail returns a takt_status; results go through its
 * last parameters. Unless a contract says otherwise, a failed call changed
 * nothing. The values are pinned: they never change their meaning.
 *
 *     const float x[3] = {1, 2, 3};
 *     float sum;
 *     const takt_status status = takt_sum_f32(3, x, &sum);
 *
 *     if (status != TAKT_OK) {
 *         fprintf(stderr, "sum: %s\n", takt_status_text(status));
 *         return 1;
 *     }
 *
 * Threads: everything here may be called from any thread.
 */
#ifndef TAKT_STATUS_H
#define TAKT_STATUS_H

#include <takt/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What became of a call. */
typedef enum takt_status {
    TAKT_OK = 0,
    TAKT_EINVAL = 1,   /* an argument is out of its range */
    TAKT_ENOMEM = 2,   /* no memory */
    TAKT_EFULL = 3,    /* a fixed capacity is used up */
    TAKT_ENODEV = 4,   /* nothing on this machine can run the call */
    TAKT_ECORRUPT = 5, /* stored data is damaged */
    TAKT_EIO = 6,      /* the operating system refused to read or write */
    TAKT_ELOST = 7,    /* a device was lost: outputs are undefined */
    TAKT_ENOENT = 8,   /* no such op, framework operation or file */
    TAKT_EEXIST = 9,   /* the name is taken */
    TAKT_ESHAPE = 10,  /* the shape does not fit the op */
    TAKT_ENOTSUP = 11, /* this version or build does not do that */
    /* What a call found out about its operands. */
    TAKT_ESINGULAR = 12, /* the matrix is singular */
    TAKT_EDEFINITE = 13  /* the matrix is not positive definite */
} takt_status;

/* A status as a phrase, such as "invalid argument"; never NULL. */
TAKT_API const char *takt_status_text(takt_status status);

#ifdef __cplusplus
}
#endif

#endif
