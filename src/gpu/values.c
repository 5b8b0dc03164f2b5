/* SPDX-License-Identifier: MIT */
/* values.c - looks at every value. */
#include "gpu/values.h"

#include <float.h>
#include <math.h>
#include <string.h>

static double value_at(const char *at, size_t size)
{
    double value;
    float narrow;

    if (size == sizeof value) {
        memcpy(&value, at, sizeof value);
        return value;
    }
    memcpy(&narrow, at, sizeof narrow);
    return (double)narrow;
}

double takt__values_largest(const void *at, size_t count, size_t size)
{
    double most = 0, sum = 0; /* of what is 0 if it is finite */

    for (size_t i = 0; i < count; i++) {
        const double value = value_at((const char *)at + i * size, size);
        sum += value - value;
        most = fabs(value) > most ? fabs(value) : most;
    }
    return sum == 0 ? most : (double)INFINITY;
}

bool takt__values_finite(const void *at, size_t count, size_t size)
{
    return takt__values_largest(at, count, size) < (double)INFINITY;
}

double takt__values_least_safe(size_t size)
{
    return size == sizeof(double) ? sqrt(DBL_MIN) / DBL_EPSILON
                                  : sqrt((double)FLT_MIN) / (double)FLT_EPSILON;
}
