/* SPDX-License-Identifier: MIT */
/*
 * python.h - Python's stable interface, of 3.11 and later, and Takt.
 *
 * The module is for the main interpreter, and has one lock, Python's: whatever
 * it keeps is used while that is held.
 */
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdbool.h>
#include <stddef.h>

#include <takt/takt.h>

/* takt.Error. */
extern PyObject *takt_error;

/* Sets the exception that goes with a status; `text` says what was tried.
 * Returns NULL. */
PyObject *raise_status(takt_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Python's lock is released for calls of so many steps, which are the product
 * of its sizes. Fewer take no longer than getting it back may take. */
#define LEAST_RELEASED 4096.0
