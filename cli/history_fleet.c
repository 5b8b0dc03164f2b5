/* SPDX-License-Identifier: MIT */
/* history_fleet.c - a store in which nothing of this machine is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "history.h"

/* What the fleet has: lines of a store that begin with its name. */
struct fleet_lines {
    char machine[32];
    size_t cells;
    double machines; /* the most behind one of them */
};

/* The 13th column, n, counts machines. */
static void count_line(void *self, char *line)
{
    enum { columns_before = 12 };
    struct fleet_lines *found = self;
    const size_t length = strlen(found->machine);

    if (strncmp(line, found->machine, length) != 0 || line[length] != '\t')
        return;
    for (int i = 0; line != NULL && i < columns_before; i++)
        line = strchr(line, '\t') == NULL ? NULL : strchr(line, '\t') + 1;
    if (line == NULL)
        return;
    const double machines = strtod(line, NULL);
    found->cells++;
    if (machines > found->machines)
        found->machines = machines;
}

void print_no_history(takt_ctx *ctx, const char *store)
{
    takt_learning learning = {.size = sizeof learning};
    struct fleet_lines fleet = {.cells = 0};

    snprintf(fleet.machine, sizeof fleet.machine, "fleet.%.16s",
             takt_ctx_machine(ctx)->hw_fingerprint);
    if (takt_ctx_learning(ctx, &learning) != TAKT_OK ||
        learning.other_records == 0)
        puts("nothing yet: 'takt tune' measures this machine");
    else if (visit_lines(store, count_line, &fleet) && fleet.cells > 0)
        printf("nothing of this machine yet; the fleet knows %zu cells, by up "
               "to %.0f machines like this one\n",
               fleet.cells, fleet.machines);
    else
        printf("nothing of this machine yet, and %.0f records of others: "
               "'takt tune' measures it\n",
               learning.other_records);
}
