/* SPDX-License-Identifier: MIT */
/*
 * fuzz_recall.c - any records that are believed, taken in by the model.
 *
 * The input is a list of records: how each counts, where it belongs, and its
 * numbers. Those that takt__record_is_sound() lets pass are recalled, adopted
 * or taken as hints; whatever the model then expects is a number. What is
 * asked, and whether the model learns before, is told by the last bytes and the
 * length: to ask everything would take most of the time.
 */
#include "fuzz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"
#include "op/key.h"
#include "store/record.h"

enum {
    arms = 3,
    series_count = 2,
    numbers = 8,
    record_bytes = 4 + 8 * numbers
};

static void demand(bool condition)
{
    if (!condition)
        abort();
}

static struct takt_model *make_model(void)
{
    static const unsigned threads[arms] = {1, 1, 2};
    struct takt_model *model = takt__model_create(0.02);

    demand(model != NULL);
    for (unsigned i = 0; i < arms; i++) {
        struct takt_arm arm = {.name = "arm",
                               .device = threads[i] > 1 ? TAKT_DEVICE_CORES
                                                        : TAKT_DEVICE_CORE,
                               .kin = i / 2};
        arm.rates = (struct takt_rates){.threads = threads[i],
                                        .call_s = 1e-7,
                                        .s_per_flop = 1e-9 / (i + 1),
                                        .s_per_byte = {1e-11, 2e-11, 1e-10},
                                        .l2_bytes = 1 << 20,
                                        .l3_bytes = 1 << 25,
                                        .awake_s = 1e-6,
                                        .asleep_s = 5e-5};
        demand(takt__model_add_arm(model, &arm) == (int)i);
        for (unsigned series = 0; series < series_count; series++)
            takt__model_allow(model, series, i);
    }
    return model;
}

/* Sound or not; the numbers are those of the input. */
static struct takt_record record_of(const uint8_t *bytes)
{
    double value[numbers];
    struct takt_record record = {.machine = "m",
                                 .software = "s",
                                 .op = "op",
                                 .expert = "arm",
                                 .situation = bytes[2] % TAKT_SITUATIONS,
                                 .bin = bytes[3] % TAKT_BUCKETS};

    memcpy(value, bytes + 4, sizeof value);
    memset(record.writer, 'a', TAKT_RECORD_WRITER - 1);
    record.n = value[0];
    record.mean = value[1];
    record.m2 = value[2];
    record.first_s = value[3];
    record.bytes = value[4];
    record.flops = value[5];
    record.calls = value[6];
    record.seconds = value[7];
    return record;
}

static void take_in(struct takt_model *model, const uint8_t *bytes)
{
    const struct takt_record record = record_of(bytes);
    const struct takt_summary memory = {.series = bytes[1] % series_count,
                                        .arm = bytes[1] / series_count % arms,
                                        .situation = record.situation,
                                        .bucket = record.bin,
                                        .n = record.n,
                                        .mean = record.mean,
                                        .m2 = record.m2,
                                        .first_s = record.first_s,
                                        .bytes = record.bytes,
                                        .flops = record.flops,
                                        .calls = record.calls,
                                        .seconds = record.seconds};

    if (!takt__record_is_sound(&record))
        return;
    if (bytes[0] % 4 == 0)
        takt__model_hint(model, &memory, 0.05 + bytes[0] / 64.0);
    else if (bytes[0] % 4 == 1)
        takt__model_adopt(model, &memory);
    else
        takt__model_restore(model, &memory, bytes[0] % 4 == 2);
}

static void check(void *self, const struct takt_summary *memory)
{
    (void)self;
    demand(isfinite(memory->n) && isfinite(memory->mean) &&
           isfinite(memory->m2) && isfinite(memory->calls) &&
           isfinite(memory->seconds));
}

static void learn(struct takt_model *model)
{
    for (unsigned i = 0; i < 8; i++)
        takt__model_learn(
            model, &(struct takt_sample){.series = (uint16_t)(i % series_count),
                                         .bucket = (uint8_t)(20 + i),
                                         .arm = (uint8_t)(i % arms),
                                         .calls = 1,
                                         .bytes = 4096,
                                         .flops = 1024,
                                         .start_ns = 1000 * (i + 1),
                                         .seconds = 1e-5});
}

/* Every 19th bucket, from another one for each input. */
static void ask(struct takt_model *model, unsigned series, unsigned situation,
                unsigned first)
{
    if (!takt__model_has_series(model, series))
        return;
    struct takt_posterior *posterior =
        takt__model_posterior(model, series, situation);
    for (unsigned bucket = first % 19; bucket < TAKT_BUCKETS; bucket += 19) {
        struct takt_verdict verdict;
        if (takt__posterior_judge(posterior, bucket, 1, true, &verdict))
            demand(isfinite(verdict.seconds) && isfinite(verdict.confidence));
        for (unsigned arm = 0; arm < arms; arm++) {
            const struct takt_arm_estimate of =
                takt__posterior_estimate(posterior, arm, bucket, NULL);
            demand(isfinite(of.seconds) && isfinite(of.log_mean) &&
                   of.variance >= 0 && isfinite(of.variance));
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct takt_model *model = make_model();
    const unsigned last = length > 0 ? bytes[length - 1] : 0;

    for (size_t at = 0; at + record_bytes <= length; at += record_bytes)
        take_in(model, bytes + at);
    if (length % 4 == 2)
        learn(model);
    if (length > 1) /* about what the first record is of */
        ask(model, bytes[1] % series_count, 3 * (last % 2), last / 2);
    takt__model_visit(model, false, check, NULL);
    takt__model_destroy(model);
    return 0;
}
