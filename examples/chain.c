/* SPDX-License-Identifier: MIT */
/*
 * chain.c - a small network on buffers: matmul, add a bias, relu, matmul,
 * softmax.
 *
 * The same calls take buffers and plain arrays. On buffers, what a GPU made
 * stays there for the next call, and only the result comes back to the host;
 * without a GPU a buffer is ordinary memory.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <takt/takt.h>

enum { rows = 256, wide = 512, runs = 5 };

/* Different experts round differently: relative to an element. */
static const float tolerance = 1e-4F;

enum operand { INPUT, WEIGHTS_1, BIAS, HIDDEN, WEIGHTS_2, RESULT, OPERANDS };

static const char *const names[OPERANDS] = {"input",  "weights 1", "bias",
                                            "hidden", "weights 2", "result"};

static size_t length_of(enum operand operand)
{
    return (size_t)wide *
           (operand == WEIGHTS_1 || operand == WEIGHTS_2 ? wide : rows);
}

struct network {
    float *plain[OPERANDS];
    takt_buffer *buffer[OPERANDS];
};

static takt_status make(struct network *network)
{
    takt_status status = TAKT_OK;

    for (int i = 0; i < OPERANDS && status == TAKT_OK; i++) {
        const size_t length = length_of((enum operand)i);
        float *plain = malloc(length * sizeof *plain);
        if (plain == NULL)
            return TAKT_ENOMEM;
        for (size_t j = 0; j < length; j++)
            plain[j] = 0.1F * sinf((float)j + (float)i);
        network->plain[i] = plain;
        const bool is_made_by_a_call = i == HIDDEN || i == RESULT;
        status = takt_buffer_create(NULL, length * sizeof *plain,
                                    is_made_by_a_call ? NULL : plain,
                                    &network->buffer[i]);
    }
    return status;
}

static void unmake(struct network *network)
{
    for (int i = 0; i < OPERANDS; i++) {
        free(network->plain[i]);
        takt_buffer_destroy(network->buffer[i]);
    }
}

/* Where the operands are is none of its business. The bias is there once for
 * every row, because add takes arrays of one length. */
static takt_status run_chain(float *const at[OPERANDS])
{
    const size_t all = (size_t)rows * wide;
    float *hidden = at[HIDDEN], *result = at[RESULT];

    takt_status status =
        takt_matmul_f32(rows, wide, wide, at[INPUT], at[WEIGHTS_1], hidden);
    if (status == TAKT_OK)
        status = takt_add_f32(all, hidden, at[BIAS], hidden);
    if (status == TAKT_OK)
        status = takt_relu_f32(all, hidden, hidden);
    if (status == TAKT_OK)
        status =
            takt_matmul_f32(rows, wide, wide, hidden, at[WEIGHTS_2], result);
    if (status == TAKT_OK)
        status = takt_softmax_f32(rows, wide, result, result);
    return status;
}

static takt_status run_both(struct network *network)
{
    float *address[OPERANDS];
    takt_status status = TAKT_OK;

    for (int i = 0; i < OPERANDS; i++)
        address[i] = takt_buffer_address(network->buffer[i]);
    for (int run = 0; run < runs && status == TAKT_OK; run++) {
        status = run_chain(network->plain);
        if (status == TAKT_OK)
            status = run_chain(address);
    }
    return status;
}

static void print_gpus(void)
{
    takt_ctx *ctx = takt_ctx_default();
    takt_gpu_device gpu = {.size = sizeof gpu};
    size_t i = 0;

    for (; ctx != NULL && takt_ctx_gpu(ctx, i, &gpu) == TAKT_OK; i++)
        printf("%s is %s\n", gpu.expert, takt_gpu_state_name(gpu.state));
    if (i == 0)
        printf("there is no GPU: buffers are ordinary memory\n");
}

static void print_places(const struct network *network)
{
    char where[64];

    for (int i = 0; i < OPERANDS; i++) {
        takt_buffer_residency(network->buffer[i], where, sizeof where);
        printf("  %-9s  %s\n", names[i], where);
    }
}

/* Brings the result to the host, and says how far it is from the other. */
static takt_status compare(struct network *network, float *furthest)
{
    void *host;
    takt_status status =
        takt_buffer_map(network->buffer[RESULT], TAKT_MAP_READ, &host);

    if (status != TAKT_OK)
        return status;
    const float *result = host;
    *furthest = 0;
    for (size_t i = 0; i < length_of(RESULT); i++) {
        const float other = network->plain[RESULT][i]; /* above 0 */
        const float apart = fabsf(result[i] - other) / other;
        if (!(apart <= *furthest)) /* a NaN stays */
            *furthest = apart;
    }
    return takt_buffer_unmap(network->buffer[RESULT]);
}

int main(void)
{
    struct network network = {.plain = {NULL}};
    float furthest = INFINITY;
    takt_status status;

    /* A program that runs for long has them opened when that pays. */
    if (takt_ctx_default() != NULL)
        takt_ctx_open_gpus(takt_ctx_default());
    print_gpus();
    status = make(&network);
    if (status == TAKT_OK)
        status = run_both(&network);
    if (status == TAKT_OK) {
        printf("after %d runs the buffers are here:\n", runs);
        print_places(&network);
        status = compare(&network, &furthest);
    }
    if (status == TAKT_OK)
        printf(
            "the result equals that on plain arrays to %.1g of each element\n",
            (double)furthest);
    else
        printf("failed: %s\n", takt_status_text(status));
    unmake(&network);
    return status != TAKT_OK || !(furthest <= tolerance);
}
