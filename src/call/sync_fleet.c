/* SPDX-License-Identifier: MIT */
/*
 * sync_fleet.c - when to sync, and with which tool.
 *
 * A program must not be held up by a server, nor get libpq and OpenSSL loaded
 * into it, so the tool does it (docs/decisions/0069).
 */
#define _GNU_SOURCE /* dladdr1() */
#include "call/sync_fleet.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/config.h"
#include "base/detached.h"
#include "base/log.h"
#include "store/path.h"
#include "store/turn.h"

enum { longest_sync_s = 120, most_variables = 1024 };

/* Where the tool is, seen from the folder of the library: installed, and in a
 * build. */
static const char *const places[] = {TAKT_TOOL_FROM_LIBRARY, "cli/takt"};

/* ---- the tool ------------------------------------------------------------ */

/* The folder of this library, with its slash; 0: it is a part of the program,
 * or was loaded by a relative path. */
static int find_folder(char out[PATH_MAX])
{
    struct link_map *self = NULL;
    Dl_info facts;

    if (dladdr1((const void *)places, &facts, (void **)&self,
                RTLD_DL_LINKMAP) == 0 ||
        self == NULL || self->l_name == NULL || self->l_name[0] != '/' ||
        strlen(self->l_name) >= PATH_MAX)
        return 0;
    strcpy(out, self->l_name);
    return (int)(strrchr(out, '/') - out) + 1;
}

bool takt__fleet_sync_tool(char out[PATH_MAX])
{
    const char *named = takt__config()->fleet_tool;
    char library[PATH_MAX];

    if (named != NULL && named[0] != '\0')
        return snprintf(out, PATH_MAX, "%s", named) < PATH_MAX;
    const int folder = find_folder(library);
    for (size_t i = 0; folder > 0 && i < sizeof places / sizeof *places; i++)
        if (snprintf(out, PATH_MAX, "%.*s%s", folder, library, places[i]) <
                PATH_MAX &&
            access(out, X_OK) == 0)
            return true;
    return false;
}

/* ---- a sync -------------------------------------------------------------- */

/* The variables as they were when the program began to use Takt. */
static void list_variables(const char *list[most_variables + 1])
{
    size_t count = 0;

    for (const char *at = takt__config()->variables;
         *at != '\0' && count < most_variables; at += strlen(at) + 1)
        list[count++] = at;
    list[count] = NULL;
}

static void sync_now(const struct takt_fleet_sync *sync)
{
    char tool[PATH_MAX];
    const char *const argv[] = {"takt", "fleet",     "sync",
                                "--db", sync->store, NULL};
    const char *envp[most_variables + 1];
    const struct takt_detached what = {
        .path = tool, .argv = argv, .envp = envp, .limit_s = longest_sync_s};
    int error;

    if (!takt__fleet_sync_tool(tool)) {
        /* (not for takt itself, which is linked with what a program loads) */
        takt__log(find_folder(tool) > 0 ? TAKT_LOG_ERROR : TAKT_LOG_INFO,
                  "TAKT_FLEET is set, but there is no takt beside this library "
                  "to sync with: TAKT_FLEET_TOOL may name it, by an absolute "
                  "path");
        return;
    }
    list_variables(envp);
    if (takt__start_detached(&what, &error))
        takt__log(TAKT_LOG_INFO, "%s syncs %s with its fleet", tool,
                  sync->store);
    else
        takt__log(TAKT_LOG_INFO, "%s could not be started: %s", tool,
                  strerror(error));
}

/* ---- when ---------------------------------------------------------------- */

void takt__fleet_sync_start(struct takt_fleet_sync *sync, const char *store)
{
    const struct takt_config *config = takt__config();

    *sync = (struct takt_fleet_sync){0};
    if (config->fleet == NULL || config->fleet[0] == '\0' ||
        config->fleet_every_s <= 0 || store[0] == '\0' ||
        config->is_fleet_wrong)
        return;
    sync->store = takt__path_resolve(store);
}

void takt__fleet_sync_end(struct takt_fleet_sync *sync)
{
    free(sync->store);
    sync->store = NULL;
}

void takt__fleet_sync_look(struct takt_fleet_sync *sync)
{
    const uint64_t now_ns = takt__now_ns();

    if (sync->store == NULL || now_ns < sync->next_look_ns)
        return;
    const struct takt_turn turn =
        takt__turn_look(sync->store, takt__config()->fleet_every_s, true);
    sync->next_look_ns = now_ns + (uint64_t)(turn.wait_s * 1e9);
    if (turn.wrong != 0)
        takt__log(TAKT_LOG_INFO, "%s-fleet-lock cannot be used: %s",
                  sync->store, strerror(turn.wrong));
    if (turn.said[0] != '\0')
        takt__log(TAKT_LOG_INFO, "the last sync with the fleet failed: %s",
                  turn.said);
    if (turn.is_now)
        sync_now(sync);
}
