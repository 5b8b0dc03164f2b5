/* SPDX-License-Identifier: MIT */
/*
 * api.c - finds NVIDIA's driver, and says when it must not be called.
 *
 * The driver does not survive fork(): a child that calls it fails at best and
 * hangs at worst. A child is recognised by a handler of fork(), because asking
 * the system for the process's number before every call would cost more than
 * the call.
 */
#include "cuda/api.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/config.h"
#include "base/fork.h"
#include "base/library.h"
#include "base/lock.h"
#include "base/log.h"
#include "cuda/cuda.h"
#include "gpu/at_exit.h"

enum { least_version = 11000 };

enum stage {
    UNTOUCHED, /* or tried in vain, which leaves nothing */
    STARTING,
    STARTED,
    LOST_IN_FORK
};

static struct {
    pthread_mutex_t lock;
    _Atomic int stage;
    struct takt_cuda_api api; /* constant once started */
} driver = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- fork() -------------------------------------------------------------- */

/* The lock may be held by a thread that the child does not have. It is not
 * taken before the fork instead, because the driver itself forks. */
static void after_fork(void *self)
{
    (void)self;
    if (atomic_load(&driver.stage) != UNTOUCHED)
        atomic_store(&driver.stage, LOST_IN_FORK);
    pthread_mutex_init(&driver.lock, NULL);
}

static const struct takt_fork_handlers at_fork = {.order = TAKT_FORK_LAST,
                                                  .child = after_fork};
static struct takt_fork_entry fork_entry = {.handlers = &at_fork};
TAKT_FORK_STATIC(fork_entry)

bool takt__cuda_is_usable(void)
{
    return atomic_load_explicit(&driver.stage, memory_order_acquire) == STARTED;
}

/* ---- loading ------------------------------------------------------------- */

void takt__cuda_explain(const struct takt_cuda_api *api, int result, char *text,
                        size_t size)
{
    const char *words = NULL;

    if (api->cuGetErrorString(result, &words) == TAKT_CUDA_SUCCESS &&
        words != NULL)
        snprintf(text, size, "'%s' (%d)", words, result);
    else
        snprintf(text, size, "error %d", result);
}

static bool load(const char *file, void **library, char *problem, size_t size)
{
    *library = takt__gpu_library_open(file);
    if (*library != NULL)
        return true;
    if (strchr(file, '/') == NULL && !takt__is_static())
        snprintf(problem, size, "no driver: %s was not found", file);
    else
        snprintf(problem, size, "no driver: %s", takt__library_problem());
    return false;
}

static bool find_functions(void *library, struct takt_cuda_api *api,
                           char *problem, size_t size)
{
    static const struct takt_library_symbol functions[] = {
#define TAKT_CUDA_FUNCTION(name, symbol, parameters) \
    {#symbol, offsetof(struct takt_cuda_api, name)},
#include "cuda/api.def"
    };

    const char *missing = takt__library_find_all(
        library, functions, sizeof functions / sizeof *functions, api);
    if (missing != NULL)
        snprintf(problem, size, "the driver is too old: it has no %s", missing);
    return missing == NULL;
}

static bool is_new_enough(struct takt_cuda_api *api, char *problem, size_t size)
{
    if (api->cuDriverGetVersion(&api->version) != TAKT_CUDA_SUCCESS) {
        snprintf(problem, size, "the driver does not say its version");
        return false;
    }
    if (api->version >= least_version)
        return true;
    snprintf(problem, size,
             "the driver is too old: it knows CUDA %d.%d, and %d.%d is needed",
             api->version / 1000, api->version % 1000 / 10,
             least_version / 1000, least_version % 1000 / 10);
    return false;
}

/* The first call of all. A program that was linked with the library of the
 * toolkit, which has the names only, may find that one instead. */
static bool begin(const struct takt_cuda_api *api, char *problem, size_t size)
{
    const int result = api->cuInit(0);
    char words[96];

    if (result == TAKT_CUDA_SUCCESS)
        return true;
    if (result == TAKT_CUDA_STUB_LIBRARY) {
        snprintf(problem, size,
                 "no driver: only the stub of it that programs are linked "
                 "with was found");
        return false;
    }
    takt__cuda_explain(api, result, words, sizeof words);
    snprintf(problem, size, "the driver refuses: cuInit says %s", words);
    return false;
}

static bool start(struct takt_cuda_api *api, char *problem, size_t size)
{
    const char *asked = takt__config()->cuda;
    const bool is_asked = asked != NULL && asked[0] != '\0';
    void *library;

    const bool is_started =
        load(is_asked ? asked : "libcuda.so.1", &library, problem, size) &&
        find_functions(library, api, problem, size) &&
        begin(api, problem, size) && is_new_enough(api, problem, size);
    if (is_asked && !is_started)
        takt__log(TAKT_LOG_ERROR, "TAKT_CUDA=%.200s is not used: %s", asked,
                  problem);
    return is_started;
}

/* With the lock. */
static void start_once(char *problem, size_t size)
{
    if (atomic_load(&driver.stage) != UNTOUCHED)
        return;
    atomic_store(&driver.stage, STARTING);
    const bool is_started = start(&driver.api, problem, size);
    atomic_store_explicit(&driver.stage, is_started ? STARTED : UNTOUCHED,
                          memory_order_release);
}

const struct takt_cuda_api *takt__cuda_api(char *problem, size_t size)
{
    if (takt__cuda_is_usable())
        return &driver.api;
    takt__lock(&driver.lock);
    start_once(problem, size);
    const int stage = atomic_load(&driver.stage);
    takt__unlock(&driver.lock);
    if (stage == LOST_IN_FORK)
        snprintf(problem, size,
                 "CUDA does not survive fork(), and was in use before it");
    return stage == STARTED ? &driver.api : NULL;
}

unsigned takt__cuda_count(char *problem, size_t size)
{
    const struct takt_cuda_api *api = takt__cuda_api(problem, size);
    char words[96];
    int count = 0;

    if (api == NULL)
        return 0;
    const int result = api->cuDeviceGetCount(&count);
    if (result != TAKT_CUDA_SUCCESS) {
        takt__cuda_explain(api, result, words, sizeof words);
        snprintf(problem, size, "the devices cannot be counted: %s", words);
        return 0;
    }
    if (count <= 0)
        snprintf(problem, size, "the driver knows no device");
    return count > 0 ? (unsigned)count : 0;
}
