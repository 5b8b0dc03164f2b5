/* SPDX-License-Identifier: MIT */
/*
 * line.c - one lock; a file takes far longer than the lock does.
 */
#include "line.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum { WAKE_EACH = 8, FILES_OF_OTHERS = 192, LEAST_ROOM = 4 };

/* Not more files at a time than the process may have open. */
static size_t room_for_files(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 ||
        limit.rlim_cur >= TAKT_LINE_ROOM + FILES_OF_OTHERS)
        return TAKT_LINE_ROOM;
    return limit.rlim_cur > FILES_OF_OTHERS + LEAST_ROOM
               ? (size_t)limit.rlim_cur - FILES_OF_OTHERS
               : LEAST_ROOM;
}

void takt__line_open(struct takt_line *line)
{
    *line = (struct takt_line){.room = room_for_files()};
    pthread_mutex_init(&line->lock, NULL);
    pthread_cond_init(&line->is_more, NULL);
    pthread_cond_init(&line->is_done, NULL);
}

void takt__line_close(struct takt_line *line)
{
    while (!takt__line_is_empty(line))
        takt__line_drop_first(line);
    pthread_mutex_destroy(&line->lock);
    pthread_cond_destroy(&line->is_more);
    pthread_cond_destroy(&line->is_done);
}

static struct takt_line_place *at(struct takt_line *line, size_t which)
{
    return &line->place[which % line->room];
}

/* `in` and `out` change only by the thread that asks. */
bool takt__line_is_full(const struct takt_line *line)
{
    return line->in - line->out == line->room;
}

bool takt__line_is_empty(const struct takt_line *line)
{
    return line->in == line->out;
}

void takt__line_put(struct takt_line *line, const struct takt_walk_file *file)
{
    struct takt_line_place *place = at(line, line->in);

    *place =
        (struct takt_line_place){.file = *file, .is_examined = file->fd < 0};
    pthread_mutex_lock(&line->lock);
    line->in++;
    /* To wake a thread for each file would cost more than many files do. */
    if ((line->in - line->next) % WAKE_EACH == 0)
        pthread_cond_signal(&line->is_more);
    pthread_mutex_unlock(&line->lock);
}

struct takt_line_place *takt__line_first(struct takt_line *line, bool wait)
{
    struct takt_line_place *place = at(line, line->out);

    if (takt__line_is_empty(line))
        return NULL;
    pthread_mutex_lock(&line->lock);
    while (wait && !place->is_examined)
        pthread_cond_wait(&line->is_done, &line->lock);
    const bool is_examined = place->is_examined;
    pthread_mutex_unlock(&line->lock);
    return is_examined ? place : NULL;
}

void takt__line_drop_first(struct takt_line *line)
{
    struct takt_line_place *place = at(line, line->out);

    free(place->file.path);
    if (place->file.fd >= 0)
        close(place->file.fd);
    takt__found_clear(&place->examined.found);
    pthread_mutex_lock(&line->lock);
    line->out++;
    if (line->next < line->out)
        line->next = line->out;
    pthread_mutex_unlock(&line->lock);
}

struct takt_line_place *takt__line_take(struct takt_line *line, bool wait)
{
    struct takt_line_place *place = NULL;

    pthread_mutex_lock(&line->lock);
    while (place == NULL && !line->is_closed) {
        while (line->next < line->in && at(line, line->next)->is_examined)
            line->next++; /* there is nothing to examine */
        if (line->next < line->in)
            place = at(line, line->next++);
        else if (wait)
            pthread_cond_wait(&line->is_more, &line->lock);
        else
            break;
    }
    pthread_mutex_unlock(&line->lock);
    return place;
}

void takt__line_return(struct takt_line *line, struct takt_line_place *place)
{
    close(place->file.fd); /* not when it is dropped: others wait for it */
    place->file.fd = -1;
    pthread_mutex_lock(&line->lock);
    place->is_examined = true;
    if (place == at(line, line->out))
        pthread_cond_signal(&line->is_done);
    pthread_mutex_unlock(&line->lock);
}

void takt__line_end(struct takt_line *line)
{
    pthread_mutex_lock(&line->lock);
    line->is_closed = true;
    pthread_cond_broadcast(&line->is_more);
    pthread_mutex_unlock(&line->lock);
}
