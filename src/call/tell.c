/* SPDX-License-Identifier: MIT */
/* tell.c - the last step of a call where there is telemetry: a note of it. */
#include "base/clock.h"
#include "call/inside.h"

void takt__call_note(const takt_ctx *ctx, const takt_call *call,
                     const struct takt_sizes *sizes,
                     const struct takt_choice *choice,
                     const struct takt_watch *watch,
                     struct takt_event_record *out)
{
    takt_decision decision;
    const struct takt_cell cell = takt__cell_unpack(choice->word);
    const bool has_word = choice->word != 0;

    takt__decision_fill(ctx, sizes, choice, &decision);
    *out = (struct takt_event_record){
        .op = call->op,
        .shape = call->shape,
        .work = sizes->work,
        .kind = TAKT_EVENT_CALL,
        .dtype = (uint8_t)call->dtype,
        .expert = choice->arm,
        .best = has_word ? cell.best : choice->arm,
        .runner_up = has_word ? cell.runner_up : choice->arm,
        .refused = watch->is_refused ? watch->refused : choice->arm,
        .reason = (uint8_t)choice->reason,
        .residency = (uint8_t)watch->residency,
        .refusal = watch->refusal,
        .status = (uint8_t)watch->status,
        .has_history = has_word && cell.is_measured,
        .series = sizes->key.series,
        .confidence = (float)decision.confidence,
        .predicted_s = decision.predicted_s,
        .start = watch->came != 0 ? watch->came : watch->start,
        .run = watch->start,
        .end = watch->end,
        .parent =
            call->parent != NULL ? *call->parent : takt__tap_thread.parent,
    };
}

void takt__call_tell(const takt_ctx *ctx, struct takt_tap *tap,
                     const takt_call *call, const struct takt_sizes *sizes,
                     const struct takt_choice *choice,
                     const struct takt_watch *watch)
{
    struct takt_event_record note;

    takt__thread_draw(watch->thread, 0);
    const unsigned told = takt__tap_emits(
        tap, sizes->key.series, choice->reason, watch->is_refused,
        watch->end - watch->start, (uint32_t)(watch->thread->random >> 32));
    if (told == 0)
        return;
    takt__call_note(ctx, call, sizes, choice, watch, &note);
    note.told = (uint8_t)told;
    takt__tap_push(tap, &note);
}
