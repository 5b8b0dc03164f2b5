/* SPDX-License-Identifier: MIT */
/*
 * test_tracking.c - no way to change memory is missed, and what was not changed
 * is unchanged.
 *
 * Everything is tried with small pages and with huge ones.
 */
#include "tracking.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/random.h"
#include "support/tap.h"
#include "support/tolerance.h"

enum { huge_page = 2 << 20, room = 3 * huge_page };

static size_t page;
static int advice; /* MADV_HUGEPAGE or MADV_NOHUGEPAGE */

/* A matrix somewhere in memory of its own, which begins and ends in the middle
 * of a page. */
static struct {
    char *all, *base; /* as mapped; the same, aligned to huge pages */
    char *at;
    size_t bytes;
    struct takt_tracked tracked;
} matrix;

static char *map_at(void *where, size_t bytes, int flags)
{
    char *at = mmap(where, bytes, PROT_READ | PROT_WRITE,
                    flags | (where == NULL ? 0 : MAP_FIXED), -1, 0);

    REQUIRE(at != MAP_FAILED);
    return at;
}

static void make_matrix(void)
{
    matrix.all = map_at(NULL, room + huge_page, MAP_PRIVATE | MAP_ANONYMOUS);
    matrix.base = (char *)(((uintptr_t)matrix.all + huge_page - 1) / huge_page *
                           huge_page);
    madvise(matrix.base, room, advice);
    memset(matrix.base, 1, room);
    matrix.at = matrix.base + page + 40;
    matrix.bytes = room - 2 * page - 100;
}

static void free_matrix(void)
{
    takt__tracking_end(&matrix.tracked);
    munmap(matrix.all, room + huge_page);
}

static bool begin(void)
{
    return takt__tracking_begin(matrix.at, matrix.bytes, &matrix.tracked);
}

static bool is_unchanged(void)
{
    return takt__tracking_is_unchanged(&matrix.tracked, matrix.at,
                                       matrix.bytes);
}

/* A page in the middle of a huge one. */
static char *middle(void)
{
    return matrix.base + huge_page + 77 * page;
}

/* ---- ways to change it -----------------------------------------------------
 */

static void write_first(void)
{
    matrix.at[0] = 2;
}

static void write_last(void)
{
    matrix.at[matrix.bytes - 1] = 2;
}

static void write_first_page(void)
{
    matrix.base[2 * page] = 2;
}

static void write_last_page(void)
{
    ((char *)matrix.tracked.end)[-1] = 2;
}

static void write_the_same(void)
{
    memset(middle(), 1, 1);
}

static void copy_across_pages(void)
{
    memcpy(middle() - 2, "abcd", 4);
}

static void *write_middle(void *nothing)
{
    middle()[100] = 2;
    return nothing;
}

static void write_by_thread(void)
{
    pthread_t thread;

    REQUIRE(pthread_create(&thread, NULL, write_middle, NULL) == 0);
    pthread_join(thread, NULL);
}

__attribute__((no_sanitize("address"))) static int
write_in_shared_child(void *at)
{
    *(volatile char *)at = 2;
    return 0;
}

static void write_by_child_that_shares(void)
{
    static char stack[65536] __attribute__((aligned(64)));

    if (is_thread_sanitized) { /* which takes such a child for a fork */
        write_middle(NULL);
        return;
    }
    const int child = clone(write_in_shared_child, stack + sizeof stack,
                            CLONE_VM | CLONE_VFORK | SIGCHLD, middle());

    REQUIRE(child > 0 && waitpid(child, NULL, 0) == child);
}

static void read_from_pipe(void)
{
    int ends[2];

    REQUIRE(pipe(ends) == 0 && write(ends[1], "abc", 3) == 3);
    REQUIRE(read(ends[0], middle(), 3) == 3);
    close(ends[0]);
    close(ends[1]);
}

/* The disk writes to memory itself. */
static void read_past_caches(void)
{
    char name[] = "watch-XXXXXX";
    const int fd = mkstemp(name);

    REQUIRE(fd >= 0 && write(fd, matrix.base, 8192) == 8192);
    const int direct = open(name, O_RDONLY | O_DIRECT | O_CLOEXEC);
    REQUIRE(direct < 0 || read(direct, middle(), 4096) >= 0);
    if (direct < 0)
        read_from_pipe();
    else
        close(direct);
    close(fd);
    unlink(name);
}

