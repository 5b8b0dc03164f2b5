/* SPDX-License-Identifier: MIT */
/*
 * math.h - exponentials, logarithms and what stands on them, on vectors of
 * either dtype.
 *
 * Each is within 2 units in the last place of the true value, denormals,
 * overflow and underflow included, without branches; measured over all 2^32
 * floats, and over all exponents of double. Floats of gelu run in double: its
 * tail multiplies an exponential of x^2 with a quotient, and in float the
 * roundings of those add up to more than is promised.
 *
 * The polynomials are minimax fits (Remez) of the relative error.
 */
#pragma once

#include "kernels/vector/isa.h"

/* What differs between the dtypes: log(1 + f) - f + f^2 / 2 for f from -0.25
 * to 0.5. Doubles would need a polynomial twice as long; the series in
 * f / (2 + f) has every other term only. */
VINLINE vf32 vf32_log1p_rest(vf32 f, vf32 f2)
{
    vf32 q = vf32_set1(-0x1.7140c2p-5F);
    q = vf32_fma(q, f, vf32_set1(0x1.ac90cp-4F));
    q = vf32_fma(q, f, vf32_set1(-0x1.0d8a8cp-3F));
    q = vf32_fma(q, f, vf32_set1(0x1.28847cp-3F));
    q = vf32_fma(q, f, vf32_set1(-0x1.54efdcp-3F));
    q = vf32_fma(q, f, vf32_set1(0x1.9969bp-3F));
    q = vf32_fma(q, f, vf32_set1(-0x1.00004p-2F));
    q = vf32_fma(q, f, vf32_set1(0x1.5555a4p-2F));
    return vf32_mul(vf32_mul(q, f), f2);
}

VINLINE vf64 vf64_log1p_rest(vf64 f, vf64 f2)
{
    const vf64 s = vf64_ratio(f, vf64_set1(2.0), f);
    const vf64 z = vf64_mul(s, s);

    vf64 q = vf64_set1(0x1.16ba9c1d90ffcp-3);
    q = vf64_fma(q, z, vf64_set1(0x1.0e885734b0a9fp-3));
    q = vf64_fma(q, z, vf64_set1(0x1.3b2a04d56ca27p-3));
    q = vf64_fma(q, z, vf64_set1(0x1.745caaee8924dp-3));
    q = vf64_fma(q, z, vf64_set1(0x1.c71c72e3c2a4ep-3));
    q = vf64_fma(q, z, vf64_set1(0x1.24924923daf94p-2));
    q = vf64_fma(q, z, vf64_set1(0x1.9999999999f37p-2));
    q = vf64_fma(q, z, vf64_set1(0x1.5555555555555p-1));
    return vf64_mul(s, vf64_fma(q, z, vf64_mul(vf64_set1(0.5), f2)));
}

#if V_PICKS
/* By the first four bits of a mantissa from 0.75 to 1.5: a number near the
 * middle of those that have them, chosen so that its logarithms are nearly
 * doubles; around 1 it is 1. */
static const double log_centers[16] = {
    0x1p0,         0x1.17fb2bp0,  0x1.27fb5bp0,  0x1.37fec5p0,
    0x1.48056fp0,  0x1.5801a1p0,  0x1.680312p0,  0x1.7802e4p0,
    0x1.87faap-1,  0x1.97f926p-1, 0x1.a806aap-1, 0x1.b7f97cp-1,
    0x1.c7f544p-1, 0x1.d80902p-1, 0x1.e80954p-1, 0x1p0};
static const double log_inverses[16] = {0x1p0,
                                        0x1.d4255607b02ecp-1,
                                        0x1.bad6842125c6ep-1,
                                        0x1.a41be9ca215efp-1,
                                        0x1.8f957a6615cd8p-1,
                                        0x1.7d042638bcd48p-1,
                                        0x1.6c13a68573b7ap-1,
                                        0x1.5c95d4ad8bbadp-1,
                                        0x1.4e62a035a0151p0,
                                        0x1.4146a66d37649p0,
                                        0x1.351cf3f48fdbfp0,
                                        0x1.29e87bf5fb292p0,
                                        0x1.1f770c36f685ap0,
                                        0x1.15ac995ce300bp0,
                                        0x1.0c91f2c04d6c3p0,
                                        0x1p0};
