/* SPDX-License-Identifier: MIT */
/*
 * test_gpus.c - what a learner publishes of GPUs, which it opens, and under
 * whose fingerprint it keeps what they showed.
 */
#define _GNU_SOURCE /* mkdtemp() */
#include <float.h>

#include "decide/decide.h"
#include "learn/learner.h"
#include "store/scratch.h"

enum { ADD, CPU = 0, GPU = 1, bytes = 1 << 24 };

/* A program with one op, a processor and a GPU. */
struct program {
    struct takt_learner *learner;
    struct takt_table table;
    const char *device; /* fingerprint of the GPU */
    unsigned woken, published[TAKT_SERIES_COUNT];
};

static const char *op_of(void *self, unsigned series)
{
    (void)self;
    return takt__link_name(series) != NULL ? "link"
           : series == ADD                 ? "add"
                                           : NULL;
}

static int find_series(void *self, const char *op, unsigned dtype,
                       const char *layout)
{
    (void)self;
    (void)dtype;
    return strcmp(op, "link") == 0  ? takt__link_find(layout)
           : strcmp(op, "add") == 0 ? ADD
                                    : -1;
}

static int find_arm(void *self, unsigned series, const char *expert)
{
    (void)self;
    (void)series;
    return strcmp(expert, "cpu") == 0   ? CPU
           : strcmp(expert, "gpu") == 0 ? GPU
                                        : -1;
}

static int meet_arm(void *self, struct takt_model *model, unsigned series,
                    const char *expert)
{
    (void)self;
    (void)model;
    (void)series;
    (void)expert;
    return -1;
}

static void published(void *self, unsigned series)
{
    struct program *program = self;
    program->published[series]++;
}

static const char *device_of(void *self, unsigned arm)
{
    const struct program *program = self;
    return arm == GPU ? program->device : NULL;
}

static void wake(void *self, unsigned arm)
{
    struct program *program = self;

    EXPECT_INT(arm, GPU);
    program->woken++;
}

static struct takt_model *model_of(void)
{
    struct takt_arm cpu = {.name = "cpu",
                           .rates = {.threads = 1,
                                     .call_s = 1e-7,
                                     .s_per_flop = 1e-11,
                                     .s_per_byte = {2e-11, 4e-11, 8e-11}}};
    struct takt_arm gpu = {.name = "gpu",
                           .device = TAKT_DEVICE_GPU,
                           .kin = 200,
                           .rates = takt__prior_gpu(0, 0, 0)};
    struct takt_model *model = takt__model_create(0.02);

    REQUIRE(model != NULL);
    REQUIRE(takt__model_add_arm(model, &cpu) == CPU);
    REQUIRE(takt__model_add_arm(model, &gpu) == GPU);
    takt__model_allow(model, ADD, CPU);
    takt__model_allow(model, ADD, GPU);
    for (unsigned series = TAKT_SERIES_LINKS; series < TAKT_SERIES_COUNT;
         series++)
        takt__model_allow(model, series, GPU);
    return model;
}

static struct program *start(const char *store, const char *machine,
                             const char *device)
{
    struct program *program = calloc(1, sizeof *program);

    REQUIRE(program != NULL);
    REQUIRE(takt__table_create(&program->table) == TAKT_OK);
    program->device = device;
    const struct takt_learner_options options = {
        .model = model_of(),
        .table = &program->table,
        .callbacks = {.self = program,
                      .op_of = op_of,
                      .find_series = find_series,
                      .find_expert = find_arm,
                      .add_expert = meet_arm,
                      .published = published,
                      .device_of = device_of,
                      .open = wake},
        .store_path = store,
        .machine = machine,
        .software = "s",
        .is_published = true,
    };
    REQUIRE(takt__learner_create(&options, &program->learner) == TAKT_OK);
    return program;
}

static void stop(struct program *program)
{
    takt__learner_destroy(program->learner);
    takt__table_destroy(&program->table);
    free(program);
}

