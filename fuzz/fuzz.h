/* SPDX-License-Identifier: MIT */
/* fuzz.h - what every fuzz target defines; libFuzzer calls it. */
#ifndef TAKT_FUZZ_FUZZ_H
#define TAKT_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

#endif