static const double log_values[16] = {0,
                                      0x1.6ec6788738765p-4,
                                      0x1.29350ca93c9fcp-3,
                                      0x1.951d9619f68b6p-3,
                                      0x1.fbb373d2a3088p-3,
                                      0x1.2e9304f886af1p-2,
                                      0x1.5d2497a7b3b95p-2,
                                      0x1.89ab17b608c59p-2,
                                      -0x1.1186f2ae1374fp-2,
                                      -0x1.d125e3d4a8409p-3,
                                      -0x1.821be64892e17p-3,
                                      -0x1.367e1f02fab47p-3,
                                      -0x1.dad2e324ec13bp-4,
                                      -0x1.4ce2eb2d2d4f9p-4,
                                      -0x1.88ae0bb41c6fbp-5,
                                      0};
static const double log2_values[16] = {0,
                                       0x1.08928b3039e2ap-3,
                                       0x1.acc786069493fp-3,
                                       0x1.243aa7279b837p-2,
                                       0x1.6e3a95beb1217p-2,
                                       0x1.b485be4164c2fp-2,
                                       0x1.f7b4effa2be89p-2,
                                       0x1.1bf8bfa29dabep-1,
                                       -0x1.8a9dc281210c1p-2,
                                       -0x1.4f888a69060ecp-2,
                                       -0x1.1684cd45e5345p-2,
                                       -0x1.bff23b97ee6e6p-3,
                                       -0x1.56835108b123p-3,
                                       -0x1.e040e94d71ba1p-4,
                                       -0x1.1b4236bcc7e0dp-4,
                                       0};

/* (log(1 + r) - r) / r^2 for r from -1/32 to 1/16. */
VINLINE vf64 vf64_log1p_close(vf64 r)
{
    vf64 q = vf64_set1(-0x1.6632567ee5738p-4);
    q = vf64_fma(q, r, vf64_set1(0x1.c57c600d6b562p-4));
    q = vf64_fma(q, r, vf64_set1(-0x1.0009cd865893cp-3));
    q = vf64_fma(q, r, vf64_set1(0x1.2492d6d23cb59p-3));
    q = vf64_fma(q, r, vf64_set1(-0x1.555554a73a4eap-3));
    q = vf64_fma(q, r, vf64_set1(0x1.99999980ca5a7p-3));
    q = vf64_fma(q, r, vf64_set1(-0x1.fffffffff3c74p-3));
    q = vf64_fma(q, r, vf64_set1(0x1.5555555555f56p-2));
    return vf64_fma(q, r, vf64_set1(-0x1.0000000000002p-1));
}
#endif

/* (exp(r) - 1 - r) / r^2 for |r| <= ln 2 / 2. */
VINLINE vf32 vf32_expm1_rest(vf32 r)
{
    vf32 q = vf32_set1(0x1.6a2434p-10F);
    q = vf32_fma(q, r, vf32_set1(0x1.1239e2p-7F));
    q = vf32_fma(q, r, vf32_set1(0x1.5558f2p-5F));
    q = vf32_fma(q, r, vf32_set1(0x1.555492p-3F));
    return vf32_fma(q, r, vf32_set1(0x1.fffffcp-2F));
}

VINLINE vf64 vf64_expm1_rest(vf64 r)
{
    vf64 q = vf64_set1(0x1.aeab102e13d55p-26);
    q = vf64_fma(q, r, vf64_set1(0x1.28918b6bca395p-22));
    q = vf64_fma(q, r, vf64_set1(0x1.71de5a43e17f2p-19));
    q = vf64_fma(q, r, vf64_set1(0x1.a019b90bbabd1p-16));
    q = vf64_fma(q, r, vf64_set1(0x1.a01a018c27ed8p-13));
    q = vf64_fma(q, r, vf64_set1(0x1.6c16c1788af65p-10));
    q = vf64_fma(q, r, vf64_set1(0x1.11111111144bp-7));
    q = vf64_fma(q, r, vf64_set1(0x1.5555555553d6ap-5));
    q = vf64_fma(q, r, vf64_set1(0x1.555555555554dp-3));
    return vf64_fma(q, r, vf64_set1(0x1.0000000000001p-1));
}

/* clang-format off */
#include "kernels/vector/f32.h"
#include "kernels/vector/math_real.h"
#include "kernels/vector/f64.h"
#include "kernels/vector/math_real.h"
#include "kernels/vector/no_dtype.h"
/* clang-format on */
