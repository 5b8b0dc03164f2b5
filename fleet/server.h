/* SPDX-License-Identifier: MIT */
/*
 * server.h - the database of a fleet: statements and queries on a connection.
 *
 * Every statement may be repeated: it fails as a duplicate, or replaces a row
 * by the same. So lost connections, conflicts of transactions and outcomes that
 * are not known (40001, 40003) are answered by repeating it, after pauses of
 * random length. No statement relies on being in a transaction with another
 * one.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fleet/pq.h"

enum {
    TAKT_FLEET_SCHEMA = 1, /* version of the tables */
    TAKT_FLEET_PARAMETERS = 6,
    TAKT_FLEET_ID = 40
};

struct takt_fleet_server {
    struct takt_pq pq;
    const char *address; /* borrowed */
    struct takt_pq_connection *connection;
    char id[TAKT_FLEET_ID]; /* of the database; another after it was lost */
    size_t retried;         /* statements that were repeated */
};

/* Connects and looks whether the tables are there. The address is a connection
 * string or URI of libpq's. Unless it says otherwise, the server's certificate
 * is verified in full and connecting takes 3 s at most; passwords come from
 * where libpq finds them.
 * TAKT_ENOTSUP: there is no libpq, or the tables are of another version.
 * TAKT_EIO: no connection, or no right. `diag` says why in one line. */
takt_status takt__fleet_connect(const char *address,
                                struct takt_fleet_server *out, takt_diag *diag);
void takt__fleet_disconnect(struct takt_fleet_server *server);

/* For the process, before it connects: what is not done after so many seconds
 * fails, and so does what needs some GiB of memory. */
void takt__fleet_limit(unsigned seconds);

/* The limit, once it was passed; 0: it was not. */
unsigned takt__fleet_passed_limit(void);

/* A parameter; of a number its digits. What it points to is borrowed. */
struct takt_fleet_value {
    enum takt_pq_type type;
    const void *at;
    size_t length; /* of bytes */
};

/* Statements that differ by their parameters alone. */
struct takt_fleet_batch {
    const char *sql;
    unsigned parameters;
    size_t count;
    void *self;
    void (*fill)(void *self, size_t index, struct takt_fleet_value *out);
    /* One is done; `was_there`: it is a duplicate, and `is_first`: it was
     * not sent before in this batch, so that another sender has its key. */
    void (*done)(void *self, size_t index, bool was_there, bool is_first);
};

/* TAKT_EIO: not all are done; `diag` says why. */
takt_status takt__fleet_run(struct takt_fleet_server *server,
                            const struct takt_fleet_batch *batch,
                            takt_diag *diag);

/* Column `index` of the row that is visited, as PostgreSQL's binary format
 * has it: texts and bytes as they are, numbers with takt__fleet_number(). */
struct takt_fleet_row {
    const struct takt_pq *pq;
    const struct takt_pq_result *result;
};
const char *takt__fleet_text(const struct takt_fleet_row *row, int column,
                             size_t *length);
long long takt__fleet_number(const struct takt_fleet_row *row, int column);

/* Visits the rows of a query as they come; `text` is its one parameter, or
 * NULL. False of the visitor: no memory. */
typedef bool takt_fleet_visit(void *self, const struct takt_fleet_row *row);
takt_status takt__fleet_query(struct takt_fleet_server *server, const char *sql,
                              const char *text, takt_fleet_visit *visit,
                              void *self, takt_diag *diag);

/* The generation of the priors in the database; 0: there are none. */
takt_status takt__fleet_generation(struct takt_fleet_server *server,
                                   uint64_t *out, takt_diag *diag);

/* Runs one statement without parameters, once. */
takt_status takt__fleet_execute(struct takt_fleet_server *server,
                                const char *sql, takt_diag *diag);
