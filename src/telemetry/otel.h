/* SPDX-License-Identifier: MIT */
/* otel.h - finds the exporter, a library of its own, and loads it on demand. */
#pragma once

#include "takt/otlp.h"

/* As takt_otel_open() of that library, and
 * TAKT_ENOTSUP: it is not there, or of another version. */
takt_status takt__otel_open(const takt_otlp_options *options,
                            const takt_machine *machine, takt_sink *out,
                            takt_diag *diag);
