/* SPDX-License-Identifier: MIT */
/*
 * layers.c - cuts convolution, pooling and attention into units.
 *
 * A unit should be large enough to pay for setting it up and small enough for
 * many threads to find work: sizes start from what suits the caches and
 * shrink while there are fewer than UNITS_WANTED. The number of threads has
 * no say, so that it cannot change results.
 *
 * Admission bounds products of the sizes of one operand, so these are plain;
 * a product of sizes of several operands is not bounded.
 */
#include "kernels/layers.h"

#include "base/size.h"

enum {
    UNITS_WANTED = 32,
    /* Elements that one unit looks at, where a row is computed at a time. */
    COST_LEAST = 4096,
    COST_MOST = 131072,
    /* Convolutions as products: most instruction sets' tiles divide 84. */
    FILTERS_MOST = 84,
    FILTERS_LEAST = 21,
    PLACES_MOST = 256,
    PLACES_LEAST = 64,
    PLACES_ALIGNED = 32,
    QUERIES_MOST = 64,
    QUERIES_LEAST = 16
};

/* How often a window fits along `size` elements with `pad` more on both
 * sides; 0 when it is larger than all of them. */
static size_t steps(size_t size, size_t window, size_t stride, size_t pad)
{
    const size_t all = size + 2 * pad;
    return all < window ? 0 : (all - window) / stride + 1;
}

/* Rows of one unit, of `total` rows that cost `cost` >= 1 each. */
static size_t rows_each(size_t total, size_t cost)
{
    const size_t even = takt__size_ceil_div(total, 2 * UNITS_WANTED);
    const size_t lower = takt__size_ceil_div(COST_LEAST, cost);
    const size_t upper = takt__size_ceil_div(COST_MOST, cost);
    return even < lower ? lower : takt__size_min(even, upper);
}

static struct takt_layer_rows rows_at(size_t total, size_t cost, size_t unit)
{
    const size_t each = rows_each(total, cost);
    const size_t first = unit * each;
    return (struct takt_layer_rows){first, takt__size_min(each, total - first)};
}

/* Pooling. */

size_t takt__pooling_height(const struct takt_pooling_call *call)
{
    return steps(call->height, call->window, call->stride, call->pad);
}

size_t takt__pooling_width(const struct takt_pooling_call *call)
{
    return steps(call->width, call->window, call->stride, call->pad);
}

static size_t pooling_rows_total(const struct takt_pooling_call *call)
{
    return call->batch * call->channels * takt__pooling_height(call);
}

static size_t pooling_cost(const struct takt_pooling_call *call)
{
    return takt__size_mul(call->width + takt__pooling_width(call),
                          call->window);
}

size_t takt__pooling_units(const struct takt_pooling_call *call)
{
    const size_t total = pooling_rows_total(call);

    if (total * takt__pooling_width(call) == 0)
        return 0;
    return takt__size_ceil_div(total, rows_each(total, pooling_cost(call)));
}

struct takt_layer_rows takt__pooling_rows(const struct takt_pooling_call *call,
                                          size_t unit)
{
    return rows_at(pooling_rows_total(call), pooling_cost(call), unit);
}

/* Convolution. */

size_t takt__conv2d_height(const struct takt_conv2d_call *call)
{
    return steps(call->height, call->rows, call->stride, call->pad);
}

size_t takt__conv2d_width(const struct takt_conv2d_call *call)
{
    return steps(call->width, call->cols, call->stride, call->pad);
}

bool takt__conv2d_is_depthwise(const struct takt_conv2d_call *call)
{
    return call->channels == call->groups;
}

static size_t conv2d_rows_total(const struct takt_conv2d_call *call)
{
    return call->batch * call->filters * takt__conv2d_height(call);
}

static size_t conv2d_cost(const struct takt_conv2d_call *call)
{
    return takt__size_mul(takt__conv2d_width(call), call->rows * call->cols);
}

struct takt_layer_rows takt__conv2d_rows(const struct takt_conv2d_call *call,
                                         size_t unit)
{
    return rows_at(conv2d_rows_total(call), conv2d_cost(call), unit);
}

/* How one group's product on one image is cut. */
struct layer_grid {
    size_t filters, places; /* of one unit */
    size_t down, across;    /* units along them */
};

