/* SPDX-License-Identifier: MIT */
/* sample.c - puts the sample of a finished call into the journal. (Calls on a
 * GPU that are not waited for: gpus.c.) */
#include "base/clock.h"
#include "call/exec.h"

void takt__sample_push(takt_ctx *ctx, const struct takt_sample *sample)
{
    struct takt_journal *journal = takt__learner_journal(ctx->learner);

    takt__journal_push(journal, sample);
    takt__learner_notify(ctx->learner);
    if (takt__journal_count(journal) == TAKT_JOURNAL_SLOTS / 2)
        takt__learner_hurry(ctx->learner);
}

/* What a software device takes says nothing about any other. */
static bool is_worth_learning(const takt_ctx *ctx, unsigned expert)
{
    const struct takt_device *device = takt__ctx_expert(ctx, expert)->device;

    return (ctx->is_learning || takt__ctx_tap(ctx) != NULL) &&
           !(device != NULL && takt__device_is_software(device));
}

static unsigned situation_of(const struct takt_exec *exec)
{
    return (exec->is_repeat ? TAKT_REPEAT : 0) |
           (exec->is_asleep ? TAKT_ASLEEP : 0) |
           (exec->is_resident ? TAKT_RESIDENT : 0);
}

static unsigned flags_of(const struct takt_exec *exec)
{
    const bool is_switched =
        exec->is_repeat && !exec->is_shadow &&
        exec->thread->team != takt__exec_expert(exec)->threads;

    return (exec->choice.reason == TAKT_REASON_EXPLORE ? TAKT_SAMPLE_EXPLORED
                                                       : 0) |
           (exec->is_shadow ? TAKT_SAMPLE_SHADOW : 0) |
           (is_switched ? TAKT_SAMPLE_SWITCHED : 0) |
           (exec->is_asleep != ((exec->choice.situation & TAKT_ASLEEP) != 0)
                ? TAKT_SAMPLE_MISJUDGED
                : 0);
}

void takt__sample(struct takt_exec *exec)
{
    const struct takt_question *question = &exec->question;
    const bool is_refusal = takt__exec_failed_over(exec);

    const struct takt_sample sample = {
        .series = question->key.series,
        .bucket = question->key.bucket,
        .situation = (uint8_t)situation_of(exec),
        .arm = is_refusal ? exec->chosen : exec->choice.expert,
        .flags = (uint8_t)(is_refusal ? TAKT_SAMPLE_REFUSED : flags_of(exec)),
        .calls = exec->is_shadow ? 0 : exec->calls,
        .bytes = (float)question->work.bytes,
        .flops = (float)question->work.flops,
        .start_ns = takt__ns_at(exec->start),
        .seconds = (double)(exec->end - exec->start) * takt__seconds_per_tick(),
        .objective = question->objective,
    };
    if (is_worth_learning(exec->ctx, sample.arm))
        takt__sample_push(exec->ctx, &sample);
}
