/* SPDX-License-Identifier: MIT */
/* config.c - the environment variables, in one place. */
#include "base/config.h"

#include <limits.h>
#include <stdlib.h>

/* A wrong number is as good as none: a library has nobody to complain to. */
static unsigned read_count(const char *text)
{
    char *end;

    if (text == NULL || *text < '0' || *text > '9')
        return 0;
    const unsigned long value = strtoul(text, &end, 10);
    return *end == '\0' && value <= UINT_MAX ? (unsigned)value : 0;
}

struct takt_config takt__config_read(void)
{
    return (struct takt_config){
        .policy = getenv("TAKT_POLICY"),
        .expert = getenv("TAKT_EXPERT"),
        .blas = getenv("TAKT_BLAS"),
        .threads = read_count(getenv("TAKT_THREADS")),
    };
}
