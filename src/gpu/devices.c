/* SPDX-License-Identifier: MIT */
/* devices.c - from asleep to ready, and to lost and back. */
#include "gpu/devices.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/exit.h"
#include "base/fpenv.h"
#include "base/thread.h"
#include "gpu/at_exit.h"
#include "gpu/memory.h"
#include "gpu/slots.h"

/* ---- the list ------------------------------------------------------------ */

static void init_locks(struct takt_device *device)
{
    pthread_mutex_init(&device->lock, NULL);
    pthread_mutex_init(&device->stage.lock, NULL);
    pthread_mutex_init(&device->completing, NULL);
    pthread_mutex_init(&device->solving, NULL);
}

static void add(struct takt_devices *devices, const struct takt_driver *driver,
                unsigned count)
{
    for (unsigned i = 0; i < count && devices->count < TAKT_MAX_GPUS; i++) {
        struct takt_device *device = &devices->device[devices->count];
        device->driver = driver;
        device->index = i;
        device->number = devices->count++;
        device->all = devices;
        snprintf(device->name, sizeof device->name, "%s.%u", driver->name, i);
        init_locks(device);
    }
}

static void note_problem(struct takt_devices *devices, const char *driver,
                         const char *text)
{
    if (devices->problems < TAKT_MAX_GPUS)
        snprintf(devices->problem[devices->problems++],
                 sizeof devices->problem[0], "%s: %s", driver, text);
}

/* What a driver says, whatever was expected of it. */
static void ask(struct takt_devices *devices, const struct takt_finder *finder)
{
    char problem[144] = "";
    const unsigned first = devices->count;
    const unsigned count = finder->count(problem, sizeof problem);

    if (count == 0)
        note_problem(devices, finder->driver->name, problem);
    add(devices, finder->driver, count);
    for (unsigned i = first; i < devices->count; i++)
        takt__device_open(&devices->device[i]);
}

/* ---- opening and closing ------------------------------------------------- */

static void close_now(struct takt_device *device)
{
    takt__memory_empty(device);
    takt__stage_close(device);
    device->driver->stop(device);
    memset(&device->cache, 0, sizeof device->cache);
}

/* With the lock of the device. */
static takt_status open_now(struct takt_device *device, bool is_partial)
{
    const uint64_t start_ns = takt__now_ns();
    atomic_store(&device->is_complete, true); /* unless the driver says no */
    atomic_store(&device->completion_failed, false);
    atomic_store(&device->is_lacking, false);
    takt_status status = device->driver->start(device, is_partial);

    if (status != TAKT_OK)
        return status;
    status = takt__stage_open(device);
    if (status != TAKT_OK) {
        snprintf(device->problem, sizeof device->problem,
                 "no pinned memory for it: %s", takt_status_text(status));
        device->driver->stop(device);
        return status;
    }
    device->problem[0] = '\0';
    device->open_s = (double)(takt__now_ns() - start_ns) * 1e-9;
    return TAKT_OK;
}

/* A device that was lost is left alone: 0.1 s, then twice as long each time,
 * up to a minute; one that has held out for that long begins anew. */
static void put_off(struct takt_device *device)
{
    static const uint64_t first_ns = 100000000, longest_ns = 60000000000;
    const uint64_t now = takt__now_ns();

    if (now > device->next_open_ns + longest_ns)
        device->losses = 0;
    const unsigned doublings = device->losses < 10 ? device->losses : 10;
    const uint64_t pause_ns = first_ns << doublings;

    device->losses++;
    device->next_open_ns =
        now + (pause_ns < longest_ns ? pause_ns : longest_ns);
}

/* With the lock. Calls on a lost device have to end first. */
static bool may_open(const struct takt_device *device)
{
    const int state = atomic_load(&device->state);

    if (state == TAKT_DEVICE_ASLEEP)
        return true;
    return state == TAKT_DEVICE_LOST && device->users == 0 &&
           takt__now_ns() >= device->next_open_ns;
}

/* The device that is the same piece of hardware through a driver that comes
 * first; NULL: none. */
static const struct takt_device *
same_hardware_as(const struct takt_device *device)
{
    for (unsigned i = 0; i < device->number; i++) {
        const struct takt_device *other = &device->all->device[i];
        if (device->facts.address[0] != '\0' && takt__device_is_ready(other) &&
            strcmp(other->facts.address, device->facts.address) == 0)
            return other;
    }
    return NULL;
}

