/* SPDX-License-Identifier: MIT */
/* fuzz.h - what every fuzz target defines; libFuzzer calls it. */
#pragma once

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);
