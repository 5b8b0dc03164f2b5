/* SPDX-License-Identifier: MIT */
/* key.c - which series and bucket a call belongs to. */
#include "op/key.h"

#include <math.h>
#include <stdio.h>

double takt__bucket_low(unsigned bucket)
{
    return ldexp(bucket % 2 == 0 ? 1 : 1.5, (int)bucket / 2);
}

double takt__bucket_work(unsigned bucket)
{
    const double octave = (double)((uint64_t)1 << bucket / 2);
    return octave * (bucket % 2 == 0 ? 1.25 : 1.75);
}

/* ---- series -------------------------------------------------------------- */

static unsigned series_at(const struct takt_op_entry *entry, takt_dtype dtype,
                          unsigned layout)
{
    return entry->series + (unsigned)dtype * takt__forms[entry->form].layouts +
           layout;
}

struct takt_key takt__key_of(const takt_op *op, takt_dtype dtype,
                             const takt_shape *shape, unsigned flags,
                             const takt_work *work)
{
    const struct takt_op_entry *entry = takt__op_entry(op);
    const struct takt_form_entry *form = &takt__forms[entry->form];
    const double measure = form->counts_flops ? work->flops : work->bytes;
    const unsigned layout =
        form->layout == NULL ? 0 : form->layout(shape, flags);

    return (struct takt_key){(uint16_t)series_at(entry, dtype, layout),
                             takt__bucket_of(measure)};
}

/* "prefix.name", or the one that is not empty. */
static void name_layout(const struct takt_form_entry *form, unsigned layout,
                        char out[TAKT_LAYOUT_NAME])
{
    const unsigned names = form->names.count;
    const char *prefix =
        form->prefixes.count == 0 ? "" : form->prefixes.of[layout / names];
    const char *name = names == 0 ? "" : form->names.of[layout % names];
    const char *dot = *prefix != '\0' && *name != '\0' ? "." : "";

    snprintf(out, TAKT_LAYOUT_NAME, "%s%s%s", prefix, dot, name);
}

static const struct takt_op_entry *entry_at(unsigned op)
{
    return takt__op_entry(takt_op_at(op));
}

/* The op of the catalogue that a series belongs to. */
static unsigned op_of(unsigned series)
{
    unsigned op = 0, end = TAKT_OP_COUNT; /* it is one of these */

    while (end - op > 1) {
        const unsigned middle = (op + end) / 2;
        if (entry_at(middle)->series <= series)
            op = middle;
        else
            end = middle;
    }
    return op;
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
    *op = (enum takt_op_id)op_of(series);
    const struct takt_op_entry *entry = entry_at(*op);
    const struct takt_form_entry *form = &takt__forms[entry->form];
    const unsigned offset = series - entry->series;
    *dtype = (takt_dtype)(offset / form->layouts);
    name_layout(form, offset % form->layouts, layout);
}

enum takt_op_id takt__series_of(unsigned series, takt_dtype *dtype)
{
    enum takt_op_id op;
    unsigned user_op;
    char layout[TAKT_LAYOUT_NAME];

    takt__series_name(series, &op, &user_op, dtype, layout);
    return op;
}

unsigned takt__series_op(unsigned series)
{
    if (series < TAKT_SERIES_USER)
        return op_of(series);
    return series < TAKT_SERIES_LINKS
               ? TAKT_OP_COUNT + (series - TAKT_SERIES_USER) / 2
               : TAKT_OP_NUMBERS;
}

double takt__series_cost(unsigned series)
{
    if (series >= TAKT_SERIES_USER)
        return 1;
    const struct takt_op_entry *entry = entry_at(op_of(series));
    return entry
        ->cost[(series - entry->series) / takt__forms[entry->form].layouts];
}

double takt__series_serial(unsigned series)
{
    if (series >= TAKT_SERIES_USER)
        return 0;
    const struct takt_op_entry *entry = entry_at(op_of(series));
    const struct takt_form_entry *form = &takt__forms[entry->form];
    const unsigned dtype = (series - entry->series) / form->layouts;

    return form->serial / (double)takt__dtype_size((takt_dtype)dtype);
}

int takt__series_find(const takt_op *op, takt_dtype dtype, const char *layout)
{
    const struct takt_op_entry *entry = takt__op_entry(op);
    const struct takt_form_entry *form = &takt__forms[entry->form];
    char name[TAKT_LAYOUT_NAME];

    for (unsigned i = 0; i < form->layouts; i++) {
        name_layout(form, i, name);
        if (strcmp(name, layout) == 0)
            return (int)series_at(entry, dtype, i);
    }
    return -1;
}

/* ---- links --------------------------------------------------------------- */

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
