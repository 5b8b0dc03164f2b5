/* SPDX-License-Identifier: MIT */
/*
 * fake_streams.c - queues of work on a fake device, and events in them.
 *
 * When the driver is late every stream has a thread, which is slow on purpose:
 * who does not wait for a result gets an old one, and ThreadSanitizer says so.
 */
#include <stdlib.h>
#include <time.h>

#include "gpu/fake_cuda.h"

struct fake_event {
    bool is_timed, is_destroyed;
    uint64_t recorded,
        passed; /* how often it was, and which of them are past */
    struct timespec when;
    struct fake_event *next;
};

struct task {
    void (*act)(void *self); /* NULL: about the event */
    void *self;
    struct fake_event *event;
    uint64_t ticket;
    bool is_record; /* else the event is waited for */
    struct task *next;
};

struct fake_stream {
    struct fake_context *context;
    struct task *first, *last;
    bool is_busy, is_ending, has_thread;
    pthread_t thread;
    struct fake_stream *next;
};

/* ---- doing --------------------------------------------------------------- */

static bool is_dead(const struct fake_context *context)
{
    return context->error != 0;
}

static void pass(struct fake_event *event, uint64_t ticket)
{
    if (event->passed < ticket)
        event->passed = ticket;
    clock_gettime(CLOCK_MONOTONIC, &event->when);
    pthread_cond_broadcast(&fake_change);
}

/* With the lock, which is given up for a while. In a context that failed
 * nothing is done any more, and no event is passed. */
static void perform(const struct fake_context *context, struct task *task)
{
    while (task->act == NULL && !task->is_record &&
           task->event->passed < task->ticket && !is_dead(context))
        pthread_cond_wait(&fake_change, &fake_lock);
    if (!is_dead(context) && task->act != NULL) {
        pthread_mutex_unlock(&fake_lock);
        task->act(task->self);
        pthread_mutex_lock(&fake_lock);
    }
    if (!is_dead(context) && task->is_record)
        pass(task->event, task->ticket);
    free(task->self);
    free(task);
}

static void dawdle(void)
{
    const struct timespec while_ = {.tv_nsec = 30000};

    pthread_mutex_unlock(&fake_lock);
    nanosleep(&while_, NULL);
    pthread_mutex_lock(&fake_lock);
}

static void *work(void *self)
{
    struct fake_stream *stream = self;

    pthread_mutex_lock(&fake_lock);
    while (stream->first != NULL || !stream->is_ending) {
        if (stream->first == NULL) {
            pthread_cond_wait(&fake_change, &fake_lock);
            continue;
        }
        stream->is_busy = true;
        dawdle();
        struct task *task = stream->first;
        stream->first = task->next;
        perform(stream->context, task);
        stream->is_busy = false;
        pthread_cond_broadcast(&fake_change);
    }
    pthread_mutex_unlock(&fake_lock);
    return NULL;
}

/* With the lock; takes over task->self, also when it fails. */
static int submit(struct fake_stream *stream, struct task wanted)
{
    struct task *task = malloc(sizeof *task);

    if (task == NULL) {
        free(wanted.self);
        return OUT_OF_MEMORY;
    }
    *task = wanted;
    if (!stream->has_thread) {
        perform(stream->context, task);
        return 0;
    }
    if (stream->first == NULL)
        stream->first = task;
    else
        stream->last->next = task;
    stream->last = task;
    pthread_cond_broadcast(&fake_change);
    return 0;
}

static void drain(struct fake_stream *stream)
{
    while (stream->first != NULL || stream->is_busy)
        pthread_cond_wait(&fake_change, &fake_lock);
}

int fake_submit(void *stream, void (*act)(void *self), void *self)
{
    return submit(stream, (struct task){.act = act, .self = self});
}

void fake_drain(struct fake_context *context)
{
    for (struct fake_stream *stream = context->streams; stream != NULL;
         stream = stream->next)
        drain(stream);
}

/* With the lock, which is given up for a while. */
static void end(struct fake_stream *stream)
{
    stream->is_ending = true;
    pthread_cond_broadcast(&fake_change);
    pthread_mutex_unlock(&fake_lock);
    if (stream->has_thread)
        pthread_join(stream->thread, NULL);
    pthread_mutex_lock(&fake_lock);
    free(stream);
}

void fake_streams_end(struct fake_context *context)
{
    while (context->streams != NULL) {
        struct fake_stream *stream = context->streams;
        context->streams = stream->next;
        end(stream);
    }
    while (context->events != NULL) {
        struct fake_event *event = context->events;
        context->events = event->next;
        free(event);
    }
}

/* ---- finding ------------------------------------------------------------- */

int fake_begin_on(enum fake_function function, const void *stream,
                  struct fake_context **context)
{
    const int error = fake_begin_in(function, context);

    if (error != 0)
        return error;
    for (const struct fake_stream *at = (*context)->streams; at != NULL;
         at = at->next)
        if (at == stream)
            return 0;
    return INVALID_HANDLE;
}

static bool is_event(const struct fake_context *context, const void *event)
{
    for (const struct fake_event *at = context->events; at != NULL;
         at = at->next)
        if (at == event)
            return !at->is_destroyed;
    return false;
}

static int begin_with_event(enum fake_function function, const void *event,
                            struct fake_context **context)
{
    const int error = fake_begin_in(function, context);

    if (error != 0)
        return error;
    return is_event(*context, event) ? 0 : INVALID_HANDLE;
}

/* ---- streams ------------------------------------------------------------- */

