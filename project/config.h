/* SPDX-License-Identifier: MIT */
/*
 * config.h - what a project says about itself, in takt.toml:
 *
 *     [optimization]
 *     profile = "balanced"        # fast, balanced or aggressive
 *     enable_simd = true
 *     enable_gpu = false
 *     gpu_threshold = 500         # of a matrix: its dimension
 *     use_moe_routing = false
 *
 *     [transpilation]
 *     output_dir = "./rust-output"
 *
 *     [validation]
 *     test_command = "make check"
 *
 *     [build]
 *     command = "make"
 *
 * Everything may be left out. Where there is no takt.toml, a batuta.toml is
 * read: the same [optimization] and [transpilation], among much that is no
 * business of ours and is passed over.
 *
 * Threads: nothing is shared.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <takt/status.h>
#include <takt/store.h>

enum takt_profile {
    TAKT_PROFILE_FAST,
    TAKT_PROFILE_BALANCED,
    TAKT_PROFILE_AGGRESSIVE,
    TAKT_PROFILES
};

/* "fast", "balanced" or "aggressive". */
const char *takt__profile_name(enum takt_profile profile);

/* False: it is none of these names (letters of any case), and *out stays. */
bool takt__profile_parse(const char *name, enum takt_profile *out);

/* Bits of takt_project_config.given. */
enum {
    TAKT_GIVEN_PROFILE = 1 << 0,
    TAKT_GIVEN_SIMD = 1 << 1,
    TAKT_GIVEN_GPU = 1 << 2,
    TAKT_GIVEN_GPU_THRESHOLD = 1 << 3,
    TAKT_GIVEN_MOE = 1 << 4,
    TAKT_GIVEN_OUTPUT_DIR = 1 << 5,
    TAKT_GIVEN_TEST_COMMAND = 1 << 6,
    TAKT_GIVEN_BUILD_COMMAND = 1 << 7
};

/* What the file does not say has its default, so flags of a command line can
 * simply be written over it. */
struct takt_project_config {
    char *path;     /* the file that was read, owned; NULL: there is none */
    bool is_batuta; /* it is a batuta.toml */
    unsigned given; /* what the file says itself */

    enum takt_profile profile; /* balanced */
    bool enable_simd;          /* true */
    bool enable_gpu;           /* false */
    uint64_t gpu_threshold;    /* 500 */
    bool use_moe_routing;      /* false */
    char *output_dir;          /* owned; NULL: not given. As it is written */
    char *test_command;        /* owned; NULL: not given; never empty */
    char *build_command;       /* owned; NULL: not given; never empty */
};

/* A key that is not known, or has no effect: one line for people, which names
 * file, line and column, and the nearest key. */
typedef void takt_config_warn(void *self, const char *line);

/* The defaults, as if there were no file. */
void takt__config_init(struct takt_project_config *config);

/* Reads takt.toml of `folder`, else its batuta.toml; neither: the defaults, and
 * TAKT_OK. `warn` may be NULL. On failure *config has the defaults, and `diag`
 * names the file, and the line and column if it is about these.
 * TAKT_ECORRUPT: it is not TOML.
 * TAKT_EINVAL: a value has the wrong type, or one that is out of its range.
 * TAKT_EIO: the file cannot be read.  TAKT_ENOMEM. */
takt_status takt__config_load(const char *folder, takt_config_warn *warn,
                              void *self, struct takt_project_config *config,
                              takt_diag *diag);

/* The same from memory: `name` is that of the file in messages, and decides
 * whether it is a batuta.toml. */
takt_status takt__config_parse(const char *name, const char *text,
                               size_t length, takt_config_warn *warn,
                               void *self, struct takt_project_config *config,
                               takt_diag *diag);

/* Frees what *config owns and sets the defaults. */
void takt__config_fini(struct takt_project_config *config);
