/* SPDX-License-Identifier: MIT */
/*
 * rollup.c - line by line: the cells of all machines, by class and size.
 *
 * Pages come sorted by line, so that one line of all machines is in memory.
 */
#include "fleet/rollup.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/say.h"
#include "fleet/origins.h"
#include "fleet/pool.h"

/* What one machine says about one size. */
struct opinion {
    size_t origin, group;
    struct takt_fleet_cell cell;
};

struct rolling {
    struct takt_fleet_rollup *rollup;
    struct takt_fleet_origins origins;
    struct takt_fleet_priors *out;
    char line[TAKT_FLEET_LINE]; /* that is being read; "": none */
    char device[TAKT_FLEET_DEVICE];
    size_t last; /* the origin whose latest page was read */
    struct opinion *opinion;
    struct takt_fleet_cell *cell; /* as many */
    size_t count, room;
    bool *is_known; /* by origin and level: the class has its facts */
};

/* ---- one line ------------------------------------------------------------ */

static int by_group(const void *a, const void *b)
{
    const struct opinion *x = a, *y = b;

    if (x->group != y->group)
        return x->group > y->group ? 1 : -1;
    if (x->cell.bin != y->cell.bin)
        return x->cell.bin > y->cell.bin ? 1 : -1;
    return (x->origin > y->origin) - (x->origin < y->origin);
}

/* The facts of a class, once, of one of its machines. */
static bool add_facts(struct rolling *rolling, size_t origin,
                      enum takt_fleet_level level, const char *class)
{
    char facts[TAKT_FLEET_FACTS];
    const struct takt_fleet_origin *of = &rolling->origins.origin[origin];
    bool *is_known =
        &rolling->is_known[of->group[level] * TAKT_FLEET_LEVELS + level];

    if (*is_known || rolling->device[0] != '\0')
        return true;
    *is_known = true;
    rolling->rollup->classes++;
    const size_t length = takt__fleet_facts_print(&of->facts, facts);
    return takt__fleet_priors_add(rolling->out, class, "", facts, length);
}

static bool add_prior(struct rolling *rolling, size_t origin,
                      enum takt_fleet_level level,
                      const struct takt_fleet_cell *cell, size_t count)
{
    unsigned char bytes[TAKT_FLEET_MOST_BYTES];
    char class[TAKT_FLEET_CLASS];

    if (count == 0)
        return true;
    takt__fleet_class(&rolling->origins.origin[origin].facts, level,
                      rolling->device, class);
    const size_t length = takt__fleet_encode(cell, count, bytes);
    rolling->rollup->cells += count;
    return add_facts(rolling, origin, level, class) &&
           takt__fleet_priors_add(rolling->out, class, rolling->line, bytes,
                                  length);
}

/* Opinions of one class, from `first` on; returns where the next begins, 0: no
 * memory. */
static size_t roll_class(struct rolling *rolling, size_t first,
                         enum takt_fleet_level level)
{
    const struct opinion *opinion = rolling->opinion;
    struct takt_fleet_cell made[TAKT_FLEET_MOST_CELLS];
    size_t next = first, cells = 0;

    while (next < rolling->count &&
           opinion[next].group == opinion[first].group) {
        size_t machines = 0;
        const unsigned bin = opinion[next].cell.bin;
        for (; next < rolling->count && opinion[next].cell.bin == bin &&
               opinion[next].group == opinion[first].group;
             next++)
            rolling->cell[machines++] = opinion[next].cell;
        if (machines >= rolling->rollup->least)
            takt__fleet_pool(rolling->cell, machines, &made[cells++]);
    }
    return add_prior(rolling, opinion[first].origin, level, made, cells) ? next
                                                                         : 0;
}

static bool roll_line(struct rolling *rolling)
{
    for (int i = 0; i < TAKT_FLEET_LEVELS; i++) {
        const enum takt_fleet_level level = (enum takt_fleet_level)i;
        for (size_t j = 0; j < rolling->count; j++)
            rolling->opinion[j].group = takt__fleet_group(
                &rolling->origins.origin[rolling->opinion[j].origin], level,
                rolling->device);
        if (rolling->count > 0)
            qsort(rolling->opinion, rolling->count, sizeof *rolling->opinion,
                  by_group);
        for (size_t j = 0; j < rolling->count;)
            if ((j = roll_class(rolling, j, level)) == 0)
                return false;
    }
    rolling->count = 0;
    return true;
}

/* ---- pages --------------------------------------------------------------- */

static bool make_room(struct rolling *rolling, size_t more)
{
    size_t room = rolling->room == 0 ? 4096 : rolling->room;

    if (rolling->count + more <= rolling->room)
        return true;
    while (room < rolling->count + more)
        room *= 2;
    struct opinion *opinion = realloc(rolling->opinion, room * sizeof *opinion);
    if (opinion != NULL)
        rolling->opinion = opinion;
    struct takt_fleet_cell *cell = realloc(rolling->cell, room * sizeof *cell);
    if (cell != NULL)
        rolling->cell = cell;
    if (opinion == NULL || cell == NULL)
        return false;
    rolling->room = room;
    return true;
}

