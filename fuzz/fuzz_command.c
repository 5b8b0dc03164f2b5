/* SPDX-License-Identifier: MIT */
/* fuzz_command.c - any line of words is parsed or refused with a reason. */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

static int nothing(const struct invocation *invocation)
{
    (void)invocation;
    return 0;
}

static const struct command probe = {
    .name = "probe",
    .operands = "[A] [B]",
    .summary = "",
    .description = "",
    .max_operands = 2,
    .takes_program = true,
    .options = {{"policy", "NAME", "moe|cost|heuristic", ""},
                {"bytes", "N", NULL, ""},
                {"json", NULL, NULL, ""}},
    .run = nothing,
};
const struct command *const commands[] = {&probe, NULL};

/* Zero bytes separate the words. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    char text[512];
    char *words[128];
    int count = 0;
    struct invocation invocation;
    static bool is_quiet; /* refusals are printed, a million times */

    if (length >= sizeof text)
        return 0;
    if (!is_quiet && freopen("/dev/null", "w", stderr) == NULL)
        abort();
    is_quiet = true;
    memcpy(text, bytes, length);
    text[length] = '\0';
    for (size_t at = 0; at <= length && count < 127;
         at += strlen(text + at) + 1)
        words[count++] = text + at;
    words[count] = NULL;
    if (parse_invocation(&probe, count, words, &invocation) &&
        invocation.operand_count > probe.max_operands)
        abort();
    return 0;
}
