/* SPDX-License-Identifier: MIT */
/* pq.c - finds the functions of libpq. */
#include "fleet/pq.h"

#include <stddef.h>

#include "base/library.h"
#include "base/say.h"

static const struct takt_library_symbol symbols[] = {
    {"PQconnectdbParams", offsetof(struct takt_pq, connect)},
    {"PQfinish", offsetof(struct takt_pq, finish)},
    {"PQstatus", offsetof(struct takt_pq, status)},
    {"PQerrorMessage", offsetof(struct takt_pq, error)},
    {"PQsetNoticeProcessor", offsetof(struct takt_pq, on_notice)},
    {"PQexecParams", offsetof(struct takt_pq, run)},
    {"PQsendQueryParams", offsetof(struct takt_pq, send)},
    {"PQgetResult", offsetof(struct takt_pq, next)},
    {"PQenterPipelineMode", offsetof(struct takt_pq, begin_pipeline)},
    {"PQexitPipelineMode", offsetof(struct takt_pq, end_pipeline)},
    {"PQpipelineSync", offsetof(struct takt_pq, sync)},
    {"PQsetSingleRowMode", offsetof(struct takt_pq, single_rows)},
    {"PQresultStatus", offsetof(struct takt_pq, outcome)},
    {"PQresultErrorField", offsetof(struct takt_pq, field)},
    {"PQntuples", offsetof(struct takt_pq, rows)},
    {"PQnfields", offsetof(struct takt_pq, columns)},
    {"PQgetvalue", offsetof(struct takt_pq, value)},
    {"PQgetlength", offsetof(struct takt_pq, length)},
    {"PQclear", offsetof(struct takt_pq, clear)},
};

takt_status takt__pq_load(struct takt_pq *out, takt_diag *diag)
{
    void *library = takt__library_open("libpq.so.5");

    if (library == NULL)
        return takt__say(diag, TAKT_ENOTSUP,
                         "the library of PostgreSQL is needed: install libpq5 "
                         "(%s)",
                         takt__library_problem());
    const char *missing = takt__library_find_all(
        library, symbols, sizeof symbols / sizeof *symbols, out);
    return missing == NULL
               ? TAKT_OK
               : takt__say(diag, TAKT_ENOTSUP,
                           "libpq is too old: it has no %s; install libpq5 14 "
                           "or later",
                           missing);
}
