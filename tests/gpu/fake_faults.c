/* SPDX-License-Identifier: MIT */
/* fake_faults.c - what the fake driver is told, and when it fails. */
#include "gpu/fake_cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { max_faults = 16 };

pthread_mutex_t fake_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t fake_change = PTHREAD_COND_INITIALIZER;
struct fake_settings fake_settings;

static struct fault {
    enum fake_function function;
    unsigned long calls_left;
    int error;
    bool is_sticky, is_final;
} faults[max_faults];

static int fault_count;
static long launches_left; /* until the device is gone; negative: it stays */
static int final_error;    /* what everything fails with; 0: nothing does */
static bool is_forked;
static unsigned long counts[FAKE_FUNCTIONS];

static const char *const names[FAKE_FUNCTIONS] = {
#define TAKT_CUDA_FUNCTION(name, symbol, parameters) #name,
#include "cuda/api.def"
};

void fake_kill(int error)
{
    final_error = error;
    fake_spoil(error);
    pthread_cond_broadcast(&fake_change);
}

static int find_function(const char *name)
{
    for (int i = 0; i < FAKE_FUNCTIONS; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

static bool add_fault(const char *spec)
{
    char name[64], rest[16] = "";
    unsigned long call = 0;
    int error = 0;
    long launches;

    if (sscanf(spec, "kill:%ld", &launches) == 1) {
        launches_left = launches;
        if (launches == 0)
            fake_kill(UNKNOWN);
        return launches >= 0;
    }
    const int fields =
        sscanf(spec, "%63[^:]:%lu:%d:%15s", name, &call, &error, rest);
    const int function = fields >= 3 ? find_function(name) : -1;
    const bool is_sticky = strcmp(rest, "sticky") == 0;
    const bool is_final = strcmp(rest, "final") == 0;
    if (function < 0 || call == 0 || error == 0 || fault_count == max_faults ||
        (fields == 4 && !is_sticky && !is_final))
        return false;
    faults[fault_count++] = (struct fault){.function = (unsigned)function,
                                           .calls_left = call,
                                           .error = error,
                                           .is_sticky = is_sticky,
                                           .is_final = is_final};
    return true;
}

/* With the lock. */
static bool set_faults(const char *spec)
{
    char text[512], *rest = text;
    bool is_good = true;

    fault_count = 0;
    launches_left = -1;
    final_error = 0;
    if (spec == NULL)
        return true;
    if ((size_t)snprintf(text, sizeof text, "%s", spec) >= sizeof text)
        return false;
    for (char *one; (one = strtok_r(rest, ",", &rest)) != NULL;)
        is_good = add_fault(one) && is_good;
    return is_good;
}

bool fake_cuda_set_fault(const char *spec)
{
    pthread_mutex_lock(&fake_lock);
    const bool is_good = set_faults(spec);
    pthread_cond_broadcast(&fake_change);
    pthread_mutex_unlock(&fake_lock);
    return is_good;
}

unsigned long fake_cuda_count(const char *function)
{
    const int found = find_function(function);

    pthread_mutex_lock(&fake_lock);
    const unsigned long count = found >= 0 ? counts[found] : 0;
    pthread_mutex_unlock(&fake_lock);
    return count;
}

static void count_launch(void)
{
    if (launches_left > 0 && --launches_left == 0)
        fake_kill(UNKNOWN);
}

static int find_fault(enum fake_function function, struct fake_context *context)
{
    for (int i = 0; i < fault_count; i++) {
        struct fault *fault = &faults[i];
        if (fault->function != function || fault->calls_left == 0 ||
            --fault->calls_left != 0)
            continue;
        if (fault->is_sticky && context != NULL)
            context->error = fault->error;
        if (fault->is_final)
            fake_kill(fault->error);
        return fault->error;
    }
    return 0;
}

/* A real driver may do anything in a child of the process that started it. This
 * one sees to it that a test which calls it there fails. */
static void after_fork(void)
{
    is_forked = true;
    pthread_mutex_init(&fake_lock, NULL);
}

void fake_watch_forks(void)
{
    static bool is_watching;

    if (!is_watching)
        pthread_atfork(NULL, NULL, after_fork);
    is_watching = true;
}

int fake_begin(enum fake_function function)
{
    if (is_forked) {
        fprintf(stderr, "fake_cuda: %s after fork()\n", names[function]);
        abort();
    }
    counts[function]++;
    if (final_error != 0 && function != FAKE_cuCtxPushCurrent &&
        function != FAKE_cuCtxPopCurrent) /* no device is asked for these */
        return final_error;
    if (function == FAKE_cuLaunchKernel)
        count_launch();
    const int error = find_fault(function, fake_current());
    if (error != 0)
        pthread_cond_broadcast(&fake_change);
    return error;
}

int fake_begin_in(enum fake_function function, struct fake_context **context)
{
    const int error = fake_begin(function);

    *context = fake_current();
    if (error != 0)
        return error;
    if (*context == NULL || (*context)->is_destroyed)
        return INVALID_CONTEXT;
    return (*context)->error;
}

/* ---- the environment ----------------------------------------------------- */

static long long number(const char *name, long long usual)
{
    const char *text = getenv(name);
    return text != NULL && text[0] != '\0' ? strtoll(text, NULL, 0) : usual;
}

static void complain(const char *name)
{
    fprintf(stderr, "fake_cuda: %s is not understood\n", name);
    abort();
}

__attribute__((constructor)) static void read_environment(void)
{
    char kill[64];

    fake_settings = (struct fake_settings){
        .devices = (int)number("FAKE_CUDA_DEVICES", 1),
        .capability = (int)number("FAKE_CUDA_CAPABILITY", 90),
        .version = (int)number("FAKE_CUDA_VERSION", 13000),
        .init_error = (int)number("FAKE_CUDA_INIT_ERROR", 0),
        .memory = (uint64_t)number("FAKE_CUDA_MEMORY", 1LL << 30),
        .is_late = number("FAKE_CUDA_LATE", 0) != 0};
    if (!set_faults(getenv("FAKE_CUDA_FAIL")))
        complain("FAKE_CUDA_FAIL");
    if (getenv("FAKE_CUDA_KILL") == NULL)
        return;
    snprintf(kill, sizeof kill, "kill:%s", getenv("FAKE_CUDA_KILL"));
    if (!add_fault(kill))
        complain("FAKE_CUDA_KILL");
}