static bool add_page(struct rolling *rolling, size_t origin, const void *bytes,
                     size_t length)
{
    static struct takt_fleet_cell cell[TAKT_FLEET_MOST_CELLS];
    size_t count;

    if (!takt__fleet_decode(bytes, length, cell, &count)) {
        rolling->rollup->refused++;
        return true;
    }
    rolling->rollup->pages++;
    if (!make_room(rolling, count))
        return false;
    for (size_t i = 0; i < count; i++)
        if (cell[i].n > 0)
            rolling->opinion[rolling->count++] =
                (struct opinion){.origin = origin, .cell = cell[i]};
    return true;
}

/* False: no memory. A line that is not shared leaves none to be read. */
static bool begin_line(struct rolling *rolling, const char *line)
{
    struct takt_fleet_line parsed;

    if (rolling->line[0] != '\0' && !roll_line(rolling))
        return false;
    rolling->line[0] = '\0';
    rolling->last = SIZE_MAX;
    if (!takt__fleet_line_parse(line, &parsed)) {
        rolling->rollup->refused++;
        return true;
    }
    snprintf(rolling->line, sizeof rolling->line, "%s", line);
    snprintf(rolling->device, sizeof rolling->device, "%s", parsed.device);
    return true;
}

static void copy_text(const struct takt_fleet_row *row, int column, char *out,
                      size_t size)
{
    size_t length;
    const char *text = takt__fleet_text(row, column, &length);

    snprintf(out, size, "%.*s", (int)length, text);
}

/* Of each line and origin the latest page comes first. */
static bool take(void *self, const struct takt_fleet_row *row)
{
    struct rolling *rolling = self;
    char line[TAKT_FLEET_LINE], id[TAKT_FLEET_ORIGIN];
    size_t length;

    copy_text(row, 0, line, sizeof line);
    copy_text(row, 1, id, sizeof id);
    if (strcmp(line, rolling->line) != 0 && !begin_line(rolling, line))
        return false;
    const size_t origin = takt__fleet_origins_find(&rolling->origins, id);
    if (rolling->line[0] == '\0' || origin == SIZE_MAX ||
        origin == rolling->last ||
        (uint64_t)takt__fleet_number(row, 2) !=
            rolling->origins.origin[origin].epoch)
        return true;
    rolling->last = origin;
    const char *bytes = takt__fleet_text(row, 3, &length);
    return add_page(rolling, origin, bytes, length);
}

/* ---- all ----------------------------------------------------------------- */

/* Seconds since 1970, so that the first one of a new database is later than all
 * of one that was lost; and later than the last one, whatever the clock says.
 */
static uint64_t next_generation(uint64_t last)
{
    const time_t now = time(NULL);

    return now > 0 && (uint64_t)now > last ? (uint64_t)now : last + 1;
}

static takt_status read_pages(struct takt_fleet_server *server,
                              struct rolling *rolling, takt_diag *diag)
{
    takt_status status =
        takt__fleet_generation(server, &rolling->out->generation, diag);

    rolling->out->generation = next_generation(rolling->out->generation);
    if (status == TAKT_OK)
        status = takt__fleet_query(
            server,
            "SELECT line, origin, epoch, cells FROM takt_fleet.page "
            "WHERE line <> '' ORDER BY line, origin, epoch DESC, seq DESC",
            NULL, take, rolling, diag);
    if (status == TAKT_OK && rolling->line[0] != '\0' && !roll_line(rolling))
        status = takt__say(diag, TAKT_ENOMEM, "there is not enough memory");
    return status;
}

takt_status takt__fleet_roll_up(struct takt_fleet_server *server,
                                struct takt_fleet_rollup *rollup,
                                struct takt_fleet_priors *out, takt_diag *diag)
{
    struct rolling rolling = {.rollup = rollup, .out = out};

    *out = (struct takt_fleet_priors){0};
    takt_status status =
        takt__fleet_origins_read(server, rollup->days, &rolling.origins, diag);
    if (status != TAKT_OK)
        return status;
    rollup->origins = rolling.origins.count;
    rollup->refused = rolling.origins.refused;
    rolling.is_known = calloc(rolling.origins.count + 1, TAKT_FLEET_LEVELS);
    status = rolling.is_known == NULL
                 ? takt__say(diag, TAKT_ENOMEM, "there is not enough memory")
                 : read_pages(server, &rolling, diag);
    free(rolling.opinion);
    free(rolling.cell);
    free(rolling.is_known);
    takt__fleet_origins_free(&rolling.origins);
    if (status != TAKT_OK)
        takt__fleet_priors_free(out);
    return status;
}

/* ---- publishing ---------------------------------------------------------- */

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
