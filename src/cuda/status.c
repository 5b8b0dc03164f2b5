/* SPDX-License-Identifier: MIT */
/*
 * status.c - what a result of NVIDIA's driver means for us.
 */
#include "cuda/own.h"

/* The errors after which nothing in the context works any more, or after which
 * there is none. */
static bool is_fatal(int result)
{
    switch (result) {
    case 3:   /* not initialised */
    case 4:   /* shut down */
    case 46:  /* device unavailable */
    case 201: /* invalid context */
    case 214: /* memory error that could not be corrected */
    case 220: /* the same on NVLink */
    case 226: /* contained error */
    case 700: /* illegal address */
    case 702: /* a kernel took too long */
    case 709: /* context is destroyed */
    case 710: /* assertion of a kernel */
    case 714: /* hardware stack error */
    case 715: /* illegal instruction */
    case 716: /* misaligned address */
    case 717: /* invalid address space */
    case 718: /* invalid program counter */
    case 719: /* a kernel failed */
    case 721: /* tensor memory leak */
    case 806: /* the server of a shared GPU cannot be reached */
    case 810: /* the server ended this client */
    case 911: /* another device failed */
    case 999: /* unknown; what a GPU that fell off the bus gives */
        return true;
    default:
        return false;
    }
}

takt_status takt__cuda_status(int result)
{
    if (result == TAKT_CUDA_SUCCESS)
        return TAKT_OK;
    if (result == TAKT_CUDA_OUT_OF_MEMORY)
        return TAKT_ENOMEM;
    return is_fatal(result) ? TAKT_ELOST : TAKT_ENODEV;
}

takt_status takt__cuda_refusal(int result)
{
    const takt_status status = takt__cuda_status(result);
    return status == TAKT_ENOMEM ? TAKT_ENODEV : status;
}
