/* SPDX-License-Identifier: MIT */
/* test_parts.c - medians, likeness, names that are shared, pages and plans. */
#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fleet/choose.h"
#include "fleet/plan.h"
#include "fleet/pool.h"
#include "fleet/share.h"
#include "fleet/speed.h"
#include "support/tap.h"

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *value, size_t count)
{
    qsort(value, count, sizeof *value, by_value);
    return (value[(count - 1) / 2] + value[count / 2]) / 2;
}

/* Against the definition. Of an even number the upper of the two distances is
 * taken. */
static void many_machines_are_their_median_and_mad(void)
{
    enum { most = 40 };
    uint64_t seed = 5;

    for (size_t count = 5; count < most; count++) {
        struct takt_fleet_cell cell[most] = {{0}}, out;
        double value[most];
        for (size_t i = 0; i < count; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            cell[i].mean = (float)(seed >> 40) / (1 << 23);
            value[i] = (double)cell[i].mean;
        }
        const double middle = median(value, count);
        for (size_t i = 0; i < count; i++)
            value[i] = fabs(value[i] - middle);
        qsort(value, count, sizeof *value, by_value);
        takt__fleet_pool(cell, count, &out);
        EXPECT_NEAR((double)out.mean, middle, 1e-5);
        EXPECT_NEAR(sqrt((double)(out.m2 / out.n)), 1.4826 * value[count / 2],
                    1e-4);
        EXPECT_INT(out.n, count);
    }
}

/* Whatever two of ten say, the others' spread bounds the result. */
static void a_few_liars_move_nothing_far(void)
{
    for (int i = 0; i < 20; i++) {
        struct takt_fleet_cell cell[10], out;
        for (int j = 0; j < 10; j++)
            cell[j] = (struct takt_fleet_cell){
                .n = j < 2 ? 1e9f : 1,
                .mean = j < 2 ? (float)(i - 10) * 5 : 9 + 0.01f * (float)j};
        takt__fleet_pool(cell, 10, &out);
        EXPECT((double)out.mean > 9.01 && (double)out.mean < 9.1);
    }
}

