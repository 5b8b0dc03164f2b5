/* SPDX-License-Identifier: MIT */
/* version.c - the version of the running library. */
#include "takt/version.h"

const char *takt_version(void)
{
    return TAKT_VERSION_STRING;
}
