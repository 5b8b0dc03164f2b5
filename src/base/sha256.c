/* SPDX-License-Identifier: MIT */
/*
 * sha256.c - SHA-256, one block at a time.
 *
 * Written for clarity: it hashes a few hundred bytes when a machine is
 * described, never on the path of a call.
 */
#include "base/sha256.h"

#include <string.h>

enum { block_bytes = 64, length_bytes = 8, rounds = 64 };

/* Fractional parts of the cube roots of the first 64 primes. */
static const uint32_t round_constant[rounds] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t word, unsigned bits)
{
    return word >> bits | word << (32 - bits);
}

static uint32_t load(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 |
           (uint32_t)bytes[2] << 8 | (uint32_t)bytes[3];
}

static void store(uint32_t word, unsigned char *bytes)
{
    for (unsigned i = 0; i < 4; i++)
        bytes[i] = (unsigned char)(word >> (24 - 8 * i));
}

static void schedule(const unsigned char *block, uint32_t w[rounds])
{
    for (size_t i = 0; i < 16; i++)
        w[i] = load(block + 4 * i);
    for (size_t i = 16; i < rounds; i++) {
        const uint32_t a = w[i - 15];
        const uint32_t b = w[i - 2];
        w[i] = w[i - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + w[i - 7] +
               (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
    }
}

/* One round on the working variables a..h = s[0]..s[7]. */
static void mix(uint32_t s[8], uint32_t input)
{
    const uint32_t a = s[0];
    const uint32_t e = s[4];
    const uint32_t choice = (e & s[5]) ^ (~e & s[6]);
    const uint32_t majority = (a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]);
    const uint32_t first =
        s[7] + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + choice + input;
    const uint32_t second =
        (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + majority;

    memmove(s + 1, s, 7 * sizeof s[0]);
    s[4] += first;
    s[0] = first + second;
}

static void absorb(uint32_t state[8], const unsigned char *block)
{
    uint32_t w[rounds];
    uint32_t s[8];

    schedule(block, w);
    memcpy(s, state, sizeof s);
    for (size_t i = 0; i < rounds; i++)
        mix(s, round_constant[i] + w[i]);
    for (size_t i = 0; i < 8; i++)
        state[i] += s[i];
}

void takt__sha256_init(struct takt_sha256 *hash)
{
    /* Fractional parts of the square roots of the first 8 primes. */
    static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372,
                                      0xa54ff53a, 0x510e527f, 0x9b05688c,
                                      0x1f83d9ab, 0x5be0cd19};

    memcpy(hash->state, start, sizeof start);
    memset(hash->block, 0, sizeof hash->block);
    hash->length = 0;
}

void takt__sha256_add(struct takt_sha256 *hash, const void *bytes, size_t count)
{
    const unsigned char *from = bytes;

    while (count > 0) {
        const size_t used = (size_t)(hash->length % block_bytes);
        const size_t left = block_bytes - used;
        const size_t step = count < left ? count : left;

        memcpy(hash->block + used, from, step);
        hash->length += step;
        from += step;
        count -= step;
        if (step == left)
            absorb(hash->state, hash->block);
    }
}

void takt__sha256_finish(struct takt_sha256 *hash,
                         unsigned char digest[TAKT_SHA256_BYTES])
{
    static const unsigned char padding[block_bytes] = {0x80};
    const uint64_t bits = hash->length * 8;
    const size_t used = (size_t)(hash->length % block_bytes);
    const size_t end = block_bytes - length_bytes;
    unsigned char length[length_bytes];

    store((uint32_t)(bits >> 32), length);
    store((uint32_t)bits, length + 4);
    takt__sha256_add(hash, padding,
                     used < end ? end - used : end + block_bytes - used);
    takt__sha256_add(hash, length, sizeof length);
    for (size_t i = 0; i < 8; i++)
        store(hash->state[i], digest + 4 * i);
}

void takt__sha256_finish_hex(struct takt_sha256 *hash,
                             char hex[TAKT_SHA256_HEX])
{
    static const char digits[] = "0123456789abcdef";
    unsigned char digest[TAKT_SHA256_BYTES];

    takt__sha256_finish(hash, digest);
    for (size_t i = 0; i < sizeof digest; i++) {
        hex[2 * i] = digits[digest[i] >> 4];
        hex[2 * i + 1] = digits[digest[i] & 15];
    }
    hex[TAKT_SHA256_HEX - 1] = '\0';
}

void takt__sha256_hex(const void *bytes, size_t count,
                      char hex[TAKT_SHA256_HEX])
{
    struct takt_sha256 hash;

    takt__sha256_init(&hash);
    takt__sha256_add(&hash, bytes, count);
    takt__sha256_finish_hex(&hash, hex);
}
