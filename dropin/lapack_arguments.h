/* SPDX-License-Identifier: MIT */
/*
 * lapack_arguments.h - lists of as many arguments as routines of LAPACK have,
 * for lapack.def: TAKT_ARGUMENTS(use_, count_) is use_(0), ..., use_(count_-1).
 */
#pragma once

#define TAKT_ARGUMENTS(use_, count_) TAKT_ARGUMENTS_##count_(use_)

#define TAKT_ARGUMENTS_5(use_) use_(0), use_(1), use_(2), use_(3), use_(4)
#define TAKT_ARGUMENTS_6(use_) TAKT_ARGUMENTS_5(use_), use_(5)
#define TAKT_ARGUMENTS_7(use_) TAKT_ARGUMENTS_6(use_), use_(6)
#define TAKT_ARGUMENTS_8(use_) TAKT_ARGUMENTS_7(use_), use_(7)
#define TAKT_ARGUMENTS_9(use_) TAKT_ARGUMENTS_8(use_), use_(8)
#define TAKT_ARGUMENTS_10(use_) TAKT_ARGUMENTS_9(use_), use_(9)
#define TAKT_ARGUMENTS_11(use_) TAKT_ARGUMENTS_10(use_), use_(10)
#define TAKT_ARGUMENTS_13(use_) TAKT_ARGUMENTS_11(use_), use_(11), use_(12)
#define TAKT_ARGUMENTS_14(use_) TAKT_ARGUMENTS_13(use_), use_(13)
#define TAKT_ARGUMENTS_21(use_)                                                \
    TAKT_ARGUMENTS_14(use_), use_(14), use_(15), use_(16), use_(17), use_(18), \
        use_(19), use_(20)

/* The lengths of options, behind the arguments. */
#define TAKT_LENGTHS_0(use_)
#define TAKT_LENGTHS_1(use_) , use_(0)
#define TAKT_LENGTHS_2(use_) , use_(0), use_(1)
#define TAKT_LENGTHS_3(use_) , use_(0), use_(1), use_(2)
#define TAKT_LENGTHS(use_, count_) TAKT_LENGTHS_##count_(use_)

/* Uses: parameters, their types, their values. */
#define TAKT_PARAMETER(i_) void *a##i_
#define TAKT_LENGTH_PARAMETER(i_) size_t l##i_
#define TAKT_VALUE(i_) a##i_
#define TAKT_TYPE(i_) void *
#define TAKT_LENGTH_TYPE(i_) size_t
