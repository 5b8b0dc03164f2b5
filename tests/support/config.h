/* SPDX-License-Identifier: MIT */
/*
 * config.h - the settings of the environment, for tests to change.
 *
 * A process reads its environment once. A test that needs several settings in
 * one process writes them where they were read to.
 */
#pragma once

#include "base/config.h"

/* For leak checkers, which would find its texts lost: nobody else reads it. */
__attribute__((used)) static struct takt_config test_config_as_read;

static inline struct takt_config *test_config(void)
{
    static bool is_kept;

    if (!is_kept)
        test_config_as_read = *takt__config();
    is_kept = true;
    return (struct takt_config *)takt__config();
}
