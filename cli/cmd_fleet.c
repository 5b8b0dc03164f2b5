/* SPDX-License-Identifier: MIT */
/* cmd_fleet.c - `takt fleet`: machines that share what they learned. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clean.h"
#include "commands.h"
#include "context.h"
#include "fleet/schema.h"
#include "fleet/sync.h"
#include "fleet_print.h"

#define action_choice "sync|status|schema"

/* ---- what is asked ---- */

/* One machine, its store and its fleet. */
struct fleet_asking {
    const struct invocation *invocation;
    const char *address; /* NULL: none */
    char store[1024];
    takt_machine *machine; /* owned */
    struct takt_fleet_member member;
    bool is_json;
};

static int say_trouble(const takt_diag *diag, takt_status status)
{
    return complain(&cmd_fleet, "%s",
                    diag->text[0] != '\0' ? diag->text
                                          : takt_status_text(status));
}

static bool find_store(struct fleet_asking *asking, const char *recording)
{
    const char *db = option_value(asking->invocation, "db");

    if (db == NULL && recording != NULL)
        return reject(&cmd_fleet, "--machine needs --db: the store of that "
                                  "machine");
    if (db != NULL)
        snprintf(asking->store, sizeof asking->store, "%s", db);
    else
        takt_store_path(asking->store, sizeof asking->store);
    if (asking->store[0] == '\0')
        return reject(&cmd_fleet,
                      "there is no store: set TAKT_DB, or use --db FILE");
    return true;
}

/* False: what is wrong was said. The machine is to be destroyed. */
static bool open_asking(const struct invocation *invocation,
                        struct fleet_asking *out)
{
    const char *recording = option_value(invocation, "machine");
    const char *address = option_value(invocation, "server");

    *out = (struct fleet_asking){.invocation = invocation,
                                 .is_json = option_given(invocation, "json")};
    out->address = address != NULL ? address : getenv("TAKT_FLEET");
    if (out->address != NULL && out->address[0] == '\0')
        out->address = NULL;
    if (!find_store(out, recording))
        return false;
    const takt_status status = takt_machine_create(recording, &out->machine);
    if (status != TAKT_OK)
        return reject(&cmd_fleet, "'%s' is no recorded machine: %s", recording,
                      takt_status_text(status));
    out->member.store = out->store;
    out->member.machine = out->machine->hw_fingerprint;
    takt__fleet_facts_of(out->machine, recording == NULL, &out->member.facts);
    return true;
}

static int need_server(void)
{
    return usage_error(&cmd_fleet,
                       "which database? --server postgresql://USER@HOST/NAME, "
                       "or set TAKT_FLEET");
}

/* ---- sync ---- */

static void print_sync(const struct fleet_asking *asking,
                       const struct takt_fleet_report *report)
{
    struct json json = json_begin(stdout);

    if (!asking->is_json) {
        print_line(stdout,
                   "sent %zu of %zu lines (%zu cells, %zu bytes), %zu waiting"
                   "%s",
                   report->pages, report->lines, report->cells, report->bytes,
                   report->waiting,
                   report->is_new ? "; this is a new origin" : "");
        return;
    }
    json_print(&json,
               "{store:%s lines:%zu cells:%zu withheld:%zu sent:%zu bytes:%zu "
               "waiting:%zu repeated:%zu new_origin:%d}\n",
               asking->store, report->lines, report->cells, report->withheld,
               report->pages, report->bytes, report->waiting, report->repeated,
               report->is_new);
}

static int sync_with(struct fleet_asking *asking,
                     struct takt_fleet_server *server)
{
    struct takt_fleet_report report = {0};
    struct takt_fleet_state state;
    takt_diag diag = {""};
    takt_status status =
        takt__fleet_state_open(asking->store, true, &state, &diag);

    if (status != TAKT_OK)
        return say_trouble(&diag, status);
    status = takt__fleet_push(&asking->member, &state, server, &report, &diag);
    takt__fleet_state_close(&state);
    if (status != TAKT_OK) {
        say_trouble(&diag, status);
        if (report.waiting > 0)
            print_line(stderr, "%zu lines wait for the next sync",
                       report.waiting);
        return EXIT_FINDING;
    }
    print_sync(asking, &report);
    return EXIT_DONE;
}

