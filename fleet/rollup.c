/* SPDX-License-Identifier: MIT */
/*
 * rollup.c - line by line: the cells of all machines, by class and size.
 *
 * Pages come sorted by line, so that one line of all machines is in memory; of
 * GPUs, whose device is the end of a line, all lines that differ by it alone.
 */
#include "fleet/rollup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/grow.h"
#include "base/say.h"
#include "fleet/origins.h"
#include "fleet/pool.h"

/* What one machine says about one size. */
struct opinion {
    size_t origin, group;
    struct takt_fleet_cell cell;
};

struct opinions {
    struct opinion *of;
    size_t count, room;
};

struct rolling {
    struct takt_fleet_rollup *rollup;
    struct takt_fleet_origins origins;
    struct takt_fleet_priors *out;
    char line[TAKT_FLEET_LINE]; /* that is being read; "": none */
    char device[TAKT_FLEET_DEVICE_SIZE];
    size_t last;                  /* the origin whose latest page was read */
    struct opinions one, all;     /* of the line; of all devices */
    struct takt_fleet_cell *cell; /* as many as the longer has room for */
    size_t cells;
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
        &rolling->is_known[of->group[0][level] * TAKT_FLEET_LEVELS + level];

    if (*is_known || rolling->device[0] != '\0')
        return true;
    *is_known = true;
    rolling->rollup->classes++;
    const size_t length = takt__fleet_facts_print(&of->facts, facts);
    return takt__fleet_priors_add(rolling->out, class, "", facts, length);
}

/* Whether `level` is rolled up now, of the line that is read or of a GPU's
 * lines of all devices. */
static bool is_due(enum takt_fleet_level level, const char *device, bool is_all)
{
    if (device[0] == '\0')
        return level != TAKT_FLEET_DEVICE;
    return (level == TAKT_FLEET_VENDOR) == is_all;
}

/* The line without its device. */
static void print_stem(const char *line, char out[TAKT_FLEET_LINE])
{
    snprintf(out, TAKT_FLEET_LINE, "%.*s", (int)(strrchr(line, '|') - line) + 1,
             line);
}

static bool add_prior(struct rolling *rolling, size_t origin,
                      enum takt_fleet_level level,
                      const struct takt_fleet_cell *cell, size_t count)
{
    unsigned char bytes[TAKT_FLEET_MOST_BYTES];
    char class[TAKT_FLEET_CLASS], line[TAKT_FLEET_LINE];

    takt__fleet_class(&rolling->origins.origin[origin].facts, level,
                      rolling->device, class);
    if (count == 0 || class[0] == '\0')
        return true;
    if (level == TAKT_FLEET_VENDOR)
        print_stem(rolling->line, line);
    else
        strcpy(line, rolling->line);
    const size_t length = takt__fleet_encode(cell, count, bytes);
    rolling->rollup->cells += count;
    return add_facts(rolling, origin, level, class) &&
           takt__fleet_priors_add(rolling->out, class, line, bytes, length);
}

/* The cells of one class and size, one of each machine, from `at` on; returns
 * where the next begin. */
static size_t take_size(struct rolling *rolling, const struct opinions *list,
                        size_t at, size_t *machines)
{
    const struct opinion *first = &list->of[at], *opinion = first;
    const struct opinion *end = &list->of[list->count];

    *machines = 0;
    for (; opinion < end && opinion->group == first->group &&
           opinion->cell.bin == first->cell.bin;
         opinion++)
        if (opinion == first || opinion->origin != opinion[-1].origin)
            rolling->cell[(*machines)++] = opinion->cell;
    return (size_t)(opinion - list->of);
}

/* Opinions of one class, from `first` on; returns where the next begins, 0: no
 * memory. */
