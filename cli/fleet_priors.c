/* SPDX-License-Identifier: MIT */
/* fleet_priors.c - `takt fleet pull` and `takt fleet roll-up`. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "clean.h"
#include "commands.h"
#include "context.h"
#include "fleet.h"
#include "fleet/rollup.h"

/* ---- pull ---- */

takt_status fleet_receive(const struct fleet_asking *asking,
                          const struct takt_fleet_priors *priors,
                          struct takt_fleet_state *state, takt_diag *diag)
{
    struct takt_fleet_choice choice;
    const takt_status status =
        takt__fleet_take_in(priors, asking->machine, &asking->member.facts,
                            asking->store, &choice, diag);

    if (status != TAKT_OK)
        return status;
    state->generation = priors->generation;
    state->received = choice.count;
    state->machines = choice.machines;
    return takt__fleet_state_write(state, diag);
}

/* Whether a file may replace what was received before. A signature does not say
 * how old a file is: one that was signed once could be served for ever. */
static takt_status check_age(const struct fleet_asking *asking,
                             const struct takt_fleet_priors *priors,
                             const struct takt_fleet_state *state,
                             takt_diag *diag)
{
    if (asking->invocation->operand_count < 2 ||
        priors->generation >= state->generation ||
        option_given(asking->invocation, "older"))
        return TAKT_OK;
    snprintf(diag->text, sizeof diag->text,
             "%.200s is older (generation %ju) than what this store received "
             "before (%ju): nothing was changed; --older takes it all the same",
             asking->invocation->operands[1], (uintmax_t)priors->generation,
             (uintmax_t)state->generation);
    return TAKT_ECORRUPT;
}

static takt_status receive(const struct fleet_asking *asking,
                           const struct takt_fleet_priors *priors,
                           double reading_s, takt_diag *diag)
{
    struct takt_fleet_state state;
    takt_status status =
        takt__fleet_state_open(asking->store, true, &state, diag);

    if (status != TAKT_OK)
        return status;
    status = check_age(asking, priors, &state, diag);
    if (status == TAKT_OK && state.origin[0] == '\0')
        status = takt__fleet_state_renew(&state);
    if (status == TAKT_OK)
        status = fleet_receive(asking, priors, &state, diag);
    if (status == TAKT_OK && asking->is_json) {
        struct json json = json_begin(stdout);
        json_print(&json,
                   "{store:%s received:%ju machines:%ju reading_ms:%g}\n",
                   asking->store, (uintmax_t)state.received,
                   (uintmax_t)state.machines, reading_s * 1e3);
    } else if (status == TAKT_OK && state.received == 0) {
        print_line(stdout, "nothing is known of machines like this one");
    } else if (status == TAKT_OK) {
        print_line(stdout,
                   "received %ju cells, by up to %ju machines like this one",
                   (uintmax_t)state.received, (uintmax_t)state.machines);
    }
    takt__fleet_state_close(&state);
    return status;
}

takt_status fleet_read(struct fleet_asking *asking,
                       struct takt_fleet_server *server,
                       struct takt_fleet_priors *out, takt_diag *diag)
{
    const takt_status status = takt__fleet_read_priors(
        server, asking->machine, &asking->member.facts, out, diag);

    if (status != TAKT_OK || takt__fleet_is_known(out, &asking->member.facts))
        return status;
    fleet_find_speed(asking);
    return takt__fleet_read_near(server, &asking->member.facts, out, diag);
}

static takt_status read_file(struct fleet_asking *asking, const char *path,
                             const char *key, struct takt_fleet_priors *out,
                             takt_diag *diag)
{
    const takt_status status =
        key == NULL
            ? takt__fleet_open_unsigned(path, out, diag)
            : takt__fleet_open_priors(path, key, asking->most_s, out, diag);

    if (status == TAKT_OK && !takt__fleet_is_known(out, &asking->member.facts))
        fleet_find_speed(asking);
    return status;
}

