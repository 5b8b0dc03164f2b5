/* SPDX-License-Identifier: MIT */
/*
 * options.c - AddressSanitizer, set for many short runs.
 *
 * What a run frees stays poisoned for the rest of it: none frees nearly as much
 * as the quarantine holds. A larger one costs fresh pages for every run. Of the
 * stacks that are kept with each block only the caller is: to see all of them,
 * run the input again with ASAN_OPTIONS=malloc_context_size=30.
 */
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
    return "quarantine_size_mb=16:malloc_context_size=2";
}
