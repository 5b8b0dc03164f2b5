/* SPDX-License-Identifier: MIT */
/* machine.h - the GPUs in what `takt machine` shows. */
#ifndef TAKT_CLI_MACHINE_H
#define TAKT_CLI_MACHINE_H

#include <stdbool.h>
#include <stdio.h>

#include <takt/takt.h>

#include "json.h"

/* "139.8 GiB" after a label. */
void print_bytes(const char *label, double bytes);

/* `is_live`: the GPUs of this machine, which are open if they can be; else
 * those that a recording has. */
void print_gpus(takt_ctx *ctx, bool is_live);
void print_gpus_json(struct json *json, takt_ctx *ctx, bool is_live);

#endif
