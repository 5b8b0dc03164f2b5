/* SPDX-License-Identifier: MIT */
/* key.c - which series and bucket a call belongs to. */
#include "op/key.h"

#include <stdio.h>

#include "takt/call.h"
#include "takt/ops.h"

static const struct {
    uint16_t first, layouts;
} series_of[TAKT_OP_COUNT] = {
#define TAKT_OP(name_, complexity_, form_, inputs_, flops_, dtypes_, \
                accuracy_, summary_)                                 \
    [TAKT_OP_##name_] = {TAKT_SERIES_##name_, TAKT_LAYOUTS_##form_},
#include "op/ops.def"
};

double takt__bucket_work(unsigned bucket)
{
    const double octave = (double)((uint64_t)1 << bucket / 2);
    return octave * (bucket % 2 == 0 ? 1.25 : 1.75);
}

bool takt__form_counts_flops(enum takt_form form)
{
    return form == TAKT_FORM_matmul || form == TAKT_FORM_batched ||
           form == TAKT_FORM_conv2d || form == TAKT_FORM_attention;
}

/* ---- layouts ---------------------------------------------------------------
 */

static const char *const row_layouts[] = {"", "short", "few"};
static const char *const matrix_layouts[] = {"", "narrow", "flat"};
static const char *const aspects[] = {"square", "thin_m",  "thin_n", "thin_mn",
                                      "thin_k", "thin_mk", "thin_nk"};
static const char *const transposes[] = {"nn", "tn", "nt", "tt"};
static const char *const conv2d_layouts[] = {"", "pointwise", "grouped",
                                             "small"};
static const char *const pool2d_layouts[] = {"max", "mean"};
static const char *const attention_layouts[] = {"", "few", "causal",
                                                "few.causal"};

/* A side is thin when it is below a quarter of the geometric mean. */
static unsigned aspect_of(const size_t mnk[3])
{
    const double m = (double)mnk[0], n = (double)mnk[1], k = (double)mnk[2];
    const double volume = m * n * k / 64;

    return (unsigned)(m * m * m < volume) |
           (unsigned)(n * n * n < volume) << 1 |
           (unsigned)(k * k * k < volume) << 2;
}

static unsigned transposes_of(unsigned flags)
{
    return (unsigned)((flags & TAKT_TRANS_A) != 0) |
           (unsigned)((flags & TAKT_TRANS_B) != 0) << 1;
}

static unsigned rows_layout(const size_t size[2])
{
    return size[1] <= 64 ? 1 : size[0] <= 4 ? 2 : 0;
}

static unsigned matrix_layout(const size_t size[2], size_t ratio)
{
    return size[1] <= size[0] / ratio ? 1 : size[0] <= size[1] / ratio ? 2 : 0;
}

/* Sizes NxCxHxWxKxRxS, then stride, padding, groups. */
static unsigned conv2d_layout(const takt_shape *shape)
{
    const size_t *dim = shape->dim;

    if (shape->rank == 10 && dim[9] > 1)
        return 2;
    if (dim[5] == 1 && dim[6] == 1)
        return 1;
    return dim[2] <= 14 && dim[3] <= 14 ? 3 : 0;
}

static unsigned layout_of(enum takt_form form, const takt_shape *shape,
                          unsigned flags)
{
    const size_t *dim = shape->dim;

    switch (form) {
    case TAKT_FORM_rows:
        return rows_layout(dim);
    case TAKT_FORM_matrix:
        return matrix_layout(dim, 16);
    case TAKT_FORM_gemv:
        return matrix_layout(dim, 16) + 3 * (transposes_of(flags) & 1);
    case TAKT_FORM_matmul:
        return aspect_of(dim) + 7 * transposes_of(flags);
    case TAKT_FORM_batched:
        return aspect_of(dim + 1);
    case TAKT_FORM_conv2d:
        return conv2d_layout(shape);
    case TAKT_FORM_pool2d:
        return (flags & TAKT_CALL_MEAN_POOL) != 0;
    case TAKT_FORM_attention:
        return (unsigned)(dim[2] < 16) +
               2 * (unsigned)((flags & TAKT_CALL_CAUSAL) != 0);
    case TAKT_FORM_map:
    case TAKT_FORM_view:
    case TAKT_FORM_reduce:
    case TAKT_FORM_user:
        break;
    }
    return 0;
}

