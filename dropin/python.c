/* SPDX-License-Identifier: MIT */
/* python.c - finds Python's functions in the process. */
#include "python.h"

#include <dlfcn.h>
#include <string.h>

struct takt_python takt__python;

bool takt__python_find(const char *name, void *pointer, size_t size)
{
    void *found = dlsym(RTLD_DEFAULT, name);

    memcpy(pointer, &found, size);
    return found != NULL;
}

bool takt__python_open(void)
{
#define FIND(returns_, name_, parameters_) \
    &&takt__python_find(#name_, &takt__python.name_, sizeof takt__python.name_)
    return takt__python_find("_Py_NoneStruct", &takt__python.none,
                             sizeof takt__python.none)
        TAKT_PYTHON_FUNCTIONS(FIND);
#undef FIND
}
