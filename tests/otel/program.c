/* SPDX-License-Identifier: MIT */
/*
 * program.c - a program that computes and knows nothing of telemetry.
 *
 * Its numbers are small integers, so that its output is the same whichever
 * expert computes it.
 *
 * usage: program [ROUNDS]
 */
#include <stdio.h>
#include <stdlib.h>

#include <takt/takt.h>

enum { n = 96 };

static float a[n * n], b[n * n], c[n * n];

int main(int count, char **argv)
{
    const int rounds = count > 1 ? atoi(argv[1]) : 400;
    double all = 0;
    takt_status worst = TAKT_OK;

    for (int i = 0; i < n * n; i++) {
        a[i] = (float)(i % 3 - 1);
        b[i] = (float)(i % 5 - 2);
    }
    for (int round = 0; round < rounds; round++) {
        float sum = 0;
        takt_status status = takt_matmul_f32(n, n, n, a, b, c);
        if (status == TAKT_OK)
            status = takt_add_f32((size_t)n * n, c, a, c);
        if (status == TAKT_OK)
            status = takt_relu_f32((size_t)n * n, c, c);
        if (status == TAKT_OK)
            status = takt_sum_f32((size_t)n * n, c, &sum);
        if (status != TAKT_OK)
            worst = status;
        all += (double)sum;
    }
    printf("%.0f %s\n", all, takt_status_text(worst));
    return worst == TAKT_OK ? 0 : 1;
}
