/* SPDX-License-Identifier: MIT */
/*
 * test_reuse.c - matrices that stay on a GPU: every result is that of the
 * memory as it is, and what is unchanged is not moved again.
 *
 *     test_reuse INTERPOSER LIBRARY_BELOW
 *
 * INTERPOSER may be "preloaded". The GPU is the fake one (gpu/fake_cuda.h),
 * which counts what is moved. All numbers are small and whole, so that sums are
 * exact in whatever order they are made.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/random.h"
#include "support/tap.h"
#include "support/tolerance.h"
#include "tracking.h"

/* A has m rows of k, B k of n. A starts in the middle of a page. */
enum {
    m = 400,
    n = 4,
    k = 1000,
    offset = 120,
    a_bytes = m * k * sizeof(float),
    room = a_bytes + (16 << 10)
};

enum { by_rows = 101, plain_form = 111, transposed = 112 };

static void (*sgemm)(int order, int ta, int tb, int rows, int columns,
                     int depth, float alpha, const float *a, int lda,
                     const float *b, int ldb, float beta, float *c, int ldc);
static void (*sgemv)(int order, int ta, int rows, int columns, float alpha,
                     const float *a, int lda, const float *x, int incx,
                     float beta, float *y, int incy);
static uint64_t (*bytes_in)(void);
static void (*set_primary)(int is_active);

static size_t page;
static char *memory; /* of A */
static float *a, b[k * n];

static char *map_at(void *where, size_t bytes)
{
    char *at = mmap(
        where, bytes, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | (where == NULL ? 0 : MAP_FIXED), -1, 0);

    REQUIRE(at != MAP_FAILED);
    return at;
}

static void fill(float *at, size_t count, uint64_t seed)
{
    for (size_t i = 0; i < count; i++)
        at[i] = (float)(random_next(&seed) % 9) - 4;
}

/* ---- products --------------------------------------------------------------
 */

static bool is_right(const float *left, const float *c)
{
    for (size_t i = 0; i < m; i++) {
        float sum[n] = {0};
        for (size_t l = 0; l < k; l++)
            for (size_t j = 0; j < n; j++)
                sum[j] += left[i * k + l] * b[l * n + j];
        if (memcmp(sum, c + i * n, sizeof sum) != 0)
            return false;
    }
    return true;
}

/* Multiplies, and says whether the result is right. */
static bool multiply(const float *left)
{
    float c[m * n];

    sgemm(by_rows, plain_form, plain_form, m, n, k, 1, left, k, b, n, 0, c, n);
    return is_right(left, c);
}

/* How often all of A was moved meanwhile. */
static unsigned moves_of(bool (*act)(const float *left), const float *left)
{
    const uint64_t before = bytes_in();

    EXPECT(act(left));
    return (unsigned)((bytes_in() - before) / a_bytes);
}

static void make_a(void)
{
    memory = map_at(NULL, room);
    a = (float *)(memory + offset);
    fill(a, m * k, 1);
}

static void free_a(void)
{
    munmap(memory, room);
}

/* Until it is kept: later where there was something else before, which kept
 * changing. */
static void warm_up(void)
{
    unsigned moves = 1;

    for (unsigned i = 0; i < 500 && moves > 0; i++)
        moves = moves_of(multiply, a);
}

static void a_matrix_is_moved_once_while_it_is_unchanged(void)
{
    unsigned moves = 0;

    make_a();
    for (unsigned i = 0; i < 20; i++)
        moves += moves_of(multiply, a);
    EXPECT_INT(moves, 2); /* the first time nothing is known of it */
    for (unsigned change = 0; change < 5; change++) {
        moves = 0;
        a[change * 10000] += 1;
        for (unsigned i = 0; i < 5; i++)
            moves += moves_of(multiply, a);
        EXPECT_INT(moves, 1);
    }
    free_a();
}

static bool multiply_turned(const float *left)
{
    static float turned[k * m], c[n * m];

    /* C' = B' A' has A as its right operand. */
    sgemm(by_rows, transposed, transposed, n, m, k, 1, b, n, left, k, 0, turned,
          m);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++)
            c[i * n + j] = turned[j * m + i];
    return is_right(left, c);
}

static bool multiply_vector(const float *left)
{
    float x[k], y[m];
    bool is_good = true;

    fill(x, k, 3);
    sgemv(by_rows, plain_form, m, k, 1, left, k, x, 1, 0, y, 1);
    for (size_t i = 0; i < m && is_good; i++) {
        float sum = 0;
        for (size_t l = 0; l < k; l++)
            sum += left[i * k + l] * x[l];
        is_good = sum == y[i];
    }
    return is_good;
}