static void write_as_a_debugger(void)
{
    const int fd = open("/proc/self/mem", O_RDWR | O_CLOEXEC);

    if (fd < 0 || pwrite(fd, "abc", 3, (off_t)(uintptr_t)middle()) != 3)
        write_first(); /* it is not allowed here */
    close(fd);
}

static void write_from_afar(void)
{
    struct iovec from = {"abc", 3}, to = {middle(), 3};

    if (process_vm_writev(getpid(), &from, 1, &to, 1, 0) != 3)
        write_first();
}

static void give_back_all(void)
{
    REQUIRE(madvise(matrix.base, room, MADV_DONTNEED) == 0);
}

static void give_back_page(void)
{
    REQUIRE(madvise(middle(), page, MADV_DONTNEED) == 0);
}

static void give_back_huge_page(void)
{
    REQUIRE(madvise(matrix.base + huge_page, huge_page, MADV_DONTNEED) == 0);
}

static void give_back_and_read(void)
{
    give_back_huge_page();
    REQUIRE(*(volatile char *)middle() == 0);
}

static void unmap_page(void)
{
    munmap(middle(), page);
}

static void map_page_anew(void)
{
    munmap(middle(), page);
    map_at(middle(), page, MAP_PRIVATE | MAP_ANONYMOUS);
}

static void map_page_over(void)
{
    map_at(middle(), page, MAP_PRIVATE | MAP_ANONYMOUS);
}

static void map_all_anew(void)
{
    munmap(matrix.base, room);
    map_at(matrix.base, room, MAP_PRIVATE | MAP_ANONYMOUS);
    memset(matrix.base, 1, room);
}

static void share_page(void)
{
    map_at(middle(), page, MAP_SHARED | MAP_ANONYMOUS);
}

/* Its whole pages, elsewhere; 4: leaves the place mapped, and empty. */
static char *move_to(char *where, int flags)
{
    const size_t bytes = matrix.tracked.end - matrix.tracked.first;
    char *at = mremap((void *)matrix.tracked.first, bytes, bytes,
                      MREMAP_MAYMOVE | flags, where);

    REQUIRE(at != MAP_FAILED);
    return at;
}

static void move_away(void)
{
    munmap(move_to(NULL, 4), matrix.tracked.end - matrix.tracked.first);
}

static void move_away_and_map(void)
{
    const size_t bytes = matrix.tracked.end - matrix.tracked.first;
    char *other = map_at(NULL, bytes, MAP_PRIVATE | MAP_ANONYMOUS);

    move_to(other, MREMAP_FIXED);
    map_at((void *)matrix.tracked.first, bytes, MAP_PRIVATE | MAP_ANONYMOUS);
    munmap(other, bytes);
}

static void move_there_and_back(void)
{
    const size_t bytes = matrix.tracked.end - matrix.tracked.first;
    char *other = map_at(NULL, bytes, MAP_PRIVATE | MAP_ANONYMOUS);

    move_to(other, MREMAP_FIXED);
    other[huge_page] = 2;
    REQUIRE(mremap(other, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
                   (void *)matrix.tracked.first) != MAP_FAILED);
}

static void move_other_memory_in(void)
{
    char *other = map_at(NULL, huge_page, MAP_PRIVATE | MAP_ANONYMOUS);

    REQUIRE(mremap(other, huge_page, huge_page, MREMAP_MAYMOVE | MREMAP_FIXED,
                   matrix.base + huge_page) == matrix.base + huge_page);
}

static void write_after_protection(void)
{
    REQUIRE(mprotect(matrix.base, room, PROT_READ) == 0);
    REQUIRE(mprotect(matrix.base, room, PROT_READ | PROT_WRITE) == 0);
    write_middle(NULL);
}

static void write_after_fork(void)
{
    const pid_t child = fork();

    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
    write_middle(NULL);
}

/* While the child still has the old page. */
static void write_beside_a_child(void)
{
    int ends[2];

    REQUIRE(pipe(ends) == 0);
    const pid_t child = fork();
    if (child == 0) {
        char word;
        close(ends[1]);
        _exit((int)read(ends[0], &word, 1));
    }
    write_middle(NULL);
    close(ends[0]);
    close(ends[1]);
    waitpid(child, NULL, 0);
}

static void write_after_merging(void)
{
    (void)madvise(matrix.base, room, 25); /* into huge pages, now */
    write_middle(NULL);
}

static void turn_into_huge_pages_and_write(void)
{
    madvise(matrix.base, room,
            advice == MADV_HUGEPAGE ? MADV_NOHUGEPAGE : MADV_HUGEPAGE);
    write_middle(NULL);
}

