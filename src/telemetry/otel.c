/* SPDX-License-Identifier: MIT */
/* otel.c - loads libtakt-otel.so. */
#define _GNU_SOURCE /* dladdr1() */
#include "telemetry/otel.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "base/config.h"
#include "base/library.h"
#include "base/loading.h"
#include "base/log.h"

static const char soname[] = "libtakt-otel.so." TAKT_SOVERSION;

typedef takt_status open_function(int version, const takt_otlp_options *options,
                                  const takt_machine *machine, takt_sink *out,
                                  takt_diag *diag);

/* Beside the shared library that this is a part of, if that was loaded by an
 * absolute path. If this is linked into a program, the system has to find it:
 * the name of a program is what its caller says, and a relative path means
 * another file in every folder. */
static void *load_beside(void)
{
    char path[4096];
    struct link_map *self = NULL;
    Dl_info facts;

    if (dladdr1(soname, &facts, (void **)&self, RTLD_DL_LINKMAP) == 0 ||
        self == NULL || self->l_name == NULL || self->l_name[0] != '/')
        return NULL;
    const int folder = (int)(strrchr(self->l_name, '/') - self->l_name) + 1;
    const int used =
        snprintf(path, sizeof path, "%.*s%s", folder, self->l_name, soname);
    return used < (int)sizeof path ? takt__library_open(path) : NULL;
}

static void *load(void)
{
    const char *named = takt__config()->otel;

    if (named != NULL && named[0] != '\0')
        return takt__library_open(named);
    void *library = load_beside();
    return library != NULL ? library : takt__library_open(soname);
}

static void log_problem(const char *text)
{
    takt__log(TAKT_LOG_ERROR, "telemetry: %s", text);
}

/* An exporter that TAKT_OTEL names may be without it. */
static void watch(void *library, const takt_sink *sink)
{
    void (*set)(const takt_sink *sink, takt_otel_problem *problem) = NULL;

    if (takt__library_find(library, "takt_otel_watch", &set))
        set(sink, log_problem);
}

static takt_status open_exporter(const takt_otlp_options *options,
                                 const takt_machine *machine, takt_sink *out,
                                 takt_diag *diag)
{
    open_function *open = NULL;
    void *library = load();

    if (!takt__library_find(library, "takt_otel_open", &open)) {
        snprintf(diag->text, sizeof diag->text, "there is no exporter: %s%s",
                 library == NULL ? takt__library_problem()
                                 : "it is not a library of Takt's",
                 takt__is_static() ? ""
                                   : " (install libtakt-otel, or name the file "
                                     "in TAKT_OTEL)");
        return TAKT_ENOTSUP;
    }
    const takt_status status =
        open(TAKT_OTEL_VERSION, options, machine, out, diag);
    if (status == TAKT_OK)
        watch(library, out);
    return status;
}

/* Once loaded it stays: its threads and what it has registered with others
 * would outlive it. The libraries that it needs have destructors, too. */
takt_status takt__otel_open(const takt_otlp_options *options,
                            const takt_machine *machine, takt_sink *out,
                            takt_diag *diag)
{
    takt_status status = TAKT_ENOTSUP;

    takt__loading_begin();
    const char *problem = takt__loading_problem();
    if (problem != NULL)
        snprintf(diag->text, sizeof diag->text, "%s", problem);
    else
        status = open_exporter(options, machine, out, diag);
    takt__loading_end();
    return status;
}
