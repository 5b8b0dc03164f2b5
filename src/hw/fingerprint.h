/* SPDX-License-Identifier: MIT */
/*
 * fingerprint.h - when two machines, or two installations, are the same.
 *
 * A fingerprint is the SHA-256 of canonical "key=value\n" lines. Nothing in
 * it was measured, since a noisy virtual machine would be another one every
 * day; nothing is of the process (affinity and quotas limit which experts can
 * run, they do not make a new machine); and nothing names an owner.
 *
 * Any change to the lines makes every machine a new one: what was learned
 * then counts as a prior only.
 */
#pragma once

#include <stdbool.h>

#include <takt/machine.h>

#include "base/sha256.h"

/* Raised when samples of an older library no longer describe this one. */
enum { TAKT_ABI_VERSION = 1 };

/* What the software is; "" where there is none. Borrowed for the call. */
struct takt_sw_traits {
    const char *kernels;       /* hash of the kernel table */
    const char *driver;        /* of the GPU, "major.minor" */
    const char *vulkan_driver; /* Vulkan's driver id */
};

void takt__cpu_fingerprint(const takt_machine *machine,
                           char out[TAKT_SHA256_HEX]);
void takt__gpu_fingerprint(const takt_gpu *gpu, char out[TAKT_SHA256_HEX]);
void takt__sw_fingerprint(const struct takt_sw_traits *traits,
                          char out[TAKT_SHA256_HEX]);

/* Fills in every fingerprint of a probed machine. Those that depend on more
 * than the probe knows are made as if there were no driver and no kernels;
 * a caller that knows more makes them again. */
void takt__machine_fingerprint(takt_machine *machine);