static void only_names_of_takts_own_are_shared(void)
{
    static const char *const good[] = {
        "add||0|0|scalar|",
        "add||1|3|simd.avx512|",
        "add||0|0|simd.avx2x16|",
        "matmul|nn.square|0|0|blas.openblasx2|",
        "matmul|nn.square|0|4|cuda.0|0123456789abcdef",
        "takt:link|in|0|0|cuda.1|"};
    static const char *const bad[] = {"",
                                      "add",
                                      "add||0|0|scalar",
                                      "add||0|0|scalar|x",
                                      "add||2|0|scalar|",
                                      "add||0|8|scalar|",
                                      "add||0|0|scalarx1|",
                                      "add||0|0|mine|",
                                      "add||0|0|simd.mine|",
                                      "add||0|0|blas.mine|",
                                      "mine||0|0|scalar|",
                                      "run.prog-1||0|0|scalar|",
                                      "add|mine|0|0|scalar|",
                                      "takt:day||0|0|calls|",
                                      "takt:link|mine|0|0|cuda.1|",
                                      "add||0|0|scalar|0123456789abcdef",
                                      "add||0|0|cuda.0x2|",
                                      "Add||0|0|scalar|",
                                      "add||00001|0|scalar|",
                                      "add||-1|0|scalar|"};
    struct takt_fleet_line line;

    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        TAP_CHECK(takt__fleet_line_parse(good[i], &line), "%s", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        TAP_CHECK(!takt__fleet_line_parse(bad[i], &line), "%s", bad[i]);
    EXPECT_INT(takt__fleet_threads("simd.avx512"), 1);
    EXPECT_INT(takt__fleet_threads("simd.avx512x12"), 12);
    EXPECT_INT(takt__fleet_threads("cuda.0"), 1);
}

static void machines_are_like_themselves_and_less_like_others(void)
{
    struct takt_fleet_facts a = {.machine = "0123456789abcdef",
                                 .vendor = "AuthenticAMD",
                                 .isa = "avx512",
                                 .family = 25,
                                 .cores = 16,
                                 .l2_kib = 1024,
                                 .l3_kib = 32768},
                            b = a, read;
    char text[TAKT_FLEET_FACTS];

    EXPECT_NEAR(takt__fleet_likeness(&a, &b), 1, 1e-12);
    b.cores = 8;
    const double half = takt__fleet_likeness(&a, &b);
    EXPECT(half < 1 && half > 0.3);
    EXPECT_NEAR(half, takt__fleet_likeness(&b, &a), 1e-12);
    strcpy(b.vendor, "GenuineIntel");
    EXPECT(takt__fleet_likeness(&a, &b) < half);
    b = a;
    a.bandwidth = 40000; /* of the other one it is not known */
    EXPECT_NEAR(takt__fleet_likeness(&a, &b), 1, 1e-12);
    b.bandwidth = 20000;
    EXPECT(takt__fleet_likeness(&a, &b) < 0.7);
    b.bandwidth = a.bandwidth;
    strcpy(b.isa, "avx2");
    const double narrow = takt__fleet_likeness(&a, &b);
    a.peak = 800000;
    b.peak = 790000; /* as fast all the same */
    EXPECT(takt__fleet_likeness(&a, &b) > narrow);
    b.peak = 400000;
    EXPECT(takt__fleet_likeness(&a, &b) < 0.7);
    const size_t length = takt__fleet_facts_print(&a, text);
    EXPECT(takt__fleet_facts_parse(text, length, &read));
    EXPECT(memcmp(&read, &a, sizeof a) == 0);
    EXPECT(!takt__fleet_facts_parse(text, length - 1, &read));
}

/* By the fastest product, and by what moves more than caches hold. */
static void speed_is_what_was_measured(void)
{
    struct takt_fleet_facts facts = {.l3_kib = 1024};
    const struct takt_fleet_cell product[] = {
        {.bin = 40, .n = 4, .mean = 13.8155f, .flops = 2e8f, .bytes = 1e6f}};
    const struct takt_fleet_cell sum[] = {
        {.bin = 30, .n = 4, .mean = 9.2103f, .bytes = 1e6f, .flops = 1e5f},
        {.bin = 50, .n = 4, .mean = 16.118f, .bytes = 1e8f, .flops = 1e7f}};
    static unsigned char bytes[2][TAKT_FLEET_MOST_BYTES];
    struct takt_fleet_page page[] = {
        {.line = "matmul|nn.square|0|0|simd.avx2|", .bytes = bytes[0]},
        {.line = "add||0|0|simd.avx2|", .bytes = bytes[1]}};
    const struct takt_fleet_pages pages = {.page = page, .count = 2};

    page[0].length = takt__fleet_encode(product, 1, bytes[0]);
    page[1].length = takt__fleet_encode(sum, 2, bytes[1]);
    takt__fleet_speed(&pages, &facts);
    EXPECT(facts.peak > 180000 && facts.peak < 220000);        /* 2e8 in 1 ms */
    EXPECT(facts.bandwidth > 9000 && facts.bandwidth < 11000); /* 10 ms */
    EXPECT_INT(takt__fleet_millions(0), 0);
    EXPECT_INT(takt__fleet_millions(INFINITY), 0);
    EXPECT_INT(takt__fleet_millions(1e9), takt__fleet_millions(1.02e9));
}

static void a_page_keeps_its_number_until_it_is_known_to_have_arrived(void)
{
    struct takt_fleet_state state = {.lock = -1, .seq = 6, .epoch = 1};
    struct takt_fleet_page page = {.line = "add||0|0|scalar|",
                                   .digest = "0123456789abcdef"};
    struct takt_fleet_pages pages = {.page = &page, .count = 1};
    size_t waiting;

    EXPECT_INT(takt__fleet_plan(&state, &pages, "a", &waiting), TAKT_OK);
    EXPECT(waiting == 1 && page.seq == 7);
    EXPECT_INT(takt__fleet_plan(&state, &pages, "a", &waiting), TAKT_OK);
    EXPECT(waiting == 1 && page.seq == 7); /* not known to be there */
    state.sent[0].is_sent = true;
    EXPECT_INT(takt__fleet_plan(&state, &pages, "a", &waiting), TAKT_OK);
    EXPECT(waiting == 0);
    EXPECT_INT(takt__fleet_plan(&state, &pages, "b", &waiting), TAKT_OK);
    EXPECT(waiting == 1 && page.seq == 7); /* another database */
    strcpy(page.digest, "fedcba9876543210");
    EXPECT_INT(takt__fleet_plan(&state, &pages, "b", &waiting), TAKT_OK);
    EXPECT(waiting == 1 && page.seq == state.seq);
    strcpy(page.line, "exp||0|0|scalar|"); /* add was forgotten */
    EXPECT_INT(takt__fleet_plan(&state, &pages, "b", &waiting), TAKT_OK);
    EXPECT(waiting == 1 && state.epoch == 2 && page.seq == state.seq);
    takt__fleet_state_close(&state);
}

/* A machine whose state is not to be read must not become another one. */
static void a_state_that_cannot_be_read_is_an_error(void)
{
    char folder[] = "/tmp/takt-fleet-XXXXXX", store[64], path[80], lock[96];
    struct takt_fleet_state state;
    takt_diag diag;

    REQUIRE(mkdtemp(folder) != NULL);
    snprintf(store, sizeof store, "%s/store.db", folder);
    snprintf(path, sizeof path, "%s-fleet", store);
    snprintf(lock, sizeof lock, "%s-lock", path);
    EXPECT_INT(takt__fleet_state_open(store, true, &state, &diag), TAKT_OK);
    takt__fleet_state_close(&state);
    REQUIRE(mkdir(path, 0700) == 0);
    EXPECT_INT(takt__fleet_state_open(store, true, &state, &diag), TAKT_EIO);
    EXPECT(strstr(diag.text, "cannot be read") != NULL);
    rmdir(path);
    REQUIRE(mkfifo(path, 0600) == 0);
    alarm(60);
    EXPECT_INT(takt__fleet_state_open(store, false, &state, &diag), TAKT_EIO);
    alarm(0);
    EXPECT(strstr(diag.text, "cannot be read") != NULL);
    unlink(path);
    const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    REQUIRE(fd >= 0 && write(fd, "years of work\n", 14) == 14);
    close(fd);
    EXPECT_INT(takt__fleet_state_open(store, true, &state, &diag),
               TAKT_ECORRUPT);
    EXPECT(strstr(diag.text, "stays as it is") != NULL);
    unlink(path);
    unlink(lock);
    rmdir(folder);
}

/* Nobody writes into it: who opened it would wait for ever. */
static void a_pipe_is_no_share(void)
{
    char folder[] = "/tmp/takt-fleet-XXXXXX", pipe[64];
    const struct takt_fleet_facts facts = {0};
    struct takt_fleet_share share;
    takt_diag diag = {""};

    REQUIRE(mkdtemp(folder) != NULL);
    snprintf(pipe, sizeof pipe, "%s/pipe", folder);
    REQUIRE(mkfifo(pipe, 0600) == 0);
    alarm(60);
    EXPECT_INT(takt__fleet_share_open(pipe, "", &facts, &share, &diag),
               TAKT_EIO);
    alarm(0);
    EXPECT(strstr(diag.text, "is not a regular file") != NULL);
    unlink(pipe);
    rmdir(folder);
}

int main(void)
{
    RUN(many_machines_are_their_median_and_mad);
    RUN(a_few_liars_move_nothing_far);
    RUN(only_names_of_takts_own_are_shared);
    RUN(machines_are_like_themselves_and_less_like_others);
    RUN(speed_is_what_was_measured);
    RUN(a_page_keeps_its_number_until_it_is_known_to_have_arrived);
    RUN(a_state_that_cannot_be_read_is_an_error);
    RUN(a_pipe_is_no_share);
    return tap_done();
}
