/* SPDX-License-Identifier: MIT */
/*
 * state.c - reads and writes the file of the pipeline.
 *
 * The tree of the file is kept, and only what changed is set in it, so that
 * whatever else other programs keep there survives.
 */
#include "state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/new_file.h"
#include "base/say.h"
#include "read_file.h"
#include "text/memory_file.h"

enum { state_version = 1, most_bytes = 16 << 20 };

static const char own_name[] = ".takt-state.json";
static const char their_name[] = ".batuta-state.json";
static const char template[] =
    "{\"version\": 1, \"current_phase\": null, \"phases\": {}}";

static const char *const words[TAKT_PHASE_STATUSES] = {
    [TAKT_NOT_STARTED] = "NotStarted",
    [TAKT_IN_PROGRESS] = "InProgress",
    [TAKT_COMPLETED] = "Completed",
    [TAKT_FAILED] = "Failed",
    [TAKT_STALE] = "Stale",
    [TAKT_NOT_NEEDED] = "NotNeeded",
};

/* Their last phase is called Deployment. */
static const char *name_in_file(const struct takt_state *state,
                                enum takt_phase phase)
{
    return phase == TAKT_PHASE_BUILD && state->is_theirs
               ? "Deployment"
               : takt__phase_name(phase);
}

/* ---- reading ---- */

static takt_status damaged(takt_diag *diag, const char *what, const char *name)
{
    return takt__say(diag, TAKT_ECORRUPT, "%s '%s'", what, name);
}

/* The first record of that name from `at` on; NULL: there is none. Members are
 * known by their name, elements of a list by what is in them. */
static struct takt_json_node *seek_record(struct takt_json_node *at,
                                          const char *name)
{
    for (; at != NULL; at = at->next) {
        const struct takt_json_node *its = takt__json_member(at, "phase");
        const bool has_text = its != NULL && its->kind == TAKT_JSON_STRING;
        const char *called = at->name;
        if (called == NULL)
            called = has_text ? its->text : "";
        if (strcmp(called, name) == 0)
            return at;
    }
    return NULL;
}

static struct takt_json_node *find_record(const struct takt_state *state,
                                          enum takt_phase phase)
{
    const struct takt_json_node *all =
        takt__json_member(state->document.root, "phases");

    return seek_record(all != NULL ? all->first : NULL,
                       name_in_file(state, phase));
}

/* A member that is a string, null or not there. */
static bool read_text(const struct takt_json_node *record, const char *name,
                      char *out, size_t size)
{
    const struct takt_json_node *node = takt__json_member(record, name);

    if (node == NULL || node->kind == TAKT_JSON_NULL) {
        out[0] = '\0';
        return takt__json_has_unique(record, name);
    }
    if (node->kind != TAKT_JSON_STRING || !takt__json_has_unique(record, name))
        return false;
    snprintf(out, size, "%s", node->text);
    return true;
}

static bool read_status(const struct takt_json_node *record,
                        enum takt_phase_status *out)
{
    char word[32];

    if (!read_text(record, "status", word, sizeof word))
        return false;
    for (int i = 0; i < TAKT_PHASE_STATUSES; i++)
        if (strcmp(word, words[i]) == 0) {
            *out = (enum takt_phase_status)i;
            return true;
        }
    return false;
}

static bool read_record(const struct takt_json_node *node,
                        struct takt_phase_record *out)
{
    return node->kind == TAKT_JSON_OBJECT && read_status(node, &out->status) &&
           read_text(node, "started_at", out->started_at,
                     sizeof out->started_at) &&
           read_text(node, "completed_at", out->completed_at,
                     sizeof out->completed_at) &&
           read_text(node, "error", out->error, sizeof out->error);
}

static takt_status read_current(struct takt_state *state, takt_diag *diag)
{
    char word[64];

    if (!read_text(state->document.root, "current_phase", word, sizeof word))
        return damaged(diag, "not a phase:", "current_phase");
    state->pipeline.current = -1;
    for (int i = 0; i < TAKT_PHASES; i++)
        if (strcmp(word, name_in_file(state, (enum takt_phase)i)) == 0)
            state->pipeline.current = i;
    if (word[0] != '\0' && state->pipeline.current < 0)
        return damaged(diag, "no phase is called", word);
    return TAKT_OK;
}

