/* SPDX-License-Identifier: MIT */
/* otel.c - loads libtakt-otel.so. */
#define _GNU_SOURCE /* dladdr() */
#include "telemetry/otel.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "base/config.h"
#include "base/load.h"

static const char soname[] = "libtakt-otel.so.0";

typedef takt_status open_function(int version, const takt_otlp_options *options,
                                  const takt_machine *machine, takt_sink *out,
                                  takt_diag *diag);

/* It is installed beside the library that this is a part of; if that is linked
 * into a program, the system knows where. */
static void *load(void)
{
    const char *named = takt__config_read().otel;
    char path[4096];
    Dl_info self;

    if (named != NULL && named[0] != '\0')
        return takt__load(named);
    if (dladdr(soname, &self) != 0 && self.dli_fname != NULL) {
        const char *slash = strrchr(self.dli_fname, '/');
        const int length =
            slash == NULL ? 0 : (int)(slash - self.dli_fname + 1);
        const int used = snprintf(path, sizeof path, "%.*s%s", length,
                                  self.dli_fname, soname);
        void *library =
            length == 0 || used >= (int)sizeof path ? NULL : takt__load(path);
        if (library != NULL)
            return library;
    }
    return takt__load(soname);
}

/* Once loaded it stays: its threads and what it has registered with others
 * would outlive it. */
takt_status takt__otel_open(const takt_otlp_options *options,
                            const takt_machine *machine, takt_sink *out,
                            takt_diag *diag)
{
    open_function *open = NULL;
    void *library = load();
    void *found = library == NULL ? NULL : dlsym(library, "takt_otel_open");

    memcpy(&open, &found, sizeof found);
    if (open == NULL) {
        const char *why =
            takt__is_static() ? "a static program loads no library" : dlerror();
        snprintf(diag->text, sizeof diag->text,
                 "there is no exporter: %s (install libtakt-otel, or name the "
                 "file in TAKT_OTEL)",
                 why != NULL ? why : "it is not a library of Takt's");
        return TAKT_ENOTSUP;
    }
    return open(TAKT_OTEL_VERSION, options, machine, out, diag);
}
