/* SPDX-License-Identifier: MIT */
/* lapack_kind.c - kinds are found by their keys, without a lock. */
#include "lapack_kind.h"

#include <stddef.h>

enum { kinds = 512, most_probes = 16 };

static struct lapack_slot {
    _Atomic uint64_t key; /* 0: free */
    struct takt_team_kind kind;
} table[kinds];

/* Two buckets per octave: the exponent, and the highest bit of the fraction. */
static uint64_t bucket_of(double work)
{
    uint64_t bits;

    memcpy(&bits, &work, sizeof bits);
    return work >= 1 ? bits >> 51 & 0xfff : 0;
}

/* Never 0: the highest bit is set. */
static uint64_t number_of(const struct takt_lapack_key *key)
{
    uint64_t number = (uint64_t)1 << 63 | (uint64_t)key->routine << 48 |
                      (uint64_t)key->type << 44;

    for (unsigned i = 0; i < 3; i++)
        number |= (uint64_t)(key->option[i] & 31) << (28 + 5 * i);
    return number | (uint64_t)(key->threads & 0xffff) << 12 |
           bucket_of(key->work);
}

static struct takt_team_kind *find(uint64_t number, bool is_made)
{
    uint64_t at = (number * 0x9e3779b97f4a7c15u) >> 55;

    for (unsigned i = 0; i < most_probes; i++, at = (at + 1) % kinds) {
        uint64_t found =
            atomic_load_explicit(&table[at].key, memory_order_relaxed);
        if (found == number)
            return &table[at].kind;
        if (found != 0)
            continue;
        if (!is_made)
            return NULL;
        if (atomic_compare_exchange_strong_explicit(
                &table[at].key, &found, number, memory_order_relaxed,
                memory_order_relaxed) ||
            found == number)
            return &table[at].kind;
    }
    return NULL;
}

struct takt_team_kind *takt__lapack_kind(const struct takt_lapack_key *key)
{
    return find(number_of(key), true);
}

static struct takt_lapack_key key_of(uint64_t number)
{
    struct takt_lapack_key key = {
        .routine = (enum takt_lapack)(number >> 48 & 0x7fff),
        .type = (enum takt_blas_type)(number >> 44 & 0xf),
        .threads = (unsigned)(number >> 12 & 0xffff)};
    const uint64_t bits = (number & 0xfff) << 51;

    for (unsigned i = 0; i < 3; i++) {
        const unsigned letter = number >> (28 + 5 * i) & 31;
        key.option[i] = letter == 0 ? '\0' : (char)('A' - 1 + letter);
    }
    memcpy(&key.work, &bits, sizeof bits);
    return key;
}

struct takt_lapack_key takt__lapack_key(const struct takt_team_kind *kind)
{
    const struct lapack_slot *slot =
        (const void *)((const char *)kind - offsetof(struct lapack_slot, kind));

    return key_of(atomic_load_explicit(&slot->key, memory_order_relaxed));
}

bool takt__lapack_is_same(const struct takt_lapack_key *a,
                          const struct takt_lapack_key *b)
{
    struct takt_lapack_key other = *b;

    other.threads = a->threads;
    return number_of(a) == number_of(&other);
}

unsigned takt__lapack_hint(const struct takt_lapack_key *key)
{
    const uint64_t number = number_of(key);

    for (uint64_t i = 1; i <= 2; i++) {
        const struct takt_team_kind *near[] = {find(number - i, false),
                                               find(number + i, false)};
        for (unsigned j = 0; j < 2; j++) {
            const unsigned preferred =
                near[j] == NULL ? 0 : takt__team_preferred(near[j]);
            if (preferred > 0)
                return preferred;
        }
    }
    return 0;
}
