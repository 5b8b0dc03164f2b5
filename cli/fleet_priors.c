/* SPDX-License-Identifier: MIT */
/* fleet_priors.c - `takt fleet pull` and `takt fleet roll-up`. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/say.h"
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

/* A file that was signed once stays signed: who hands it out must not be able
 * to bring back an old one. */
static takt_status check_age(const struct fleet_asking *asking,
                             const struct takt_fleet_priors *priors,
                             struct takt_fleet_state *state, takt_diag *diag)
{
    if (priors->signer[0] == '\0')
        return TAKT_OK;
    if (strcmp(priors->signer, state->signer) == 0 &&
        priors->generation < state->signed_generation &&
        !option_given(asking->invocation, "older"))
        return takt__say(diag, TAKT_EINVAL,
                         "it is older (generation %ju) than the file that was "
                         "pulled before (%ju): --older, if that is meant",
                         (uintmax_t)priors->generation,
                         (uintmax_t)state->signed_generation);
    memcpy(state->signer, priors->signer, sizeof state->signer);
    state->signed_generation = priors->generation;
    return TAKT_OK;
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
    if (state.origin[0] == '\0')
        status = takt__fleet_state_renew(&state);
    if (status == TAKT_OK)
        status = check_age(asking, priors, &state, diag);
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

static takt_status read_database(const struct fleet_asking *asking,
                                 struct takt_fleet_server *server,
                                 struct takt_fleet_priors *out, takt_diag *diag)
{
    const takt_status status = takt__fleet_read_priors(
        server, asking->machine, &asking->member.facts, out, diag);

    takt__fleet_disconnect(server);
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
        if (key == NULL)
            return usage_error(&cmd_fleet, "a file must be signed by a key "
                                           "that you trust: --key FILE");
        status = takt__fleet_open_priors(invocation->operands[1], key, &priors,
                                         &diag);
    } else {
        const int code = fleet_connect(asking, &server);
        if (code != EXIT_DONE)
            return code;
        status = read_database(asking, &server, &priors, &diag);
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
        option_given(asking->invocation, "key"))
        return reject(&cmd_fleet, "--output and --key go together");
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

int fleet_roll_up(struct fleet_asking *asking)
{
    struct takt_fleet_rollup rollup;
    struct takt_fleet_server server;
    struct takt_fleet_priors priors;
    takt_diag diag = {""};

    if (!read_wishes(asking, &rollup))
        return EXIT_USAGE;
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
