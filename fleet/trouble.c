/* SPDX-License-Identifier: MIT */
/* trouble.c - the states that SQL gives to failures. */
#include "fleet/trouble.h"

#include <stdio.h>
#include <string.h>

#include "base/say.h"

enum { sqlstate = 'C', primary = 'M' }; /* fields of an error */

void takt__fleet_say(takt_diag *diag, const char *text)
{
    char line[400];
    size_t length = 0;

    for (; *text != '\0' && length + 1 < sizeof line; text++) {
        const bool is_blank = (unsigned char)*text <= ' ';
        if (!is_blank)
            line[length++] = *text;
        else if (length > 0 && line[length - 1] != ' ')
            line[length++] = ' ';
    }
    while (length > 0 && line[length - 1] == ' ')
        length--;
    line[length] = '\0';
    takt__say(diag, TAKT_OK, "%s", line);
}

/* 40: rolled back, or not known; 57: shut down or cancelled; 25006: a standby,
 * before another one takes over. What lacks space will lack it for a while. */
static bool may_pass(const char *state)
{
    return strncmp(state, "40", 2) == 0 || strncmp(state, "57", 2) == 0 ||
           strcmp(state, "25006") == 0;
}

/* libpq does not say more. */
void takt__fleet_say_lost(takt_diag *diag, const char *text)
{
    if (takt__fleet_passed_limit() > 0) {
        takt__say(diag, TAKT_OK,
                  "the server had not done everything after %u s, and was left",
                  takt__fleet_passed_limit());
        return;
    }
    takt__fleet_say(diag, text[0] != '\0' ? text
                                          : "the server does not answer as "
                                            "PostgreSQL does");
    if (strstr(text, "certificate verify failed") != NULL &&
        strlen(diag->text) + 80 < sizeof diag->text)
        strcat(diag->text, ": it has expired, or sslrootcert did not sign it");
}

static const char *advice(const char *state)
{
    if (strcmp(state, "42P01") == 0 || strcmp(state, "3F000") == 0)
        return "the database has no tables of a fleet: 'takt fleet schema' "
               "prints them";
    if (strcmp(state, "42501") == 0)
        return "the role lacks a right that 'takt fleet schema' gives";
    if (strcmp(state, "53100") == 0)
        return "the disk of the database is full";
    return NULL;
}

enum takt_fleet_trouble
takt__fleet_judge(const struct takt_fleet_server *server,
                  const struct takt_pq_result *result, takt_diag *diag)
{
    const struct takt_pq *pq = &server->pq;
    const char *state = result == NULL ? NULL : pq->field(result, sqlstate);

    if (state == NULL || strncmp(state, "08", 2) == 0 ||
        pq->status(server->connection) != 0) {
        takt__fleet_say_lost(diag, pq->error(server->connection));
        return TAKT_FLEET_LOST;
    }
    if (strcmp(state, "23505") == 0)
        return TAKT_FLEET_THERE;
    const char *message = pq->field(result, primary), *known = advice(state);
    char line[400];
    snprintf(line, sizeof line, "%.120s%s%.200s (%s)",
             known != NULL ? known : "", known != NULL ? ": " : "",
             message != NULL ? message : "", state);
    takt__fleet_say(diag, line);
    return may_pass(state) ? TAKT_FLEET_PASSES : TAKT_FLEET_REFUSED;
}
