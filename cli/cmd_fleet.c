/* SPDX-License-Identifier: MIT */
/* cmd_fleet.c - `takt fleet`: machines that share what they learned. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "clean.h"
#include "commands.h"
#include "context.h"
#include "fleet.h"
#include "fleet/schema.h"

#define action_choice "sync|pull|roll-up|export|status|schema"

/* ---- what is asked ---- */

int fleet_trouble(const takt_diag *diag, takt_status status)
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
    return choose_store(&cmd_fleet, db, asking->store, sizeof asking->store);
}

static struct fleet_asking ask(const struct invocation *invocation)
{
    const char *address = option_value(invocation, "server");
    struct fleet_asking out = {.invocation = invocation,
                               .is_json = option_given(invocation, "json")};

    out.address = address != NULL ? address : getenv("TAKT_FLEET");
    if (out.address != NULL && out.address[0] == '\0')
        out.address = NULL;
    return out;
}

/* False: what is wrong was said. The machine is to be destroyed. */
static bool find_member(struct fleet_asking *out)
{
    const char *recording = option_value(out->invocation, "machine");

    if (!find_store(out, recording))
        return false;
    const takt_status status = takt_machine_create(recording, &out->machine);
    if (status != TAKT_OK && recording != NULL)
        return reject(&cmd_fleet, "'%s' is no recorded machine: %s", recording,
                      takt_status_text(status));
    if (status != TAKT_OK)
        return reject(&cmd_fleet, "this machine: %s", takt_status_text(status));
    if (out->machine->hw_fingerprint[0] == '\0')
        return reject(&cmd_fleet,
                      "a file of the machine cannot be read, so that it is not "
                      "known which one it is; try again");
    out->member.store = out->store;
    out->member.machine = out->machine->hw_fingerprint;
    takt__fleet_facts_of(out->machine, recording == NULL, &out->member.facts);
    return true;
}

/* Less than what programs give to a sync that they started, which then still
 * notes what was wrong. */
static bool read_limit(struct fleet_asking *asking)
{
    size_t seconds = 100;

    if (!read_count_option(asking->invocation, "timeout", 3600,
                           "from 1 to 3600", &seconds))
        return false;
    asking->most_s = (unsigned)seconds;
    return true;
}

void fleet_limit(const struct fleet_asking *asking)
{
    takt__fleet_limit(asking->most_s);
}

int fleet_connect(struct fleet_asking *asking, struct takt_fleet_server *out)
{
    if (asking->address == NULL)
        return usage_error(&cmd_fleet,
                           "which database? --server "
                           "postgresql://USER@HOST/NAME, or set TAKT_FLEET");
    const takt_status status =
        takt__fleet_connect(asking->address, out, &asking->diag);
    return status == TAKT_OK ? EXIT_DONE : fleet_trouble(&asking->diag, status);
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
               "waiting:%zu repeated:%zu sending_ms:%g new_origin:%d}\n",
               asking->store, report->lines, report->cells, report->withheld,
               report->pages, report->bytes, report->waiting, report->repeated,
               report->sending_s * 1e3, report->is_new);
}

/* What is known of machines like this one, if there is anything newer. */
static takt_status receive(struct fleet_asking *asking,
                           struct takt_fleet_server *server,
                           struct takt_fleet_state *state, takt_diag *diag)
{
    struct takt_fleet_priors priors;
    uint64_t generation;
    takt_status status = takt__fleet_generation(server, &generation, diag);

    if (status != TAKT_OK || generation == state->generation)
        return status;
    status = fleet_read(asking, server, &priors, diag);
    if (status != TAKT_OK)
        return status;
    priors.generation = generation;
    status = fleet_receive(asking, &priors, state, diag);
    takt__fleet_priors_free(&priors);
    return status;
}

static int sync_with(struct fleet_asking *asking,
                     struct takt_fleet_server *server)
{
    struct takt_fleet_report report = {0};
    struct takt_fleet_state state;
    takt_diag *diag = &asking->diag;
    takt_status status =
        takt__fleet_state_open(asking->store, true, &state, diag);

    if (status != TAKT_OK)
        return fleet_trouble(diag, status);
    status = takt__fleet_push(&asking->member, &state, server, &report, diag);
    if (status == TAKT_OK)
        status = receive(asking, server, &state, diag);
    takt__fleet_state_close(&state);
    if (status != TAKT_OK) {
        fleet_trouble(diag, status);
        if (report.waiting > 0)
            print_line(stderr, "%zu lines wait for the next sync",
                       report.waiting);
        return EXIT_FINDING;
    }
    print_sync(asking, &report);
    return EXIT_DONE;
}

/* Programs of this machine see that there was one, and what came of it. */
static void note_sync(const struct fleet_asking *asking, int code)
{
    const double every_s = takt__config()->fleet_every_s;

    takt__fleet_note(asking->store, every_s,
                     code == EXIT_DONE              ? ""
                     : asking->diag.text[0] != '\0' ? asking->diag.text
                                                    : "it failed");
}

static int sync(struct fleet_asking *asking)
{
    struct takt_fleet_server server;

    fleet_limit(asking);
    int code = fleet_connect(asking, &server);
    if (code == EXIT_USAGE)
        return code;
    if (code == EXIT_DONE) {
        code = sync_with(asking, &server);
        takt__fleet_disconnect(&server);
    }
    note_sync(asking, code);
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
        return fleet_trouble(&diag, found);
    found = takt__fleet_state_open(asking->store, false, &state, &diag);
    if (found == TAKT_OK)
        found = plan_again(&state, &pages);
    if (found == TAKT_OK)
        print_fleet_status(&(struct fleet_view){.asking = asking,
                                                .state = &state,
                                                .pages = &pages},
                           option_given(asking->invocation, "dry-run"));
    takt__fleet_state_close(&state);
    takt__fleet_pages_free(&pages);
    return found == TAKT_OK ? EXIT_DONE : fleet_trouble(&diag, found);
}

