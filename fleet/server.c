/* SPDX-License-Identifier: MIT */
/* server.c - connections, queries and what their errors mean. */
#define _GNU_SOURCE /* F_DUPFD_CLOEXEC */
#include "fleet/server.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "base/say.h"
#include "fleet/trouble.h"

/* ---- the limit ------------------------------------------------------------
 *
 * libpq waits for an answer as long as it takes: for ever, if a table is locked
 * or the server went without a word, or goes on talking. A timer then cuts the
 * connection, and again every second should another one be made. Its signal is
 * not SIGALRM, which whoever started this process may use.
 */

enum { most_sockets = 1024 };

/* Sockets that this process was started with. All others are connections, of
 * which libpq does not tell while it makes them. */
static bool is_inherited[most_sockets];
static volatile sig_atomic_t is_late;
static unsigned limit_s;

static void note_sockets(void)
{
    struct stat facts;

    for (int fd = 0; fd < most_sockets; fd++)
        is_inherited[fd] = fstat(fd, &facts) == 0 && S_ISSOCK(facts.st_mode);
}

static void cut(int number)
{
    const int error = errno;

    (void)number;
    is_late = 1;
    for (int fd = 0; fd < most_sockets; fd++)
        if (!is_inherited[fd])
            shutdown(fd, SHUT_RDWR);
    errno = error;
}

static bool handle(int number)
{
    const struct sigaction action = {.sa_handler = cut, .sa_flags = SA_RESTART};
    sigset_t signals;

    sigemptyset(&signals);
    sigaddset(&signals, number);
    sigprocmask(SIG_UNBLOCK, &signals, NULL); /* a parent may have blocked it */
    return sigaction(number, &action, NULL) == 0;
}

/* Where no signal can be reserved for a timer (RLIMIT_SIGPENDING). */
static void limit_by_alarm(unsigned seconds)
{
    const struct itimerval when = {.it_value = {.tv_sec = seconds},
                                   .it_interval = {.tv_sec = 1}};
    struct itimerval others;

    if (getitimer(ITIMER_REAL, &others) == 0 && others.it_value.tv_sec == 0 &&
        others.it_value.tv_usec == 0 && handle(SIGALRM))
        setitimer(ITIMER_REAL, &when, NULL);
}

/* What this process has of its own; 0: it is not known. */
static rlim_t own_bytes(void)
{
    unsigned long long data = 0;
    FILE *file = fopen("/proc/self/statm", "re");

    if (file == NULL)
        return 0;
    if (fscanf(file, "%*u %*u %*u %*u %*u %llu", &data) != 1)
        data = 0;
    fclose(file);
    return (rlim_t)data * (rlim_t)sysconf(_SC_PAGESIZE);
}

/* libpq keeps what a server sends without a bound: the rows of an answer,
 * settings, and notifications that were not asked for. The largest store takes
 * a quarter of this, and so do the priors that are read. */
static void limit_memory(void)
{
    static const rlim_t most = (rlim_t)4 << 30;
    const rlim_t own = own_bytes();
    struct rlimit limit;

    if (own == 0 || getrlimit(RLIMIT_DATA, &limit) != 0 ||
        limit.rlim_cur <= own + most)
        return;
    limit.rlim_cur = own + most;
    setrlimit(RLIMIT_DATA, &limit);
}

void takt__fleet_limit(unsigned seconds)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL,
                             .sigev_signo = SIGUSR1};
    const struct itimerspec when = {.it_value = {.tv_sec = seconds},
                                    .it_interval = {.tv_sec = 1}};
    timer_t timer;

    limit_s = seconds;
    note_sockets();
    limit_memory();
    if (handle(SIGUSR1) && timer_create(CLOCK_MONOTONIC, &event, &timer) == 0)
        timer_settime(timer, 0, &when, NULL);
    else
        limit_by_alarm(seconds);
}

unsigned takt__fleet_passed_limit(void)
{
    return is_late ? limit_s : 0;
}

/* ---- connecting ---------------------------------------------------------- */

void takt__fleet_disconnect(struct takt_fleet_server *server)
{
    if (server->connection != NULL)
        server->pq.finish(server->connection);
    server->connection = NULL;
}

