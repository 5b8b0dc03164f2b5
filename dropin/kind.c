/* SPDX-License-Identifier: MIT */
/* kind.c - the table of kinds. */
#include "kind.h"

#include <stddef.h>

enum { kinds = 1024, most_probes = 16 };

static struct takt_kind table[kinds];

/* ---- keys ------------------------------------------------------------------
 */

/* A side of a product is thin if it is an eighth of the longest. */
static unsigned thin_sides(int64_t m, int64_t n, int64_t k)
{
    const int64_t longest = m > n ? (m > k ? m : k) : (n > k ? n : k);
    const int64_t limit = longest / 8;

    return (m <= limit) | (unsigned)(n <= limit) << 1 |
           (unsigned)(k <= limit) << 2;
}

static unsigned layout_of(const struct takt_arguments *arguments)
{
    const unsigned trans = (arguments->trans == 'T') |
                           (unsigned)(arguments->transb == 'T') << 1 |
                           (unsigned)(arguments->order == TAKT_BY_ROWS) << 2;

    if (arguments->routine != TAKT_GEMM)
        return trans;
    return trans | thin_sides(arguments->m, arguments->n, arguments->k) << 3;
}

/* Two buckets per octave: the exponent, and the highest bit of the fraction. */
static unsigned bucket_of(double work)
{
    uint64_t bits;

    memcpy(&bits, &work, sizeof bits);
    return work >= 1 ? (unsigned)(bits >> 51) & 0xfff : 0;
}

/* Never 0: the highest bit is set. */
static uint32_t key_of(const struct takt_arguments *arguments)
{
    return 1u << 31 | (uint32_t)arguments->routine << 24 |
           (uint32_t)arguments->type << 20 | layout_of(arguments) << 12 |
           bucket_of(arguments->work);
}

/* ---- the table -------------------------------------------------------------
 */

struct takt_kind *takt__kind_of(const struct takt_arguments *arguments)
{
    const uint32_t key = key_of(arguments);
    uint32_t at = (key * 2654435769u) >> 22;

    for (unsigned i = 0; i < most_probes; i++, at = (at + 1) % kinds) {
        uint32_t found =
            atomic_load_explicit(&table[at].key, memory_order_relaxed);
        if (found == key ||
            (found == 0 && (atomic_compare_exchange_strong_explicit(
                                &table[at].key, &found, key,
                                memory_order_relaxed, memory_order_relaxed) ||
                            found == key)))
            return &table[at];
    }
    return NULL;
}

void takt__kinds_each(takt_kind_visit *visit, void *self)
{
    for (unsigned i = 0; i < kinds; i++)
        if (atomic_load_explicit(&table[i].key, memory_order_relaxed) != 0)
            visit(self, &table[i]);
}

/* ---- statistics ------------------------------------------------------------
 */

/* The mean of the first few may be made of one in which the process was
 * stopped: a later one tells. The spread is then not known either. */
static void correct_first(struct takt_moments *moments, double most)
{
    enum { few = 4 };

    if (moments->n >= few || moments->mean <= most)
        return;
    moments->mean = most;
    moments->m2 = moments->n * most * most;
}

void takt__moments_add_whole(struct takt_moments *moments, double value)
{
    const double distance = value - moments->mean;

    moments->n++;
    moments->mean += distance / moments->n;
    moments->m2 += distance * (value - moments->mean);
}

void takt__moments_add(struct takt_moments *moments, double value)
{
    enum { far = 3 };

    correct_first(moments, far * value);
    if (moments->n > 0 && value > far * moments->mean) {
        moments->clips++;
        moments->clipped += value - far * moments->mean;
        value = far * moments->mean;
    }
    takt__moments_add_whole(moments, value);
}

void takt__moments_limit(struct takt_moments *moments, double most)
{
    if (moments->n <= most)
        return;
    const double share = most / moments->n;
    moments->n = most;
    moments->m2 *= share;
    moments->clips *= share;
    moments->clipped *= share;
}

void takt__moments_age(struct takt_moments *moments)
{
    static const double most = 16;

    takt__moments_limit(moments, moments->n > 2 * most ? most : moments->n / 2);
}