static struct layer_grid grid_of(size_t filters, size_t places,
                                 size_t filters_most, size_t places_most)
{
    const size_t down = takt__size_ceil_div(filters, filters_most);
    const size_t across = takt__size_ceil_div(places, places_most);
    struct layer_grid grid = {takt__size_ceil_div(filters, down),
                              takt__size_ceil_div(places, across), 0, 0};

    grid.places =
        takt__size_ceil_div(grid.places, PLACES_ALIGNED) * PLACES_ALIGNED;
    grid.down = takt__size_ceil_div(filters, grid.filters);
    grid.across = takt__size_ceil_div(places, grid.places);
    return grid;
}

/* Fewer places cost less than fewer filters, for which the columns of the
 * image are laid out again on every thread. */
static struct layer_grid conv2d_grid(const struct takt_conv2d_call *call)
{
    const size_t products = call->batch * call->groups;
    const size_t filters = call->filters / call->groups;
    const size_t places = takt__conv2d_height(call) * takt__conv2d_width(call);
    size_t most_filters = FILTERS_MOST, most_places = PLACES_MOST;

    for (;;) {
        const struct layer_grid grid =
            grid_of(filters, places, most_filters, most_places);
        if (products * grid.down * grid.across >= UNITS_WANTED)
            return grid;
        if (most_places > PLACES_LEAST)
            most_places /= 2;
        else if (most_filters > FILTERS_LEAST)
            most_filters /= 2;
        else
            return grid;
    }
}

size_t takt__conv2d_units(const struct takt_conv2d_call *call)
{
    const size_t total = conv2d_rows_total(call);

    if (total * takt__conv2d_width(call) == 0)
        return 0;
    if (takt__conv2d_is_depthwise(call))
        return takt__size_ceil_div(total, rows_each(total, conv2d_cost(call)));
    const struct layer_grid grid = conv2d_grid(call);
    return call->batch * call->groups * grid.down * grid.across;
}

struct takt_conv2d_piece takt__conv2d_piece(const struct takt_conv2d_call *call,
                                            size_t unit)
{
    const struct layer_grid grid = conv2d_grid(call);
    const size_t filters = call->filters / call->groups;
    const size_t places = takt__conv2d_height(call) * takt__conv2d_width(call);
    const size_t down = unit % grid.down;
    const size_t across = unit / grid.down % grid.across;
    const size_t product = unit / grid.down / grid.across;

    return (struct takt_conv2d_piece){
        .image = product / call->groups,
        .group = product % call->groups,
        .filter = down * grid.filters,
        .filters = takt__size_min(grid.filters, filters - down * grid.filters),
        .place = across * grid.places,
        .places = takt__size_min(grid.places, places - across * grid.places),
        .alike = grid.down - down,
    };
}

/* Attention. */

static size_t queries_each(const struct takt_attention_call *call)
{
    const size_t heads = call->batch * call->heads;
    size_t each = QUERIES_MOST;

    while (each > QUERIES_LEAST &&
           heads * takt__size_ceil_div(call->queries, each) < UNITS_WANTED)
        each /= 2;
    return each;
}

size_t takt__attention_units(const struct takt_attention_call *call)
{
    const size_t heads = call->batch * call->heads;

    if (call->depth == 0)
        return 0;
    return heads * takt__size_ceil_div(call->queries, queries_each(call));
}

/* Causal blocks cost the more the later they are. Taking them from both ends
 * in turn gives any few units in a row about the average. */
struct takt_attention_piece
takt__attention_piece(const struct takt_attention_call *call, size_t unit)
{
    const size_t each = queries_each(call);
    const size_t blocks = takt__size_ceil_div(call->queries, each);
    const size_t turn = unit % blocks;
    const size_t block = turn % 2 == 0 ? turn / 2 : blocks - 1 - turn / 2;

    return (struct takt_attention_piece){
        .head = unit / blocks,
        .first = block * each,
        .count = takt__size_min(each, call->queries - block * each),
    };
}

size_t takt__attention_visible(const struct takt_attention_call *call, size_t i)
{
    const size_t end = i + 1 + call->keys;

    if (!call->is_causal)
        return call->keys;
    return end <= call->queries
               ? 0
               : takt__size_min(call->keys, end - call->queries);
}
