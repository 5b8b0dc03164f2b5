/* SPDX-License-Identifier: MIT */
/* doctor_outside.c - where events go, the fleet, and the library of takt run.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/config.h"
#include "base/library.h"
#include "doctor.h"
#include "fleet/sync.h"
#include "run.h"

/* Whether a collector has neither taken nor refused what was sent. */
static bool is_waiting(const takt_sink_report *sink)
{
    return strstr(sink->problem, "has not answered yet") != NULL;
}

/* A collector that is far away is slower than programs wait for it. */
static bool read_telemetry(takt_ctx *ctx, takt_telemetry *out)
{
    enum { tries = 6 };
    bool waits = true;

    *out = (takt_telemetry){.size = sizeof *out};
    for (int i = 0; i < tries && waits; i++) {
        takt_ctx_flush(ctx);
        if (takt_ctx_telemetry(ctx, out) != TAKT_OK)
            return false;
        waits = false;
        for (size_t k = 0; k < out->sink_count; k++)
            waits = waits || is_waiting(&out->sink[k]);
    }
    return true;
}

/* One call is traced, to see whether it gets where the environment says. */
void doctor_check_telemetry(struct diagnosis *report, takt_ctx *ctx)
{
    static const takt_trace_options all = {.threshold_s = -1,
                                           .is_debugging = 1};
    takt_telemetry telemetry;
    float x[64] = {0};

    takt_ctx_trace(ctx, &all);
    takt_add_f32(64, x, x, x);
    if (!read_telemetry(ctx, &telemetry))
        return;
    for (size_t i = 0; i < telemetry.sink_count; i++) {
        const takt_sink_report *sink = &telemetry.sink[i];
        if (sink->problem[0] != '\0' && doctor_has(report, sink->problem))
            continue; /* the library has logged it */
        if (sink->problem[0] != '\0' || sink->failed > 0)
            doctor_add(report, "telemetry", STATE_PROBLEM, "%s: %s", sink->name,
                       sink->problem);
        else
            doctor_add(report, "telemetry", STATE_OK,
                       "%s: a call was delivered", sink->name);
    }
    if (telemetry.sink_count == 0)
        doctor_add(report, "telemetry", STATE_OK, "none is set up");
}

/* Does not wait for a pipe. False: errno is 0 where it is too short. */
static bool read_header(const char *path, Elf64_Ehdr *out)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

    if (fd < 0)
        return false;
    errno = 0;
    const bool is_read = read(fd, out, sizeof *out) == (ssize_t)sizeof *out;
    const int wrong = errno;
    close(fd);
    errno = wrong;
    return is_read;
}

/* What keeps the loader from a library; NULL: nothing that can be seen without
 * loading it, which would run its code. */
static const char *library_fault(const char *path)
{
    Elf64_Ehdr header, own;

    if (!read_header(path, &header))
        return errno != 0 ? strerror(errno) : "it is too short for a library";
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_type != ET_DYN)
        return "it is not a shared library";
    if (read_header("/proc/self/exe", &own) &&
        (header.e_ident[EI_CLASS] != own.e_ident[EI_CLASS] ||
         header.e_machine != own.e_machine))
        return "it is a library for another processor";
    return NULL;
}

/* Libraries that do nothing here are not missed by anything else. */
void doctor_check_names(struct diagnosis *report)
{
    static const char *const names[] = {"TAKT_OTEL", "TAKT_CUBLAS",
                                        "TAKT_CUSOLVER"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *file = getenv(names[i]);
        const char *fault = file != NULL && strchr(file, '/') != NULL
                                ? library_fault(file)
                                : NULL;
        if (fault != NULL && !doctor_has(report, file))
            doctor_add(report, "settings", STATE_PROBLEM,
                       "%s=%s cannot be used: %s", names[i], file, fault);
    }
}

/* It is loaded, as programs do, if a BLAS could be: OpenBLAS waits for ever for
 * memory that it may not have. */
