/* SPDX-License-Identifier: MIT */
/*
 * gather.c - records of one machine become pages.
 *
 * Samples of several writers and versions of the library are added up. Calls,
 * their time and times of day stay here.
 */
#include "fleet/gather.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/say.h"
#include "store/store.h"

/* One record, as far as it is shared. */
struct shared_cell {
    char line[TAKT_FLEET_LINE];
    unsigned bin;
    size_t order; /* in which it was read */
    double n, mean, m2, first_s, bytes, flops;
};

struct gathering {
    const char *machine;
    struct shared_cell *share;
    size_t count, room;
    size_t withheld;
    bool is_short; /* of memory */
};

static void take(void *self, const struct takt_record *record)
{
    struct gathering *gathering = self;
    struct shared_cell share = {.bin = record->bin,
                                .order = gathering->count,
                                .n = record->n,
                                .mean = record->mean,
                                .m2 = record->m2,
                                .first_s = record->first_s,
                                .bytes = record->bytes,
                                .flops = record->flops};

    if (strcmp(record->machine, gathering->machine) != 0)
        return;
    if (!takt__fleet_line_of(record, share.line)) {
        gathering->withheld++;
        return;
    }
    gathering->is_short |= !takt__grow(&gathering->share, &gathering->room,
                                       gathering->count + 1, sizeof share);
    if (!gathering->is_short)
        gathering->share[gathering->count++] = share;
}

static int by_line(const void *a, const void *b)
{
    const struct shared_cell *x = a, *y = b;
    int order = strcmp(x->line, y->line);

    if (order == 0)
        order = (x->bin > y->bin) - (x->bin < y->bin);
    return order != 0 ? order : (x->order > y->order) - (x->order < y->order);
}

/* Adds up shares of one line and bin; returns how many there are. */
static size_t pool(const struct shared_cell *share, size_t count,
                   struct takt_fleet_cell *out)
{
    double n = 0, mean = 0, m2 = 0, first_s = 0, most = -1;
    size_t i = 0;

    for (; i < count && share[i].bin == share->bin &&
           strcmp(share[i].line, share->line) == 0;
         i++) {
        const double total = n + share[i].n, apart = share[i].mean - mean;
        if (share[i].n > 0) {
            m2 += share[i].m2 + apart * apart * n * share[i].n / total;
            mean += apart * share[i].n / total;
            n = total;
        }
        if (share[i].first_s > first_s)
            first_s = share[i].first_s;
        if (share[i].n > most) {
            most = share[i].n;
            out->bytes = (float)share[i].bytes;
            out->flops = (float)share[i].flops;
        }
    }
    out->bin = share->bin;
    out->n = (float)fmin(n, TAKT_RECORD_MOST_N);
    out->mean = (float)mean;
    out->m2 = (float)fmin(m2, TAKT_RECORD_MOST_SPREAD * (double)out->n);
    out->first_s = (float)first_s;
    return i;
}

static bool make_page(const struct takt_fleet_cell *cell, size_t count,
                      struct takt_fleet_page *page)
{
    unsigned char bytes[TAKT_FLEET_MOST_BYTES];
    char digest[TAKT_SHA256_HEX];

    page->length = takt__fleet_encode(cell, count, bytes);
    page->cells = count;
    takt__sha256_hex(bytes, page->length, digest);
    memcpy(page->digest, digest, TAKT_FLEET_DIGEST - 1);
    page->bytes = malloc(page->length);
    if (page->bytes != NULL)
        memcpy(page->bytes, bytes, page->length);
    return page->bytes != NULL;
}

/* The shares of one line; returns how many there are, 0: no memory. */
static size_t add_page(const struct shared_cell *share, size_t count,
                       struct takt_fleet_pages *out)
{
    struct takt_fleet_cell cell[TAKT_FLEET_MOST_CELLS] = {{0}};
    struct takt_fleet_page *page = &out->page[out->count];
    size_t used = 0, cells = 0;

    while (used < count && cells < TAKT_FLEET_MOST_CELLS &&
           strcmp(share[used].line, share->line) == 0) {
        used += pool(&share[used], count - used, &cell[cells]);
        cells += cell[cells].n > 0;
    }
    strcpy(page->line, share->line);
    if (!make_page(cell, cells, page))
        return 0;
    out->count++;
    out->cells += cells;
    return used;
}

static bool make_pages(struct gathering *from, struct takt_fleet_pages *out)
{
    size_t lines = 0;

    if (from->count == 0)
        return true;
    qsort(from->share, from->count, sizeof from->share[0], by_line);
    for (size_t i = 0; i < from->count; i++)
        lines +=
            i == 0 || strcmp(from->share[i].line, from->share[i - 1].line) != 0;
    out->page = calloc(lines, sizeof *out->page);
    if (out->page == NULL)
        return false;
    for (size_t i = 0, used; i < from->count; i += used) {
        used = add_page(&from->share[i], from->count - i, out);
        if (used == 0)
            return false;
    }
    return true;
}

/* Read as a file of others: it is not written, nor repaired. */
static takt_status read_store(const char *path, struct gathering *gathering,
                              takt_diag *diag)
{
    const struct takt_store_identity identity = {
        .machine = gathering->machine, .software = "fleet", .is_foreign = true};
    struct takt_store *store;
    takt_status status = takt__store_open(path, &identity, diag, &store);

    if (status != TAKT_OK)
        return status;
    status = takt__store_read(store, take, gathering);
    takt__store_close(store);
    if (status != TAKT_OK)
        return takt__say(diag, status,
                         "what is in %.400s could not be read: "
                         "%s",
                         path, takt_status_text(status));
    return TAKT_OK;
}

takt_status takt__fleet_gather(const char *store, const char *machine,
                               struct takt_fleet_pages *out, takt_diag *diag)
{
    struct gathering gathering = {.machine = machine};

    *out = (struct takt_fleet_pages){0};
    takt_status status = read_store(store, &gathering, diag);
    if (status == TAKT_OK &&
        (gathering.is_short || !make_pages(&gathering, out)))
        status = takt__say(diag, TAKT_ENOMEM, "there is not enough memory");
    out->withheld = gathering.withheld;
    free(gathering.share);
    if (status != TAKT_OK)
        takt__fleet_pages_free(out);
    return status;
}

void takt__fleet_pages_free(struct takt_fleet_pages *pages)
{
    for (size_t i = 0; i < pages->count; i++)
        free(pages->page[i].bytes);
    free(pages->page);
    *pages = (struct takt_fleet_pages){0};
}
