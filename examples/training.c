/* SPDX-License-Identifier: MIT */
/*
 * training.c - trains a small network with batches of varying size.
 *
 * Two layers, p = softmax(relu(x W1) W2), learn by plain gradient descent
 * which of the first eight inputs is the largest. Products change their shape
 * with every batch, so no single choice of an expert is right for all. Run it
 * twice: the second time, Takt begins with what it learned the first time.
 */
#include <math.h>

#include "tally.h"

enum { inputs = 32, hidden = 256, classes = 8, largest = 256, steps = 160 };

static float x[largest * inputs], w1[inputs * hidden], w2[hidden * classes];
static float h[largest * hidden], p[largest * classes];
static float dh[largest * hidden], mask[largest * hidden];
static float dw1[inputs * hidden], dw2[hidden * classes];
static size_t label[largest];

static float uniform(float low, float high)
{
    return low + (high - low) * (float)rand() / (float)RAND_MAX;
}

/* c = a b, of which either may be transposed. */
static takt_status product(struct tally *tally, unsigned flags, size_t m,
                           size_t n, size_t k, const float *a, const float *b,
                           float *c)
{
    return tally_run(tally, &(takt_call){.op = takt_op_find("matmul"),
                                         .shape = {3, {m, n, k}},
                                         .in = {a, b},
                                         .out = c,
                                         .alpha = 1,
                                         .flags = flags});
}

/* out = op(a, b), element by element. */
static takt_status map(struct tally *tally, const char *op, size_t n,
                       const float *a, const float *b, double alpha, float *out)
{
    return tally_run(tally, &(takt_call){.op = takt_op_find(op),
                                         .shape = {1, {n}},
                                         .in = {a, b},
                                         .out = out,
                                         .alpha = alpha});
}

static void make_batch(size_t batch)
{
    for (size_t i = 0; i < batch; i++) {
        float *row = x + i * inputs;
        label[i] = 0;
        for (size_t j = 0; j < inputs; j++)
            row[j] = uniform(-1, 1);
        for (size_t j = 1; j < classes; j++)
            if (row[j] > row[label[i]])
                label[i] = j;
    }
}

static takt_status forward(struct tally *tally, size_t batch)
{
    takt_status status = product(tally, 0, batch, hidden, inputs, x, w1, h);

    if (status == TAKT_OK)
        status = map(tally, "relu", batch * hidden, h, NULL, 0, h);
    if (status == TAKT_OK)
        status = product(tally, 0, batch, classes, hidden, h, w2, p);
    if (status == TAKT_OK)
        status = tally_run(tally, &(takt_call){.op = takt_op_find("softmax"),
                                               .shape = {2, {batch, classes}},
                                               .in = {p},
                                               .out = p});
    return status;
}

/* The mean loss; p becomes the gradient before the softmax. */
static double take_loss(size_t batch)
{
    double loss = 0;

    for (size_t i = 0; i < batch; i++) {
        float *row = p + i * classes;
        loss -= log((double)row[label[i]] + 1e-9);
        row[label[i]] -= 1;
    }
    for (size_t i = 0; i < batch * hidden; i++)
        mask[i] = h[i] > 0 ? 1 : 0;
    return loss / (double)batch;
}

static takt_status backward(struct tally *tally, size_t batch)
{
    const double rate = -0.5 / (double)batch;
    takt_status status =
        product(tally, TAKT_TRANS_A, hidden, classes, batch, h, p, dw2);

    if (status == TAKT_OK)
        status =
            product(tally, TAKT_TRANS_B, batch, hidden, classes, p, w2, dh);
    if (status == TAKT_OK)
        status = map(tally, "mul", batch * hidden, dh, mask, 0, dh);
    if (status == TAKT_OK)
        status =
            product(tally, TAKT_TRANS_A, inputs, hidden, batch, x, dh, dw1);
    if (status == TAKT_OK)
        status = map(tally, "axpy", inputs * hidden, dw1, w1, rate, w1);
    if (status == TAKT_OK)
        status = map(tally, "axpy", hidden * classes, dw2, w2, rate, w2);
    return status;
}

static takt_status train(struct tally *tally, double *first, double *last)
{
    takt_status status = TAKT_OK;

    *first = *last = 0;
    for (int step = 0; step < steps && status == TAKT_OK; step++) {
        const size_t batch = (size_t)8 << rand() % 6; /* 8 to 256 */
        make_batch(batch);
        status = forward(tally, batch);
        const double loss = take_loss(batch);
        if (step < 10)
            *first += loss / 10;
        if (step >= steps - 10)
            *last += loss / 10;
        if (status == TAKT_OK)
            status = backward(tally, batch);
    }
    return status;
}

int main(void)
{
    static float thrown_away[largest * hidden];
    struct tally tally = {.thrown_away = thrown_away};
    double first, last;
    takt_status status = takt_ctx_create(NULL, &tally.ctx);

    for (size_t i = 0; i < inputs * hidden; i++)
        w1[i] = uniform(-0.3F, 0.3F);
    for (size_t i = 0; i < hidden * classes; i++)
        w2[i] = uniform(-0.2F, 0.2F);
    if (status == TAKT_OK)
        status = train(&tally, &first, &last);
    if (status != TAKT_OK) {
        printf("failed: %s\n", takt_status_text(status));
        takt_ctx_destroy(tally.ctx);
        return 1;
    }
    printf("the loss went from %.2f to %.2f in %d steps\n", first, last, steps);
    tally_print(&tally);
    takt_ctx_destroy(tally.ctx);
    return last < 0.8 * first ? 0 : 1;
}
