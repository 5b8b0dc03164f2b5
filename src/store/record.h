/* SPDX-License-Identifier: MIT */
/*
 * record.h - what one writer has measured of one expert at one size.
 *
 * A record is never a sum over writers: its writer is part of its key,
 * so that merging two stores is choosing, per key, the later record. Times are
 * kept as statistics of ln(nanoseconds).
 */
#pragma once

#include <stdbool.h>

#include "base/sha256.h"

enum {
    TAKT_RECORD_OP = 64,
    TAKT_RECORD_LAYOUT = 16,
    TAKT_RECORD_EXPERT = 32,
    TAKT_RECORD_WRITER = 33 /* 32 hexadecimal digits */
};

/* What a record may hold. Files are not trusted, so what is beyond is refused;
 * with what is within, the model computes without an overflow, in floats
 * too. */
enum {
    TAKT_RECORD_DTYPES = 256,
    TAKT_RECORD_SITUATIONS = 65536,
    TAKT_RECORD_BINS = 1024
};
#define TAKT_RECORD_LATEST (INT64_C(1) << 53) /* of epoch and seq */
#define TAKT_RECORD_LEAST_N 1e-9              /* of n, but for 0 */
#define TAKT_RECORD_MOST_N 1e9
#define TAKT_RECORD_FARTHEST 50     /* mean: e^50 ns are 160,000 years */
#define TAKT_RECORD_MOST_SPREAD 50  /* m2 / (n + 1): e^7, a thousand times */
#define TAKT_RECORD_LEAST_WORK 1e-3 /* of bytes and flops, but for 0 */
#define TAKT_RECORD_MOST_WORK 1e30
#define TAKT_RECORD_MOST_CALLS 1e16
#define TAKT_RECORD_MOST_S 1e12 /* of first_s and seconds */

struct takt_record {
    /* The key. */
    char machine[TAKT_SHA256_HEX];   /* fingerprint of the processor */
    char device[TAKT_SHA256_HEX];    /* of the GPU; "" for the processor */
    char software[TAKT_SHA256_HEX];  /* of the library that measured */
    char writer[TAKT_RECORD_WRITER]; /* the process that learned it */
    char op[TAKT_RECORD_OP];         /* "matmul", or a user's */
    char layout[TAKT_RECORD_LAYOUT]; /* "", "nt.thin_m": see op/key.h */
    char expert[TAKT_RECORD_EXPERT]; /* "simd.avx512x2" */
    unsigned dtype;                  /* a takt_dtype */
    unsigned situation;              /* bits, see op/key.h */
    unsigned bin;                    /* of the work, see op/key.h */

    /* Which of two records of one key is the later one: the larger epoch, then
     * the larger seq. */
    uint64_t epoch;
    uint64_t seq;

    /* What was learned. */
    double n;            /* samples, with what was forgotten taken off */
    double mean;         /* of ln(ns), at `bytes` and `flops` */
    double m2;           /* sum of squared distances from the mean */
    double first_s;      /* the first run of a process; 0: not known */
    double bytes, flops; /* of a typical call of this bin */
    double calls;        /* that went there, timed or not */
    double seconds;      /* which they took in all */
    int64_t last_unix_s; /* when it last changed, by the clock on the wall */
};

enum takt_field_kind {
    TAKT_FIELD_TEXT,  /* an array of char */
    TAKT_FIELD_SMALL, /* unsigned */
    TAKT_FIELD_LARGE, /* uint64_t */
    TAKT_FIELD_REAL,  /* double */
    TAKT_FIELD_TIME   /* int64_t */
};

struct takt_record_field {
    const char *name;
    enum takt_field_kind kind;
    size_t offset; /* in struct takt_record */
    size_t size;
    double least, most; /* of a number that is not 0, which all may be */
};

/* Every member, in the order above: the columns of the database and of the
 * text. The first ten are the key, the seven at its front are texts. */
enum { TAKT_RECORD_NAMES = 7, TAKT_RECORD_KEY = 10, TAKT_RECORD_FIELDS = 21 };
extern const struct takt_record_field takt__record_fields[TAKT_RECORD_FIELDS];

/* What is wrong with a member, in words; NULL when nothing is. The members
 * before it are right. */
const char *takt__field_fault(const struct takt_record_field *field,
                              const struct takt_record *record);

/* Whether nothing is wrong with any. */
bool takt__record_is_sound(const struct takt_record *record);

/* What the fleet knows of machines like the one of that fingerprint is kept in
 * its store as records of a machine of this name. Their n counts machines, and
 * m2 / n is the variance of the mean. */
void takt__record_fleet(const char *fingerprint, char out[TAKT_SHA256_HEX]);

/* Looks at a record, which is borrowed for the call. */
typedef void takt_record_visit(void *self, const struct takt_record *record);
