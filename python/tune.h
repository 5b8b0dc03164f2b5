/* SPDX-License-Identifier: MIT */
/* tune.h - tuning, from Python. */
#pragma once

#include "python.h"

extern PyMethodDef tune_methods[];