static int make_stream(struct fake_context *context, void **out)
{
    struct fake_stream *stream = calloc(1, sizeof *stream);

    if (stream == NULL)
        return OUT_OF_MEMORY;
    stream->context = context;
    stream->has_thread =
        fake_settings.is_late &&
        pthread_create(&stream->thread, NULL, work, stream) == 0;
    stream->next = context->streams;
    context->streams = stream;
    *out = stream;
    return 0;
}

int cuStreamCreate(void **stream, unsigned flags)
{
    struct fake_context *context;

    (void)flags;
    pthread_mutex_lock(&fake_lock);
    int error = fake_begin_in(FAKE_cuStreamCreate, &context);
    if (error == 0)
        error = make_stream(context, stream);
    pthread_mutex_unlock(&fake_lock);
    return error;
}

int cuStreamDestroy_v2(void *stream)
{
    struct fake_context *context;

    pthread_mutex_lock(&fake_lock);
    const int error = fake_begin_on(FAKE_cuStreamDestroy, stream, &context);
    if (error == 0) {
        struct fake_stream **link = &context->streams;
        while (*link != stream)
            link = &(*link)->next;
        *link = (*link)->next;
        end(stream);
    }
    pthread_mutex_unlock(&fake_lock);
    return error;
}

int cuStreamSynchronize(void *stream)
{
    struct fake_context *context;

    pthread_mutex_lock(&fake_lock);
    int error = fake_begin_on(FAKE_cuStreamSynchronize, stream, &context);
    if (error == 0) {
        drain(stream);
        error = context->error;
    }
    pthread_mutex_unlock(&fake_lock);
    return error;
}

int cuStreamWaitEvent(void *stream, void *event, unsigned flags)
{
    struct fake_context *context;

    (void)flags;
    pthread_mutex_lock(&fake_lock);
    int error = fake_begin_on(FAKE_cuStreamWaitEvent, stream, &context);
    if (error == 0 && !is_event(context, event))
        error = INVALID_HANDLE;
    if (error == 0)
        error = submit(
            stream,
            (struct task){.event = event,
                          .ticket = ((struct fake_event *)event)->recorded});
    pthread_mutex_unlock(&fake_lock);
    return error;
}

/* ---- events -------------------------------------------------------------- */

int cuEventCreate(void **event, unsigned flags)
{
    enum { DISABLE_TIMING = 2 };
    struct fake_context *context;
    struct fake_event *made = calloc(1, sizeof *made);

    pthread_mutex_lock(&fake_lock);
    int error = fake_begin_in(FAKE_cuEventCreate, &context);
    if (error == 0 && made == NULL)
        error = OUT_OF_MEMORY;
    if (error == 0) {
        made->is_timed = (flags & DISABLE_TIMING) == 0;
        made->next = context->events;
        context->events = made;
        *event = made;
    } else {
        free(made);
    }
    pthread_mutex_unlock(&fake_lock);
    return error;
}

/* The memory stays until the context goes: tasks may still name it. */
int cuEventDestroy_v2(void *event)
{
    struct fake_context *context;

    pthread_mutex_lock(&fake_lock);
    const int error = begin_with_event(FAKE_cuEventDestroy, event, &context);
    if (error == 0)
        ((struct fake_event *)event)->is_destroyed = true;
    pthread_mutex_unlock(&fake_lock);
    return error;
}

int cuEventRecord(void *event, void *stream)
{
    struct fake_context *context;

    pthread_mutex_lock(&fake_lock);
    int error = fake_begin_on(FAKE_cuEventRecord, stream, &context);
    if (error == 0 && !is_event(context, event))
        error = INVALID_HANDLE;
    if (error == 0)
        error = submit(
            stream,
            (struct task){.event = event,
                          .ticket = ++((struct fake_event *)event)->recorded,
                          .is_record = true});
    pthread_mutex_unlock(&fake_lock);
    return error;
}

int cuEventQuery(void *event)
{
    const struct fake_event *at = event;
    struct fake_context *context;

    pthread_mutex_lock(&fake_lock);
    int error = begin_with_event(FAKE_cuEventQuery, event, &context);
    if (error == 0 && at->passed < at->recorded)
        error = NOT_READY;
    pthread_mutex_unlock(&fake_lock);
    return error;
}

int cuEventSynchronize(void *event)
{
    const struct fake_event *at = event;
    struct fake_context *context;

    pthread_mutex_lock(&fake_lock);
    int error = begin_with_event(FAKE_cuEventSynchronize, event, &context);
    if (error == 0) {
        const uint64_t ticket = at->recorded;
        while (at->passed < ticket && !is_dead(context))
            pthread_cond_wait(&fake_change, &fake_lock);
        error = context->error;
    }
    pthread_mutex_unlock(&fake_lock);
    return error;
}

int cuEventElapsedTime(float *milliseconds, void *from, void *to)
{
    const struct fake_event *start = from, *stop = to;
    struct fake_context *context;

    pthread_mutex_lock(&fake_lock);
    int error = begin_with_event(FAKE_cuEventElapsedTime, from, &context);
    if (error == 0 &&
        (!is_event(context, to) || !start->is_timed || !stop->is_timed ||
         start->recorded == 0 || stop->recorded == 0))
        error = INVALID_HANDLE;
    if (error == 0 &&
        (start->passed < start->recorded || stop->passed < stop->recorded))
        error = NOT_READY;
    if (error == 0)
        *milliseconds =
            (float)(1e3 * (double)(stop->when.tv_sec - start->when.tv_sec) +
                    1e-6 * (double)(stop->when.tv_nsec - start->when.tv_nsec));
    pthread_mutex_unlock(&fake_lock);
    return error;
}
