/* SPDX-License-Identifier: MIT */
/* marker.c - a library that leaves a file beside itself when it is loaded. */
#define _GNU_SOURCE /* dladdr() */
#include <dlfcn.h>
#include <stdio.h>

__attribute__((constructor)) static void leave_a_mark(void)
{
    static const char here;
    char path[4096];
    Dl_info self;

    if (dladdr(&here, &self) == 0)
        return;
    snprintf(path, sizeof path, "%s.loaded", self.dli_fname);
    FILE *file = fopen(path, "w");
    if (file != NULL)
        fclose(file);
}
