/* SPDX-License-Identifier: MIT */
/* vulkan.h - every GPU that computes through Vulkan 1.1. */
#pragma once

#include "gpu/device.h"

extern const struct takt_driver takt__vulkan_driver;

/* Loads the Vulkan library, which takes a while, and counts the devices that
 * compute. 0: none, and `problem` says why in one line. */
unsigned takt__vulkan_count(char *problem, size_t size);