static size_t roll_class(struct rolling *rolling, const struct opinions *list,
                         size_t first, enum takt_fleet_level level)
{
    const struct opinion *opinion = list->of;
    struct takt_fleet_cell made[TAKT_FLEET_MOST_CELLS];
    size_t next = first, cells = 0, machines;

    while (next < list->count && opinion[next].group == opinion[first].group) {
        next = take_size(rolling, list, next, &machines);
        if (machines >= rolling->rollup->least)
            takt__fleet_pool(rolling->cell, machines, &made[cells++]);
    }
    return add_prior(rolling, opinion[first].origin, level, made, cells) ? next
                                                                         : 0;
}

static bool roll_level(struct rolling *rolling, struct opinions *list,
                       enum takt_fleet_level level)
{
    const bool is_gpu = rolling->device[0] != '\0';

    for (size_t i = 0; i < list->count; i++)
        list->of[i].group =
            rolling->origins.origin[list->of[i].origin].group[is_gpu][level];
    if (list->count > 0)
        qsort(list->of, list->count, sizeof *list->of, by_group);
    for (size_t i = 0; i < list->count;)
        if ((i = roll_class(rolling, list, i, level)) == 0)
            return false;
    return true;
}

static bool roll(struct rolling *rolling, struct opinions *list, bool is_all)
{
    for (int i = 0; i < TAKT_FLEET_LEVELS; i++) {
        const enum takt_fleet_level level = (enum takt_fleet_level)i;
        if (is_due(level, rolling->device, is_all) &&
            !roll_level(rolling, list, level))
            return false;
    }
    return true;
}

/* ---- pages --------------------------------------------------------------- */

static bool make_room(struct rolling *rolling, struct opinions *list,
                      size_t more)
{
    return takt__grow(&list->of, &list->room, list->count + more,
                      sizeof *list->of) &&
           takt__grow(&rolling->cell, &rolling->cells, list->room,
                      sizeof *rolling->cell);
}

/* The line that was read is complete; `next`: the one behind it, "": none. */
static bool end_line(struct rolling *rolling, const char *next)
{
    char stem[TAKT_FLEET_LINE];
    struct opinions *one = &rolling->one, *all = &rolling->all;

    if (rolling->line[0] == '\0')
        return true;
    if (!roll(rolling, one, false))
        return false;
    if (rolling->device[0] != '\0' && one->count > 0) {
        if (!make_room(rolling, all, one->count))
            return false;
        memcpy(&all->of[all->count], one->of, one->count * sizeof *one->of);
        all->count += one->count;
    }
    one->count = 0;
    print_stem(rolling->line, stem);
    if (all->count > 0 && strncmp(next, stem, strlen(stem)) != 0) {
        if (!roll(rolling, all, true))
            return false;
        all->count = 0;
    }
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
    if (!make_room(rolling, &rolling->one, count))
        return false;
    for (size_t i = 0; i < count; i++)
        if (cell[i].n > 0)
            rolling->one.of[rolling->one.count++] =
                (struct opinion){.origin = origin, .cell = cell[i]};
    return true;
}