static const struct change {
    const char *name;
    void (*make)(void);
} changes[] = {
#define CHANGE(name) \
    {                \
#name, name  \
    }
    CHANGE(write_first),          CHANGE(write_last),
    CHANGE(write_first_page),     CHANGE(write_last_page),
    CHANGE(write_the_same),       CHANGE(copy_across_pages),
    CHANGE(write_by_thread),      CHANGE(write_by_child_that_shares),
    CHANGE(read_from_pipe),       CHANGE(read_past_caches),
    CHANGE(write_as_a_debugger),  CHANGE(write_from_afar),
    CHANGE(give_back_all),        CHANGE(give_back_page),
    CHANGE(give_back_huge_page),  CHANGE(give_back_and_read),
    CHANGE(unmap_page),           CHANGE(map_page_anew),
    CHANGE(map_page_over),        CHANGE(map_all_anew),
    CHANGE(share_page),           CHANGE(move_away),
    CHANGE(move_away_and_map),    CHANGE(move_there_and_back),
    CHANGE(move_other_memory_in), CHANGE(write_after_protection),
    CHANGE(write_after_fork),     CHANGE(write_beside_a_child),
    CHANGE(write_after_merging),  CHANGE(turn_into_huge_pages_and_write),
#undef CHANGE
};

enum { change_count = sizeof changes / sizeof changes[0] };

static void every_change_is_seen(void)
{
    for (unsigned i = 0; i < change_count; i++) {
        make_matrix();
        EXPECT(begin() && is_unchanged());
        changes[i].make();
        TAP_CHECK(!is_unchanged(), "%s is not seen", changes[i].name);
        TAP_CHECK(!is_unchanged(), "%s is forgotten", changes[i].name);
        free_matrix();
    }
}

/* ---- what is no change -----------------------------------------------------
 */

static void protect_for_a_while(void)
{
    REQUIRE(mprotect(matrix.base, room, PROT_READ) == 0);
    EXPECT(is_unchanged());
    REQUIRE(mprotect(matrix.base, room, PROT_READ | PROT_WRITE) == 0);
}

static void read_all(void)
{
    volatile char sum = 0;

    for (size_t i = 0; i < matrix.bytes; i += 64)
        sum = (char)(sum + matrix.at[i]);
}

static void write_beside(void)
{
    matrix.at[-1] = 2;
    matrix.at[matrix.bytes] = 2;
    matrix.base[0] = 2;
    matrix.base[room - 1] = 2;
}

