/* SPDX-License-Identifier: MIT */
/* doctor.h - the parts of `takt doctor`. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <takt/takt.h>

enum state { STATE_OK, STATE_NOTE, STATE_PROBLEM };

enum { most_findings = 128 };

struct finding {
    const char *area;
    enum state state;
    char text[1024];
};

/* In the order in which they were found. */
struct diagnosis {
    struct finding finding[most_findings];
    size_t count, problems;
};

/* From any thread. */
void doctor_add(struct diagnosis *report, const char *area, enum state state,
                const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Whether a finding has this text in it. */
bool doctor_has(const struct diagnosis *report, const char *text);

/* ---- doctor_outside.c: what is set up beside the library ---- */

void doctor_check_telemetry(struct diagnosis *report, takt_ctx *ctx);
void doctor_check_fleet(struct diagnosis *report);
void doctor_check_names(struct diagnosis *report);
void doctor_check_run(struct diagnosis *report, const takt_ctx *ctx);