static takt_status read_version(const struct takt_state *state, takt_diag *diag)
{
    const struct takt_json_node *node =
        takt__json_member(state->document.root, "version");

    if (state->is_theirs)
        return TAKT_OK;
    if (node == NULL || node->kind != TAKT_JSON_NUMBER ||
        !takt__json_has_unique(state->document.root, "version"))
        return damaged(diag, "there is no", "version");
    char *end;
    const double version = strtod(node->text, &end);
    if (version <= state_version && version >= 1)
        return TAKT_OK;
    if (version < 1)
        return damaged(diag, "there is no version", node->text);
    return takt__say(diag, TAKT_ENOTSUP,
                     "version %.20s of the state was written by a later takt",
                     node->text);
}

static takt_status read_tree(struct takt_state *state, takt_diag *diag)
{
    const struct takt_json_node *root = state->document.root;
    const struct takt_json_node *all = takt__json_member(root, "phases");

    if (all == NULL || !takt__json_has_unique(root, "phases") ||
        (all->kind != TAKT_JSON_OBJECT && all->kind != TAKT_JSON_ARRAY))
        return damaged(diag, "there are no", "phases");
    takt_status status = read_version(state, diag);
    if (status == TAKT_OK)
        status = read_current(state, diag);
    for (int i = 0; i < TAKT_PHASES && status == TAKT_OK; i++) {
        const enum takt_phase phase = (enum takt_phase)i;
        const char *name = name_in_file(state, phase);
        const struct takt_json_node *node = find_record(state, phase);
        if (node != NULL && (!read_record(node, &state->pipeline.phase[i]) ||
                             seek_record(node->next, name) != NULL))
            status = damaged(diag, "a record that makes no sense:", name);
    }
    return status;
}

takt_status takt__state_parse(struct takt_state *state, const char *text,
                              size_t size, takt_diag *diag)
{
    struct takt_json_trouble trouble;
    takt_status status = TAKT_ECORRUPT;

    takt__json_free(&state->document);
    state->pipeline = takt__pipeline_new();
    if (takt__json_read(text, size, &state->document, &trouble))
        status = read_tree(state, diag);
    else if (trouble.what == NULL) /* which says nothing about the file */
        status = TAKT_ENOMEM;
    else
        takt__say(diag, status, "%zu:%zu: %s", trouble.line, trouble.column,
                  trouble.what);
    if (status != TAKT_OK) {
        takt__json_free(&state->document);
        state->pipeline = takt__pipeline_new();
    }
    state->loaded = state->pipeline;
    return status;
}

/* ---- making the text ---- */

static bool set_if_changed(struct takt_state *state,
                           struct takt_json_node *record, const char *name,
                           const char *value, const char *old)
{
    const struct takt_json_node *node = takt__json_member(record, name);

    if (node != NULL && strcmp(value, old) == 0)
        return true;
    return takt__json_set(&state->document, record, name,
                          value[0] != '\0' ? value : NULL) != NULL;
}

static struct takt_json_node *make_record(struct takt_state *state,
                                          enum takt_phase phase)
{
    struct takt_json_document *document = &state->document;
    struct takt_json_node *all = takt__json_member(document->root, "phases");
    const char *name = name_in_file(state, phase);
    struct takt_json_node *record;

    if (all->kind == TAKT_JSON_ARRAY) {
        record = takt__json_add(document, all);
        if (record != NULL)
            record->kind = TAKT_JSON_OBJECT;
    } else {
        record = takt__json_set_raw(document, all, name, TAKT_JSON_OBJECT, "");
    }
    return record != NULL && takt__json_set(document, record, "phase", name)
               ? record
               : NULL;
}

/* They have four words; what must run (again) has not started for them. */
static enum takt_phase_status status_in_file(const struct takt_state *state,
                                             enum takt_phase_status status)
{
    return state->is_theirs &&
                   (status == TAKT_STALE || status == TAKT_NOT_NEEDED)
               ? TAKT_NOT_STARTED
               : status;
}

static bool set_record(struct takt_state *state, enum takt_phase phase)
{
    const struct takt_phase_record *now = &state->pipeline.phase[phase];
    const struct takt_phase_record *old = &state->loaded.phase[phase];
    struct takt_json_node *record = find_record(state, phase);

    if (record != NULL && phase == TAKT_PHASE_TRANSPILATION && state->is_theirs)
        return now->status != TAKT_NOT_STARTED ||
               old->status == TAKT_NOT_STARTED ||
               takt__json_set(&state->document, record, "status",
                              words[TAKT_NOT_STARTED]) != NULL;
    if (record == NULL)
        record = make_record(state, phase);
    if (record == NULL)
        return false;
    const char *word = words[status_in_file(state, now->status)];
    return set_if_changed(state, record, "status", word,
                          words[status_in_file(state, old->status)]) &&
           set_if_changed(state, record, "started_at", now->started_at,
                          old->started_at) &&
           set_if_changed(state, record, "completed_at", now->completed_at,
                          old->completed_at) &&
           set_if_changed(state, record, "error", now->error, old->error);
}

