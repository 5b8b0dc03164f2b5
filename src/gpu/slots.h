/* SPDX-License-Identifier: MIT */
/*
 * slots.h - the pinned memory of a device: slots for staged transfers, and
 * small buffers.
 */
#pragma once

#include "gpu/device.h"

/* Pinned memory for a device that was just started, and its end. With the lock
 * of the device. */
takt_status takt__stage_open(struct takt_device *device);
void takt__stage_close(struct takt_device *device);

/* A small buffer: pinned memory of TAKT_SMALL_BYTES that kernels reach where it
 * is, for operands that are not worth staging. -1: all are in use. */
int takt__small_take(struct takt_device *device);
void takt__small_give(struct takt_device *device, int index);
struct takt_location takt__small_location(struct takt_device *device,
                                          int index);