/* Leaves samples in the journal and has them learned and published. */
static void report(struct program *program, unsigned series, unsigned arm,
                   unsigned situation, double work, double seconds,
                   unsigned flags, unsigned times)
{
    static uint64_t now_ns = 1;
    const struct takt_sample sample = {.series = (uint16_t)series,
                                       .bucket = takt__bucket_of(work),
                                       .situation = (uint8_t)situation,
                                       .arm = (uint8_t)arm,
                                       .flags = (uint8_t)flags,
                                       .calls = 1,
                                       .bytes = (float)work,
                                       .flops = (float)work / 4,
                                       .start_ns = now_ns += 1000,
                                       .seconds = seconds};

    for (unsigned i = 0; i < times; i++)
        EXPECT(takt__journal_push(takt__learner_journal(program->learner),
                                  &sample));
    takt__learner_enter(program->learner);
    takt__learner_leave(program->learner);
}

static uint64_t word_at(const struct program *program, unsigned series,
                        double work, unsigned place)
{
    const struct takt_key key = {(uint16_t)series, takt__bucket_of(work)};
    return takt__table_load(&program->table, key, place);
}

static struct takt_cell cell_at(const struct program *program, unsigned series,
                                double work, unsigned place)
{
    return takt__cell_unpack(word_at(program, series, work, place));
}

/* ---- publishing ------------------------------------------------------------
 */

static void each_place_says_what_can_be_had_there(void)
{
    struct program *program = start("", "m", "d");

    report(program, ADD, CPU, TAKT_RESIDENT, bytes, 2e-3, 0, 8);
    report(program, ADD, GPU, TAKT_RESIDENT, bytes, 1e-4, 0, 8);
    report(program, ADD, GPU, 0, bytes, 1.5e-3, 0, 8);
    struct takt_cell cell = cell_at(program, ADD, bytes, 0);
    EXPECT_INT(cell.best, GPU);
    EXPECT_NEAR((double)cell.seconds, 1.5e-3, 1e-4);
    for (unsigned s = TAKT_RESIDENT; s < TAKT_SITUATIONS; s++) {
        cell = cell_at(program, ADD, bytes, s);
        EXPECT_INT(cell.best, CPU);
        EXPECT_INT(cell.runner_up, CPU);
        EXPECT_NEAR((double)cell.seconds, 2e-3, 1e-4);
    }
    cell = cell_at(program, ADD, bytes, TAKT_COLUMN_GPU);
    EXPECT_INT(cell.best, GPU);
    EXPECT_INT(cell.runner_up, GPU);
    EXPECT_NEAR((double)cell.seconds, 1e-4, 5e-6);
    EXPECT(cell.is_measured && !cell.is_threaded && cell.tries == 0);
    EXPECT(cell.confidence > 0.8f && cell.confidence < 1);
    for (unsigned place = TAKT_COLUMN_GPU + 1; place < TAKT_COLUMNS; place++)
        EXPECT_INT(word_at(program, ADD, bytes, place), 0);
    stop(program);
}

static void a_gpu_is_offered_once_per_try_until_it_is_settled(void)
{
    struct program *program = start("", "m", "d");
    const struct takt_key key = {ADD, takt__bucket_of(bytes)};
    unsigned tries = 0;

    report(program, ADD, CPU, TAKT_RESIDENT, bytes, 2e-3, 0, 4);
    for (unsigned i = 0; i < 60; i++) {
        const uint64_t word = word_at(program, ADD, bytes, TAKT_COLUMN_GPU);
        const struct takt_cell cell = takt__cell_unpack(word);
        EXPECT(cell.tries <= 1);
        if (cell.tries == 0) {
            report(program, ADD, CPU, TAKT_RESIDENT, bytes, 2e-3, 0, 1);
            continue;
        }
        EXPECT_INT(cell.explore, GPU);
        EXPECT(
            takt__table_take_try(&program->table, key, TAKT_COLUMN_GPU, word));
        /* While it is under way, it is not offered again. */
        report(program, ADD, CPU, TAKT_RESIDENT, bytes, 2e-3, 0, 3);
        EXPECT_INT(cell_at(program, ADD, bytes, TAKT_COLUMN_GPU).tries, 0);
        report(program, ADD, GPU, TAKT_RESIDENT, bytes, 1e-4,
               TAKT_SAMPLE_EXPLORED, 1);
        tries++;
    }
    EXPECT(tries >= 5 && tries <= 6);
    stop(program);
}