/* A child writes to a copy of its own. */
static void write_in_a_child(void)
{
    const pid_t child = fork();

    if (child == 0) {
        memset(matrix.at, 3, matrix.bytes);
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

static void send_to_pipe(void)
{
    int ends[2];
    char word[100];

    REQUIRE(pipe(ends) == 0 && write(ends[1], middle(), 100) == 100);
    REQUIRE(read(ends[0], word, 100) == 100);
    close(ends[0]);
    close(ends[1]);
}

static void what_is_not_written_stays_unchanged(void)
{
    void (*const others[])(void) = {protect_for_a_while, read_all, write_beside,
                                    write_in_a_child, send_to_pipe};

    make_matrix();
    EXPECT(begin());
    for (unsigned i = 0; i < sizeof others / sizeof others[0]; i++) {
        others[i]();
        TAP_CHECK(is_unchanged(), "number %u is taken for a change", i);
    }
    write_middle(NULL);
    EXPECT(!is_unchanged());
    free_matrix();
}

static void memory_that_was_never_touched_is_watched_too(void)
{
    make_matrix();
    give_back_all();
    EXPECT(begin() && is_unchanged());
    read_all();
    EXPECT(is_unchanged());
    write_middle(NULL);
    EXPECT(!is_unchanged());
    free_matrix();
}

static void a_change_is_history_when_the_watch_begins_anew(void)
{
    make_matrix();
    for (unsigned i = 0; i < 3; i++) {
        EXPECT(begin() && is_unchanged());
        write_middle(NULL);
        EXPECT(!is_unchanged());
        takt__tracking_end(&matrix.tracked);
        EXPECT(!is_unchanged());
    }
    free_matrix();
}

/* ---- parts and neighbours --------------------------------------------------
 */

static bool is_part_unchanged(const char *at, size_t bytes)
{
    return takt__tracking_is_unchanged(&matrix.tracked, at, bytes);
}

static void a_part_is_looked_at_by_itself(void)
{
    make_matrix();
    const size_t before = (size_t)(middle() - matrix.at);
    EXPECT(begin());
    write_middle(NULL);
    EXPECT(is_part_unchanged(matrix.at, before));
    EXPECT(!is_part_unchanged(matrix.at, before + 101));
    EXPECT(!is_part_unchanged(middle() + 3000, 1)); /* by pages */
    EXPECT(is_part_unchanged(middle() + page, 1000));
    write_last();
    EXPECT(is_part_unchanged(middle() + page, 1000));
    EXPECT(!is_part_unchanged(middle() + page, matrix.bytes - before - page));
    munmap(middle() + 2 * page, room - huge_page - 79 * page);
    EXPECT(is_part_unchanged(matrix.at, before));
    EXPECT(is_part_unchanged(middle() + page, page));
    free_matrix();
}

static void neighbours_do_not_see_each_other(void)
{
    struct takt_tracked low, high;

    make_matrix();
    char *const high_at = middle() + 1000;
    const size_t low_bytes = (size_t)(high_at - matrix.at);
    const size_t high_bytes = matrix.bytes - low_bytes;
    EXPECT(takt__tracking_begin(matrix.at, low_bytes, &low));
    EXPECT(takt__tracking_begin(high_at, high_bytes, &high));
    high_at[0] = 2;
    EXPECT(takt__tracking_is_unchanged(&low, matrix.at, low_bytes));
    EXPECT(!takt__tracking_is_unchanged(&high, high_at, high_bytes));
    takt__tracking_end(&high);
    high_at[10 * page] = 2;
    EXPECT(takt__tracking_is_unchanged(&low, matrix.at, low_bytes));
    write_first_page();
    EXPECT(!takt__tracking_is_unchanged(&low, matrix.at, low_bytes));
    takt__tracking_end(&low);
    free_matrix();
}

/* ---- children --------------------------------------------------------------
 */

/* Runs in a child; its status is the number of failures. */
static int fork_for(int (*test)(void), bool is_raw)
{
    int status = -1;

    fflush(stdout);
    const pid_t child =
        is_raw ? (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) : fork();
    REQUIRE(child >= 0);
    if (child == 0)
        _exit(test());
    REQUIRE(waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 100;
}

/* It knows nothing at first, and then no less than its parent. */
static int watch_in_child(void)
{
    int failures = is_unchanged() ? 1 : 0;

    takt__tracking_end(&matrix.tracked);
    failures += begin() && is_unchanged() ? 0 : 2;
    write_middle(NULL);
    failures += is_unchanged() ? 4 : 0;
    takt__tracking_end(&matrix.tracked);
    return failures;
}

static int child_of_child(void)
{
    return watch_in_child() + fork_for(watch_in_child, false);
}

static int close_everything(void)
{
    takt__tracking_end(&matrix.tracked);
    if (!begin() || !is_unchanged())
        return 1;
    for (int fd = 3; fd < 256; fd++)
        close(fd);
    const int failures = is_unchanged() ? 2 : 0;
    middle()[0] = 2;
    return failures + (is_unchanged() ? 4 : 0);
}

static void children_know_nothing_of_what_their_parent_watches(void)
{
    make_matrix();
    EXPECT(begin());
    EXPECT_INT(fork_for(watch_in_child, false), 0);
    EXPECT_INT(fork_for(child_of_child, false), 0);
    EXPECT_INT(fork_for(watch_in_child, true), 0);
    EXPECT(is_unchanged());
    write_middle(NULL);
    EXPECT(!is_unchanged());
    free_matrix();
}

static void closing_all_files_counts_as_changing_all(void)
{
    make_matrix();
    EXPECT(begin());
    EXPECT_INT(fork_for(close_everything, false), 0);
    EXPECT(is_unchanged());
    free_matrix();
}

/* ---- what is not tracked ---------------------------------------------------
 */

static bool can_watch(const void *at, size_t bytes)
{
    struct takt_tracked tracked;
    const bool can = takt__tracking_begin(at, bytes, &tracked);

    takt__tracking_end(&tracked);
    return can;
}

static void memory_that_others_may_write_is_not_watched(void)
{
    const int fd = memfd_create("watch", MFD_CLOEXEC);
    const size_t some = 64 * page;

    REQUIRE(fd >= 0 && ftruncate(fd, (off_t)some) == 0);
    char *plain = map_at(NULL, some, MAP_PRIVATE | MAP_ANONYMOUS);
    char *shared = map_at(NULL, some, MAP_SHARED | MAP_ANONYMOUS);
    char *file = mmap(NULL, some, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    char *copy = mmap(NULL, some, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    REQUIRE(file != MAP_FAILED && copy != MAP_FAILED);
    memset(copy, 1, some); /* all its own by now, but not for good */
    EXPECT(can_watch(plain, some) && can_watch(plain + 100, some - 200));
    EXPECT(!can_watch(shared, some));
    EXPECT(!can_watch(file, some) && !can_watch(copy, some));
    EXPECT(!can_watch(plain + 1, page));
    munmap(plain + 30 * page, page);
    EXPECT(!can_watch(plain, some) && can_watch(plain, 30 * page));
    EXPECT(!can_watch(plain, 30 * page + 10)); /* there is nothing */
    munmap(plain, some);
    munmap(shared, some);
    munmap(file, some);
    munmap(copy, some);
    close(fd);
}

/* ---- at random -------------------------------------------------------------
 */

/* Bit by bit, all that leaves the whole of it readable. */
static void change_somehow(uint64_t *seed)
{
    char *const at = matrix.at + random_next(seed) % (matrix.bytes - 5000);
    const unsigned kind = (unsigned)(random_next(seed) % 8);

    if (kind < 3)
        memset(at, (int)(random_next(seed) % 100), 1 + kind * 2000);
    else if (kind == 3)
        madvise((void *)((uintptr_t)at / page * page), page, MADV_DONTNEED);
    else if (kind == 4)
        map_at((void *)((uintptr_t)at / page * page), page,
               MAP_PRIVATE | MAP_ANONYMOUS);
    else if (kind == 5)
        madvise(matrix.base, room,
                random_next(seed) % 2 ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
}

static void unchanged_is_true_whatever_happens(void)
{
    uint64_t seed = 5;
    char *copy = malloc(room);
    unsigned kept = 0;

    REQUIRE(copy != NULL);
    for (unsigned i = 0; i < 300; i++) {
        if (i % 30 == 0)
            make_matrix();
        REQUIRE(begin());
        memcpy(copy, matrix.at, matrix.bytes);
        EXPECT(is_unchanged());
        change_somehow(&seed);
        const bool is_kept = is_unchanged();
        kept += is_kept;
        EXPECT(!is_kept || memcmp(copy, matrix.at, matrix.bytes) == 0);
        takt__tracking_end(&matrix.tracked);
        if (i % 30 == 29)
            free_matrix();
    }
    EXPECT(kept > 20);
    free(copy);
}

/* ---- pins ------------------------------------------------------------------
 */

/* A buffer that is registered with io_uring is pinned as long as that is open,
 * and the kernel counts it. */
static void memory_that_is_pinned_for_good_is_not_watched(void)
{
    struct {
        uint32_t words[30];
    } parameters = {{0}};
    const int ring = (int)syscall(SYS_io_uring_setup, 1, &parameters);

    if (ring < 0) {
        SKIP("there is no io_uring");
        return;
    }
    make_matrix();
    const struct iovec all = {matrix.at, matrix.bytes};
    EXPECT(begin() && is_unchanged());
    if (syscall(SYS_io_uring_register, ring, 0, &all, 1) == 0) {
        EXPECT(!is_unchanged()); /* it may have been written since */
        takt__tracking_end(&matrix.tracked);
        EXPECT(!begin());
    } else {
        SKIP("io_uring may not pin memory");
    }
    close(ring);
    free_matrix();
}

static void run_all(void)
{
    RUN(every_change_is_seen);
    RUN(what_is_not_written_stays_unchanged);
    RUN(memory_that_was_never_touched_is_watched_too);
    RUN(a_change_is_history_when_the_watch_begins_anew);
    RUN(a_part_is_looked_at_by_itself);
    RUN(neighbours_do_not_see_each_other);
    RUN(children_know_nothing_of_what_their_parent_watches);
    RUN(closing_all_files_counts_as_changing_all);
    RUN(unchanged_is_true_whatever_happens);
}

static void nothing_is_watched_here(void)
{
    EXPECT(!can_watch(&page, 1 << 20));
    SKIP(takt__tracking_problem());
}

int main(void)
{
    page = (size_t)sysconf(_SC_PAGESIZE);
    if (takt__tracking_problem() != NULL) {
        RUN(nothing_is_watched_here);
        return tap_done();
    }
    advice = MADV_NOHUGEPAGE;
    run_all();
    advice = MADV_HUGEPAGE;
    run_all();
    RUN(memory_that_others_may_write_is_not_watched);
    RUN(memory_that_is_pinned_for_good_is_not_watched);
    return tap_done();
}
