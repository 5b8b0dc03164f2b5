/* SPDX-License-Identifier: MIT */
/* fetch.h - a file from a web server, by libcurl, loaded when it is needed. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <takt/store.h>

/* Whether it is an address of https: or http:. */
bool takt__is_address(const char *text);

/* Gets at most `limit` bytes, to be freed. Connecting takes 3 s at most, all of
 * it `most_s`. NULL: `diag` says why. */
unsigned char *takt__fetch(const char *address, size_t limit, unsigned most_s,
                           size_t *length, takt_diag *diag);
