/* SPDX-License-Identifier: MIT */
/* diag.h - one line for people. */
#ifndef TAKT_STORE_DIAG_H
#define TAKT_STORE_DIAG_H

#include "takt/store.h"

#define TAKT_STORE_LOST                                 \
    "the program closed the descriptors of the store: " \
    "learning goes on in memory"

/* Replaces the text of `diag`, which may be NULL. What does not fit is cut
 * off. */
__attribute__((format(printf, 2, 3))) void
takt__diag_say(takt_diag *diag, const char *format, ...);

#endif
