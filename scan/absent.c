/* SPDX-License-Identifier: MIT */
/*
 * absent.c - what a build without tree-sitter says.
 */
#include "scan.h"

#include <stdio.h>

takt_status takt__scan(const struct takt_scan_options *options,
                       struct takt_scan_report *report, takt_diag *diag)
{
    (void)options;
    *report = (struct takt_scan_report){0};
    if (diag != NULL)
        snprintf(diag->text, sizeof diag->text,
                 "this build cannot read source code: it was made on a machine "
                 "without npm, which brings the parsers");
    return TAKT_ENOTSUP;
}
