/* SPDX-License-Identifier: MIT */
/*
 * state.h - the pipeline of a project, kept in a file in its folder:
 * .takt-state.json, or the .batuta-state.json that another tool began, which
 * keeps its own form (docs/formats/state.md).
 *
 * What others wrote into the file stays in it. It is replaced as a whole or not
 * at all. To change it, hold the lock of lock.h.
 */
#pragma once

#include <takt/status.h>
#include <takt/store.h>

#include "phase.h"
#include "text/json.h"

struct takt_state {
    struct takt_pipeline pipeline; /* to be changed as one likes */
    struct takt_pipeline loaded;   /* as the file has it */
    struct takt_json_document document;
    char *path;     /* owned */
    bool is_theirs; /* the other tool's */
};

/* Reads the state of a project. None: all phases are Not Started.
 * TAKT_ECORRUPT: the file is damaged: see takt__state_set_aside().
 * TAKT_ENOTSUP: a later version of takt wrote it.
 * TAKT_EIO: it cannot be read.  TAKT_ENOMEM.
 * On failure *out is a fresh state of the same path, and `diag` says what is
 * wrong and where. It is to be freed in any case. */
takt_status takt__state_load(const char *folder, struct takt_state *out,
                             takt_diag *diag);
void takt__state_free(struct takt_state *state);

/* Moves a damaged file to the first free one of FILE.damaged, FILE.damaged-2,
 * ...; `state` becomes a fresh one of our own. `diag` says where it is.
 * TAKT_EIO: it could not be moved. */
takt_status takt__state_set_aside(const char *folder, struct takt_state *state,
                                  takt_diag *diag);

/* TAKT_EIO: it could not be written; the old file is as it was. */
takt_status takt__state_save(struct takt_state *state, takt_diag *diag);

/* The same with a text: state->is_theirs says which form it has. The text is
 * the caller's; NULL: no memory. */
takt_status takt__state_parse(struct takt_state *state, const char *text,
                              size_t size, takt_diag *diag);
char *takt__state_text(struct takt_state *state, size_t *size);
