/* SPDX-License-Identifier: MIT */
/* named.c - the baseline library that the user names. */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "loader.h"
#include "mode.h"
#include "stats_write.h"
#include "symbols.h"

/* As the library logs mistakes in settings: in a line, once. */
static void refuse(const char *library, const char *why)
{
    static atomic_flag was_said = ATOMIC_FLAG_INIT;
    const char *level = takt__mode_value("TAKT_LOG");
    char text[TAKT_STATS_TEXT];

    if (atomic_flag_test_and_set(&was_said))
        return;
    snprintf(text, sizeof text, "TAKT_RUN_LIBRARY=%.200s is not used: %s",
             library, why != NULL ? why : "it cannot be loaded");
    takt__stats_trouble(text);
    if (level == NULL || strcmp(level, "off") != 0)
        fprintf(stderr, "takt: %s\n", text);
}

/* In any naming; one of LAPACK alone needs one that has it. */
static bool is_blas(void *handle)
{
    static const char *const names[] = {"dgemm_",
                                        "sgemm_",
                                        "cblas_dgemm",
                                        "cblas_sgemm",
                                        "dgemm_64_",
                                        "cblas_dgemm64_",
                                        "cblas_dgemm_64",
                                        "scipy_dgemm_",
                                        "scipy_cblas_dgemm",
                                        "scipy_dgemm_64_",
                                        "scipy_cblas_dgemm64_"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (takt__find_in(handle, names[i]) != NULL)
            return true;
    return false;
}

void *takt__find_named(const char *name, const void *own,
                       const struct takt_naming *naming)
{
    const char *library = takt__mode_value("TAKT_RUN_LIBRARY");

    if (library == NULL || library[0] == '\0')
        return NULL;
    void *handle = takt__loader_open(library, RTLD_LAZY);
    if (handle == NULL) {
        refuse(library, dlerror());
        return NULL;
    }
    void *found = takt__find_in(handle, name);
    if (found == NULL) {
        if (!is_blas(handle))
            refuse(library, "it has no BLAS");
        dlclose(handle);
        return NULL;
    }
    if (own == NULL || takt__has_wide_integers(takt__file_of(found), naming) ==
                           takt__has_wide_integers(takt__file_of(own), naming))
        return found;
    refuse(library, "its integers are wider or narrower than those of the "
                    "program's own");
    return NULL;
}
