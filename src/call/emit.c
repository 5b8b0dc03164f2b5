/* SPDX-License-Identifier: MIT */
/* emit.c - the last observer: what telemetry and the caller get of a call. */
#include <string.h>

#include "call/exec.h"

/* Calls of a hot op (all its series are marked) are only counted, except those
 * that are emitted in any case. */
void takt__emit_count(struct takt_exec *exec)
{
    const unsigned series = exec->question.key.series;

    takt__tap_count(exec->tap, series, exec->choice.reason, exec->calls);
    exec->is_emitted =
        !takt__tap_is_quiet(exec->tap, series) ||
        exec->choice.reason == TAKT_REASON_EXPLORE ||
        (!exec->is_resident && takt__exec_expert(exec)->device != NULL);
}

void takt__describe(const takt_ctx *ctx, const struct takt_question *question,
                    const struct takt_choice *choice, takt_decision *out)
{
    const struct takt_cell cell = takt__cell_unpack(choice->word);
    const struct takt_expert *expert = takt__ctx_expert(ctx, choice->expert);

    *out = (takt_decision){
        .backend = choice->is_rule ? choice->backend : expert->backend,
        .reason = choice->reason,
        .predicted_s = choice->predicted_s,
        .confidence = -1,
        .elements = question->elements,
        .work = question->work,
        .actual_s = -1,
    };
    memcpy(out->expert, expert->name, sizeof out->expert);
    if (choice->word == 0)
        return;
    if ((choice->situation & TAKT_RESIDENT) == 0) { /* else moves are in it */
        out->predicted_s = (double)cell.seconds;
        out->confidence = (double)cell.confidence;
    }
    if (cell.runner_up != cell.best)
        memcpy(out->runner_up, takt__ctx_expert(ctx, cell.runner_up)->name,
               sizeof out->runner_up);
}

void takt__emit_record(const struct takt_exec *exec,
                       struct takt_event_record *out)
{
    const struct takt_choice *choice = &exec->choice;
    const struct takt_cell cell = takt__cell_unpack(choice->word);
    const bool has_word = choice->word != 0;
    const takt_call *call = exec->call;
    takt_decision decision;

    takt__describe(exec->ctx, &exec->question, choice, &decision);
    *out = (struct takt_event_record){
        .op = call->op,
        .shape = call->shape,
        .work = exec->question.work,
        .kind = TAKT_EVENT_CALL,
        .dtype = (uint8_t)call->dtype,
        .expert = choice->expert,
        .best = has_word ? cell.best : choice->expert,
        .runner_up = has_word ? cell.runner_up : choice->expert,
        .refused = exec->is_refused ? exec->refused : choice->expert,
        .reason = (uint8_t)choice->reason,
        .residency =
            (uint8_t)(exec->is_resident ? exec->resident.residency : 0),
        .refusal = (uint8_t)(exec->is_refused ? exec->refusal : 0),
        .status = (uint8_t)exec->status,
        .has_history = has_word && cell.is_measured,
        .series = exec->question.key.series,
        .confidence = (float)decision.confidence,
        .predicted_s = decision.predicted_s,
        .start = exec->came != 0 ? exec->came : exec->start,
        .run = exec->start,
        .end = exec->end,
        .parent =
            call->parent != NULL ? *call->parent : takt__tap_thread.parent,
    };
}

void takt__emit(struct takt_exec *exec)
{
    struct takt_event_record record;

    if (!exec->is_emitted && !exec->is_refused)
        return;
    takt__thread_draw(exec->thread, 0);
    const unsigned told = takt__tap_emits(
        exec->tap, exec->question.key.series, exec->choice.reason,
        exec->is_refused, exec->end - exec->start,
        (uint32_t)(exec->thread->random >> 32));
    if (told == 0)
        return;
    takt__emit_record(exec, &record);
    record.told = (uint8_t)told;
    takt__tap_push(exec->tap, &record);
}