static bool set_all(struct takt_state *state)
{
    const int current = state->pipeline.current;
    takt_diag unused;

    if (state->document.root == NULL) {
        const struct takt_pipeline pipeline = state->pipeline;
        if (takt__state_parse(state, template, sizeof template - 1, &unused) !=
            TAKT_OK)
            return false;
        state->pipeline = pipeline;
    }
    if (current != state->loaded.current &&
        takt__json_set(&state->document, state->document.root, "current_phase",
                       current < 0
                           ? NULL
                           : name_in_file(state, (enum takt_phase)current)) ==
            NULL)
        return false;
    for (int i = 0; i < TAKT_PHASES; i++)
        if (!set_record(state, (enum takt_phase)i))
            return false;
    return true;
}

char *takt__state_text(struct takt_state *state, size_t *size)
{
    struct takt_memory_file made;

    if (!set_all(state) || !takt__memory_file_open(&made))
        return NULL;
    takt__json_write(made.stream, state->document.root);
    takt__memory_file_close(&made);
    *size = made.length;
    return made.text;
}

/* ---- the file ---- */

takt_status takt__state_load(const char *folder, struct takt_state *out,
                             takt_diag *diag)
{
    char *text = NULL;
    size_t size;

    *out = (struct takt_state){.path = takt__join_path(folder, own_name)};
    out->loaded = out->pipeline = takt__pipeline_new();
    if (out->path != NULL && access(out->path, F_OK) != 0) {
        char *theirs = takt__join_path(folder, their_name);
        out->is_theirs = theirs != NULL && access(theirs, F_OK) == 0;
        if (!out->is_theirs) {
            free(theirs);
            return theirs == NULL ? TAKT_ENOMEM : TAKT_OK;
        }
        free(out->path);
        out->path = theirs;
    }
    if (out->path == NULL)
        return TAKT_ENOMEM;
    takt_status status =
        takt__read_file(out->path, most_bytes, &text, &size, diag);
    if (status == TAKT_OK)
        status = takt__state_parse(out, text, size, diag);
    free(text);
    return status;
}

void takt__state_free(struct takt_state *state)
{
    takt__json_free(&state->document);
    free(state->path);
    state->path = NULL;
}

/* Moves a file to the first free name. False: errno says why. */
static bool move_aside(const char *path, char *aside, size_t size)
{
    for (int i = 1; i < 100; i++) {
        if (i == 1)
            snprintf(aside, size, "%s.damaged", path);
        else
            snprintf(aside, size, "%s.damaged-%d", path, i);
        if (access(aside, F_OK) != 0)
            return rename(path, aside) == 0;
    }
    return false;
}

takt_status takt__state_set_aside(const char *folder, struct takt_state *state,
                                  takt_diag *diag)
{
    const size_t size = strlen(state->path) + sizeof ".damaged-99";
    char *aside = malloc(size);
    char why[256];

    snprintf(why, sizeof why, "%.200s", diag->text);
    if (aside == NULL || !move_aside(state->path, aside, size)) {
        free(aside);
        return takt__say(diag, TAKT_EIO,
                         "the state is damaged (%s), and %.160s cannot be "
                         "moved aside: %s",
                         why, state->path, strerror(errno));
    }
    takt__say(diag, TAKT_OK,
              "the state was damaged (%s); it is kept as %.160s, and all "
              "phases begin again",
              why, aside);
    free(aside);
    takt__state_free(state);
    *state = (struct takt_state){.path = takt__join_path(folder, own_name)};
    state->loaded = state->pipeline = takt__pipeline_new();
    return state->path == NULL ? TAKT_ENOMEM : TAKT_OK;
}

takt_status takt__state_save(struct takt_state *state, takt_diag *diag)
{
    size_t size;
    char *text = takt__state_text(state, &size);

    if (text == NULL)
        return takt__say(diag, TAKT_ENOMEM, "no memory for the state");
    const takt_status status = takt__write_whole(
        state->path, TAKT_NEW_FILE_NO_LINKS, text, size, diag);
    free(text);
    if (status == TAKT_OK)
        state->loaded = state->pipeline;
    return status;
}