/* The lower three quarters of it. */
static bool multiply_part(const float *left)
{
    enum { first = m / 4 };
    float c[m * n];

    sgemm(by_rows, plain_form, plain_form, m, n, k, 1, left, k, b, n, 0, c, n);
    for (size_t i = first * n; i < m * n; i++)
        c[i] = -c[i];
    sgemm(by_rows, plain_form, plain_form, m - first, n, k, 2, left + first * k,
          k, b, n, 1, c + first * n, n);
    return is_right(left, c);
}

static void all_routines_find_the_same_copy(void)
{
    make_a();
    warm_up();
    EXPECT_INT(moves_of(multiply_turned, a), 0);
    EXPECT_INT(moves_of(multiply_vector, a), 0);
    EXPECT_INT(moves_of(multiply_part, a), 0);
    a[m * k - 1] += 1;
    EXPECT_INT(moves_of(multiply_vector, a), 1);
    EXPECT_INT(moves_of(multiply_turned, a), 0);
    free_a();
}

/* A copy that is made later must not hide from the earlier one what was written
 * between. */
static void matrices_that_overlap_see_the_same_changes(void)
{
    char *both = map_at(NULL, 2 * room);
    float *low = (float *)(both + offset), *high = low + m / 2 * k;

    fill(low, 2 * m * k, 4);
    for (unsigned i = 0; i < 8; i++) {
        EXPECT(multiply(low) && multiply(low) && multiply(low));
        high[i * 1000 + 5000] += 1;
        EXPECT(multiply(high) && multiply(high) && multiply(high));
        EXPECT(multiply(low) && multiply_part(high) && multiply_part(low));
    }
    munmap(both, 2 * room);
}

/* ---- at random -------------------------------------------------------------
 */

static char *some_page(uint64_t *seed)
{
    return memory + random_next(seed) % (a_bytes / page) * page;
}

static void *write_somewhere(void *seed)
{
    a[random_next(seed) % (m * k)] += 1;
    return NULL;
}

static void write_by_thread(uint64_t *seed)
{
    pthread_t thread;

    REQUIRE(pthread_create(&thread, NULL, write_somewhere, seed) == 0);
    pthread_join(thread, NULL);
}

static void write_at_edges(uint64_t *seed)
{
    const size_t whole = (page - offset) / sizeof(float);
    const size_t at[] = {0, whole - 1, whole, m * k - 1};

    a[at[random_next(seed) % 4]] += 1;
}

static void read_into(uint64_t *seed)
{
    const float five[5] = {1, 2, 3, 4, 5};
    int ends[2];

    REQUIRE(pipe(ends) == 0);
    REQUIRE(write(ends[1], five, sizeof five) == sizeof five);
    REQUIRE(read(ends[0], a + random_next(seed) % (m * k - 5), sizeof five) ==
            sizeof five);
    close(ends[0]);
    close(ends[1]);
}

__attribute__((no_sanitize("address"))) static int write_in_child(void *at)
{
    *(volatile float *)at += 1;
    return 0;
}

static void write_by_child_that_shares(uint64_t *seed)
{
    static char stack[65536] __attribute__((aligned(64)));

    if (is_thread_sanitized) { /* which takes such a child for a fork */
        write_somewhere(seed);
        return;
    }
    const int child = clone(write_in_child, stack + sizeof stack,
                            CLONE_VM | CLONE_VFORK | SIGCHLD,
                            a + random_next(seed) % (m * k));
    REQUIRE(child > 0 && waitpid(child, NULL, 0) == child);
}

static void give_back_page(uint64_t *seed)
{
    REQUIRE(madvise(some_page(seed), page, MADV_DONTNEED) == 0);
}

static void map_page_anew(uint64_t *seed)
{
    char *at = some_page(seed);

    munmap(at, page);
    map_at(at, page);
}

static void move_page_in(uint64_t *seed)
{
    char *from = map_at(NULL, page), *to = some_page(seed);

    fill((float *)from, page / sizeof(float), random_next(seed));
    REQUIRE(mremap(from, page, page, MREMAP_MAYMOVE | MREMAP_FIXED, to) == to);
}

static void map_all_anew(uint64_t *seed)
{
    munmap(memory, room);
    map_at(memory, room);
    fill(a, m * k, random_next(seed));
}

