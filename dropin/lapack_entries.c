/* SPDX-License-Identifier: MIT */
/*
 * lapack_entries.c - the exported names of LAPACK: Fortran's, as they are, with
 * integers of 64 bits, and with the prefix of the copies in NumPy's and SciPy's
 * wheels. LAPACKE calls these.
 */
#include "lapack.h"
#include "lapack_arguments.h"
#include "naming.h"

#define ENTRY __attribute__((visibility("default")))

#define NAME(name_, naming_, word_, type_, stem_, arguments_)              \
    ENTRY void name_(TAKT_ARGUMENTS(TAKT_PARAMETER, arguments_));          \
    void name_(TAKT_ARGUMENTS(TAKT_PARAMETER, arguments_))                 \
    {                                                                      \
        static struct takt_blas_entry entry = {.naming = &(naming_),       \
                                               .routine = #word_};         \
        void *const argument[] = {TAKT_ARGUMENTS(TAKT_VALUE, arguments_)}; \
        takt__lapack_run(&entry, __builtin_return_address(0),              \
                         TAKT_LAPACK_##stem_, type_, argument);            \
    }

#define NAMES(word_, ...)                                     \
    NAME(word_##_, fortran, word_, __VA_ARGS__)               \
    NAME(word_##_64_, fortran64, word_, __VA_ARGS__)          \
    NAME(scipy_##word_##_, fortran_scipy, word_, __VA_ARGS__) \
    NAME(scipy_##word_##_64_, fortran_scipy64, word_, __VA_ARGS__)

#define TAKT_LAPACK(stem_, arguments_, options_, work_, is_query_) \
    NAMES(s##stem_, TAKT_S, stem_, arguments_)                     \
    NAMES(d##stem_, TAKT_D, stem_, arguments_)
#include "lapack.def"