/* libpq would print it, with whatever it does to a terminal. */
static void ignore_notice(void *self, const char *text)
{
    (void)self;
    (void)text;
}

/* While it connects, libpq prints notices, and there is nothing yet to tell it
 * not to. */
static struct takt_pq_connection *connect_silently(const struct takt_pq *pq,
                                                   const char *const *keys,
                                                   const char *const *values)
{
    const int kept = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    const int null = kept < 0 ? -1 : open("/dev/null", O_WRONLY | O_CLOEXEC);

    if (null >= 0)
        dup2(null, STDERR_FILENO);
    struct takt_pq_connection *connection = pq->connect(keys, values, 1);
    if (null >= 0) {
        dup2(kept, STDERR_FILENO);
        close(null);
    }
    if (kept >= 0)
        close(kept);
    return connection;
}

/* What comes before the address is overruled by it. */
takt_status takt__fleet_reconnect(struct takt_fleet_server *server,
                                  takt_diag *diag)
{
    const bool has_mode = getenv("PGSSLMODE") != NULL;
    const char *const keys[] = {"application_name", "connect_timeout",
                                has_mode ? "dbname" : "sslmode",
                                has_mode ? NULL : "dbname", NULL};
    const char *const values[] = {"takt", "3",
                                  has_mode ? server->address : "verify-full",
                                  has_mode ? NULL : server->address, NULL};

    takt__fleet_disconnect(server);
    server->connection = connect_silently(&server->pq, keys, values);
    if (server->connection == NULL)
        return takt__say(diag, TAKT_ENOMEM, "there is not enough memory");
    server->pq.on_notice(server->connection, ignore_notice, NULL);
    if (server->pq.status(server->connection) == 0)
        return TAKT_OK;
    takt__fleet_say_lost(diag, server->pq.error(server->connection));
    return TAKT_EIO;
}

static takt_status judge_version(long version, takt_diag *diag)
{
    if (version > TAKT_FLEET_SCHEMA)
        return takt__say(diag, TAKT_ENOTSUP,
                         "the database is of a later Takt (tables of version "
                         "%ld, this one knows %d): update Takt",
                         version, TAKT_FLEET_SCHEMA);
    if (version < TAKT_FLEET_SCHEMA)
        return takt__say(diag, TAKT_ENOTSUP,
                         "the tables of the database are of version %ld, and "
                         "this Takt needs %d: see 'takt fleet schema'",
                         version, TAKT_FLEET_SCHEMA);
    return TAKT_OK;
}

/* It becomes part of a line of the state. */
static takt_status take_id(const char *id, char out[TAKT_FLEET_ID],
                           takt_diag *diag)
{
    for (const char *at = id; *at != '\0'; at++)
        if ((unsigned char)*at <= ' ' || (unsigned char)*at > '~')
            return takt__say(diag, TAKT_ECORRUPT,
                             "the id in takt_fleet.meta has characters that "
                             "are no letters or digits: change it");
    snprintf(out, TAKT_FLEET_ID, "%s", id);
    return TAKT_OK;
}

static takt_status check_tables(struct takt_fleet_server *server,
                                takt_diag *diag)
{
    const struct takt_pq *pq = &server->pq;
    struct takt_pq_result *result =
        pq->run(server->connection,
                "SELECT version, id FROM takt_fleet.meta "
                "ORDER BY version DESC LIMIT 1",
                0, NULL, NULL, NULL, NULL, 0);
    const struct takt_fleet_row row = {pq, result};
    takt_status status;
    size_t length;

    if (pq->outcome(result) != TAKT_PQ_TUPLES) {
        takt__fleet_judge(server, result, diag);
        status = TAKT_EIO;
    } else if (pq->rows(result) == 0) {
        status = judge_version(0, diag);
    } else {
        status = judge_version(
            strtol(takt__fleet_text(&row, 0, &length), NULL, 10), diag);
        if (status == TAKT_OK)
            status =
                take_id(takt__fleet_text(&row, 1, &length), server->id, diag);
    }
    pq->clear(result);
    return status;
}

