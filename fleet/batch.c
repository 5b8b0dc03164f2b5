/* SPDX-License-Identifier: MIT */
/*
 * batch.c - many statements, in groups that are committed together.
 *
 * They are sent without waiting for each answer. A synchronisation after a
 * group commits it, which makes the server write to its disk once. A group in
 * which one fails is undone by the server, and is repeated one by one. What is
 * under way is so little that the answers fit into the buffers of a socket:
 * neither side waits for the other to read.
 */
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

#include "base/say.h"
#include "fleet/trouble.h"

enum { together = 64, groups_under_way = 2, most_failures = 8, no_more = 4 };

struct running {
    struct takt_fleet_server *server;
    const struct takt_fleet_batch *batch;
    size_t *waiting;  /* indices of statements that are not done ... */
    size_t count;     /* ... and how many there are */
    size_t kept;      /* of these, how many stay for the next pass */
    size_t group;     /* how many are committed together */
    bool is_repeated; /* this is not the first pass */
    enum takt_fleet_trouble worst;
    takt_diag *diag;
};

/* Between a half and one and a half times as long as the last time twice. */
static void pause_before(unsigned attempt)
{
    uint16_t random = 0;
    const unsigned limit_ms = attempt < 6 ? 20u << attempt : 1000;

    if (getrandom(&random, sizeof random, GRND_NONBLOCK) != sizeof random)
        random = (uint16_t)(attempt * 7919);
    const unsigned ms = limit_ms / 2 + limit_ms * random / 65536;
    nanosleep(&(struct timespec){.tv_sec = ms / 1000,
                                 .tv_nsec = ms % 1000 * 1000000L},
              NULL);
}

static bool send_one(const struct running *running, size_t index)
{
    const struct takt_fleet_batch *batch = running->batch;
    const struct takt_pq *pq = &running->server->pq;
    struct takt_pq_connection *connection = running->server->connection;
    struct takt_fleet_value value[TAKT_FLEET_PARAMETERS];
    const char *at[TAKT_FLEET_PARAMETERS];
    int length[TAKT_FLEET_PARAMETERS], format[TAKT_FLEET_PARAMETERS];
    unsigned type[TAKT_FLEET_PARAMETERS];

    batch->fill(batch->self, index, value);
    for (unsigned i = 0; i < batch->parameters; i++) {
        at[i] = value[i].at;
        length[i] = (int)value[i].length;
        format[i] = value[i].type == TAKT_PQ_BYTES;
        type[i] = value[i].type;
    }
    return pq->send(connection, batch->sql, (int)batch->parameters, type, at,
                    length, format, 1) != 0;
}

/* Sends the group that begins at a position; false: the connection is lost. */
static bool send_group(const struct running *running, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        if (!send_one(running, running->waiting[i]))
            return false;
    return running->server->pq.sync(running->server->connection) != 0;
}

static void keep(struct running *running, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        running->waiting[running->kept++] = running->waiting[i];
    running->server->retried += to - from;
}

/* What became of a group, once it is known. A duplicate in a group of several
 * undid the others, and so did a statement that is refused: which one it is
 * shows when they are sent one by one. */
static void note(struct running *running, size_t from, size_t to, bool is_done,
                 enum takt_fleet_trouble trouble)
{
    const struct takt_fleet_batch *batch = running->batch;
    const bool is_there =
        !is_done && trouble == TAKT_FLEET_THERE && to - from == 1;

    if (!is_done && !is_there) {
        keep(running, from, to);
        if (trouble > running->worst &&
            (to - from == 1 || trouble != TAKT_FLEET_REFUSED))
            running->worst = trouble;
        return;
    }
    for (size_t i = from; i < to; i++)
        batch->done(batch->self, running->waiting[i], is_there,
                    !running->is_repeated);
}

/* One answer. False: it is a failure, of which the first counts. */
static bool is_good(const struct running *running,
                    const struct takt_pq_result *result, bool was_good,
                    enum takt_fleet_trouble *trouble)
{
    const int outcome = running->server->pq.outcome(result);

    if (outcome == TAKT_PQ_COMMAND || outcome == TAKT_PQ_TUPLES ||
        outcome == TAKT_PQ_SYNC)
        return was_good;
    if (was_good)
        *trouble = takt__fleet_judge(running->server, result, running->diag);
    return false;
}

