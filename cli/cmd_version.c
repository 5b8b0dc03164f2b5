/* SPDX-License-Identifier: MIT */
/* cmd_version.c - `takt version`. */
#include <stdio.h>

#include <takt/version.h>

#include "commands.h"
#include "json.h"

static int run(const struct invocation *invocation)
{
    if (!option_given(invocation, "json")) {
        printf("takt %s\n", takt_version());
        return EXIT_DONE;
    }
    struct json json = json_begin(stdout);
    json_print(&json, "{version:%s}\n", takt_version());
    return EXIT_DONE;
}

const struct command cmd_version = {
    .name = "version",
    .operands = "",
    .summary = "print the version",
    .description = "Prints the version of the library that is running.",
    .options = {{"json", NULL, NULL, "print one JSON object"}},
    .examples = {"takt version"},
    .run = run,
};