static int sync(struct fleet_asking *asking)
{
    struct takt_fleet_server server;
    takt_diag diag = {""};

    if (asking->address == NULL)
        return need_server();
    const takt_status status =
        takt__fleet_connect(asking->address, &server, &diag);
    if (status != TAKT_OK)
        return say_trouble(&diag, status);
    const int code = sync_with(asking, &server);
    takt__fleet_disconnect(&server);
    return code;
}

/* ---- status ---- */

/* As if it were sent to the database that had the last page. */
static takt_status plan_again(struct takt_fleet_state *state,
                              struct takt_fleet_pages *pages)
{
    char database[TAKT_FLEET_DATABASE];
    size_t waiting;

    memcpy(database, state->database, sizeof database);
    return takt__fleet_plan(state, pages, database, &waiting);
}

static int status(struct fleet_asking *asking)
{
    struct takt_fleet_pages pages;
    struct takt_fleet_state state;
    takt_diag diag = {""};
    takt_status found = takt__fleet_gather(
        asking->store, asking->member.machine, &pages, &diag);

    if (found != TAKT_OK)
        return say_trouble(&diag, found);
    found = takt__fleet_state_open(asking->store, false, &state, &diag);
    if (found == TAKT_OK)
        found = plan_again(&state, &pages);
    if (found == TAKT_OK)
        print_fleet_status(&(struct fleet_view){.store = asking->store,
                                                .address = asking->address,
                                                .facts = &asking->member.facts,
                                                .state = &state,
                                                .pages = &pages},
                           option_given(asking->invocation, "dry-run"),
                           asking->is_json);
    takt__fleet_state_close(&state);
    takt__fleet_pages_free(&pages);
    return found == TAKT_OK ? EXIT_DONE : say_trouble(&diag, found);
}

/* ---- the command ---- */

static int schema(struct fleet_asking *asking)
{
    (void)asking;
    fputs(takt__fleet_ddl, stdout);
    return EXIT_DONE;
}

static int run(const struct invocation *invocation)
{
    static int (*const actions[])(struct fleet_asking *) = {sync, status,
                                                            schema};
    struct fleet_asking asking;
    size_t index;
    char near[16];

    if (!find_choice(invocation->operands[0], action_choice, &index)) {
        const char *word = invocation->operands[0];
        if (nearest_choice(word, action_choice, near, sizeof near) != NULL)
            return usage_error(&cmd_fleet, "no action '%s'; did you mean '%s'?",
                               word, near);
        return usage_error(&cmd_fleet, "'%s' is not one of %s", word,
                           action_choice);
    }
    if (actions[index] == schema)
        return schema(NULL);
    const int code =
        open_asking(invocation, &asking) ? actions[index](&asking) : EXIT_USAGE;
    takt_machine_destroy(asking.machine);
    return code;
}

const struct command cmd_fleet = {
    .name = "fleet",
    .operands = "ACTION",
    .actions = action_choice,
    .summary = "share what was learned with other machines, by PostgreSQL",
    .description =
        "sync: sends what this machine measured, since the last time, to the "
        "database of its fleet. For a timer; no program waits for it. What "
        "cannot be sent waits in the store.\n"
        "status: what was sent and what is waiting. With --dry-run every line "
        "that a sync would send. Connects to nothing.\n"
        "schema: prints the tables and roles of the database.\n\n"
        "Shared are statistics of ops of the catalogue by experts of Takt's, "
        "and what kind of machine it is. Never shared are the names of "
        "programs, of users' ops and experts, of hosts and users, how often "
        "something ran, and when. A machine is known by a random number.\n\n"
        "Unless the address says otherwise, the server's certificate is "
        "verified (sslmode=verify-full). Passwords belong into ~/.pgpass.",
    .min_operands = 1,
    .max_operands = 1,
    .options =
        {{"server", "ADDRESS", NULL,
          "the database: a connection string of libpq (default TAKT_FLEET)"},
         DB_OPTION,
         {"machine", "FOLDER", NULL,
          "a recorded machine, whose store --db names"},
         {"dry-run", NULL, NULL, "status: print what would be sent"},
         {"json", NULL, NULL, "print JSON"}},
    .examples = {"takt fleet schema | psql takt",
                 "takt fleet sync --server postgresql://node@db.example/takt",
                 "takt fleet status", "takt fleet status --dry-run"},
    .run = run,
};
