/* SPDX-License-Identifier: MIT */
/*
 * pin.h - the text of a pin file (docs/formats/pin.md).
 */
#ifndef TAKT_CALL_PIN_H
#define TAKT_CALL_PIN_H

#include "op/key.h"
#include "takt/context.h"

/* One line of it. */
struct takt_pin {
    char op[64], dtype[8], layout[TAKT_LAYOUT_NAME]; /* layout "": "-" */
    unsigned bucket;
    char expert[TAKT_EXPERT_NAME_MAX];
};

typedef takt_status takt_pin_visit(void *self, const struct takt_pin *pin);

/* Visits the lines of a text, until a visit fails.
 * TAKT_ECORRUPT: it is not such a text, or was cut off. */
takt_status takt__pin_parse(const char *text, size_t length,
                            takt_pin_visit *visit, void *self);

#endif
