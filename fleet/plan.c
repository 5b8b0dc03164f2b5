/* SPDX-License-Identifier: MIT */
/* plan.c - compares the store's pages with what was sent. */
#include "fleet/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_line(const void *key, const void *at)
{
    return strcmp(key, ((const struct takt_fleet_page *)at)->line);
}

/* Whether something that was sent is not in the store any more: it was reset.
 */
static bool is_forgotten(const struct takt_fleet_state *state,
                         const struct takt_fleet_pages *pages)
{
    for (size_t i = 0; i < state->count; i++)
        if (pages->count == 0 ||
            bsearch(state->sent[i].line, pages->page, pages->count,
                    sizeof *pages->page, by_line) == NULL)
            return true;
    return false;
}

static void number(struct takt_fleet_page *page,
                   const struct takt_fleet_sent *before, uint64_t seq,
                   bool is_all_new)
{
    const bool is_same =
        before != NULL && strcmp(before->digest, page->digest) == 0;

    page->seq = is_same && !is_all_new ? before->seq : seq;
    page->is_waiting = is_all_new || !is_same || !before->is_sent;
}

takt_status takt__fleet_plan(struct takt_fleet_state *state,
                             struct takt_fleet_pages *pages,
                             const char *database, size_t *waiting)
{
    const bool is_reset = is_forgotten(state, pages);
    const bool is_elsewhere = strcmp(state->database, database) != 0;
    struct takt_fleet_sent *sent = calloc(pages->count + 1, sizeof *sent);

    *waiting = 0;
    if (sent == NULL)
        return TAKT_ENOMEM;
    state->seq++;
    state->epoch += is_reset;
    if (is_reset)
        state->generation = 0; /* the prior may have been forgotten, too */
    for (size_t i = 0; i < pages->count; i++) {
        struct takt_fleet_page *page = &pages->page[i];
        number(page, takt__fleet_state_find(state, page->line), state->seq,
               is_reset);
        page->is_waiting = page->is_waiting || is_elsewhere;
        *waiting += page->is_waiting;
        strcpy(sent[i].line, page->line);
        strcpy(sent[i].digest, page->digest);
        sent[i].seq = page->seq;
        sent[i].is_sent = !page->is_waiting;
    }
    free(state->sent);
    state->sent = sent;
    state->count = pages->count;
    snprintf(state->database, sizeof state->database, "%s", database);
    return TAKT_OK;
}
