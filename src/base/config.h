/* SPDX-License-Identifier: MIT */
/*
 * config.h - the settings that the environment makes, read once per process.
 *
 * Nothing else in the library reads the environment: getenv() on a thread of
 * ours would race with a setenv() of the program. A program with more rights
 * than its user (AT_SECURE: setuid, file capabilities) gets no setting at all.
 */
#pragma once

#include <stdbool.h>

struct takt_config {
    bool is_privileged; /* no setting is read, no library is loaded by name */
    const char *policy; /* TAKT_POLICY; NULL: not set */
    const char *expert; /* TAKT_EXPERT */
    const char *objective; /* TAKT_OBJECTIVE */
    const char *blas;      /* TAKT_BLAS; "" is a value */
    const char *db;        /* TAKT_DB; "" is a value */
    const char *pin;       /* TAKT_PIN */
    const char *gpu;       /* TAKT_GPU; "" is a value */
    const char *cuda;      /* TAKT_CUDA: the driver's file */
    const char *cublas;    /* TAKT_CUBLAS: a file; "": none is used */
    const char *cusolver;  /* TAKT_CUSOLVER: the same */
    const char *vulkan;    /* TAKT_VULKAN: the loader's file */
    const char *nvml;      /* TAKT_NVML: the file of NVIDIA's NVML */
    bool is_energy_asked;  /* TAKT_ENERGY */
    double exploration; /* TAKT_EXPLORE: a share; negative: none; 0: not set */
    const char *state_home, *home; /* XDG_STATE_HOME, HOME */
    const char *runtime_dir;       /* XDG_RUNTIME_DIR */
    unsigned threads;     /* TAKT_THREADS; 0: not set, or not a number > 0 */
    const char *trace;    /* TAKT_TRACE: a file, or "unix:" and a socket */
    const char *otel;     /* TAKT_OTEL: the file of the exporter */
    bool is_export_asked; /* a variable of OpenTelemetry's, or TAKT_OTLP_FILE */
    double trace_threshold_s; /* TAKT_TRACE_THRESHOLD_US; negative: not set */
    double trace_rate;        /* TAKT_TRACE_RATE; negative: not set */
    double hot_rate;          /* TAKT_HOT_RATE; negative: not set */
    bool is_tracing_all;      /* TAKT_TRACE_DEBUG is neither "" nor "0" */
    unsigned shutdown_ms;     /* TAKT_OTLP_SHUTDOWN_MS; 0: not set */
    const char *fleet;        /* TAKT_FLEET: a database */
    const char *fleet_tool;   /* TAKT_FLEET_TOOL: the file of takt */
    bool is_fleet_wrong;   /* no address, or no program: programs do not sync */
    double fleet_every_s;  /* TAKT_FLEET_EVERY; 0: programs do not sync */
    const char *variables; /* what was read, for a program that is started:
                            * each ended by a NUL, and an empty one */
};

/* The settings at the first call of this in the process; valid for good. What
 * makes no sense counts as not set, and is logged. */
const struct takt_config *takt__config(void);

/* Calls act(self) with "NAME=value" in the environment, unless NAME is set. For
 * libraries that read their settings only when they are loaded. Threads that
 * read the environment meanwhile see one list or the other; a variable that
 * another thread sets at this very moment may be lost. False: no memory, and
 * nothing was called. */
bool takt__config_lend(const char *variable, void (*act)(void *self),
                       void *self);
