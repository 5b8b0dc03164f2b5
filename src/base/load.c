/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* dl_iterate_phdr() */
#include "base/load.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>

/* The first object is the program itself. One that is not static names the
 * loader that it needs. */
static int look_at_program(struct dl_phdr_info *info, size_t size, void *self)
{
    bool *is_static = self;

    (void)size;
    *is_static = true;
    for (unsigned i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_INTERP)
            *is_static = false;
    return 1;
}

bool takt__is_static(void)
{
    bool is_static = false;

    dl_iterate_phdr(look_at_program, &is_static);
    return is_static;
}

void *takt__load(const char *file)
{
    return takt__is_static() ? NULL : dlopen(file, RTLD_NOW | RTLD_LOCAL);
}
