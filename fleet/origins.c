/* SPDX-License-Identifier: MIT */
/* origins.c - facts of all machines, grouped by class. */
#include "fleet/origins.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/say.h"

enum { most_origins = 1 << 20 };

bool takt__fleet_origins_add(struct takt_fleet_origins *origins,
                             const struct takt_fleet_origin *origin)
{
    if (origins->count > 0 &&
        strcmp(origins->origin[origins->count - 1].id, origin->id) == 0)
        origins->count--;
    if (origins->count >= most_origins ||
        !takt__grow(&origins->origin, &origins->room, origins->count + 1,
                    sizeof *origin))
        return false;
    origins->origin[origins->count++] = *origin;
    return true;
}

static bool take(void *self, const struct takt_fleet_row *row)
{
    struct takt_fleet_origins *origins = self;
    struct takt_fleet_origin found = {.epoch = 0};
    size_t length, facts_length;
    const char *id = takt__fleet_text(row, 0, &length);
    const char *facts = takt__fleet_text(row, 3, &facts_length);

    found.epoch = (uint64_t)takt__fleet_number(row, 1);
    found.seq = (uint64_t)takt__fleet_number(row, 2);
    if (length != TAKT_FLEET_ORIGIN - 1 ||
        !takt__fleet_facts_parse(facts, facts_length, &found.facts)) {
        origins->refused++;
        return true;
    }
    memcpy(found.id, id, length);
    return takt__fleet_origins_add(origins, &found);
}

static int by_id(const void *a, const void *b)
{
    const struct takt_fleet_origin *x = a, *y = b;

    return strcmp(x->id, y->id);
}

/* ---- groups -------------------------------------------------------------- */

struct classed {
    char class[TAKT_FLEET_CLASS];
    size_t origin;
};

static int by_class(const void *a, const void *b)
{
    const struct classed *x = a, *y = b;
    const int order = strcmp(x->class, y->class);

    return order != 0 ? order
                      : (x->origin > y->origin) - (x->origin < y->origin);
}

/* Of one line all have the same device, so that any stands for it. */
static bool group(struct takt_fleet_origins *origins,
                  enum takt_fleet_level level, bool is_gpu)
{
    struct classed *list = calloc(origins->count + 1, sizeof *list);

    if (list == NULL)
        return false;
    for (size_t i = 0; i < origins->count; i++) {
        takt__fleet_class(&origins->origin[i].facts, level, is_gpu ? "gpu" : "",
                          list[i].class);
        list[i].origin = i;
    }
    qsort(list, origins->count, sizeof *list, by_class);
    for (size_t i = 0, first = 0; i < origins->count; i++) {
        if (strcmp(list[i].class, list[first].class) != 0)
            first = i;
        origins->origin[list[i].origin].group[is_gpu][level] =
            list[first].origin;
    }
    free(list);
    return true;
}

bool takt__fleet_origins_group(struct takt_fleet_origins *origins)
{
    if (origins->count > 0)
        qsort(origins->origin, origins->count, sizeof *origins->origin, by_id);
    for (int i = 0; i < 2 * TAKT_FLEET_LEVELS; i++)
        if (!group(origins, (enum takt_fleet_level)(i / 2), i % 2))
            return false;
    return true;
}

/* ---- all ----------------------------------------------------------------- */

takt_status takt__fleet_origins_read(struct takt_fleet_server *server,
                                     unsigned days,
                                     struct takt_fleet_origins *out,
                                     takt_diag *diag)
{
    char sql[256];

    *out = (struct takt_fleet_origins){0};
    snprintf(sql, sizeof sql,
             "SELECT origin, epoch, seq, cells FROM takt_fleet.page WHERE "
             "line = '' AND day >= current_date - %u "
             "ORDER BY origin, epoch, seq",
             days);
    takt_status status = takt__fleet_query(server, sql, NULL, take, out, diag);
    if (status == TAKT_OK && !takt__fleet_origins_group(out))
        status = takt__say(diag, TAKT_ENOMEM, "there is not enough memory");
    if (status != TAKT_OK)
        takt__fleet_origins_free(out);
    return status;
}

void takt__fleet_origins_free(struct takt_fleet_origins *origins)
{
    free(origins->origin);
    *origins = (struct takt_fleet_origins){0};
}

size_t takt__fleet_origins_find(const struct takt_fleet_origins *origins,
                                const char *id)
{
    struct takt_fleet_origin key;

    if (origins->count == 0 || strlen(id) >= sizeof key.id)
        return SIZE_MAX;
    strcpy(key.id, id);
    const struct takt_fleet_origin *found =
        bsearch(&key, origins->origin, origins->count, sizeof key, by_id);
    return found == NULL ? SIZE_MAX : (size_t)(found - origins->origin);
}
