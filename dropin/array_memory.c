/* SPDX-License-Identifier: MIT */
/* array_memory.c - the blocks that are kept, and how many there may be. */
#include "array_memory.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>

#include "effect.h"

/* Smaller blocks come from the heap, and stay there, mostly. */
static const size_t least_bytes = 256 << 10, most_kept_bytes = 128 << 20;

/* A block may be larger than what is asked for by this part of it. */
enum { slack = 16 };

/* A block goes back when so many others have come since. */
enum { most_blocks = 64, most_age = 64 };

/* In large blocks that come and go. */
enum { ask_every = 16 };

static struct takt_array_handler own; /* NumPy's functions */

struct kept_block {
    void *at;
    size_t bytes;
    uint32_t turn;
};

/* `block` is in the order in which they came. */
static struct {
    _Atomic bool is_taken; /* in a child of a fork perhaps for ever */
    struct kept_block block[most_blocks];
    unsigned count;
    uint32_t turn, asked;
    bool is_limited;
    size_t kept, live, most_live; /* bytes, of large blocks */
} memory;

static bool take(void)
{
    return !atomic_exchange_explicit(&memory.is_taken, true,
                                     memory_order_acquire);
}

static void give(void)
{
    atomic_store_explicit(&memory.is_taken, false, memory_order_release);
}

/* ---- blocks that are kept ------------------------------------------------ */

static struct kept_block remove_block(unsigned number)
{
    const struct kept_block block = memory.block[number];

    memory.count--;
    memory.kept -= block.bytes;
    memmove(&memory.block[number], &memory.block[number + 1],
            (memory.count - number) * sizeof block);
    return block;
}

static void drop_oldest(void)
{
    const struct kept_block block = remove_block(0);

    own.release(own.context, block.at, block.bytes);
}

static void drop_all(void)
{
    while (memory.count > 0)
        drop_oldest();
}

/* Where the process may have so much and no more, what is kept would be missing
 * elsewhere: only arrays get it back. */
static bool has_limits(void)
{
    struct rlimit space, data;

    return (getrlimit(RLIMIT_AS, &space) == 0 &&
            space.rlim_cur != RLIM_INFINITY) ||
           (getrlimit(RLIMIT_DATA, &data) == 0 &&
            data.rlim_cur != RLIM_INFINITY);
}

/* The system is asked now and then: programs set limits while they run. */
static bool is_limited(void)
{
    if (memory.asked++ % ask_every == 0)
        memory.is_limited = has_limits();
    return memory.is_limited;
}

/* In off slices those that are there wait: to fetch them anew afterwards would
 * cost the program more than the slice. */
static bool keeps_blocks(void)
{
    if (takt__effect_is_off())
        return false;
    if (!is_limited())
        return true;
    drop_all();
    return false;
}

/* The last that came is the likeliest to be in a cache. NULL: none fits. */
static void *find_block(size_t bytes)
{
    if (!keeps_blocks())
        return NULL;
    for (unsigned i = memory.count; i-- > 0;) {
        const size_t found = memory.block[i].bytes;
        if (found < bytes || found - bytes > bytes / slack)
            continue;
        takt__effect_note();
        return remove_block(i).at;
    }
    return NULL;
}

static void keep_block(void *at, size_t bytes)
{
    while (memory.count > 0 && (memory.count == most_blocks ||
                                memory.kept + bytes > most_kept_bytes ||
                                memory.turn - memory.block[0].turn >= most_age))
        drop_oldest();
    memory.block[memory.count++] =
        (struct kept_block){at, bytes, memory.turn++};
    memory.kept += bytes;
}

/* ---- how much there may be ----------------------------------------------- */

static void add_live(size_t bytes)
{
    memory.live += bytes;
    if (memory.live > memory.most_live)
        memory.most_live = memory.live;
}

/* Blocks from before this was installed are not in `live`. */
static void subtract_live(size_t bytes)
{
    memory.live -= bytes < memory.live ? bytes : memory.live;
}

/* Before new memory is asked for: with what arrays have and what is kept, it
 * shall not be more than arrays had before. */
static void make_room(size_t bytes)
{
    while (memory.count > 0 &&
           memory.live + memory.kept + bytes > memory.most_live)
        drop_oldest();
}

/* Where there was no memory. False: nothing was kept, and there is none now. */
static bool give_back(void)
{
    const bool has_some = memory.count > 0;

    drop_all();
    return has_some;
}

/* ---- NumPy's handler ----------------------------------------------------- */

static size_t size_of(void *at)
{
    return at == NULL ? 0 : malloc_usable_size(at);
}

static void *allocate(void *context, size_t bytes)
{
    if (bytes < least_bytes || !take())
        return own.allocate(context, bytes);
    void *at = find_block(bytes);
    if (at == NULL) {
        make_room(bytes);
        at = own.allocate(context, bytes);
    }
    if (at == NULL && give_back())
        at = own.allocate(context, bytes);
    add_live(size_of(at));
    give();
    return at;
}

static void *allocate_zeroed(void *context, size_t count, size_t bytes)
{
    size_t all;

    if (__builtin_mul_overflow(count, bytes, &all) || all < least_bytes ||
        !take())
        return own.allocate_zeroed(context, count, bytes);
    make_room(all);
    give(); /* what follows may let other threads of Python run */
    void *at = own.allocate_zeroed(context, count, bytes);
    if (at == NULL && take()) {
        const bool has_given = give_back();
        give();
        if (has_given)
            at = own.allocate_zeroed(context, count, bytes);
    }
    if (at != NULL && take()) {
        add_live(size_of(at));
        give();
    }
    return at;
}

static void *resize(void *context, void *at, size_t bytes)
{
    if ((bytes < least_bytes && size_of(at) < least_bytes) || !take())
        return own.resize(context, at, bytes);
    const size_t before = size_of(at);
    make_room(bytes);
    void *moved = own.resize(context, at, bytes);
    if (moved == NULL && give_back())
        moved = own.resize(context, at, bytes);
    if (moved != NULL) {
        subtract_live(before);
        add_live(size_of(moved));
    }
    give();
    return moved;
}

static void release(void *context, void *at, size_t bytes)
{
    const size_t room = bytes < least_bytes ? 0 : size_of(at);

    if (room < least_bytes || room > most_kept_bytes || !take()) {
        own.release(context, at, bytes);
        return;
    }
    subtract_live(room);
    if (!keeps_blocks())
        own.release(context, at, bytes);
    else
        keep_block(at, room);
    give();
}

void takt__array_memory_install(struct takt_array_handler *handler)
{
    static const char name[] = "default_allocator";

    if (strncmp(handler->name, name, sizeof name) != 0 ||
        handler->version != 1 || handler->allocate == allocate)
        return;
    own = *handler;
    handler->allocate = allocate;
    handler->allocate_zeroed = allocate_zeroed;
    handler->resize = resize;
    handler->release = release;
}
