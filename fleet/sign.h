/* SPDX-License-Identifier: MIT */
/*
 * sign.h - signatures by Ed25519, of OpenSSL's libcrypto, which is loaded when
 * it is needed.
 *
 * Keys are PEM files, as `openssl genpkey -algorithm ed25519` and `openssl pkey
 * -pubout` write them.
 */
#pragma once

#include <takt/store.h>

#include "base/sha256.h"

enum { TAKT_SIGNATURE = 64 };

/* Signs bytes with the private key in a file. TAKT_ENOTSUP: no libcrypto.
 * TAKT_EIO: the key cannot be read. TAKT_EINVAL: it is no such key. */
takt_status takt__sign(const char *key, const void *bytes, size_t length,
                       unsigned char out[TAKT_SIGNATURE], takt_diag *diag);

/* Whether the signature is of the public key in a file, of which `signer` gets
 * a hash. TAKT_EINVAL: the key is none. TAKT_ECORRUPT: it is not its signature.
 */
takt_status takt__verify(const char *key, const void *bytes, size_t length,
                         const unsigned char signature[TAKT_SIGNATURE],
                         char signer[TAKT_SHA256_HEX], takt_diag *diag);