/* ---- the command ---- */

static int schema(struct fleet_asking *asking)
{
    (void)asking;
    fputs(takt__fleet_ddl, stdout);
    return EXIT_DONE;
}

static const struct fleet_action {
    int (*run)(struct fleet_asking *asking);
    size_t most_operands;
    bool needs_member;
    const char *options; /* that it has, separated by | */
} actions[] = {
    {sync, 1, true, "timeout|json"},
    {fleet_pull, 2, true, "key|unsigned|older|timeout|json"},
    {fleet_roll_up, max_operands, false,
     "key|unsigned|output|least|days|prune|json"},
    {fleet_export, 2, true, ""},
    {status, 1, true, "dry-run|json"},
    {schema, 1, false, ""},
};

/* Which machine, store and database are meant. */
static const char common_options[] = "server|db|machine";

/* NULL: what is wrong was said. */
static const struct fleet_action *find_action(const char *word)
{
    size_t index;
    char near[16];

    if (find_choice(word, action_choice, &index))
        return &actions[index];
    if (nearest_choice(word, action_choice, near, sizeof near) != NULL)
        usage_error(&cmd_fleet, "no action '%s'; did you mean '%s'?", word,
                    near);
    else
        usage_error(&cmd_fleet, "'%s' is not one of %s", word, action_choice);
    return NULL;
}

/* An option that an action lacks is refused: who adds --dry-run to a sync means
 * that nothing is sent. */
static bool check_words(const struct fleet_action *action,
                        const struct invocation *invocation)
{
    const char *name = invocation->operands[0];
    size_t index;

    if (invocation->operand_count > action->most_operands)
        return reject(&cmd_fleet, "'%s' takes no '%s'", name,
                      invocation->operands[action->most_operands]);
    for (const struct option *at = cmd_fleet.options; at->name != NULL; at++)
        if (option_given(invocation, at->name) &&
            !find_choice(at->name, common_options, &index) &&
            !find_choice(at->name, action->options, &index))
            return reject(&cmd_fleet, "'%s' takes no --%s", name, at->name);
    return true;
}

static int run(const struct invocation *invocation)
{
    struct fleet_asking asking = ask(invocation);
    const struct fleet_action *action = find_action(invocation->operands[0]);

    if (action == NULL || !check_words(action, invocation) ||
        !read_limit(&asking))
        return EXIT_USAGE;
    const int code = !action->needs_member || find_member(&asking)
                         ? action->run(&asking)
                         : EXIT_USAGE;
    takt_machine_destroy(asking.machine);
    return code;
}

const struct command cmd_fleet = {
    .name = "fleet",
    .operands = "ACTION [FILE|URL]...",
    .actions = action_choice,
    .summary = "share what was learned with other machines, by PostgreSQL",
    .description =
        "sync: sends what this machine measured since the last time to the "
        "database of its fleet, and pulls. For a timer; no program waits for "
        "it. What cannot be sent waits in the store.\n"
        "pull [FILE|URL]: brings what is known of machines like this one into "
        "the "
        "store, where it counts until something is measured here; from the "
        "database, or from a file or a web server, signed by --key. A file "
        "that is older than what was received before is refused.\n"
        "roll-up: computes what is known of each kind of machine, from at "
        "least 5 machines, for one machine of the fleet to run by a timer; "
        "--output writes it as a file too, which is signed by --key. With "
        "FILEs it needs no database: they are stores of machines of this "
        "kind, or what 'export' wrote on others.\n"
        "export FILE: writes what a sync would send to a file.\n"
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
    .max_operands = max_operands,
    .options =
        {{"server", "ADDRESS", NULL,
          "the database: a connection string of libpq (default TAKT_FLEET)"},
         DB_OPTION,
         {"machine", "FOLDER", NULL,
          "a recorded machine, whose store --db names"},
         {"key", "FILE", NULL,
          "a key of Ed25519 (PEM): public for pull, private for roll-up"},
         {"older", NULL, NULL,
          "pull: take a file that is older than what was received, too"},
         {"output", "FILE", NULL, "roll-up: write the priors to a file, too"},
         {"unsigned", NULL, NULL,
          "pull, roll-up: a file without a signature, for your own"},
         {"least", "N", NULL, "roll-up: machines that a size needs (5)"},
         {"days", "N", NULL,
          "roll-up: leave out machines that were silent for N days (180)"},
         {"prune", NULL, NULL, "roll-up: remove pages that were replaced"},
         {"timeout", "S", NULL,
          "sync, pull: give up after so many seconds (100)"},
         {"dry-run", NULL, NULL, "status: print what would be sent"},
         {"json", NULL, NULL, "print JSON"}},
    .examples = {"takt fleet schema | psql takt",
                 "takt fleet sync --server postgresql://node@my-host/takt",
                 "takt fleet roll-up --output my-priors --key my.key",
                 "takt fleet pull my-priors --key my.pub",
                 "takt fleet export my-pages",
                 "takt fleet roll-up my-pages more-pages --output my-priors "
                 "--unsigned",
                 "takt fleet status", "takt fleet status --dry-run"},
    .run = run,
};