static void an_expert_that_refused_takes_forever(void)
{
    struct program *program = start("", "m", "d");

    report(program, ADD, CPU, TAKT_RESIDENT, bytes, 2e-3, 0, 4);
    EXPECT_INT(cell_at(program, ADD, bytes, TAKT_COLUMN_GPU).tries, 1);
    struct takt_sample refusal = {.series = ADD,
                                  .bucket = takt__bucket_of(bytes),
                                  .situation = TAKT_RESIDENT,
                                  .arm = GPU,
                                  .flags = TAKT_SAMPLE_REFUSED,
                                  .start_ns = UINT64_MAX / 4,
                                  .bytes = bytes};
    takt__journal_push(takt__learner_journal(program->learner), &refusal);
    takt__learner_enter(program->learner);
    takt__learner_leave(program->learner);
    const struct takt_cell cell = cell_at(program, ADD, bytes, TAKT_COLUMN_GPU);
    EXPECT(cell.seconds > 0.99f * FLT_MAX && isfinite(cell.seconds));
    EXPECT_INT(cell.tries, 0);
    EXPECT_INT(cell_at(program, ADD, bytes, TAKT_RESIDENT).best, CPU);
    EXPECT_INT(cell_at(program, ADD, bytes, 0).best, CPU);
    stop(program);
}

static void links_are_published_for_gpus_only(void)
{
    const unsigned series = TAKT_SERIES_LINKS + TAKT_LINK_IN;
    struct program *program = start("", "m", "d");

    report(program, series, GPU, 0, 1e6, 2e-4, 0, 5);
    const struct takt_cell cell =
        cell_at(program, series, 1e6, TAKT_COLUMN_GPU);
    EXPECT_INT(cell.best, GPU);
    EXPECT_NEAR((double)cell.seconds, 2e-4, 2e-5);
    EXPECT_INT(cell.tries, 0);
    EXPECT(cell_at(program, series, 1e8, TAKT_COLUMN_GPU).seconds > 5e-3f);
    for (unsigned s = 0; s < TAKT_SITUATIONS; s++)
        EXPECT_INT(word_at(program, series, 1e6, s), 0);
    stop(program);
}

static void set_asleep(struct program *program, bool is_asleep)
{
    struct takt_model *model = takt__learner_enter(program->learner);

    takt__model_set_closed(model, GPU, is_asleep);
    takt__learner_leave(program->learner);
}

static void a_gpu_that_is_closed_is_taken_back(void)
{
    struct program *program = start("", "m", "d");

    report(program, ADD, GPU, TAKT_RESIDENT, bytes, 1e-4, 0, 8);
    report(program, ADD, GPU, 0, bytes, 1e-4, 0, 8);
    EXPECT(word_at(program, ADD, bytes, TAKT_COLUMN_GPU) != 0);
    EXPECT_INT(cell_at(program, ADD, bytes, 0).best, GPU);
    set_asleep(program, true);
    EXPECT_INT(word_at(program, ADD, bytes, TAKT_COLUMN_GPU), 0);
    EXPECT_INT(word_at(program, ADD, bytes, TAKT_RESIDENT), 0);
    EXPECT_INT(cell_at(program, ADD, bytes, 0).best, CPU);
    set_asleep(program, false);
    EXPECT(word_at(program, ADD, bytes, TAKT_RESIDENT) != 0);
    EXPECT(word_at(program, ADD, bytes, TAKT_COLUMN_GPU) != 0);
    EXPECT_INT(cell_at(program, ADD, bytes, 0).best, GPU);
    stop(program);
}