static void name_layout(enum takt_form form, unsigned layout,
                        char out[TAKT_LAYOUT_NAME])
{
    const char *first = "", *dot = "", *second = "";

    switch (form) {
    case TAKT_FORM_rows:
        first = row_layouts[layout];
        break;
    case TAKT_FORM_matrix:
        first = matrix_layouts[layout];
        break;
    case TAKT_FORM_gemv:
        first = layout >= 3 ? "t" : "n";
        second = matrix_layouts[layout % 3];
        dot = *second != '\0' ? "." : "";
        break;
    case TAKT_FORM_matmul:
        first = transposes[layout / 7];
        dot = ".";
        second = aspects[layout % 7];
        break;
    case TAKT_FORM_batched:
        first = aspects[layout];
        break;
    case TAKT_FORM_conv2d:
        first = conv2d_layouts[layout];
        break;
    case TAKT_FORM_pool2d:
        first = pool2d_layouts[layout];
        break;
    case TAKT_FORM_attention:
        first = attention_layouts[layout];
        break;
    case TAKT_FORM_map:
    case TAKT_FORM_view:
    case TAKT_FORM_reduce:
    case TAKT_FORM_user:
        break;
    }
    snprintf(out, TAKT_LAYOUT_NAME, "%s%s%s", first, dot, second);
}

/* ---- series -----------------------------------------------------------------
 */

struct takt_key takt__key_of(const takt_op *op, takt_dtype dtype,
                             const takt_shape *shape, unsigned flags,
                             const takt_work *work)
{
    const struct takt_op_entry *entry = takt__op_entry(op);
    const double measure =
        takt__form_counts_flops(entry->form) ? work->flops : work->bytes;
    unsigned series;

    if (entry->id == TAKT_OP_COUNT)
        series = TAKT_SERIES_USER + 2 * entry->user_op + (unsigned)dtype;
    else
        series = series_of[entry->id].first +
                 (unsigned)dtype * series_of[entry->id].layouts +
                 layout_of(entry->form, shape, flags);
    return (struct takt_key){(uint16_t)series, takt__bucket_of(measure)};
}

static enum takt_op_id op_of(unsigned series)
{
    unsigned op = 0;

    while (op + 1 < TAKT_OP_COUNT && series_of[op + 1].first <= series)
        op++;
    return (enum takt_op_id)op;
}

void takt__series_name(unsigned series, enum takt_op_id *op, unsigned *user_op,
                       takt_dtype *dtype, char layout[TAKT_LAYOUT_NAME])
{
    const char *link = takt__link_name(series);

    layout[0] = '\0';
    *user_op = 0;
    if (link != NULL) {
        *op = TAKT_OP_COUNT;
        *user_op = TAKT_MAX_USER_OPS;
        *dtype = TAKT_F32;
        snprintf(layout, TAKT_LAYOUT_NAME, "%s", link);
        return;
    }
    if (series >= TAKT_SERIES_USER) {
        *op = TAKT_OP_COUNT;
        *user_op = (series - TAKT_SERIES_USER) / 2;
        *dtype = (takt_dtype)((series - TAKT_SERIES_USER) % 2);
        return;
    }
    *op = op_of(series);
    const unsigned offset = series - series_of[*op].first;
    *dtype = (takt_dtype)(offset / series_of[*op].layouts);
    name_layout(takt__op_entry(takt_op_at(*op))->form,
                offset % series_of[*op].layouts, layout);
}

unsigned takt__series_op(unsigned series)
{
    if (series < TAKT_SERIES_USER)
        return (unsigned)op_of(series);
    return series < TAKT_SERIES_LINKS
               ? TAKT_OP_COUNT + (series - TAKT_SERIES_USER) / 2
               : TAKT_OP_NUMBERS;
}

int takt__series_find(const takt_op *op, takt_dtype dtype, const char *layout)
{
    const struct takt_op_entry *entry = takt__op_entry(op);
    char name[TAKT_LAYOUT_NAME];

    if (entry->id == TAKT_OP_COUNT)
        return *layout != '\0' ? -1
                               : (int)(TAKT_SERIES_USER + 2 * entry->user_op +
                                       (unsigned)dtype);
    for (unsigned i = 0; i < series_of[entry->id].layouts; i++) {
        name_layout(entry->form, i, name);
        if (strcmp(name, layout) == 0)
            return (int)(series_of[entry->id].first +
                         (unsigned)dtype * series_of[entry->id].layouts + i);
    }
    return -1;
}

/* ---- links -----------------------------------------------------------------
 */

static const char *const links[TAKT_LINKS] = {"in", "in.pinned", "out",
                                              "out.pinned", "open"};

const char *takt__link_name(unsigned series)
{
    return series >= TAKT_SERIES_LINKS && series < TAKT_SERIES_COUNT
               ? links[series - TAKT_SERIES_LINKS]
               : NULL;
}

int takt__link_find(const char *name)
{
    for (int i = 0; i < TAKT_LINKS; i++)
        if (strcmp(links[i], name) == 0)
            return TAKT_SERIES_LINKS + i;
    return -1;
}