static takt_status open_unless_known(struct takt_device *device,
                                     bool is_partial)
{
    const takt_status status = open_now(device, is_partial);
    const struct takt_device *other =
        status == TAKT_OK ? same_hardware_as(device) : NULL;

    if (other == NULL)
        return status;
    close_now(device);
    snprintf(device->problem, sizeof device->problem, "it is used as %s",
             other->name);
    return TAKT_ENODEV;
}

static void try_to_open(struct takt_device *device, bool is_partial)
{
    const bool was_lost = atomic_load(&device->state) == TAKT_DEVICE_LOST;

    if (open_unless_known(device, is_partial) == TAKT_OK) {
        if (device->life == 0)
            device->known = device->facts;
        device->life++;
        atomic_store(&device->state, TAKT_DEVICE_READY);
    } else if (was_lost) {
        put_off(device); /* one that worked may come back */
    } else {
        atomic_store(&device->state, TAKT_DEVICE_ABSENT);
    }
}

static void open_if_possible(struct takt_device *device, bool is_partial)
{
    struct takt_devices *all = device->all;

    if (!takt__gpu_begin())
        return;
    takt__lock(&device->lock);
    const bool is_news = may_open(device);
    if (is_news)
        try_to_open(device, is_partial);
    takt__unlock(&device->lock);
    takt__gpu_end();
    if (is_news && all->opened != NULL)
        all->opened(all->self, device);
}

/* Counted as a call on the device, so that it is not stopped meanwhile. */
static void complete(struct takt_device *device)
{
    if (!takt__device_is_ready(device) || takt__device_enter(device) != TAKT_OK)
        return;
    takt__lock(&device->completing);
    if (!atomic_load(&device->is_complete) &&
        !atomic_load(&device->completion_failed)) {
        atomic_store(&device->is_occupied, true);
        device->driver->complete(device, &device->all->is_closing);
        atomic_store(&device->completion_failed,
                     !atomic_load(&device->is_complete));
        atomic_store(&device->is_occupied, false);
    }
    takt__unlock(&device->completing);
    takt__device_leave(device);
}

takt_status takt__device_open(struct takt_device *device)
{
    fenv_t fpenv;

    if (takt__device_is_ready(device) &&
        atomic_load_explicit(&device->is_complete, memory_order_acquire))
        return TAKT_OK;
    takt__fpenv_leave(&fpenv);
    if (!takt__device_is_ready(device))
        open_if_possible(device, false);
    if (!atomic_load_explicit(&device->is_complete, memory_order_acquire))
        complete(device); /* the caller wants all of it */
    takt__fpenv_return(&fpenv);
    return takt__device_is_ready(device) ? TAKT_OK : TAKT_ENODEV;
}

takt_status takt__device_open_partly(struct takt_device *device)
{
    fenv_t fpenv;

    if (!takt__device_is_ready(device)) {
        takt__fpenv_leave(&fpenv);
        open_if_possible(device, true);
        takt__fpenv_return(&fpenv);
    }
    return takt__device_is_ready(device) ? TAKT_OK : TAKT_ENODEV;
}

static void *run_opener(void *self)
{
    struct takt_device *device = self;

    takt__thread_enter("takt-gpu");
    if (takt__device_is_ready(device))
        complete(device);
    else
        open_if_possible(device, true);
    atomic_store(&device->is_opening, false);
    return NULL;
}

/* Opens or completes a device in a thread of its own, unless one is at it. */
static void begin_to_open(struct takt_device *device)
{
    if (atomic_load(&device->all->is_closing) || takt__exit_has_begun() ||
        atomic_exchange(&device->is_opening, true))
        return;
    if (device->has_opener)
        pthread_join(device->opener, NULL);
    takt__gpu_register_exit();
    device->has_opener =
        takt__thread_start(&device->opener, run_opener, device);
    if (!device->has_opener)
        atomic_store(&device->is_opening, false);
}

void takt__device_open_later(struct takt_device *device)
{
    if (!takt__device_is_ready(device))
        begin_to_open(device);
}

bool takt__device_can_run(struct takt_device *device, const takt_call *call)
{
    if (!takt__device_is_ready(device))
        return false;
    const bool is_incomplete = takt__device_is_incomplete(device);
    if (is_incomplete && atomic_load(&device->is_occupied))
        return false;
    if (device->driver->can_run(device, call))
        return true;
    if (is_incomplete)
        begin_to_open(device);
    return false;
}

void takt__devices_settle(struct takt_devices *devices)
{
    atomic_store(&devices->is_closing, true);
    for (unsigned i = 0; i < devices->count; i++) {
        struct takt_device *device = &devices->device[i];
        if (device->has_opener)
            pthread_join(device->opener, NULL);
        device->has_opener = false;
    }
}