static void a_sleeper_is_woken_when_that_would_have_paid(void)
{
    struct program *program = start("", "m", "d");

    set_asleep(program, true);
    for (unsigned i = 0; i < 10; i++) /* 20 ms each, in truth 2 */
        report(program, ADD, CPU, 0, bytes, 20e-3, 0, 1);
    EXPECT_INT(program->woken, 0);
    EXPECT_INT(cell_at(program, ADD, bytes, 0).best, CPU);
    for (unsigned i = 0; i < 20; i++)
        report(program, ADD, CPU, 0, bytes, 20e-3, 0, 1);
    EXPECT_INT(program->woken, 1);
    for (unsigned i = 0; i < 40; i++)
        report(program, ADD, CPU, 0, bytes, 20e-3, 0, 1);
    EXPECT_INT(program->woken, 2);
    EXPECT_INT(word_at(program, ADD, bytes, TAKT_COLUMN_GPU), 0);
    set_asleep(program, false);
    EXPECT_INT(cell_at(program, ADD, bytes, 0).best, GPU);
    report(program, ADD, CPU, 0, bytes, 20e-3, 0, 100);
    EXPECT_INT(program->woken, 2);
    stop(program);
}

/* ---- the store -------------------------------------------------------------
 */

static struct takt_arm_estimate estimate(struct program *program,
                                         unsigned series, unsigned arm,
                                         unsigned situation, double work)
{
    struct takt_model *model = takt__learner_enter(program->learner);
    const takt_work of = {work, work / 4};
    const struct takt_posterior *posterior =
        takt__model_posterior(model, series, situation);
    const struct takt_arm_estimate out =
        takt__posterior_estimate(posterior, arm, takt__bucket_of(work), &of);
    takt__learner_leave(program->learner);
    return out;
}

static double log_of(struct program *program, unsigned series, double seconds)
{
    const bool is_link = takt__link_name(series) != NULL;

    return fabs(estimate(program, series, GPU, is_link ? 0 : TAKT_RESIDENT, 1e6)
                    .log_mean -
                log(seconds));
}

static const unsigned link_series = TAKT_SERIES_LINKS + TAKT_LINK_OUT_PINNED;

/* What a program on that machine learned of a GPU, all of it ten times slower
 * than expected. */
static const char *stored_by(const char *machine, const char *device)
{
    const char *path = scratch_path();
    struct program *program = start(path, machine, device);

    report(program, ADD, GPU, TAKT_RESIDENT, 1e6, 150e-6, 0, 20);
    report(program, ADD, GPU, 0, 1e6, 1e-3, 0, 20);
    report(program, ADD, CPU, 0, 1e6, 800e-6, 0, 20);
    report(program, link_series, GPU, 0, 1e6, 900e-6, 0, 20);
    report(program, TAKT_SERIES_LINKS + TAKT_LINK_OPEN, GPU, 0, 0, 2, 0, 1);
    stop(program);
    return path;
}

struct survey {
    unsigned links, residents, of_gpu, of_cpu;
};

static void look(void *self, const struct takt_record *record)
{
    struct survey *survey = self;
    const bool is_gpu = strcmp(record->expert, "gpu") == 0;

    if (strcmp(record->op, "takt:day") == 0 ||
        record->situation >= 256) /* a tail */
        return;
    survey->links += strcmp(record->op, "link") == 0;
    survey->residents += record->situation == TAKT_RESIDENT;
    survey->of_gpu += is_gpu;
    survey->of_cpu += !is_gpu;
    EXPECT_STR(record->device, is_gpu ? "d1" : "");
    if (strcmp(record->op, "link") == 0) {
        EXPECT(takt__link_find(record->layout) >= TAKT_SERIES_LINKS);
        EXPECT_INT(record->dtype, TAKT_F32);
    }
}

static void records_say_which_gpu_they_are_of(void)
{
    struct takt_store *store = scratch_open(stored_by("m", "d1"));
    struct survey survey = {0};

    EXPECT_INT(takt__store_read(store, look, &survey), TAKT_OK);
    EXPECT_INT(survey.links, 2);
    EXPECT_INT(survey.residents, 1);
    EXPECT_INT(survey.of_gpu, 4);
    EXPECT_INT(survey.of_cpu, 1);
    takt__store_close(store);
}