int fleet_pull(struct fleet_asking *asking)
{
    const struct invocation *invocation = asking->invocation;
    const char *key = option_value(invocation, "key");
    struct takt_fleet_server server;
    struct takt_fleet_priors priors;
    takt_diag diag = {""};
    takt_status status;
    const uint64_t began_ns = takt__now_ns();

    if (invocation->operand_count == 2) {
        if (key == NULL && !option_given(invocation, "unsigned"))
            return usage_error(&cmd_fleet,
                               "a file must be signed by a key that you "
                               "trust: --key FILE (or --unsigned, if you made "
                               "it yourself)");
        status =
            read_file(asking, invocation->operands[1], key, &priors, &diag);
    } else {
        fleet_limit(asking);
        const int code = fleet_connect(asking, &server);
        if (code != EXIT_DONE)
            return code;
        status = fleet_read(asking, &server, &priors, &diag);
        takt__fleet_disconnect(&server);
    }
    if (status == TAKT_OK) {
        const uint64_t read_ns = takt__now_ns() - began_ns;
        status = receive(asking, &priors, (double)read_ns * 1e-9, &diag);
        takt__fleet_priors_free(&priors);
    }
    return status == TAKT_OK ? EXIT_DONE : fleet_trouble(&diag, status);
}

/* ---- roll-up ---- */

static void print_roll_up(const struct fleet_asking *asking,
                          const struct takt_fleet_rollup *rollup)
{
    struct json json = json_begin(stdout);

    if (asking->is_json)
        json_print(&json,
                   "{origins:%zu pages:%zu refused:%zu classes:%zu "
                   "cells:%zu}\n",
                   rollup->origins, rollup->pages, rollup->refused,
                   rollup->classes, rollup->cells);
    else
        print_line(stdout,
                   "%zu machines, %zu pages (%zu refused): %zu classes, "
                   "%zu cells",
                   rollup->origins, rollup->pages, rollup->refused,
                   rollup->classes, rollup->cells);
}

static bool read_wishes(const struct fleet_asking *asking,
                        struct takt_fleet_rollup *out)
{
    size_t least = 5, days = 180;

    if (!read_count_option(asking->invocation, "least", 1000000, "from 5 to 1M",
                           &least) ||
        !read_count_option(asking->invocation, "days", 36500, "from 1 to 36500",
                           &days))
        return false;
    if (least < 5)
        return reject(&cmd_fleet, "--least: what fewer than 5 machines say "
                                  "is not published");
    if (option_given(asking->invocation, "output") !=
        (option_given(asking->invocation, "key") ||
         option_given(asking->invocation, "unsigned")))
        return reject(&cmd_fleet, "--output goes with --key or --unsigned");
    if (asking->invocation->operand_count > 1 &&
        !option_given(asking->invocation, "output"))
        return reject(&cmd_fleet, "a roll-up of files needs --output");
    *out = (struct takt_fleet_rollup){.least = (unsigned)least,
                                      .days = (unsigned)days};
    return true;
}

static takt_status publish(const struct fleet_asking *asking,
                           struct takt_fleet_server *server,
                           const struct takt_fleet_priors *priors,
                           takt_diag *diag)
{
    const char *path = option_value(asking->invocation, "output");
    takt_status status = takt__fleet_publish(server, priors, diag);

    if (status == TAKT_OK && path != NULL)
        status = takt__fleet_save_priors(
            priors, path, option_value(asking->invocation, "key"), diag);
    if (status == TAKT_OK && option_given(asking->invocation, "prune"))
        status = takt__fleet_prune(server, diag);
    return status;
}

/* ---- files instead of a database ---- */

/* The machine whose stores are named. False: what is wrong was said. */
static bool find_machine(struct fleet_asking *asking)
{
    const char *recording = option_value(asking->invocation, "machine");
    const takt_status status = takt_machine_create(recording, &asking->machine);

    if (status != TAKT_OK)
        return reject(&cmd_fleet, "'%s' is no recorded machine: %s", recording,
                      takt_status_text(status));
    takt__fleet_facts_of(asking->machine, recording == NULL,
                         &asking->member.facts);
    return true;
}

