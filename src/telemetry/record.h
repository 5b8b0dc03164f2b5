/* SPDX-License-Identifier: MIT */
/*
 * record.h - telemetry as bytes: what `takt trace` reads.
 *
 * A trace is a sequence of records, in a file or on a socket. Each begins with
 * a frame: a mark, the length of what follows, the kind, a checksum and the
 * stream, which is a context of a process, so that many may write into one
 * file. Numbers are little-endian. docs/formats/trace.md describes the format.
 *
 * Bytes are not trusted: nothing is read beyond their end, and what is not
 * understood is skipped.
 */
#pragma once

#include <takt/telemetry.h>

enum {
    TAKT_TRACE_VERSION = 1,
    TAKT_TRACE_FRAME = 20,  /* bytes before the members of a record */
    TAKT_TRACE_MOST = 4096, /* bytes of its members */
    TAKT_TRACE_TEXT = 255   /* bytes of a string; the rest is cut off */
};

enum takt_trace_kind {
    TAKT_TRACE_HEADER = 1,   /* a stream begins */
    TAKT_TRACE_EVENT = 2,    /* a call, or a change of speed */
    TAKT_TRACE_TOTALS = 3,   /* metrics, without those below */
    TAKT_TRACE_OP = 4,       /* metrics of an op */
    TAKT_TRACE_DURATION = 5, /* metrics of an op on an expert */
    TAKT_TRACE_DROPPED = 6,  /* how many events were dropped so far */
    TAKT_TRACE_END = 7,      /* the stream is complete */
    TAKT_TRACE_GREETING = 8  /* from the reader: what it wants */
};

struct takt_trace_header {
    unsigned version;    /* TAKT_TRACE_VERSION */
    uint64_t pid;        /* of the process */
    uint64_t start_ns;   /* since 1970: when the stream began */
    double threshold_s;  /* of its environment; negative: not set */
    double rate;         /* the same */
    const char *program; /* the name of its file */
    const char *takt;    /* the version of the library */
};

/* Kinds dropped and end. */
struct takt_trace_loss {
    uint64_t now_ns;  /* since 1970 */
    uint64_t dropped; /* events of this stream that the reader did not get */
};

struct takt_trace_greeting {
    int wants_all;       /* as in takt_sink */
    unsigned metrics_ms; /* as in takt_sink; 0: the default */
    int wants_no_events; /* metrics alone */
};

struct takt_trace_record {
    enum takt_trace_kind kind;
    uint64_t stream;
    union {
        struct takt_trace_header header;
        takt_event event;
        takt_metrics totals; /* no ops, no durations */
        takt_op_metric op;
        takt_duration_metric duration;
        struct takt_trace_loss loss;
        struct takt_trace_greeting greeting;
    };
    char text[TAKT_TRACE_MOST]; /* strings that were decoded are here */
};

/* Writes a record and returns its bytes, at most TAKT_TRACE_FRAME +
 * TAKT_TRACE_MOST of them. `text` is not used. */
size_t takt__trace_encode(const struct takt_trace_record *record,
                          unsigned char *out);

/* The checksum of a record of `size` bytes, frame and all. */
unsigned takt__trace_check(const unsigned char *record, size_t size);

enum takt_trace_outcome {
    TAKT_TRACE_FOUND,  /* a record is in *out */
    TAKT_TRACE_PASSED, /* a record of a later version, to be skipped */
    TAKT_TRACE_SHORT,  /* the bytes end before the record does */
    TAKT_TRACE_DAMAGED /* this is no record; the next one may be at *used */
};

/* Reads the record that begins at bytes[0]. *used is how many bytes are done
 * with: 0 when it is short, else at least 1. Strings have a '?' for each
 * character that is not plain ASCII, so that they can be printed. */
enum takt_trace_outcome takt__trace_decode(const unsigned char *bytes,
                                           size_t length,
                                           struct takt_trace_record *out,
                                           size_t *used);
