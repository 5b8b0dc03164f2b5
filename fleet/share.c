/* SPDX-License-Identifier: MIT */
/* share.c - files of pages, and stores as if they were such files. */
#include "fleet/share.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/new_file.h"
#include "base/say.h"
#include "fleet/pull.h"
#include "fleet/speed.h"
#include "store/path.h"

void takt__fleet_share_free(struct takt_fleet_share *share)
{
    takt__fleet_pages_free(&share->pages);
}

/* ---- out ----------------------------------------------------------------- */

static bool add_rows(const struct takt_fleet_share *share,
                     struct takt_fleet_priors *out)
{
    char facts[TAKT_FLEET_FACTS];
    const size_t length = takt__fleet_facts_print(&share->facts, facts);
    bool is_whole =
        takt__fleet_priors_add(out, share->origin, "", facts, length);

    for (size_t i = 0; is_whole && i < share->pages.count; i++) {
        const struct takt_fleet_page *page = &share->pages.page[i];
        is_whole = takt__fleet_priors_add(out, share->origin, page->line,
                                          page->bytes, page->length);
    }
    return is_whole;
}

takt_status takt__fleet_share_save(const struct takt_fleet_share *share,
                                   const char *path, takt_diag *diag)
{
    struct takt_fleet_priors rows = {.generation = share->generation};
    size_t length;
    unsigned char *bytes = add_rows(share, &rows)
                               ? takt__fleet_priors_print(&rows, &length)
                               : NULL;
    const takt_status status =
        bytes == NULL
            ? takt__say(diag, TAKT_ENOMEM, "there is not enough memory")
            : takt__write_whole(path, 0, (const char *)bytes, length, diag);

    free(bytes);
    takt__fleet_priors_free(&rows);
    return status;
}

/* ---- in ------------------------------------------------------------------ */

static bool is_origin(const char *text)
{
    return strlen(text) == TAKT_FLEET_ORIGIN - 1 &&
           strspn(text, "0123456789abcdef") == TAKT_FLEET_ORIGIN - 1;
}

/* The bytes of a page go from the row to the page. */
static bool take_row(struct takt_fleet_prior *row, struct takt_fleet_share *out)
{
    struct takt_fleet_page *page = &out->pages.page[out->pages.count];

    if (strcmp(row->class, out->origin) != 0)
        return false;
    if (row->line[0] == '\0')
        return takt__fleet_facts_parse((const char *)row->bytes, row->length,
                                       &out->facts);
    strcpy(page->line, row->line);
    page->bytes = row->bytes;
    page->length = row->length;
    row->bytes = NULL;
    out->pages.count++;
    return true;
}

bool takt__fleet_share_take(struct takt_fleet_priors *rows,
                            struct takt_fleet_share *out)
{
    bool is_good = rows->count > 0 && is_origin(rows->prior[0].class);

    if (is_good)
        strcpy(out->origin, rows->prior[0].class);
    out->generation = rows->generation;
    out->pages.page = calloc(rows->count + 1, sizeof *out->pages.page);
    is_good = is_good && out->pages.page != NULL;
    for (size_t i = 0; is_good && i < rows->count; i++)
        is_good = take_row(&rows->prior[i], out);
    return is_good && out->facts.machine[0] != '\0';
}

static takt_status open_file(const char *path, struct takt_fleet_share *out,
                             takt_diag *diag)
{
    struct takt_fleet_priors rows;
    takt_status status = takt__fleet_open_unsigned(path, &rows, diag);

    if (status != TAKT_OK)
        return status;
    if (!takt__fleet_share_take(&rows, out)) {
        takt__fleet_share_free(out);
        status = takt__say(diag, TAKT_ECORRUPT,
                           "%s is neither a store nor a file of 'takt fleet "
                           "export'",
                           path);
    }
    takt__fleet_priors_free(&rows);
    return status;
}

/* The origin that it has for the database, or one that follows from its path:
 * the same store counts once. */
static takt_status find_origin(const char *path, struct takt_fleet_share *out,
                               takt_diag *diag)
{
    struct takt_fleet_state state;
    char digest[TAKT_SHA256_HEX];
    char *whole = takt__path_resolve(path);
    const char *name = whole != NULL ? whole : path;
    const takt_status status =
        takt__fleet_state_open(path, false, &state, diag);

    takt__sha256_hex(name, strlen(name), digest);
    free(whole);
    if (status != TAKT_OK)
        return status;
    snprintf(out->origin, sizeof out->origin, "%.32s",
             state.origin[0] != '\0' ? state.origin : digest);
    takt__fleet_state_close(&state);
    return TAKT_OK;
}

static takt_status open_store(const char *path, const char *machine,
                              struct takt_fleet_share *out, takt_diag *diag)
{
    takt_status status = takt__fleet_gather(path, machine, &out->pages, diag);

    if (status == TAKT_OK && out->pages.count == 0)
        status = takt__say(diag, TAKT_ENOENT,
                           "%s has nothing of this machine: run 'takt fleet "
                           "export' where it was made, or name that machine "
                           "(--machine)",
                           path);
    if (status == TAKT_OK)
        status = find_origin(path, out, diag);
    if (status == TAKT_OK)
        takt__fleet_speed(&out->pages, &out->facts);
    if (status != TAKT_OK)
        takt__fleet_share_free(out);
    return status;
}

static bool is_store(const char *path)
{
    static const char first[] = "SQLite format 3";
    char begin[sizeof first] = "";
    FILE *file = fopen(path, "re");

    if (file == NULL)
        return false;
    const size_t length = fread(begin, 1, sizeof begin, file);
    fclose(file);
    return length == sizeof first && memcmp(begin, first, sizeof first) == 0;
}

/* It is opened twice, and must not be waited for: no pipe, no device. */
static bool is_regular(const char *path)
{
    struct stat facts;

    return stat(path, &facts) != 0 || S_ISREG(facts.st_mode);
}

takt_status takt__fleet_share_open(const char *path, const char *machine,
                                   const struct takt_fleet_facts *facts,
                                   struct takt_fleet_share *out,
                                   takt_diag *diag)
{
    *out = (struct takt_fleet_share){0};
    if (!is_regular(path))
        return takt__say(diag, TAKT_EIO, "%s is not a regular file", path);
    if (!is_store(path))
        return open_file(path, out, diag);
    out->facts = *facts;
    return open_store(path, machine, out, diag);
}
