/* SPDX-License-Identifier: MIT */
/*
 * compute.c - let Takt run things: a small layer, relu(x W + b), softmax, and
 * what was decided about the product.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <takt/takt.h>

enum { batch = 64, inputs = 256, outputs = 128 };

static float *filled(size_t n, float scale)
{
    float *array = malloc(n * sizeof *array);

    for (size_t i = 0; array != NULL && i < n; i++)
        array[i] = scale * sinf((float)i);
    return array;
}

static takt_status layer(const float *x, const float *weights,
                         const float *bias, float *y)
{
    takt_status status = takt_matmul_f32(batch, outputs, inputs, x, weights, y);

    for (size_t i = 0; i < batch && status == TAKT_OK; i++)
        status = takt_add_f32(outputs, y + i * outputs, bias, y + i * outputs);
    if (status == TAKT_OK)
        status = takt_relu_f32(batch * outputs, y, y);
    if (status == TAKT_OK)
        status = takt_softmax_f32(batch, outputs, y, y);
    return status;
}

/* The same product as a value, to hear who ran it. */
static takt_status explain(const float *x, const float *weights, float *y)
{
    const takt_call call = {.op = takt_op_find("matmul"),
                            .shape = {3, {batch, outputs, inputs}},
                            .in = {x, weights},
                            .out = y,
                            .alpha = 1};
    takt_decision decision = {.size = sizeof decision};
    const takt_status status = takt_run(NULL, &call, &decision);

    if (status == TAKT_OK)
        printf("the product ran on %s (%s): %.1f us, expected %.1f us\n",
               decision.expert, takt_reason_name(decision.reason),
               decision.actual_s * 1e6, decision.predicted_s * 1e6);
    return status;
}

int main(void)
{
    float *x = filled(batch * inputs, 1);
    float *weights = filled(inputs * outputs, 0.1F);
    float *bias = filled(outputs, 0.5F);
    float *y = filled(batch * outputs, 0);
    float sum = 0;
    takt_status status = TAKT_ENOMEM;

    if (x != NULL && weights != NULL && bias != NULL && y != NULL)
        status = layer(x, weights, bias, y);
    if (status == TAKT_OK)
        status = takt_sum_f32(batch * outputs, y, &sum);
    if (status == TAKT_OK)
        printf("%d rows of softmax add up to %g\n", batch, (double)sum);
    if (status == TAKT_OK)
        status = explain(x, weights, y);
    if (status != TAKT_OK)
        printf("failed: %s\n", takt_status_text(status));
    free(x);
    free(weights);
    free(bias);
    free(y);
    return status != TAKT_OK || fabsf(sum - batch) > 1e-3F;
}
