/* SPDX-License-Identifier: MIT */
/*
 * half.h - floats of 16 bits, as NumPy converts them: to the nearest, ties to
 * even, with the exceptions that NumPy raises.
 */
#pragma once

#include <stdint.h>
#include <string.h>

/* Exceptions of rounding. */
enum { TAKT_ROUNDING_OVERFLOWS = 1, TAKT_ROUNDING_UNDERFLOWS = 2 };

static inline float takt__float_of_half(uint16_t half)
{
    const uint32_t rest = (uint32_t)(half & 0x7fff) << 13;
    float value;
    uint32_t bits;

    memcpy(&value, &rest, sizeof value);
    value *= 0x1p112f; /* the exponents of both begin elsewhere */
    memcpy(&bits, &value, sizeof bits);
    bits |= (half & 0x7c00) == 0x7c00 ? 0x7f800000 : 0; /* not finite */
    bits |= (uint32_t)(half & 0x8000) << 16;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Exceptions are added to *raised. */
static inline uint16_t takt__half_of_float(float value, int *raised)
{
    enum {
        least_normal = 0x38800000,
        infinite = 0x7f800000,
        over = 0x47800000
    };
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    const uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
    bits &= 0x7fffffff;
    if (bits > infinite) {
        const uint16_t payload = (uint16_t)(bits >> 13 & 0x3ff);
        return sign | 0x7c00 | (payload != 0 ? payload : 1);
    }
    if (bits >= over) {
        *raised |= bits < infinite ? TAKT_ROUNDING_OVERFLOWS : 0;
        return sign | 0x7c00;
    }
    if (bits < least_normal) {
        /* A float with this exponent has the steps of halves below 2^-14. */
        float shifted;
        uint32_t rounded;
        memcpy(&shifted, &bits, sizeof shifted);
        const float exact = shifted;
        shifted += 0x1p-1f;
        memcpy(&rounded, &shifted, sizeof rounded);
        shifted -= 0x1p-1f;
        *raised |= shifted != exact ? TAKT_ROUNDING_UNDERFLOWS : 0;
        return (uint16_t)(sign | (rounded - 0x3f000000));
    }
    const uint32_t odd = bits >> 13 & 1;
    const uint16_t half = (uint16_t)((bits - 0x38000000 + 0x0fff + odd) >> 13);
    *raised |= half == 0x7c00 ? TAKT_ROUNDING_OVERFLOWS : 0;
    return sign | half;
}