static void the_same_gpu_is_remembered(void)
{
    struct program *program = start(stored_by("m", "d1"), "m", "d1");

    EXPECT(log_of(program, ADD, 150e-6) < 0.05);
    EXPECT(log_of(program, link_series, 900e-6) < 0.05);
    EXPECT_NEAR(estimate(program, ADD, GPU, TAKT_RESIDENT, 1e6).samples, 20,
                1.1);
    EXPECT_NEAR(estimate(program, ADD, GPU, 0, 1e6).seconds, 1e-3, 5e-5);
    EXPECT_NEAR(takt__learner_state(program->learner).own_records, 5, 0);
    EXPECT_INT(word_at(program, ADD, 1e6, TAKT_COLUMN_GPU), 0);
    takt__learner_ask(program->learner, ADD, TAKT_ALL_SITUATIONS);
    EXPECT(cell_at(program, ADD, 1e6, TAKT_COLUMN_GPU).is_measured);
    stop(program);
}

static void another_gpu_is_a_hint(void)
{
    struct program *program = start(stored_by("m", "d1"), "m", "d2");
    const struct takt_arm_estimate gpu =
        estimate(program, ADD, GPU, TAKT_RESIDENT, 1e6);

    EXPECT(gpu.samples < 1);
    EXPECT(log_of(program, ADD, 150e-6) > 0.5);
    EXPECT(gpu.variance > 0.2);
    EXPECT_NEAR(estimate(program, ADD, CPU, 0, 1e6).samples, 20, 1.1);
    EXPECT_NEAR(takt__learner_state(program->learner).own_records, 1, 0);
    EXPECT_NEAR(takt__learner_state(program->learner).other_records, 4, 0);
    stop(program);
}

/* Computing is the same in any machine; the link is not. */
static void the_same_gpu_elsewhere_is_a_good_hint(void)
{
    struct program *program = start(stored_by("elsewhere", "d1"), "m", "d1");
    const struct takt_arm_estimate gpu =
        estimate(program, ADD, GPU, TAKT_RESIDENT, 1e6);
    const struct takt_arm_estimate link =
        estimate(program, link_series, GPU, 0, 1e6);

    EXPECT(gpu.samples < 1);
    EXPECT(log_of(program, ADD, 150e-6) < 0.3);
    EXPECT(gpu.variance < 0.1);
    EXPECT(log_of(program, link_series, 900e-6) > 0.3);
    EXPECT(link.variance > 0.15);
    EXPECT(estimate(program, ADD, CPU, 0, 1e6).samples < 1);
    stop(program);
}

/* Of hints, those of the same GPU count, however many others there are. */
static void hints_of_the_same_gpu_come_first(void)
{
    const char *path = stored_by("elsewhere", "d1");
    struct program *other = start(path, "third", "d3");

    report(other, ADD, GPU, TAKT_RESIDENT, 1e6, 1, 0, 60);
    stop(other);
    struct program *program = start(path, "m", "d1");
    EXPECT(log_of(program, ADD, 150e-6) < 0.3);
    stop(program);
}

/* What was stored before there were GPUs: no device, situations 0 to 3. */
static void old_records_count_as_before(void)
{
    const char *path = scratch_path();
    struct program *program = start(path, "m", NULL);

    report(program, ADD, CPU, TAKT_REPEAT, 1e6, 5e-4, 0, 20);
    stop(program);
    program = start(path, "m", "d1");
    EXPECT_NEAR(estimate(program, ADD, CPU, TAKT_REPEAT, 1e6).samples, 20, 1.1);
    EXPECT_NEAR(takt__learner_state(program->learner).other_records, 0, 0);
    stop(program);
}

int main(void)
{
    scratch_make();
    RUN(each_place_says_what_can_be_had_there);
    RUN(a_gpu_is_offered_once_per_try_until_it_is_settled);
    RUN(an_expert_that_refused_takes_forever);
    RUN(links_are_published_for_gpus_only);
    RUN(a_gpu_that_is_closed_is_taken_back);
    RUN(a_sleeper_is_woken_when_that_would_have_paid);
    RUN(records_say_which_gpu_they_are_of);
    RUN(the_same_gpu_is_remembered);
    RUN(another_gpu_is_a_hint);
    RUN(the_same_gpu_elsewhere_is_a_good_hint);
    RUN(hints_of_the_same_gpu_come_first);
    RUN(old_records_count_as_before);
    return tap_done();
}
