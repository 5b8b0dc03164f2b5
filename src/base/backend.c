/* SPDX-License-Identifier: MIT */
/* backend.c - what the backends are called. */
#include "takt/backend.h"

#include "base/name.h"

const char *takt_backend_name(takt_backend backend)
{
    static const char *const names[] = {"Scalar", "SIMD", "GPU"};

    return TAKT_NAME_IN(names, backend);
}

const char *takt_backend_key(takt_backend backend)
{
    static const char *const names[] = {"scalar", "simd", "gpu"};

    return TAKT_NAME_IN(names, backend);
}
