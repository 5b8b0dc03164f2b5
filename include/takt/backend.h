/* SPDX-License-Identifier: MIT */
/*
 * takt/backend.h - the three kinds of processor an op can run on.
 *
 * A backend is a kind of processor. An expert is one concrete way to run a call
 * there, such as "simd.avx512" or "cuda.0".
 *
 *     takt_backend backend = takt_moe_select(TAKT_COMPLEXITY_MEDIUM, 50000);
 *     printf("%s, %s in telemetry\n", takt_backend_name(backend),
 *            takt_backend_key(backend));
 *
 * Threads: everything here may be called from any thread.
 */
#ifndef TAKT_BACKEND_H
#define TAKT_BACKEND_H

#include <takt/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A kind of processor. */
typedef enum takt_backend {
    TAKT_BACKEND_SCALAR = 0,
    TAKT_BACKEND_SIMD = 1,
    TAKT_BACKEND_GPU = 2
} takt_backend;

/* The name of a backend, for people: "Scalar", "SIMD" or "GPU". */
TAKT_API const char *takt_backend_name(takt_backend backend);

/* The name of a backend in telemetry and keys: "scalar", "simd" or "gpu". */
TAKT_API const char *takt_backend_key(takt_backend backend);

#ifdef __cplusplus
}
#endif

#endif
