/* SPDX-License-Identifier: MIT */
/*
 * status.c - the phrase for each status.
 *
 * No default label: the compiler names the status that lacks a phrase.
 */
#include "takt/status.h"

const char *takt_status_text(takt_status status)
{
    switch (status) {
    case TAKT_OK:
        return "success";
    case TAKT_EINVAL:
        return "invalid argument";
    case TAKT_ENOMEM:
        return "out of memory";
    case TAKT_EFULL:
        return "capacity used up";
    case TAKT_ENODEV:
        return "nothing on this machine can run the call";
    case TAKT_ECORRUPT:
        return "stored data is damaged";
    case TAKT_EIO:
        return "input/output error";
    case TAKT_ELOST:
        return "device lost during the call";
    case TAKT_ENOENT:
        return "not found";
    case TAKT_EEXIST:
        return "already exists";
    case TAKT_ESHAPE:
        return "the shape does not fit the op";
    case TAKT_ENOTSUP:
        return "not supported by this version";
    case TAKT_ESINGULAR:
        return "the matrix is singular";
    case TAKT_EDEFINITE:
        return "the matrix is not positive definite";
    }
    return "unknown status";
}