/* The answers to a group. They are good when its synchronisation came, which
 * is after the commit, and nothing failed before. False: the connection is
 * lost. */
static bool receive_group(struct running *running, size_t from, size_t to)
{
    const struct takt_pq *pq = &running->server->pq;
    enum takt_fleet_trouble trouble = TAKT_FLEET_LOST;
    bool is_good_so_far = true, is_synced = false;

    for (int ends = 0; !is_synced && ends < no_more;) {
        struct takt_pq_result *result = pq->next(running->server->connection);
        ends = result == NULL ? ends + 1 : 0;
        if (result == NULL)
            continue; /* the end of one answer; several: there are no more */
        is_synced = pq->outcome(result) == TAKT_PQ_SYNC;
        is_good_so_far = is_good(running, result, is_good_so_far, &trouble);
        if (takt__pq_is_copy(pq->outcome(result)))
            ends = no_more;
        pq->clear(result);
    }
    if (!is_synced)
        trouble = TAKT_FLEET_LOST;
    note(running, from, to, is_synced && is_good_so_far, trouble);
    return trouble != TAKT_FLEET_LOST || (is_synced && is_good_so_far);
}

static size_t end_of(const struct running *running, size_t from)
{
    const size_t end = from + running->group;

    return end < running->count ? end : running->count;
}

/* Sends all that wait, and takes the answers. */
static void pass(struct running *running)
{
    const struct takt_pq *pq = &running->server->pq;
    static const size_t most = groups_under_way * together;
    size_t sent = 0, answered = 0;
    bool is_well = pq->begin_pipeline(running->server->connection) != 0;

    running->kept = 0;
    running->worst = TAKT_FLEET_THERE;
    while (is_well && answered < running->count) {
        while (is_well && sent < running->count && sent - answered < most) {
            is_well = send_group(running, sent, end_of(running, sent));
            sent = end_of(running, sent);
        }
        if (!is_well)
            break;
        const size_t end = end_of(running, answered);
        is_well = receive_group(running, answered, end);
        answered = end;
    }
    if (!is_well && running->worst != TAKT_FLEET_LOST) {
        takt__fleet_judge(running->server, NULL, running->diag);
        running->worst = TAKT_FLEET_LOST;
    }
    keep(running, answered, running->count);
    running->count = running->kept;
    running->is_repeated = true;
    if (is_well)
        pq->end_pipeline(running->server->connection);
}

/* Waits, and connects again if need be; false: in vain. */
static bool recover(struct running *running, unsigned *failures)
{
    for (; *failures <= most_failures; ++*failures) {
        pause_before(*failures);
        if (running->worst != TAKT_FLEET_LOST ||
            takt__fleet_reconnect(running->server, running->diag) == TAKT_OK)
            return true;
    }
    return false;
}

/* Passes until nothing waits, or nothing was done for too often. */
static takt_status run(struct running *running)
{
    unsigned failures = 0;

    while (running->count > 0) {
        const size_t before = running->count;
        pass(running);
        if (running->count == 0)
            break;
        const bool was_group = running->group > 1;
        running->group = 1;
        if (was_group && running->worst == TAKT_FLEET_THERE)
            continue; /* a group was undone: which of them failed? */
        failures = running->count < before ? 1 : failures + 1;
        if (running->worst == TAKT_FLEET_REFUSED ||
            takt__fleet_passed_limit() > 0 || !recover(running, &failures))
            return TAKT_EIO;
    }
    return takt__say(running->diag, TAKT_OK, "%s", "");
}

takt_status takt__fleet_run(struct takt_fleet_server *server,
                            const struct takt_fleet_batch *batch,
                            takt_diag *diag)
{
    struct running running = {.server = server,
                              .batch = batch,
                              .count = batch->count,
                              .group = together,
                              .diag = diag,
                              .waiting =
                                  malloc((batch->count + 1) * sizeof(size_t))};

    if (running.waiting == NULL)
        return takt__say(diag, TAKT_ENOMEM, "there is not enough memory");
    for (size_t i = 0; i < batch->count; i++)
        running.waiting[i] = i;
    const takt_status status = run(&running);
    free(running.waiting);
    return status;
}
