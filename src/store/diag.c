/* SPDX-License-Identifier: MIT */
/* diag.c - one line for people. */
#include "store/diag.h"

#include <stdarg.h>
#include <stdio.h>

void takt__diag_say(takt_diag *diag, const char *format, ...)
{
    va_list values;

    if (diag == NULL)
        return;
    va_start(values, format);
    vsnprintf(diag->text, sizeof diag->text, format, values);
    va_end(values);
}