static void close_device(struct takt_device *device)
{
    if (takt__device_is_ready(device))
        close_now(device);
    pthread_mutex_destroy(&device->lock);
    pthread_mutex_destroy(&device->stage.lock);
    pthread_mutex_destroy(&device->completing);
    pthread_mutex_destroy(&device->solving);
}

/* ---- using it ------------------------------------------------------------ */

takt_status takt__device_enter(struct takt_device *device)
{
    if (!takt__gpu_begin())
        return TAKT_ENODEV;
    takt__lock(&device->lock);
    const bool is_ready = takt__device_is_ready(device);
    if (is_ready) {
        device->users++;
        takt__section_begin(); /* until it leaves */
    }
    takt__unlock(&device->lock);
    if (!is_ready) {
        takt__gpu_end();
        takt__device_revive(device);
    }
    return is_ready ? TAKT_OK : TAKT_ENODEV;
}

void takt__device_revive(struct takt_device *device)
{
    if (atomic_load(&device->state) != TAKT_DEVICE_LOST)
        return;
    takt__lock(&device->lock);
    const bool is_time = may_open(device);
    takt__unlock(&device->lock);
    if (is_time)
        takt__device_open_later(device);
}

void takt__device_leave(struct takt_device *device)
{
    takt__lock(&device->lock);
    device->users--;
    if (device->users == 0 && atomic_load(&device->state) == TAKT_DEVICE_LOST)
        close_now(device);
    takt__unlock(&device->lock);
    takt__gpu_end();
    takt__section_end();
}

void takt__device_lose(struct takt_device *device)
{
    takt__lock(&device->lock);
    if (takt__device_is_ready(device)) {
        put_off(device);
        snprintf(device->problem, sizeof device->problem,
                 "it was lost; tried again after a while");
        atomic_store(&device->state, TAKT_DEVICE_LOST);
    }
    takt__unlock(&device->lock);
}

/* ---- fork() ----------------------------------------------------------------
 *
 * No driver lives on in a child. Its devices are absent there, whatever other
 * threads of the parent were doing with them.
 */

static void before_fork(void *self)
{
    struct takt_devices *devices = self;

    takt__lock(&devices->lock);
}

static void after_fork(void *self)
{
    struct takt_devices *devices = self;

    takt__unlock(&devices->lock);
}

static void abandon(struct takt_device *device)
{
    init_locks(device);
    atomic_store(&device->is_occupied, false);
    device->has_opener = false;
    device->users = 0;
    if (atomic_load(&device->state) == TAKT_DEVICE_ASLEEP &&
        !atomic_load(&device->is_opening))
        return;
    atomic_store(&device->is_opening, false);
    atomic_store(&device->state, TAKT_DEVICE_ABSENT);
    snprintf(device->problem, sizeof device->problem,
             "a GPU that was in use cannot be used after fork()");
}

static void in_child(void *self)
{
    struct takt_devices *devices = self;

    for (unsigned i = 0; i < devices->count; i++)
        abandon(&devices->device[i]);
    takt__gpu_forget_threads();
    after_fork(devices);
}

static const struct takt_fork_handlers at_fork = {.order = TAKT_FORK_DEVICES,
                                                  .prepare = before_fork,
                                                  .parent = after_fork,
                                                  .child = in_child};

/* ---- all of them --------------------------------------------------------- */

void takt__devices_list(struct takt_devices *devices,
                        const struct takt_devices_options *options)
{
    memset(devices, 0, sizeof *devices);
    pthread_mutex_init(&devices->lock, NULL);
    devices->pool = options->pool;
    devices->threads = options->threads;
    devices->fork =
        (struct takt_fork_entry){.handlers = &at_fork, .self = devices};
    takt__fork_add(&devices->fork);
    for (unsigned i = 0; i < options->finders; i++) {
        const struct takt_finder *finder = &options->finder[i];
        if (options->is_now)
            ask(devices, finder);
        else
            add(devices, finder->driver, finder->expected);
    }
}

void takt__devices_close(struct takt_devices *devices)
{
    takt__devices_settle(devices);
    for (unsigned i = 0; i < devices->count; i++)
        close_device(&devices->device[i]);
    if (devices->pool != NULL) { /* it was listed */
        takt__fork_remove(&devices->fork);
        pthread_mutex_destroy(&devices->lock);
    }
    memset(devices, 0, sizeof *devices);
}