static void fork_and_write(uint64_t *seed)
{
    const pid_t child = fork();

    if (child == 0) {
        memset(memory, 0, room);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    if (random_next(seed) % 2 == 0)
        write_somewhere(seed);
}

static void turn_pages(uint64_t *seed)
{
    madvise(memory, room,
            random_next(seed) % 2 == 0 ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    write_somewhere(seed);
}

static void multiply_into(uint64_t *seed)
{
    static float left[m * n], right[n * k];

    fill(left, m * n, random_next(seed));
    fill(right, n * k, random_next(seed));
    sgemm(by_rows, plain_form, plain_form, m, k, n, 1, left, n, right, k, 0, a,
          k);
    for (size_t i = 0; i < m * k; i++) /* so that sums stay exact */
        a[i] = a[i] > 9 ? 9 : a[i] < -9 ? -9 : a[i];
}

static void protect_for_a_while(uint64_t *seed)
{
    REQUIRE(mprotect(memory, room, PROT_READ) == 0);
    EXPECT(multiply(a));
    REQUIRE(mprotect(memory, room, PROT_READ | PROT_WRITE) == 0);
    if (random_next(seed) % 2 == 0)
        write_somewhere(seed);
}

static void write_here(uint64_t *seed)
{
    write_somewhere(seed);
}

static void results_are_right_whatever_changes(void)
{
    void (*const changes[])(uint64_t *) = {
        write_here,         write_by_thread, write_at_edges,
        read_into,          give_back_page,  write_by_child_that_shares,
        map_page_anew,      move_page_in,    map_all_anew,
        turn_pages,         multiply_into,   fork_and_write,
        protect_for_a_while};
    const unsigned kinds = sizeof changes / sizeof changes[0];
    uint64_t seed = 7;

    make_a();
    for (unsigned i = 0; i < (is_sanitized ? 100 : 300); i++) {
        const unsigned kind = (unsigned)(random_next(&seed) % kinds);
        const bool is_changed = random_next(&seed) % 3 == 0;
        if (is_changed)
            changes[kind](&seed);
        TAP_CHECK(multiply(a), "round %u: wrong after %u", i,
                  is_changed ? kind : kinds);
    }
    free_a();
}

/* ---- back-off --------------------------------------------------------------
 */

/* Whether the page at `at` is marked: "uw" in its flags. */
static bool is_tracked(const void *at)
{
    FILE *file = fopen("/proc/self/smaps", "re");
    char line[512];
    bool is_here = false, is_marked = false;

    REQUIRE(file != NULL);
    while (fgets(line, sizeof line, file) != NULL) {
        unsigned long start, end;
        if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
            is_here = start <= (uintptr_t)at && (uintptr_t)at < end;
        else if (is_here && strncmp(line, "VmFlags:", 8) == 0)
            is_marked = strstr(line, " uw") != NULL;
    }
    fclose(file);
    return is_marked;
}

static void what_changes_every_time_is_hardly_ever_tracked(void)
{
    unsigned tracked = 0;

    make_a();
    for (unsigned i = 0; i < 100; i++) {
        EXPECT(multiply(a));
        tracked += is_tracked(memory + 10 * page);
        a[i * 1000] += 1;
    }
    printf("# tracked %u times of 100\n", tracked);
    EXPECT(tracked > 0 && tracked < 10);
    for (unsigned i = 0; i < 100; i++) /* what settles is kept in the end */
        EXPECT(multiply(a));
    EXPECT_INT(moves_of(multiply, a), 0);
    free_a();
}

/* The first and the last word are among the places that are compared. */
static void what_changes_visibly_is_never_copied(void)
{
    unsigned moves = 0;

    make_a();
    for (unsigned i = 0; i < 40; i++) {
        a[0] = (float)(i % 7);
        moves += moves_of(multiply, a);
    }
    EXPECT_INT(moves, 40); /* with each call, and never for a copy */
    free_a();
}

static void many_matrices_take_turns(void)
{
    enum { matrices = 90 };
    char *all = map_at(NULL, (size_t)matrices * room);

    for (unsigned i = 0; i < matrices; i++)
        fill((float *)(all + (size_t)i * room), m * k, i);
    for (unsigned round = 0; round < 3; round++)
        for (unsigned i = 0; i < matrices; i++) {
            const float *at = (const float *)(all + (size_t)i * room);
            EXPECT(multiply(at) && multiply(at));
            EXPECT(round == 0 || multiply(at));
        }
    munmap(all, (size_t)matrices * room);
}

/* ---- threads and children --------------------------------------------------
 */

static void *multiply_often(void *failures)
{
    char *own = map_at(NULL, room);
    float *mine = (float *)(own + 2 * offset);

    fill(mine, m * k, (uintptr_t)failures);
    for (unsigned i = 0; i < (is_sanitized ? 15 : 40); i++) {
        *(unsigned *)failures += !multiply(a);
        *(unsigned *)failures += !multiply(mine);
        if (i % 5 == 0)
            mine[i * 999] += 1;
    }
    munmap(own, room);
    return NULL;
}

static void threads_share_a_matrix(void)
{
    enum { threads = 4 };
    pthread_t thread[threads];
    unsigned failures[threads] = {0};

    make_a();
    for (unsigned i = 0; i < threads; i++)
        REQUIRE(pthread_create(&thread[i], NULL, multiply_often,
                               &failures[i]) == 0);
    for (unsigned i = 0; i < threads; i++) {
        pthread_join(thread[i], NULL);
        EXPECT_INT(failures[i], 0);
    }
    free_a();
}

static void a_child_has_its_own_memory(void)
{
    int status = -1;

    make_a();
    warm_up();
    EXPECT_INT(moves_of(multiply, a), 0);
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        bool is_good = multiply(a);
        for (unsigned i = 0; i < 5 && is_good; i++) {
            a[i * 5000] += 1;
            is_good = multiply(a) && multiply(a);
        }
        _exit(is_good ? 0 : 1);
    }
    REQUIRE(waitpid(child, &status, 0) == child);
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    EXPECT_INT(moves_of(multiply, a), 0);
    free_a();
}

/* ---- the program -----------------------------------------------------------
 */

static void find(void *library, const char *name, void *function)
{
    void *const found = dlsym(library, name);

    REQUIRE(found != NULL);
    memcpy(function, &found, sizeof found);
}

static void open_libraries(const char *interposer, const char *baseline)
{
    void *handle = strcmp(interposer, "preloaded") == 0
                       ? RTLD_DEFAULT
                       : dlopen(interposer, RTLD_NOW | RTLD_GLOBAL);
    void *fake = dlopen(getenv("TAKT_CUDA"), RTLD_NOW | RTLD_LOCAL);

    REQUIRE(dlopen(baseline, RTLD_NOW | RTLD_LOCAL) != NULL && fake != NULL);
    find(handle, "cblas_sgemm", &sgemm);
    find(handle, "cblas_sgemv", &sgemv);
    find(fake, "fake_cuda_bytes_in", &bytes_in);
    find(fake, "fake_cuda_set_primary", &set_primary);
}

static void nothing_is_kept_here(void)
{
    make_a();
    EXPECT(multiply(a) && multiply(a));
    EXPECT_INT(moves_of(multiply, a), 1);
    free_a();
    if (takt__tracking_problem() != NULL)
        SKIP(takt__tracking_problem());
}

/* Once another has used the GPU, whatever it does later; unless the user says
 * that it writes nothing. The last test. */
static void nothing_is_kept_beside_others(void)
{
    const bool is_asked_for = getenv("TAKT_RUN_REUSE") != NULL;

    make_a();
    warm_up();
    EXPECT_INT(moves_of(multiply, a), 0);
    set_primary(1);
    EXPECT_INT(moves_of(multiply, a), is_asked_for ? 0 : 1);
    set_primary(0);
    EXPECT_INT(moves_of(multiply, a), is_asked_for ? 0 : 1);
    free_a();
}

static bool is_forbidden(void)
{
    const char *setting = getenv("TAKT_RUN_REUSE");

    return setting != NULL && strcmp(setting, "0") == 0;
}

int main(int count, char **argv)
{
    REQUIRE(count == 3);
    page = (size_t)sysconf(_SC_PAGESIZE);
    open_libraries(argv[1], argv[2]);
    fill(b, k * n, 2);
    if (takt__tracking_problem() != NULL || is_forbidden()) {
        RUN(nothing_is_kept_here);
        return tap_done();
    }
    RUN(a_matrix_is_moved_once_while_it_is_unchanged);
    RUN(all_routines_find_the_same_copy);
    RUN(matrices_that_overlap_see_the_same_changes);
    RUN(results_are_right_whatever_changes);
    RUN(what_changes_every_time_is_hardly_ever_tracked);
    RUN(what_changes_visibly_is_never_copied);
    RUN(many_matrices_take_turns);
    RUN(threads_share_a_matrix);
    RUN(a_child_has_its_own_memory);
    RUN(nothing_is_kept_beside_others);
    return tap_done();
}
