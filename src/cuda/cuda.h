/* SPDX-License-Identifier: MIT */
/* cuda.h - NVIDIA GPUs, through the driver alone. */
#pragma once

#include "gpu/device.h"

extern const struct takt_driver takt__cuda_driver;

/* Loads the driver, which takes a while, and counts the devices that this
 * process may use. 0: none, and `problem` says why in one line. */
unsigned takt__cuda_count(char *problem, size_t size);
