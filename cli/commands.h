/* SPDX-License-Identifier: MIT */
/* commands.h - the commands there are, one file each. */
#pragma once

#include "command.h"

/* In the order of takt_policy. */
#define policy_choice "adaptive|moe|cost|heuristic"

extern const struct command cmd_machine;
extern const struct command cmd_doctor;
extern const struct command cmd_tune;
extern const struct command cmd_map;
extern const struct command cmd_report;
extern const struct command cmd_select;
extern const struct command cmd_explain;
extern const struct command cmd_history;
extern const struct command cmd_trace;
extern const struct command cmd_top;
extern const struct command cmd_run;
extern const struct command cmd_recommend;
extern const struct command cmd_bench;
extern const struct command cmd_analyze;
extern const struct command cmd_optimize;
extern const struct command cmd_fleet;
extern const struct command cmd_validate;
extern const struct command cmd_build;
extern const struct command cmd_status;
extern const struct command cmd_reset;
extern const struct command cmd_version;
extern const struct command cmd_help;
extern const struct command cmd_completion;
