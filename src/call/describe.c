/* SPDX-License-Identifier: MIT */
/* describe.c - from the numbers of a choice to a takt_decision. */
#include "call/describe.h"

#include <string.h>

void takt__describe(const takt_ctx *ctx, const struct takt_sizes *sizes,
                    const struct takt_choice *choice, takt_decision *out)
{
    const struct takt_cell cell = takt__cell_unpack(choice->word);
    const struct takt_expert *expert = takt__ctx_expert(ctx, choice->expert);

    *out = (takt_decision){
        .backend = choice->is_rule ? choice->backend : expert->backend,
        .reason = choice->reason,
        .predicted_s = choice->predicted_s,
        .confidence = -1,
        .elements = sizes->elements,
        .work = sizes->work,
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
