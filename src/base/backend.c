/* SPDX-License-Identifier: MIT */
/* backend.c - what the backends are called. */
#include "takt/backend.h"

const char *takt_backend_name(takt_backend backend)
{
    switch (backend) {
    case TAKT_BACKEND_SCALAR:
        return "Scalar";
    case TAKT_BACKEND_SIMD:
        return "SIMD";
    case TAKT_BACKEND_GPU:
        return "GPU";
    }
    return "?";
}

const char *takt_backend_key(takt_backend backend)
{
    switch (backend) {
    case TAKT_BACKEND_SCALAR:
        return "scalar";
    case TAKT_BACKEND_SIMD:
        return "simd";
    case TAKT_BACKEND_GPU:
        return "gpu";
    }
    return "?";
}
