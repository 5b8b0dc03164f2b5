/* SPDX-License-Identifier: MIT */
/* sync.c - plans, writes the plan down, sends, and notes what arrived. */
#include "fleet/sync.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/say.h"
#include "fleet/speed.h"

static const char insert[] =
    "INSERT INTO takt_fleet.page (origin, line, epoch, seq, class, cells) "
    "VALUES ($1, $2, $3, $4, $5, $6)";

struct pushing {
    struct takt_fleet_state *state;
    struct takt_fleet_server *server;
    struct takt_fleet_report *report;
    struct takt_fleet_pages pages;
    size_t *waiting; /* numbers of the pages that are sent */
    char class[TAKT_FLEET_CLASS];
    char epoch[24], seq[24]; /* of the statement that is being filled in */
    char facts[TAKT_FLEET_FACTS];
    size_t facts_length;
    bool is_taken; /* another machine has this origin */
};

static void fill(struct pushing *pushing, const char *line, uint64_t seq,
                 const void *bytes, size_t length, struct takt_fleet_value *out)
{
    snprintf(pushing->epoch, sizeof pushing->epoch, "%" PRIu64,
             pushing->state->epoch);
    snprintf(pushing->seq, sizeof pushing->seq, "%" PRIu64, seq);
    out[0] = (struct takt_fleet_value){TAKT_PQ_TEXT, pushing->state->origin, 0};
    out[1] = (struct takt_fleet_value){TAKT_PQ_TEXT, line, 0};
    out[2] = (struct takt_fleet_value){TAKT_PQ_INT8, pushing->epoch, 0};
    out[3] = (struct takt_fleet_value){TAKT_PQ_INT8, pushing->seq, 0};
    out[4] = (struct takt_fleet_value){TAKT_PQ_TEXT, pushing->class, 0};
    out[5] = (struct takt_fleet_value){TAKT_PQ_BYTES, bytes, length};
}

/* ---- the facts ----------------------------------------------------------- */
/*
 * They are sent first, under a number that was never used: if that is there
 * already, another machine has a copy of this one's state.
 */

static void fill_facts(void *self, size_t index, struct takt_fleet_value *out)
{
    struct pushing *pushing = self;

    (void)index;
    fill(pushing, "", pushing->state->seq, pushing->facts,
         pushing->facts_length, out);
}

static void facts_done(void *self, size_t index, bool was_there, bool is_first)
{
    (void)index;
    ((struct pushing *)self)->is_taken = was_there && is_first;
}

static takt_status send_facts(struct pushing *pushing, takt_diag *diag)
{
    const struct takt_fleet_batch batch = {.sql = insert,
                                           .parameters = 6,
                                           .count = 1,
                                           .self = pushing,
                                           .fill = fill_facts,
                                           .done = facts_done};

    return takt__fleet_run(pushing->server, &batch, diag);
}

/* ---- pages --------------------------------------------------------------- */

static void fill_page(void *self, size_t index, struct takt_fleet_value *out)
{
    struct pushing *pushing = self;
    const struct takt_fleet_page *page =
        &pushing->pages.page[pushing->waiting[index]];

    fill(pushing, page->line, page->seq, page->bytes, page->length, out);
}

static void page_done(void *self, size_t index, bool was_there, bool is_first)
{
    struct pushing *pushing = self;
    const size_t number = pushing->waiting[index];

    (void)was_there;
    (void)is_first;
    pushing->pages.page[number].is_waiting = false;
    pushing->state->sent[number].is_sent = true;
    pushing->report->pages++;
    pushing->report->bytes += pushing->pages.page[number].length;
}

static takt_status send_pages(struct pushing *pushing, size_t count,
                              takt_diag *diag)
{
    const struct takt_fleet_batch batch = {.sql = insert,
                                           .parameters = 6,
                                           .count = count,
                                           .self = pushing,
                                           .fill = fill_page,
                                           .done = page_done};
    size_t next = 0;

    for (size_t i = 0; i < pushing->pages.count; i++)
        if (pushing->pages.page[i].is_waiting)
            pushing->waiting[next++] = i;
    return takt__fleet_run(pushing->server, &batch, diag);
}

/* ---- all of it ----------------------------------------------------------- */

static takt_status plan(struct pushing *pushing, bool is_renewed,
                        takt_diag *diag)
{
    struct takt_fleet_state *state = pushing->state;
    takt_status status = TAKT_OK;

    if (is_renewed || state->origin[0] == '\0') {
        status = takt__fleet_state_renew(state);
        pushing->report->is_new = true;
    }
    if (status == TAKT_OK)
        status = takt__fleet_plan(state, &pushing->pages, pushing->server->id,
                                  &pushing->report->waiting);
    if (status != TAKT_OK)
        return takt__say(diag, status, "%s", takt_status_text(status));
    return takt__fleet_state_write(state, diag);
}

static takt_status claim(struct pushing *pushing, takt_diag *diag)
{
    takt_status status = plan(pushing, false, diag);

    if (status != TAKT_OK || pushing->report->waiting == 0)
        return status;
    status = send_facts(pushing, diag);
    if (status != TAKT_OK || !pushing->is_taken)
        return status;
    status = plan(pushing, true, diag);
    return status == TAKT_OK ? send_facts(pushing, diag) : status;
}

static takt_status push(struct pushing *pushing, takt_diag *diag)
{
    struct takt_fleet_report *report = pushing->report;
    takt_status status = claim(pushing, diag);
    takt_diag other = {""};

    if (status != TAKT_OK || report->waiting == 0)
        return status;
    const size_t planned = report->waiting;
    const uint64_t began_ns = takt__now_ns();
    status = send_pages(pushing, planned, diag);
    report->sending_s = (double)(takt__now_ns() - began_ns) * 1e-9;
    report->waiting = planned - report->pages;
    const takt_status written = takt__fleet_state_write(
        pushing->state, status == TAKT_OK ? diag : &other);
    return status == TAKT_OK ? written : status;
}

void takt__fleet_note(const char *store, double every_s, const char *problem)
{
    takt__turn_note(store, every_s > 0 ? every_s : 3600, problem);
}

struct takt_turn takt__fleet_look(const char *store, double every_s)
{
    return takt__turn_look(store, every_s, false);
}

takt_status takt__fleet_push(const struct takt_fleet_member *member,
                             struct takt_fleet_state *state,
                             struct takt_fleet_server *server,
                             struct takt_fleet_report *report, takt_diag *diag)
{
    struct pushing pushing = {
        .state = state, .server = server, .report = report};

    *report = (struct takt_fleet_report){0};
    takt_status status = takt__fleet_gather(member->store, member->machine,
                                            &pushing.pages, diag);
    if (status != TAKT_OK)
        return status;
    report->lines = pushing.pages.count;
    report->cells = pushing.pages.cells;
    report->withheld = pushing.pages.withheld;
    struct takt_fleet_facts facts = member->facts;
    takt__fleet_speed(&pushing.pages, &facts);
    pushing.facts_length = takt__fleet_facts_print(&facts, pushing.facts);
    takt__fleet_class(&member->facts, TAKT_FLEET_EXACT, "", pushing.class);
    pushing.waiting = calloc(pushing.pages.count + 1, sizeof(size_t));
    status = pushing.waiting == NULL
                 ? takt__say(diag, TAKT_ENOMEM, "there is not enough memory")
                 : push(&pushing, diag);
    report->repeated = server->retried;
    free(pushing.waiting);
    takt__fleet_pages_free(&pushing.pages);
    return status;
}
