/* SPDX-License-Identifier: MIT */
/*
 * test_array_memory.c - blocks of arrays: which are kept, how many, and when
 * they go back.
 */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "array_memory.h"
#include "effect.h"
#include "support/tap.h"

enum { mib = 1 << 20 };

/* In place of effect.c. */
_Atomic bool takt__is_off, takt__is_active;

/* ---- NumPy's handler: it counts ---- */

static struct {
    unsigned allocated, released;
    size_t bytes; /* that are not released */
    bool fails;
} counted;

static void *count_allocate(void *context, size_t bytes)
{
    EXPECT(context == &counted);
    if (counted.fails)
        return NULL;
    void *at = malloc(bytes);
    counted.allocated++;
    counted.bytes += malloc_usable_size(at);
    return at;
}

static void *count_zeroed(void *context, size_t count, size_t bytes)
{
    EXPECT(context == &counted);
    if (counted.fails)
        return NULL;
    void *at = calloc(count, bytes);
    counted.allocated++;
    counted.bytes += malloc_usable_size(at);
    return at;
}

static void *count_resize(void *context, void *at, size_t bytes)
{
    EXPECT(context == &counted);
    if (counted.fails)
        return NULL;
    counted.bytes -= malloc_usable_size(at);
    void *moved = realloc(at, bytes);
    counted.bytes += malloc_usable_size(moved);
    return moved;
}

static void count_release(void *context, void *at, size_t bytes)
{
    EXPECT(context == &counted);
    (void)bytes;
    counted.released++;
    counted.bytes -= malloc_usable_size(at);
    counted.fails = false; /* there is memory again */
    free(at);
}

static struct takt_array_handler handler = {"default_allocator",
                                            1,
                                            &counted,
                                            count_allocate,
                                            count_zeroed,
                                            count_resize,
                                            count_release};

static void *get(size_t bytes)
{
    return handler.allocate(handler.context, bytes);
}

static void put(void *at, size_t bytes)
{
    handler.release(handler.context, at, bytes);
}

/* Blocks of another size, of which many are needed at once. */
static void forget_all(void)
{
    enum { many = 24 };
    void *at[many];

    for (unsigned i = 0; i < many; i++)
        at[i] = get(9 * mib);
    for (unsigned i = 0; i < many; i++)
        put(at[i], 9 * mib);
    counted.allocated = counted.released = 0;
}

/* ---- tests ---- */

static void other_handlers_are_left_alone(void)
{
    struct takt_array_handler other = handler;

    strcpy(other.name, "somebody's");
    takt__array_memory_install(&other);
    EXPECT(other.allocate == count_allocate);
    strcpy(other.name, "default_allocator");
    other.version = 2;
    takt__array_memory_install(&other);
    EXPECT(other.release == count_release);
}

static void a_block_is_used_again(void)
{
    takt__array_memory_install(&handler); /* a second time: nothing changes */
    void *first = get(mib);
    put(first, mib);
    EXPECT(get(mib - 5000) == first);
    put(first, mib - 5000);
    EXPECT(get(mib) == first);
    put(first, mib);
    EXPECT_INT(counted.allocated, 1);
    EXPECT_INT(counted.released, 0);
}

static void a_block_that_does_not_fit_is_not(void)
{
    forget_all();
    void *large = get(2 * mib);
    put(large, 2 * mib);
    void *small = get(mib);
    EXPECT(small != large);
    put(small, mib);
}

static void small_blocks_are_not_kept(void)
{
    forget_all();
    put(get(1000), 1000);
    put(get(100000), 100000);
    EXPECT_INT(counted.allocated, 2);
    EXPECT_INT(counted.released, 2);
}

static void zeroed_blocks_are_zero(void)
{
    forget_all();
    void *dirty = get(mib);
    memset(dirty, 1, mib);
    put(dirty, mib);
    char *clean = handler.allocate_zeroed(handler.context, mib, 1);
    char all = 0;
    for (size_t i = 0; i < mib; i++)
        all |= clean[i];
    EXPECT_INT(all, 0);
    put(clean, mib);
}

static void resized_blocks_keep_their_content(void)
{
    forget_all();
    char *at = get(mib);
    memset(at, 7, mib);
    at = handler.resize(handler.context, at, 3 * mib);
    EXPECT_INT(at[mib - 1], 7);
    put(at, 3 * mib);
    EXPECT(get(3 * mib) == at);
    at = handler.resize(handler.context, at, 100);
    EXPECT_INT(at[99], 7);
    put(at, 100);
}

