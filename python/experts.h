/* SPDX-License-Identifier: MIT */
/*
 * experts.h - experts that are written in Python, and ops of the user's own.
 *
 * An expert of an op of the catalogue is called as the function of that op is,
 * with arrays of the call's memory and `out`. It must not keep them. An expert
 * of a user's op gets the very arguments of the caller. What an expert raises
 * is raised by the call; NotImplemented lets another expert run it.
 */
#pragma once

#include "python.h"

extern PyMethodDef expert_methods[];
