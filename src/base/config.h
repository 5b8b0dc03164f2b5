/* SPDX-License-Identifier: MIT */
/*
 * config.h - what the environment says. Nothing else reads it.
 */
#ifndef TAKT_BASE_CONFIG_H
#define TAKT_BASE_CONFIG_H

struct takt_config {
    const char *policy; /* TAKT_POLICY; NULL: not set */
    const char *expert; /* TAKT_EXPERT */
    const char *blas;   /* TAKT_BLAS; "" is a value */
    const char *db;     /* TAKT_DB; "" is a value */
    const char *pin;    /* TAKT_PIN */
    double exploration; /* TAKT_EXPLORE: a share; negative: none; 0: not set */
    const char *state_home, *home; /* XDG_STATE_HOME, HOME */
    unsigned threads; /* TAKT_THREADS; 0: not set, or not a number > 0 */
};

/* The strings are the environment's own. */
struct takt_config takt__config_read(void);

#endif
