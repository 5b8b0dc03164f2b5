/* SPDX-License-Identifier: MIT */
/*
 * pq.h - libpq, PostgreSQL's library for clients, loaded when it is needed.
 *
 * Takt is built and runs without it. The declarations are those of libpq 14,
 * the first that sends without waiting for each answer.
 */
#pragma once

#include <stdbool.h>

#include <takt/store.h>

struct takt_pq_connection;
struct takt_pq_result;

/* Of PQresultStatus(). */
enum takt_pq_outcome {
    TAKT_PQ_COMMAND = 1,
    TAKT_PQ_TUPLES = 2,
    TAKT_PQ_COPY_OUT = 3, /* begins a transfer that libpq waits in for ever */
    TAKT_PQ_COPY_IN = 4,
    TAKT_PQ_COPY_BOTH = 8,
    TAKT_PQ_SINGLE = 9,
    TAKT_PQ_SYNC = 10
};

static inline bool takt__pq_is_copy(int outcome)
{
    return outcome == TAKT_PQ_COPY_OUT || outcome == TAKT_PQ_COPY_IN ||
           outcome == TAKT_PQ_COPY_BOTH;
}

/* The types of parameters, by their numbers in PostgreSQL's catalogue. */
enum takt_pq_type { TAKT_PQ_BYTES = 17, TAKT_PQ_INT8 = 20, TAKT_PQ_TEXT = 25 };

struct takt_pq {
    struct takt_pq_connection *(*connect)(const char *const *keys,
                                          const char *const *values,
                                          int expands);
    void (*finish)(struct takt_pq_connection *connection);
    int (*status)(const struct takt_pq_connection *connection); /* 0: well */
    char *(*error)(const struct takt_pq_connection *connection);
    void (*(*on_notice)(struct takt_pq_connection *connection,
                        void (*notice)(void *self, const char *text),
                        void *self))(void *self, const char *text);
    struct takt_pq_result *(*run)(struct takt_pq_connection *connection,
                                  const char *sql, int count,
                                  const unsigned *types,
                                  const char *const *values, const int *lengths,
                                  const int *formats, int result_format);
    int (*send)(struct takt_pq_connection *connection, const char *sql,
                int count, const unsigned *types, const char *const *values,
                const int *lengths, const int *formats, int result_format);
    struct takt_pq_result *(*next)(struct takt_pq_connection *connection);
    int (*begin_pipeline)(struct takt_pq_connection *connection);
    int (*end_pipeline)(struct takt_pq_connection *connection);
    int (*sync)(struct takt_pq_connection *connection);
    int (*single_rows)(struct takt_pq_connection *connection);
    int (*outcome)(const struct takt_pq_result *result);
    char *(*field)(const struct takt_pq_result *result, int code);
    int (*rows)(const struct takt_pq_result *result);
    int (*columns)(const struct takt_pq_result *result);
    char *(*value)(const struct takt_pq_result *result, int row, int column);
    int (*length)(const struct takt_pq_result *result, int row, int column);
    void (*clear)(struct takt_pq_result *result);
};

/* TAKT_ENOTSUP: libpq is not there, or too old; `diag` says what to do. */
takt_status takt__pq_load(struct takt_pq *out, takt_diag *diag);
