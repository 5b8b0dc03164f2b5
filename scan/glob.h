/* SPDX-License-Identifier: MIT */
/*
 * glob.h - names and paths against patterns as .gitignore has them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct takt_span {
    const char *at;
    size_t size;
};

/* One name, without slashes: * ? [a-z] [!a-z] [[:alpha:]] and \ for the next
 * character itself. What is not well formed fits nothing. */
bool takt__glob_name(struct takt_span pattern, struct takt_span name);

/* Names between slashes, each by its pattern; ** stands for any number of
 * names, and for at least one at the end. */
bool takt__glob_path(struct takt_span pattern, struct takt_span path);
