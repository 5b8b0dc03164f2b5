/* SPDX-License-Identifier: MIT */
/*
 * takt/backend.h - the three kinds of processor an op can run on.
 *
 * A backend is a kind of processor. An expert is one concrete way to run a call
 * there, such as "simd.avx512" or "cuda.0".
 *
 * Threads: everything here may be called from any thread.
 */
#ifndef TAKT_BACKEND_H
#define TAKT_BACKEND_H

#include <takt/export.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum takt_backend {
    TAKT_BACKEND_SCALAR = 0,
    TAKT_BACKEND_SIMD = 1,
    TAKT_BACKEND_GPU = 2
} takt_backend;

/* "Scalar", "SIMD" or "GPU". */
TAKT_API const char *takt_backend_name(takt_backend backend);

/* "scalar", "simd" or "gpu", for telemetry and keys. */
TAKT_API const char *takt_backend_key(takt_backend backend);

#ifdef __cplusplus
}
#endif

#endif