static const char *blas_fault(const char *file, const takt_ctx *ctx)
{
    static const char *const names[] = {"dgemm_",
                                        "cblas_dgemm",
                                        "dgemm_64_",
                                        "cblas_dgemm64_",
                                        "cblas_dgemm_64",
                                        "scipy_dgemm_",
                                        "scipy_cblas_dgemm",
                                        "scipy_dgemm_64_",
                                        "scipy_cblas_dgemm64_"};
    const char *fault = strchr(file, '/') != NULL ? library_fault(file) : NULL;
    void *function;

    if (fault != NULL || takt_ctx_library(ctx, 0) == NULL)
        return fault;
    void *library = takt__library_open(file);
    if (library == NULL)
        return takt__library_problem();
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (takt__library_find(library, names[i], &function))
            return NULL;
    return "it has no BLAS";
}

static void check_baseline(struct diagnosis *report, const takt_ctx *ctx)
{
    const char *library = getenv("TAKT_RUN_LIBRARY");
    const char *fault =
        library != NULL && library[0] != '\0' ? blas_fault(library, ctx) : NULL;

    if (fault != NULL)
        doctor_add(report, "takt run", STATE_PROBLEM,
                   "TAKT_RUN_LIBRARY '%s': %s", library, fault);
}

void doctor_check_run(struct diagnosis *report, const takt_ctx *ctx)
{
    char reason[reason_size];
    char *path = find_preload_library(reason);

    check_baseline(report, ctx);
    const char *fault = path == NULL                  ? reason
                        : library_fault(path) != NULL ? library_fault(path)
                        : !is_preload_library(path)   ? "it is another library"
                                                      : NULL;
    if (fault == NULL)
        doctor_add(report, "takt run", STATE_OK, "%s", path);
    else if (path != NULL)
        doctor_add(
            report, "takt run", STATE_PROBLEM,
            "'%s': %s; set TAKT_RUN_PRELOAD to libtakt-blas.so, or unset it",
            path, fault);
    else
        doctor_add(report, "takt run", STATE_PROBLEM, "%s", reason);
    free(path);
}

/* What programs would do about the fleet; doctor connects to nothing. */
void doctor_check_fleet(struct diagnosis *report)
{
    const struct takt_config *config = takt__config();
    char store[1024];

    takt_store_path(store, sizeof store);
    if (config->fleet == NULL || config->fleet[0] == '\0') {
        doctor_add(report, "fleet", STATE_OK,
                   "none: TAKT_FLEET is not set, programs share nothing");
        return;
    }
    if (config->is_fleet_wrong)
        return; /* which was logged */
    if (config->fleet_every_s <= 0 || store[0] == '\0') {
        doctor_add(report, "fleet", STATE_NOTE,
                   "TAKT_FLEET is set, but programs do not sync: %s",
                   store[0] == '\0'
                       ? "there is no store (TAKT_DB)"
                       : "TAKT_FLEET_EVERY is 0; use 'takt fleet sync'");
        return;
    }
    const struct takt_turn turn =
        takt__fleet_look(store, config->fleet_every_s);
    if (turn.wrong != 0) {
        /* Another user's programs may sync a store that several users have. */
        doctor_add(report, "fleet",
                   turn.wrong == EACCES ? STATE_NOTE : STATE_PROBLEM,
                   "programs do not sync: %s-fleet-lock: %s; remove it, or use "
                   "another store (TAKT_DB)",
                   store, strerror(turn.wrong));
        return;
    }
    doctor_add(
        report, "fleet", STATE_OK,
        "programs have %s synced, once in %.0f s at most; the next one %s",
        store, config->fleet_every_s,
        turn.is_now ? "is due" : "is not due yet");
    if (turn.said[0] != '\0')
        doctor_add(report, "fleet", STATE_NOTE,
                   "the last sync failed: %s ('takt fleet sync' tries it now)",
                   turn.said);
}
