/* SPDX-License-Identifier: MIT */
/* library.c - loads shared libraries at run time. */
#include "base/library.h"

#include <dlfcn.h>
#include <stddef.h>

#include "base/config.h"

static _Thread_local const char *problem;

void *takt__library_open(const char *file)
{
    if (takt__config()->is_privileged && file[0] != '/') {
        problem = "this program has more rights than its user (setuid or "
                  "capabilities): libraries are not searched for by name";
        return NULL;
    }
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    problem = library == NULL ? dlerror() : NULL;
    return library;
}

const char *takt__library_problem(void)
{
    return problem != NULL ? problem : "it cannot be loaded";
}
