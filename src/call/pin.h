/* SPDX-License-Identifier: MIT */
/* pin.h - the text of a pin file (docs/formats/pin.md). */
#pragma once

#include "call/ctx.h"
#include "op/key.h"

/* Its first line, and its last: without that, it was cut off. */
extern const char takt__pin_title[], takt__pin_last[];

/* One line between them. */
struct takt_pin {
    char op[64], dtype[8], layout[TAKT_LAYOUT_NAME]; /* layout "": "-" */
    unsigned bucket;
    char expert[TAKT_EXPERT_NAME_MAX];
};

typedef takt_status takt_pin_visit(void *self, const struct takt_pin *pin);

/* Visits the lines of a text, until a visit fails; *line is the number of the
 * last one that was read. TAKT_ECORRUPT: it is not such a text, or was cut off.
 */
takt_status takt__pin_parse(const char *text, size_t length,
                            takt_pin_visit *visit, void *self, size_t *line);

/* Reads a pin file into the table. */
takt_status takt__ctx_read_pin(takt_ctx *ctx, const char *path);