/* The first `count` are there; of one origin the latest stays. */
static size_t add_share(struct takt_fleet_share *list, size_t count,
                        const struct takt_fleet_share *share)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i].origin, share->origin) == 0) {
            struct takt_fleet_share older = *share;
            if (share->generation > list[i].generation) {
                older = list[i];
                list[i] = *share;
            }
            takt__fleet_share_free(&older);
            return count;
        }
    list[count] = *share;
    return count + 1;
}

static takt_status roll_up_files(struct fleet_asking *asking,
                                 struct takt_fleet_rollup *rollup,
                                 struct takt_fleet_priors *out, takt_diag *diag)
{
    const struct invocation *invocation = asking->invocation;
    struct takt_fleet_share list[max_operands], share;
    takt_status status = TAKT_OK;
    size_t count = 0;

    for (size_t i = 1; status == TAKT_OK && i < invocation->operand_count;
         i++) {
        status = takt__fleet_share_open(invocation->operands[i],
                                        asking->machine->hw_fingerprint,
                                        &asking->member.facts, &share, diag);
        if (status == TAKT_OK)
            count = add_share(list, count, &share);
    }
    if (status == TAKT_OK)
        status = takt__fleet_roll_up_shares(list, count, rollup, out, diag);
    for (size_t i = 0; i < count; i++)
        takt__fleet_share_free(&list[i]);
    return status;
}

static int roll_up_without_database(struct fleet_asking *asking,
                                    struct takt_fleet_rollup *rollup)
{
    struct takt_fleet_priors priors;
    takt_diag diag = {""};

    if (!find_machine(asking))
        return EXIT_USAGE;
    takt_status status = roll_up_files(asking, rollup, &priors, &diag);
    if (status == TAKT_OK) {
        status = takt__fleet_save_priors(
            &priors, option_value(asking->invocation, "output"),
            option_value(asking->invocation, "key"), &diag);
        takt__fleet_priors_free(&priors);
    }
    if (status != TAKT_OK)
        return fleet_trouble(&diag, status);
    print_roll_up(asking, rollup);
    return EXIT_DONE;
}

int fleet_export(struct fleet_asking *asking)
{
    struct takt_fleet_share share;
    takt_diag diag = {""};

    if (asking->invocation->operand_count < 2)
        return usage_error(&cmd_fleet, "export: to which FILE?");
    takt_status status =
        takt__fleet_share_open(asking->store, asking->member.machine,
                               &asking->member.facts, &share, &diag);
    if (status != TAKT_OK)
        return fleet_trouble(&diag, status);
    share.generation = (uint64_t)time(NULL);
    status =
        takt__fleet_share_save(&share, asking->invocation->operands[1], &diag);
    if (status == TAKT_OK)
        print_line(stdout, "wrote %zu lines (%zu cells)", share.pages.count,
                   share.pages.cells);
    takt__fleet_share_free(&share);
    return status == TAKT_OK ? EXIT_DONE : fleet_trouble(&diag, status);
}

int fleet_roll_up(struct fleet_asking *asking)
{
    struct takt_fleet_rollup rollup;
    struct takt_fleet_server server;
    struct takt_fleet_priors priors;
    takt_diag diag = {""};

    if (!read_wishes(asking, &rollup))
        return EXIT_USAGE;
    if (asking->invocation->operand_count > 1)
        return roll_up_without_database(asking, &rollup);
    const int code = fleet_connect(asking, &server);
    if (code != EXIT_DONE)
        return code;
    takt_status status = takt__fleet_roll_up(&server, &rollup, &priors, &diag);
    if (status == TAKT_OK) {
        status = publish(asking, &server, &priors, &diag);
        takt__fleet_priors_free(&priors);
    }
    takt__fleet_disconnect(&server);
    if (status != TAKT_OK)
        return fleet_trouble(&diag, status);
    print_roll_up(asking, &rollup);
    return EXIT_DONE;
}
