/* SPDX-License-Identifier: MIT */
/* symbols.c - asks the loader, and a library. */
#include "symbols.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loader.h"

/* ---- names --------------------------------------------------------------- */

/* The file names of all loaded objects, one after another, each with its end.
 */
struct names {
    char *text;
    size_t length, capacity;
};

static int add_name(struct dl_phdr_info *object, size_t size, void *self)
{
    struct names *names = self;
    const size_t length = strlen(object->dlpi_name) + 1;

    (void)size;
    if (length == 1) /* the program itself, which finds this library first */
        return 0;
    if (names->length + length > names->capacity) {
        const size_t capacity = 2 * (names->length + length) + 4096;
        char *text = realloc(names->text, capacity);
        if (text == NULL)
            return 1;
        names->text = text;
        names->capacity = capacity;
    }
    memcpy(names->text + names->length, object->dlpi_name, length);
    names->length += length;
    return 0;
}

const char *takt__file_of(const void *address)
{
    Dl_info found;

    return dladdr(address, &found) != 0 ? found.dli_fname : NULL;
}

const void *takt__base_of(const void *address)
{
    Dl_info found;

    return dladdr(address, &found) != 0 ? found.dli_fbase : NULL;
}

static bool is_ours(const void *address)
{
    static const char here;
    const void *base = takt__base_of(address);

    return base == NULL || base == takt__base_of(&here);
}

void *takt__find_in(void *handle, const char *name)
{
    void *found = dlsym(handle, name);

    return found == NULL || is_ours(found) ? NULL : found;
}

void *takt__find_in_file(const char *file, int flags, const char *name)
{
    void *handle =
        file == NULL ? NULL : takt__loader_open(file, RTLD_LAZY | flags);
    void *found = handle == NULL ? NULL : takt__find_in(handle, name);

    if (handle != NULL && (found == NULL || (flags & RTLD_NOLOAD) != 0))
        dlclose(handle);
    return found;
}

void *takt__find_in_loaded(const char *name)
{
    struct names names = {NULL, 0, 0};
    void *found = NULL;

    /* The list is made first: the callback must not call the loader. */
    dl_iterate_phdr(add_name, &names);
    for (size_t at = 0; at < names.length && found == NULL;
         at += strlen(names.text + at) + 1)
        found = takt__find_in_file(names.text + at, RTLD_NOLOAD, name);
    free(names.text);
    return found;
}

/* ---- integers ------------------------------------------------------------ */

/* LAPACK alone has nothing to ask: its file name must do. */
static bool has_wide_name(const char *path)
{
    static const char *const words[] = {"blas64", "blis64", "lapack64",
                                        "ilp64"};
    const char *file = strrchr(path, '/');
    bool is_wide = false;

    file = file == NULL ? path : file + 1;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        is_wide |= strstr(file, words[i]) != NULL;
    return is_wide;
}

/* Integers of 64 bits may be behind names without a suffix, in a file of any
 * name: Fedora has them in libopenblasp64.so.0, and what MKL's libmkl_rt.so has
 * is settled at run time. So the library, or that which LAPACK needs, is asked
 * for the largest of 3 elements. The count is 3 in its low half, and negative
 * as a whole: with 64 bits there is none. */
bool takt__has_wide_integers(const char *path, const struct takt_naming *naming)
{
    const int64_t count = INT64_MIN + 3, step = 1;
    const float x[3] = {1, 3, 2};
    int (*largest)(const void *, const float *, const void *);
    char name[48];

    if (naming->is_wide)
        return true;
    snprintf(name, sizeof name, naming->fortran, "isamax");
    void *found = takt__find_in_file(path, RTLD_NOLOAD, name);
    if (found == NULL)
        return has_wide_name(path);
    memcpy(&largest, &found, sizeof largest);
    return largest(&count, x, &step) != 2;
}
