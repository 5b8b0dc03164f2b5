/* SPDX-License-Identifier: MIT */
/*
 * fake_cuda.h - a driver of NVIDIA's that computes on the processor.
 *
 * A shared library with the functions of src/cuda/api.def (TAKT_CUDA names its
 * file), so that everything above them is tested without a GPU, and with
 * faults that no GPU shows on demand. Stricter than the real one: a copy needs
 * memory that was pinned, an address of the device is none that the processor
 * could use, and a call in a child of the process that started it ends it.
 *
 * Read from the environment when it is loaded:
 *   FAKE_CUDA_DEVICES     how many; 1
 *   FAKE_CUDA_MEMORY      bytes on each; 1 GiB
 *   FAKE_CUDA_CAPABILITY  75 for 7.5; 90
 *   FAKE_CUDA_VERSION     of the driver; 13000
 *   FAKE_CUDA_INIT_ERROR  what cuInit answers
 *   FAKE_CUDA_LATE        1: every stream has a thread that does its work
 *                         later, in order; else it is done at once
 *   FAKE_CUDA_FAIL        as fake_cuda_set_fault()
 *   FAKE_CUDA_KILL        a number of launches after which the device is gone
 *
 * The first part is for tests, which find the functions by dlsym(); the rest is
 * for the files of the library.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAKE_API __attribute__((visibility("default")))

/* "function:call_number:error[:sticky|:final]", several with commas between:
 * that call of the function, counted from 1 from now on, fails; sticky: so does
 * all that follows in its context; final: so does all that follows, also in
 * contexts that are made later, which is what the real driver 580 does after a
 * kernel failed. "kill:N": after N launches from now on everything fails with
 * 999. The faults that were set before are gone, and what was final is not;
 * NULL sets none. False: not understood. */
FAKE_API bool fake_cuda_set_fault(const char *spec);

/* Calls so far of a function, named as in api.def. */
FAKE_API unsigned long fake_cuda_count(const char *function);

/* So long the driver takes from now on to translate each text; -1: until it is
 * told otherwise. */
FAKE_API void fake_cuda_take_time(int ms);

/* From now on the primary contexts are active, or are not: those that libraries
 * of a program share. */
FAKE_API void fake_cuda_set_primary(int is_active);

/* Bytes that were copied to and from the device. */
FAKE_API uint64_t fake_cuda_bytes_in(void);
FAKE_API uint64_t fake_cuda_bytes_out(void);

/* Bytes that are reserved or pinned now, on devices and on the host. */
FAKE_API uint64_t fake_cuda_bytes_held(void);

/* The driver's own. */
#define TAKT_CUDA_FUNCTION(name, symbol, parameters) \
    FAKE_API int symbol parameters;
#include "cuda/api.def"

/* ---- for libraries on top of it ------------------------------------------ */

/* Does a thing in the order of a stream, then frees `self`. */
FAKE_API int fake_cuda_submit(void *stream, void (*act)(void *self),
                              void *self);

/* Where an address of the device really is. */
FAKE_API void *fake_cuda_at(uint64_t address);

/* ---- inside -------------------------------------------------------------- */

enum {
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    INVALID_DEVICE = 101,
    INVALID_CONTEXT = 201,
    INVALID_HANDLE = 400,
    NOT_FOUND = 500,
    NOT_READY = 600,
    ILLEGAL_ADDRESS = 700,
    ALREADY_REGISTERED = 712,
    NOT_REGISTERED = 713,
    UNKNOWN = 999
};

struct fake_context {
    int device;
    int error; /* sticky; 0: none */
    bool is_destroyed;
    struct fake_stream *streams;
    struct fake_event *events;
    struct fake_context *next;
};

/* Held by whoever looks at anything below, or at what it points to. */
extern pthread_mutex_t fake_lock;
extern pthread_cond_t fake_change; /* of an event, a stream or an error */

struct fake_settings {
    int devices, capability, version, init_error;
    uint64_t memory;
    bool is_late;
};
extern struct fake_settings fake_settings;

/* Numbers of the functions, for counting. */
enum fake_function {
#define TAKT_CUDA_FUNCTION(name, symbol, parameters) FAKE_##name,
#include "cuda/api.def"
    FAKE_FUNCTIONS
};

/* Counts a call; 0, or the error that it is to fail with. Called with the lock
 * held. */
int fake_begin(enum fake_function function);

/* The same for a function that needs a context, which is *context. */
int fake_begin_in(enum fake_function function, struct fake_context **context);

/* And for one that needs a stream of it. */
int fake_begin_on(enum fake_function function, const void *stream,
                  struct fake_context **context);

struct fake_context *fake_current(void);

/* From now on a call in a child of this process ends it. */
void fake_watch_forks(void);

/* Makes everything fail with an error from now on. */
void fake_kill(int error);

/* Makes every context that there is fail with an error from now on. */
void fake_spoil(int error);

/* Memory. Addresses of the device have a bit that no pointer has. */
bool fake_is_on_device(uint64_t address, size_t bytes);
void fake_memory_free_all(const struct fake_context *context);

/* Streams: does a thing in order, then frees `self`; waits until all of a
 * context is done; ends them, and the events. */
int fake_submit(void *stream, void (*act)(void *self), void *self);
void fake_drain(struct fake_context *context);
void fake_streams_end(struct fake_context *context);

/* A kernel of ours, by its name; NULL: there is none. */
struct fake_kernel;
const struct fake_kernel *fake_kernel_find(const char *name);
struct takt_cuda_args;

/* False: an operand is nowhere. */
bool fake_kernel_run(const struct fake_kernel *kernel,
                     const struct takt_cuda_args *args);
