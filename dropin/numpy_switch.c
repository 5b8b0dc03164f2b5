/* SPDX-License-Identifier: MIT */
/*
 * numpy_switch.c - NumPy's loops in a program that was not started by
 * `takt run`: the Python module opens this library and calls these, with
 * Python's lock. The names of BLAS stay those of the program.
 */
#include "loop.h"
#include "mode.h"
#include "numpy.h"

#define SHOWN __attribute__((visibility("default")))

/* No library stands behind the loops: the context has the threads that the
 * environment leaves to libraries. */
static const struct takt_baseline none = {.name = "numpy"};

SHOWN int takt_numpy_enable(void);
SHOWN void takt_numpy_disable(void);

/* 0: NumPy is not imported, or its loops cannot be replaced. */
int takt_numpy_enable(void)
{
    takt__mode_read();
    const struct takt_baseline *library = takt__numpy_install(&none);
    if (library != NULL)
        takt__loops_open(library);
    return library != NULL;
}

/* Our functions stay in NumPy, and run every loop whole. */
void takt_numpy_disable(void)
{
    takt__loops_open(NULL);
}
