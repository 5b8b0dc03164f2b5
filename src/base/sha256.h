/* SPDX-License-Identifier: MIT */
/*
 * sha256.h - SHA-256 (FIPS 180-4), for fingerprints.
 *
 * Not meant for secrets: nothing here is wiped and nothing is constant time.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { TAKT_SHA256_BYTES = 32, TAKT_SHA256_HEX = 65 };

struct takt_sha256 {
    uint32_t state[8];
    uint64_t length;         /* bytes added so far */
    unsigned char block[64]; /* the first length % 64 bytes are waiting */
};

void takt__sha256_init(struct takt_sha256 *hash);
void takt__sha256_add(struct takt_sha256 *hash, const void *bytes,
                      size_t count);

/* Ends the message; `hash` must be initialised again before further use. */
void takt__sha256_finish(struct takt_sha256 *hash,
                         unsigned char digest[TAKT_SHA256_BYTES]);

/* The same, as lower-case hexadecimal digits. */
void takt__sha256_finish_hex(struct takt_sha256 *hash,
                             char hex[TAKT_SHA256_HEX]);

/* The digest of one message as lower-case hexadecimal digits. */
void takt__sha256_hex(const void *bytes, size_t count,
                      char hex[TAKT_SHA256_HEX]);
