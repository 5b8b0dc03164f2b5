/* SPDX-License-Identifier: MIT */
/* say.c - one line for people. */
#include "base/say.h"

#include <stdarg.h>
#include <stdio.h>

takt_status takt__say(takt_diag *diag, takt_status status, const char *format,
                      ...)
{
    va_list values;

    if (diag != NULL) {
        va_start(values, format);
        vsnprintf(diag->text, sizeof diag->text, format, values);
        va_end(values);
    }
    return status;
}