takt_status takt__fleet_connect(const char *address,
                                struct takt_fleet_server *out, takt_diag *diag)
{
    *out = (struct takt_fleet_server){.address = address};
    takt_status status = takt__pq_load(&out->pq, diag);
    if (status != TAKT_OK)
        return status;
    status = takt__fleet_reconnect(out, diag);
    if (status == TAKT_OK)
        status = check_tables(out, diag);
    if (status != TAKT_OK)
        takt__fleet_disconnect(out);
    return status;
}

/* ---- queries ------------------------------------------------------------- */

const char *takt__fleet_text(const struct takt_fleet_row *row, int column,
                             size_t *length)
{
    *length = 0;
    if (column >= row->pq->columns(row->result))
        return "";
    *length = (size_t)row->pq->length(row->result, 0, column);
    return row->pq->value(row->result, 0, column);
}

/* A BIGINT: eight bytes, the highest first. */
long long takt__fleet_number(const struct takt_fleet_row *row, int column)
{
    size_t length;
    const char *at = takt__fleet_text(row, column, &length);
    uint64_t number = 0;

    for (size_t i = 0; i < length && i < 8; i++)
        number = number << 8 | (unsigned char)at[i];
    return (long long)number;
}

/* After an error libpq takes what is left of the answer. Of anything else there
 * may be no end. */
static bool is_error(int outcome)
{
    return outcome != TAKT_PQ_SINGLE && outcome != TAKT_PQ_TUPLES &&
           !takt__pq_is_copy(outcome);
}

static takt_status read_rows(struct takt_fleet_server *server,
                             takt_fleet_visit *visit, void *self,
                             takt_diag *diag)
{
    const struct takt_pq *pq = &server->pq;
    struct takt_pq_result *result;
    takt_status status = TAKT_OK;

    while (server->connection != NULL &&
           (result = pq->next(server->connection)) != NULL) {
        const int outcome = pq->outcome(result);
        const struct takt_fleet_row row = {pq, result};
        if (outcome == TAKT_PQ_SINGLE && status == TAKT_OK &&
            !visit(self, &row))
            status = takt__say(diag, TAKT_ENOMEM,
                               "there is not enough memory for what the "
                               "database sends");
        if (outcome != TAKT_PQ_SINGLE && outcome != TAKT_PQ_TUPLES) {
            takt__fleet_judge(server, result, diag);
            status = TAKT_EIO;
        }
        pq->clear(result);
        if (status != TAKT_OK && !is_error(outcome))
            takt__fleet_disconnect(server);
    }
    return status;
}

takt_status takt__fleet_query(struct takt_fleet_server *server, const char *sql,
                              const char *text, takt_fleet_visit *visit,
                              void *self, takt_diag *diag)
{
    static const unsigned type = TAKT_PQ_TEXT;
    const struct takt_pq *pq = &server->pq;

    if (pq->send(server->connection, sql, text != NULL, &type, &text, NULL,
                 NULL, 1) == 0 ||
        pq->single_rows(server->connection) == 0) {
        takt__fleet_say(diag, pq->error(server->connection));
        return TAKT_EIO;
    }
    return read_rows(server, visit, self, diag);
}

static bool take_generation(void *self, const struct takt_fleet_row *row)
{
    *(uint64_t *)self = (uint64_t)takt__fleet_number(row, 0);
    return true;
}

takt_status takt__fleet_generation(struct takt_fleet_server *server,
                                   uint64_t *out, takt_diag *diag)
{
    *out = 0;
    return takt__fleet_query(server,
                             "SELECT generation FROM takt_fleet.prior "
                             "ORDER BY generation DESC LIMIT 1",
                             NULL, take_generation, out, diag);
}

takt_status takt__fleet_execute(struct takt_fleet_server *server,
                                const char *sql, takt_diag *diag)
{
    const struct takt_pq *pq = &server->pq;
    struct takt_pq_result *result =
        pq->run(server->connection, sql, 0, NULL, NULL, NULL, NULL, 0);
    const int outcome = pq->outcome(result);

    if (outcome != TAKT_PQ_COMMAND && outcome != TAKT_PQ_TUPLES)
        takt__fleet_judge(server, result, diag);
    pq->clear(result);
    return outcome == TAKT_PQ_COMMAND || outcome == TAKT_PQ_TUPLES ? TAKT_OK
                                                                   : TAKT_EIO;
}
