/* SPDX-License-Identifier: MIT */
/*
 * fake_memory.c - memory of the fake devices, and host memory they know.
 *
 * All of it is from malloc(), so that a sanitizer sees who goes beyond it.
 */
#define _GNU_SOURCE /* memfd_create() */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gpu/fake_cuda.h"

/* No pointer of a program has this bit. */
static const uint64_t device_bit = UINT64_C(1) << 56;

/* malloc(), and that of each sanitizer, gives such a block pages of its own,
 * and returns them when it is freed. The scratch of a device is one. */
static const size_t always_mapped = (size_t)32 << 20;

enum { FILLER = 0xA5 };

enum kind { ON_DEVICE, ON_HOST, REGISTERED };

static struct piece {
    enum kind kind;
    char *at;
    size_t bytes;
    const struct fake_context *context;
    struct piece *next;
} * pieces;

static uint64_t used(int device)
{
    uint64_t sum = 0;

    for (const struct piece *piece = pieces; piece != NULL; piece = piece->next)
        if (piece->kind == ON_DEVICE && piece->context->device == device)
            sum += piece->bytes;
    return sum;
}

uint64_t fake_cuda_bytes_held(void)
{
    uint64_t sum = 0;

    pthread_mutex_lock(&fake_lock);
    for (const struct piece *piece = pieces; piece != NULL; piece = piece->next)
        sum += piece->bytes;
    pthread_mutex_unlock(&fake_lock);
    return sum;
}

/* ---- finding ------------------------------------------------------------- */

void *fake_cuda_at(uint64_t address)
{
    return (void *)(uintptr_t)(address & ~device_bit);
}

static bool is_within(const struct piece *piece, uintptr_t at, size_t bytes)
{
    const uintptr_t start = (uintptr_t)piece->at;
    return at >= start && bytes <= piece->bytes &&
           at - start <= piece->bytes - bytes;
}

static bool is_known(bool is_device, uintptr_t at, size_t bytes)
{
    for (const struct piece *piece = pieces; piece != NULL; piece = piece->next)
        if ((piece->kind == ON_DEVICE) == is_device &&
            is_within(piece, at, bytes))
            return true;
    return false;
}

bool fake_is_on_device(uint64_t address, size_t bytes)
{
    const bool is_device = (address & device_bit) != 0;
    return is_known(is_device, (uintptr_t)fake_cuda_at(address), bytes);
}

static struct piece **find(enum kind kind, const void *at)
{
    for (struct piece **link = &pieces; *link != NULL; link = &(*link)->next)
        if ((*link)->kind == kind && (*link)->at == at)
            return link;
    return NULL;
}

/* ---- making and freeing -------------------------------------------------- */

static int add(enum kind kind, const struct fake_context *context, void *at,
               size_t bytes)
{
    struct piece *piece = malloc(sizeof *piece);

    if (piece == NULL || at == NULL) {
        free(piece);
        return OUT_OF_MEMORY;
    }
    *piece = (struct piece){kind, at, bytes, context, pieces};
    pieces = piece;
    return 0;
}

static void remove_piece(struct piece **link)
{
    struct piece *piece = *link;

    *link = piece->next;
    if (piece->kind != REGISTERED)
        free(piece->at);
    free(piece);
}

/* What the real one does, too: it waits for all that may use the memory. */
static int give_back(enum kind kind, const void *at,
                     struct fake_context *context, int missing)
{
    fake_drain(context);
    struct piece **link = find(kind, at);
    if (link == NULL)
        return missing;
    remove_piece(link);
    return 0;
}

void fake_memory_free_all(const struct fake_context *context)
{
    for (struct piece **link = &pieces; *link != NULL;)
        if ((*link)->context == context)
            remove_piece(link);
        else
            link = &(*link)->next;
}

enum { PAGE = 4096, FILLER_BYTES = 1 << 20 };

/* A file of filler, whose pages can be mapped; -1: none. */
static int filler_file(void)
{
    static int file = -1;
    static char filler[FILLER_BYTES];

    if (file >= 0)
        return file;
    file = memfd_create("filler", MFD_CLOEXEC);
    memset(filler, FILLER, sizeof filler);
    if (file >= 0 && write(file, filler, sizeof filler) != sizeof filler) {
        close(file);
        file = -1;
    }
    return file;
}

/* Fills memory that malloc() has mapped and will unmap, and says how much of
 * it: a page takes time and room when it is touched, as most never are. */
static size_t map_filler(char *at, size_t bytes)
{
    const int file = filler_file();
    size_t done = 0;

    while (file >= 0 && bytes - done >= FILLER_BYTES &&
           mmap(at + done, FILLER_BYTES, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_FIXED, file, 0) != MAP_FAILED)
        done += FILLER_BYTES;
    return done;
}