/* False: no memory. A line that is not shared leaves none to be read. */
static bool begin_line(struct rolling *rolling, const char *line)
{
    struct takt_fleet_line parsed;

    if (!end_line(rolling, line))
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

/* A page, of those of a line and origin the latest first. */
static bool take_page(struct rolling *rolling, const char *line, const char *id,
                      uint64_t epoch, const void *bytes, size_t length)
{
    if (strcmp(line, rolling->line) != 0 && !begin_line(rolling, line))
        return false;
    const size_t origin = takt__fleet_origins_find(&rolling->origins, id);
    if (rolling->line[0] == '\0' || origin == SIZE_MAX ||
        origin == rolling->last ||
        epoch != rolling->origins.origin[origin].epoch)
        return true;
    rolling->last = origin;
    return add_page(rolling, origin, bytes, length);
}

static bool take(void *self, const struct takt_fleet_row *row)
{
    char line[TAKT_FLEET_LINE], id[TAKT_FLEET_ORIGIN];
    size_t length;

    copy_text(row, 0, line, sizeof line);
    copy_text(row, 1, id, sizeof id);
    const char *bytes = takt__fleet_text(row, 3, &length);
    return take_page(self, line, id, (uint64_t)takt__fleet_number(row, 2),
                     bytes, length);
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

static takt_status short_of_memory(takt_diag *diag)
{
    return takt__say(diag, TAKT_ENOMEM, "there is not enough memory");
}

static takt_status begin(struct rolling *rolling, takt_diag *diag)
{
    rolling->rollup->origins = rolling->origins.count;
    rolling->rollup->refused = rolling->origins.refused;
    rolling->is_known = calloc(rolling->origins.count + 1, TAKT_FLEET_LEVELS);
    return rolling->is_known == NULL ? short_of_memory(diag) : TAKT_OK;
}

static takt_status end(struct rolling *rolling, takt_status status,
                       takt_diag *diag)
{
    if (status == TAKT_OK && !end_line(rolling, ""))
        status = short_of_memory(diag);
    free(rolling->one.of);
    free(rolling->all.of);
    free(rolling->cell);
    free(rolling->is_known);
    takt__fleet_origins_free(&rolling->origins);
    if (status != TAKT_OK)
        takt__fleet_priors_free(rolling->out);
    return status;
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
    if (status == TAKT_OK)
        status = begin(&rolling, diag);
    if (status == TAKT_OK)
        status = read_pages(server, &rolling, diag);
    return end(&rolling, status, diag);
}

/* ---- files --------------------------------------------------------------- */

/* A page of a machine. */
struct member_page {
    const struct takt_fleet_share *share;
    const struct takt_fleet_page *page;
};

static int by_page(const void *a, const void *b)
{
    const struct member_page *x = a, *y = b;
    const int order = strcmp(x->page->line, y->page->line);

    return order != 0 ? order : strcmp(x->share->origin, y->share->origin);
}

static bool add_origins(struct rolling *rolling,
                        const struct takt_fleet_share *share, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct takt_fleet_origin origin = {.facts = share[i].facts};
        strcpy(origin.id, share[i].origin);
        if (!takt__fleet_origins_add(&rolling->origins, &origin))
            return false;
    }
    return takt__fleet_origins_group(&rolling->origins);
}

static bool roll_shares(struct rolling *rolling,
                        const struct takt_fleet_share *share, size_t count)
{
    size_t pages = 0;

    for (size_t i = 0; i < count; i++)
        pages += share[i].pages.count;
    struct member_page *list = calloc(pages + 1, sizeof *list);
    bool is_whole = list != NULL;
    pages = 0;
    for (size_t i = 0; is_whole && i < count; i++)
        for (size_t j = 0; j < share[i].pages.count; j++)
            list[pages++] =
                (struct member_page){&share[i], &share[i].pages.page[j]};
    if (pages > 0)
        qsort(list, pages, sizeof *list, by_page);
    for (size_t i = 0; is_whole && i < pages; i++)
        is_whole = take_page(rolling, list[i].page->line, list[i].share->origin,
                             0, list[i].page->bytes, list[i].page->length);
    free(list);
    return is_whole;
}

takt_status takt__fleet_roll_up_shares(const struct takt_fleet_share *share,
                                       size_t count,
                                       struct takt_fleet_rollup *rollup,
                                       struct takt_fleet_priors *out,
                                       takt_diag *diag)
{
    struct rolling rolling = {.rollup = rollup, .out = out};

    *out = (struct takt_fleet_priors){.generation = next_generation(0)};
    takt_status status = add_origins(&rolling, share, count)
                             ? begin(&rolling, diag)
                             : short_of_memory(diag);
    if (status == TAKT_OK && !roll_shares(&rolling, share, count))
        status = short_of_memory(diag);
    return end(&rolling, status, diag);
}
