/* SPDX-License-Identifier: MIT */
/* publish.c - priors into the database, and old pages out of it. */
#include <inttypes.h>
#include <stdio.h>

#include "fleet/rollup.h"

struct publishing {
    const struct takt_fleet_priors *priors;
    char generation[24];
};

static void fill(void *self, size_t index, struct takt_fleet_value *out)
{
    const struct publishing *publishing = self;
    const struct takt_fleet_prior *prior = &publishing->priors->prior[index];

    out[0] = (struct takt_fleet_value){TAKT_PQ_TEXT, prior->class, 0};
    out[1] = (struct takt_fleet_value){TAKT_PQ_TEXT, prior->line, 0};
    out[2] = (struct takt_fleet_value){TAKT_PQ_INT8, publishing->generation, 0};
    out[3] =
        (struct takt_fleet_value){TAKT_PQ_BYTES, prior->bytes, prior->length};
}

static void done(void *self, size_t index, bool was_there, bool is_first)
{
    (void)self;
    (void)index;
    (void)was_there;
    (void)is_first;
}

takt_status takt__fleet_publish(struct takt_fleet_server *server,
                                const struct takt_fleet_priors *priors,
                                takt_diag *diag)
{
    struct publishing publishing = {.priors = priors};
    const struct takt_fleet_batch batch = {
        .sql = "INSERT INTO takt_fleet.prior (class, line, generation, cells) "
               "VALUES ($1, $2, $3, $4) ON CONFLICT (class, line) DO UPDATE "
               "SET generation = excluded.generation, cells = excluded.cells",
        .parameters = 4,
        .count = priors->count,
        .self = &publishing,
        .fill = fill,
        .done = done};
    char remove[96];

    snprintf(publishing.generation, sizeof publishing.generation, "%" PRIu64,
             priors->generation);
    const takt_status status = takt__fleet_run(server, &batch, diag);
    if (status != TAKT_OK)
        return status;
    snprintf(remove, sizeof remove,
             "DELETE FROM takt_fleet.prior WHERE generation < %s",
             publishing.generation);
    return takt__fleet_execute(server, remove, diag);
}

takt_status takt__fleet_prune(struct takt_fleet_server *server, takt_diag *diag)
{
    return takt__fleet_execute(
        server,
        "DELETE FROM takt_fleet.page AS p WHERE EXISTS (SELECT 1 FROM "
        "takt_fleet.page AS q WHERE q.origin = p.origin AND q.line = p.line "
        "AND (q.epoch > p.epoch OR (q.epoch = p.epoch AND q.seq > p.seq)))",
        diag);
}