/* Filled with what is never zero, as nobody may count on that. */
static void *make_memory(size_t bytes)
{
    void *memory;
    size_t done = 0;

    if (posix_memalign(&memory, PAGE, bytes) != 0)
        return NULL;
    char *at = memory;
    if (bytes >= always_mapped)
        done = map_filler(at, bytes);
    memset(at + done, FILLER, bytes - done);
    return at;
}

/* ---- the functions ------------------------------------------------------- */

static int allocate(uint64_t *address, size_t bytes,
                    const struct fake_context *context)
{
    if (bytes == 0)
        return INVALID_VALUE;
    const uint64_t in_use = used(context->device);
    if (bytes > fake_settings.memory || in_use > fake_settings.memory - bytes)
        return OUT_OF_MEMORY;
    void *at = make_memory(bytes);
    const int error = add(ON_DEVICE, context, at, bytes);
    *address = (uint64_t)(uintptr_t)at | device_bit;
    return error;
}

int cuMemAlloc_v2(uint64_t *address, size_t bytes)
{
    struct fake_context *context;

    pthread_mutex_lock(&fake_lock);
    int error = fake_begin_in(FAKE_cuMemAlloc, &context);
    if (error == 0)
        error = allocate(address, bytes, context);
    pthread_mutex_unlock(&fake_lock);
    return error;
}

int cuMemFree_v2(uint64_t address)
{
    struct fake_context *context;

    pthread_mutex_lock(&fake_lock);
    int error = fake_begin_in(FAKE_cuMemFree, &context);
    if (error == 0)
        error =
            give_back(ON_DEVICE, fake_cuda_at(address), context, INVALID_VALUE);
    pthread_mutex_unlock(&fake_lock);
    return error;
}

int cuMemGetInfo_v2(size_t *free_bytes, size_t *total)
{
    struct fake_context *context;

    pthread_mutex_lock(&fake_lock);
    const int error = fake_begin_in(FAKE_cuMemGetInfo, &context);
    if (error == 0) {
        *total = fake_settings.memory;
        *free_bytes = fake_settings.memory - used(context->device);
    }
    pthread_mutex_unlock(&fake_lock);
    return error;
}

int cuMemHostAlloc(void **host, size_t bytes, unsigned flags)
{
    struct fake_context *context;

    (void)flags;
    pthread_mutex_lock(&fake_lock);
    int error = fake_begin_in(FAKE_cuMemHostAlloc, &context);
    if (error == 0 && bytes == 0)
        error = INVALID_VALUE;
    if (error == 0) {
        *host = make_memory(bytes);
        error = add(ON_HOST, context, *host, bytes);
    }
    pthread_mutex_unlock(&fake_lock);
    return error;
}

int cuMemFreeHost(void *host)
{
    struct fake_context *context;

    pthread_mutex_lock(&fake_lock);
    int error = fake_begin_in(FAKE_cuMemFreeHost, &context);
    if (error == 0)
        error = give_back(ON_HOST, host, context, INVALID_VALUE);
    pthread_mutex_unlock(&fake_lock);
    return error;
}

int cuMemHostRegister_v2(void *host, size_t bytes, unsigned flags)
{
    struct fake_context *context;

    (void)flags;
    pthread_mutex_lock(&fake_lock);
    int error = fake_begin_in(FAKE_cuMemHostRegister, &context);
    if (error == 0 && (host == NULL || bytes == 0))
        error = INVALID_VALUE;
    if (error == 0 && (is_known(false, (uintptr_t)host, 1) ||
                       is_known(false, (uintptr_t)host + bytes - 1, 1)))
        error = ALREADY_REGISTERED;
    if (error == 0)
        error = add(REGISTERED, context, host, bytes);
    pthread_mutex_unlock(&fake_lock);
    return error;
}

int cuMemHostUnregister(void *host)
{
    struct fake_context *context;

    pthread_mutex_lock(&fake_lock);
    int error = fake_begin_in(FAKE_cuMemHostUnregister, &context);
    if (error == 0)
        error = give_back(REGISTERED, host, context, NOT_REGISTERED);
    pthread_mutex_unlock(&fake_lock);
    return error;
}

int cuMemHostGetDevicePointer_v2(uint64_t *address, void *host, unsigned flags)
{
    struct fake_context *context;

    (void)flags;
    pthread_mutex_lock(&fake_lock);
    int error = fake_begin_in(FAKE_cuMemHostGetDevicePointer, &context);
    if (error == 0 && !is_known(false, (uintptr_t)host, 1))
        error = INVALID_VALUE;
    if (error == 0)
        *address = (uint64_t)(uintptr_t)host;
    pthread_mutex_unlock(&fake_lock);
    return error;
}