/* Right after a_block_is_used_again(): arrays never had more than 4 MiB. */
static void no_more_is_kept_than_arrays_had(void)
{
    static const size_t asked[] = {4 * mib,     mib,     2 * mib, 3 * mib,
                                   3 * mib / 2, mib / 2, 4 * mib, 2 * mib};
    enum { page = 4096 };

    for (unsigned i = 0; i < sizeof asked / sizeof *asked; i++) {
        put(get(asked[i]), asked[i]);
        EXPECT(counted.bytes >= asked[i]); /* it is kept */
        EXPECT(counted.bytes <= 4 * mib + 2 * page);
    }
}

static void at_most_128_mib_are_kept(void)
{
    enum { many = 20, each = 10 * mib };
    void *at[many];

    forget_all();
    for (unsigned i = 0; i < many; i++)
        at[i] = get(each);
    for (unsigned i = 0; i < many; i++)
        put(at[i], each);
    EXPECT(counted.bytes <= 128 * (size_t)mib);
    EXPECT(counted.bytes > 100 * (size_t)mib);
    void *huge = get(200 * (size_t)mib);
    put(huge, 200 * (size_t)mib);
    EXPECT(counted.bytes <= 128 * (size_t)mib);
}

static void blocks_that_are_not_used_go_back(void)
{
    forget_all();
    for (unsigned i = 0; i < 200; i++)
        put(get(mib), mib);
    EXPECT_INT(counted.allocated, 1);
    EXPECT(counted.released > 0); /* those of 9 MiB */
}

static void kept_blocks_go_back_where_memory_is_short(void)
{
    forget_all();
    put(get(mib), mib);
    counted.fails = true;
    void *at = get(5 * mib);
    EXPECT(at != NULL);
    EXPECT(counted.released > 0);
    put(at, 5 * mib);
    counted.fails = true; /* what is kept, and this, were had at once before */
    at = handler.allocate_zeroed(handler.context, mib, 1);
    EXPECT(at != NULL);
    put(get(5 * mib), 5 * mib);
    counted.fails = true;
    at = handler.resize(handler.context, at, 2 * mib);
    EXPECT(at != NULL);
    put(at, 2 * mib);
}

/* One block at the end of the heap is enough for the C library to give nothing
 * of it back, as it does without Takt. */
static void nothing_is_kept_while_takt_is_off(void)
{
    forget_all();
    void *kept = get(mib);
    put(kept, mib);
    takt__is_off = true;
    void *fresh = get(mib);
    EXPECT(fresh != kept);
    put(fresh, mib);
    EXPECT_INT(counted.released, 1);
    takt__is_off = false;
    EXPECT(get(mib) == kept);
    put(kept, mib);
}

/* The limit is looked at now and then. */
static void use_some(void)
{
    for (unsigned i = 0; i < 16; i++)
        put(get(mib), mib);
}

/* What is kept counts against it, and the program needs it elsewhere. */
static void nothing_is_kept_under_a_limit(void)
{
    static const unsigned kinds[] = {RLIMIT_AS, RLIMIT_DATA};
    struct rlimit before;

    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const struct rlimit limit = {RLIM_INFINITY - 1, RLIM_INFINITY};
        use_some();
        EXPECT(counted.bytes > 0);
        REQUIRE(getrlimit(kinds[i], &before) == 0);
        if (setrlimit(kinds[i], &limit) != 0) {
            SKIP("the limit cannot be set");
            continue;
        }
        use_some();
        EXPECT_INT(counted.bytes, 0);
        REQUIRE(setrlimit(kinds[i], &before) == 0);
    }
}

int main(void)
{
    RUN(other_handlers_are_left_alone);
    takt__array_memory_install(&handler);
    RUN(a_block_is_used_again);
    RUN(no_more_is_kept_than_arrays_had);
    RUN(a_block_that_does_not_fit_is_not);
    RUN(small_blocks_are_not_kept);
    RUN(zeroed_blocks_are_zero);
    RUN(resized_blocks_keep_their_content);
    RUN(at_most_128_mib_are_kept);
    RUN(blocks_that_are_not_used_go_back);
    RUN(kept_blocks_go_back_where_memory_is_short);
    RUN(nothing_is_kept_while_takt_is_off);
    RUN(nothing_is_kept_under_a_limit);
    return tap_done();
}
