/* SPDX-License-Identifier: MIT */
/* baseline_lapack.h - what baseline_lapack.c records. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The last call. */
struct lapack_seen {
    unsigned calls; /* all of them */
    const char *name;
    int threads;
    size_t arguments, lengths;
    void *argument[21];
    size_t length[3];
    bool is_nested_alike; /* a call inside of it ran on the same threads */
};
