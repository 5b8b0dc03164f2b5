/* SPDX-License-Identifier: MIT */
/* test_recording.c - what was recorded is replayed to the same watts. */
#define _GNU_SOURCE /* memfd_create() */
#include "energy/recording.h"

#include <sys/mman.h>
#include <unistd.h>

#include "simulation.h"

#define HEAD "takt-energy 1\n"
#define GPU "counter nvml 0000:19:00.0 1000000000000000 0 100 0 NVIDIA H200\n"

static char *read_whole(FILE *file)
{
    const long size = ftell(file);
    char *text = calloc(1, (size_t)size + 1);

    REQUIRE(text != NULL);
    rewind(file);
    REQUIRE(fread(text, 1, (size_t)size, file) == (size_t)size);
    return text;
}

static void a_recording_gives_the_same_watts(void)
{
    struct machine m = {
        .counter = {{.source = "nvml",
                     .name = "NVIDIA H200",
                     .address = "0000:19:00.0",
                     .unit_aj = UINT64_C(1000000000000000),
                     .step_ms = 100}},
        .counters = 1,
        .idle_w = {100},
        .kind =
            {{.arm = 2, .bound = 1, .threads = 1, .watts = 300, .call_ms = 8}},
        .kinds = 1,
        .random = 1};
    FILE *file = fdopen(memfd_create("recording", MFD_CLOEXEC), "w+");
    struct takt_energy *again;
    takt_diag diag;

    REQUIRE(file != NULL);
    fputs(HEAD, file);
    simulate(&m, 0);
    takt__energy_set_log(m.energy, file);
    simulate(&m, 60);
    takt__energy_set_log(m.energy, NULL);
    char *text = read_whole(file);
    REQUIRE(takt__energy_replay(text, &again, &diag) == TAKT_OK);
    const struct takt_energy_watts live = watts_of(&m, 0),
                                   replayed = takt__energy_watts(again, 2, 1);
    expect_watts(live, 300);
    EXPECT(replayed.mean == live.mean && replayed.error == live.error);
    EXPECT_STR(takt__energy_counter(again, 0)->name, "NVIDIA H200");
    takt__energy_destroy(again);
    takt__energy_destroy(m.energy);
    fclose(file);
    free(text);
}

static bool is_refused(const char *text, const char *line)
{
    struct takt_energy *energy = NULL;
    takt_diag diag = {.text = ""};

    const takt_status status = takt__energy_replay(text, &energy, &diag);
    return status == TAKT_ECORRUPT && energy == NULL &&
           strstr(diag.text, line) != NULL;
}

static void what_is_not_a_recording_is_refused_with_its_line(void)
{
    EXPECT(is_refused("", "line 1"));
    EXPECT(is_refused("takt-energy 2\n", "line 1"));
    EXPECT(is_refused(HEAD "read 0 1 1 1 1\n", "line 2"));
    EXPECT(is_refused(HEAD GPU "read 1 1 1 1 1\n", "line 3"));
    EXPECT(is_refused(HEAD GPU "read 0 1 1 1 1002\n", "line 3"));
    EXPECT(is_refused(HEAD GPU "read 0 1 1 1 1 1\n", "line 3"));
    EXPECT(is_refused(HEAD GPU "read 0 1 1 1 1\n" GPU, "line 4"));
    EXPECT(is_refused(HEAD GPU "use 256 0 1 - 1 1 1\n", "line 3"));
    EXPECT(is_refused(HEAD GPU "use 1 7 1 - 1 1 1\n", "line 3"));
    EXPECT(is_refused(HEAD GPU "use 1 0 1 1 1 1 1\n", "line 3"));
    EXPECT(is_refused(HEAD GPU "use 1 0 1 0 1 1\n", "line 3"));
    EXPECT(is_refused(HEAD GPU "gone 0\n", "line 3"));
    EXPECT(is_refused(HEAD GPU "sleep 1\n", "line 3"));
    EXPECT(is_refused(HEAD "counter nvml - 1 0 100 2 x\n", "line 2"));
    EXPECT(is_refused(HEAD "counter nvml - 1 0 100 0 \n", "line 2"));
}

static void comments_and_empty_lines_are_passed_over(void)
{
    struct takt_energy *energy = NULL;

    EXPECT_INT(takt__energy_replay(HEAD "# by hand\n\n" GPU
                                        "use 1 0 1 ? 1 1 1\n"
                                        "gone 0 5\n",
                                   &energy, NULL),
               TAKT_OK);
    REQUIRE(energy != NULL);
    EXPECT(takt__energy_windows(energy, 0).is_gone);
    takt__energy_destroy(energy);
}

/* Of bench_energy on a real one, with calls that follow each other put
 * together. Directly measured: 124.9 W idle, 555.7 and 467.1 W beyond it. */
static void a_real_gpu_is_recovered(void)
{
    FILE *file = fopen(TAKT_ENERGY_FIXTURE, "re");
    struct takt_energy *energy;
    takt_diag diag;

    REQUIRE(file != NULL && fseek(file, 0, SEEK_END) == 0);
    char *text = read_whole(file);
    REQUIRE(takt__energy_replay(text, &energy, &diag) == TAKT_OK);
    const struct takt_energy_watts idle = takt__energy_idle(energy, 0),
                                   computing =
                                       takt__energy_watts(energy, 16, 3),
                                   moving = takt__energy_watts(energy, 16, 2);
    EXPECT(idle.is_known && computing.is_known && moving.is_known);
    EXPECT_NEAR(idle.mean, 124.9, 10);
    EXPECT_NEAR(computing.mean, 555.7, 28);
    EXPECT_NEAR(moving.mean, 467.1, 24);
    EXPECT(!takt__energy_watts(energy, 5, 2).is_known); /* no counter */
    takt__energy_destroy(energy);
    fclose(file);
    free(text);
}

int main(void)
{
    RUN(a_real_gpu_is_recovered);
    RUN(a_recording_gives_the_same_watts);
    RUN(what_is_not_a_recording_is_refused_with_its_line);
    RUN(comments_and_empty_lines_are_passed_over);
    return tap_done();
}
