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
    unsigned threads;   /* TAKT_THREADS; 0: not set, or not a number > 0 */
};

/* The strings are the environment's own. */
struct takt_config takt__config_read(void);

#endif
