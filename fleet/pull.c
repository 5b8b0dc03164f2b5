/* SPDX-License-Identifier: MIT */
/* pull.c - priors from a database or a file, into a store. */
#include "fleet/pull.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/new_file.h"
#include "base/read_stream.h"
#include "base/say.h"
#include "fleet/fetch.h"
#include "fleet/sign.h"
#include "store/store.h"

enum { most_bytes = 1 << 28 };

/* ---- the database -------------------------------------------------------- */

static bool take(void *self, const struct takt_fleet_row *row)
{
    struct takt_fleet_priors *priors = self;
    char class[TAKT_FLEET_CLASS], line[TAKT_FLEET_LINE];
    size_t class_length, line_length, length;
    const char *class_text = takt__fleet_text(row, 0, &class_length);
    const char *line_text = takt__fleet_text(row, 1, &line_length);
    const char *bytes = takt__fleet_text(row, 3, &length);
    const uint64_t generation = (uint64_t)takt__fleet_number(row, 2);

    if (class_length >= sizeof class || line_length >= sizeof line ||
        length > TAKT_FLEET_MOST_BYTES)
        return true;
    snprintf(class, sizeof class, "%.*s", (int)class_length, class_text);
    snprintf(line, sizeof line, "%.*s", (int)line_length, line_text);
    if (priors->bytes + priors->count * sizeof *priors->prior > most_bytes)
        return false; /* no fleet has so many: there may be no end of them */
    if (generation > priors->generation)
        priors->generation = generation;
    return takt__fleet_priors_add(priors, class, line, bytes, length);
}

#define columns "SELECT class, line, generation, cells FROM takt_fleet.prior "

static takt_status read_class(struct takt_fleet_server *server,
                              const char *class, struct takt_fleet_priors *out,
                              takt_diag *diag)
{
    return takt__fleet_query(server, columns "WHERE class = $1 AND line <> ''",
                             class, take, out, diag);
}

bool takt__fleet_is_known(const struct takt_fleet_priors *priors,
                          const struct takt_fleet_facts *facts)
{
    char kind[TAKT_FLEET_CLASS];

    takt__fleet_class(facts, TAKT_FLEET_KIND, "", kind);
    for (size_t i = 0; i < priors->count; i++)
        if (strcmp(priors->prior[i].class, kind) == 0)
            return true;
    return false;
}

takt_status takt__fleet_read_priors(struct takt_fleet_server *server,
                                    const takt_machine *machine,
                                    const struct takt_fleet_facts *facts,
                                    struct takt_fleet_priors *out,
                                    takt_diag *diag)
{
    char own[TAKT_FLEET_OWN][TAKT_FLEET_CLASS];
    const size_t count = takt__fleet_own_classes(machine, facts, own);
    takt_status status = TAKT_OK;

    *out = (struct takt_fleet_priors){0};
    for (size_t i = 0; status == TAKT_OK && i < count; i++)
        status = read_class(server, own[i], out, diag);
    if (status != TAKT_OK)
        takt__fleet_priors_free(out);
    return status;
}

takt_status takt__fleet_read_near(struct takt_fleet_server *server,
                                  const struct takt_fleet_facts *facts,
                                  struct takt_fleet_priors *out,
                                  takt_diag *diag)
{
    char near[TAKT_FLEET_NEAR][TAKT_FLEET_CLASS];
    takt_status status = takt__fleet_query(server, columns "WHERE line = ''",
                                           NULL, take, out, diag);
    const size_t count =
        status == TAKT_OK ? takt__fleet_near_classes(out, facts, near) : 0;

    for (size_t i = 0; status == TAKT_OK && i < count; i++)
        status = read_class(server, near[i], out, diag);
    if (status != TAKT_OK)
        takt__fleet_priors_free(out);
    return status;
}

/* ---- files --------------------------------------------------------------- */

static unsigned char *read_file(const char *path, size_t *length,
                                takt_diag *diag)
{
    FILE *file = fopen(path, "re");
    char *bytes = NULL;
    int wrong = file == NULL
                    ? errno
                    : takt__read_stream(file, most_bytes, &bytes, length);

    if (file != NULL)
        fclose(file);
    if (wrong != 0)
        takt__say(diag, TAKT_OK, "%s: %s", path, strerror(wrong));
    return (unsigned char *)bytes;
}

static takt_status parse_file(const char *path, const unsigned char *bytes,
                              size_t length, struct takt_fleet_priors *out,
                              takt_diag *diag)
{
    const takt_status status = takt__fleet_priors_parse(bytes, length, out);

    return status == TAKT_OK ? status
           : status == TAKT_ENOMEM
               ? takt__say(diag, status, "there is not enough memory")
               : takt__say(diag, status, "%s is no file of priors", path);
}

takt_status takt__fleet_open_priors(const char *path, const char *key,
                                    unsigned most_s,
                                    struct takt_fleet_priors *out,
                                    takt_diag *diag)
{
    size_t length;
    unsigned char *bytes =
        takt__is_address(path)
            ? takt__fetch(path, most_bytes, most_s, &length, diag)
            : read_file(path, &length, diag);
    takt_status status = TAKT_ECORRUPT;

    *out = (struct takt_fleet_priors){0};
    if (bytes == NULL)
        return TAKT_EIO;
    if (length < TAKT_SIGNATURE)
        takt__say(diag, TAKT_OK, "%s is no file of priors", path);
    else
        status = takt__verify(key, bytes, length - TAKT_SIGNATURE,
                              bytes + length - TAKT_SIGNATURE, diag);
    if (status == TAKT_OK)
        status = parse_file(path, bytes, length - TAKT_SIGNATURE, out, diag);
    free(bytes);
    return status;
}

takt_status takt__fleet_open_unsigned(const char *path,
                                      struct takt_fleet_priors *out,
                                      takt_diag *diag)
{
    size_t length;
    unsigned char *bytes = read_file(path, &length, diag);

    *out = (struct takt_fleet_priors){0};
    if (bytes == NULL)
        return TAKT_EIO;
    const takt_status status = parse_file(path, bytes, length, out, diag);
    free(bytes);
    return status;
}

takt_status takt__fleet_save_priors(const struct takt_fleet_priors *priors,
                                    const char *path, const char *key,
                                    takt_diag *diag)
{
    size_t length;
    unsigned char *bytes = takt__fleet_priors_print(priors, &length);
    unsigned char *whole =
        bytes == NULL ? NULL : realloc(bytes, length + TAKT_SIGNATURE);

    if (whole == NULL) {
        free(bytes);
        return takt__say(diag, TAKT_ENOMEM, "there is not enough memory");
    }
    takt_status status =
        key == NULL ? TAKT_OK
                    : takt__sign(key, whole, length, whole + length, diag);
    if (status == TAKT_OK)
        status = takt__write_whole(path, 0, (const char *)whole,
                                   length + (key == NULL ? 0 : TAKT_SIGNATURE),
                                   diag);
    free(whole);
    return status;
}

/* ---- the store ----------------------------------------------------------- */

takt_status takt__fleet_take_in(const struct takt_fleet_priors *priors,
                                const takt_machine *machine,
                                const struct takt_fleet_facts *facts,
                                const char *store,
                                struct takt_fleet_choice *out, takt_diag *diag)
{
    char name[TAKT_SHA256_HEX];
    takt_status status = takt__fleet_choose(priors, machine, facts, out);

    if (status != TAKT_OK)
        return takt__say(diag, status, "there is not enough memory");
    takt__record_fleet(machine->hw_fingerprint, name);
    status = takt__store_replace(store, name, out->record, out->count, diag);
    free(out->record);
    out->record = NULL;
    return status;
}
