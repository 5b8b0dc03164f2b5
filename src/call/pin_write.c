/* SPDX-License-Identifier: MIT */
/* pin_write.c - writes the decisions of a context to a file. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/new_file.h"
#include "base/say.h"
#include "call/pin.h"
#include "takt/history.h"
#include "text/memory_file.h"

/* The situation in which calls of a bucket were made most often. */
static unsigned commonest_situation(const struct takt_model *model,
                                    unsigned series, unsigned bucket)
{
    unsigned commonest = 0;
    double most = 0;

    for (unsigned s = 0; s < TAKT_RESIDENT; s++) {
        const struct takt_account account =
            takt__model_account(model, series, s, bucket);
        if (account.calls > most) {
            most = account.calls;
            commonest = s;
        }
    }
    return commonest;
}

static void write_line(const takt_ctx *ctx, const struct takt_model *model,
                       unsigned series, FILE *file)
{
    enum takt_op_id op;
    unsigned user_op;
    takt_dtype dtype;
    char layout[TAKT_LAYOUT_NAME];

    takt__series_name(series, &op, &user_op, &dtype, layout);
    for (unsigned bucket = 0; bucket < TAKT_BUCKETS; bucket++) {
        const struct takt_key key = {(uint16_t)series, (uint8_t)bucket};
        const uint64_t word =
            takt__table_load(&ctx->decider.table, key,
                             commonest_situation(model, series, bucket));
        if ((uint8_t)word < ctx->experts.count &&
            word != 0) /* not the user's */
            fprintf(file, "%s %s %s %u %s\n", takt_op_at(op)->name,
                    takt_dtype_name(dtype), layout[0] == '\0' ? "-" : layout,
                    bucket, takt__ctx_expert(ctx, (uint8_t)word)->name);
    }
}

/* All decisions as text, to be freed; NULL: no memory. Written to memory, so
 * that the learner's lock is not held while a disk is written. */
static char *write_text(takt_ctx *ctx, size_t *length)
{
    struct takt_memory_file made;

    if (!takt__memory_file_open(&made))
        return NULL;
    FILE *file = made.stream;
    fputs(takt__pin_title, file);
    fprintf(file, "# machine %s\n# op dtype layout bucket expert\n",
            ctx->machine->hw_fingerprint);
    struct takt_model *model = takt__learner_enter(ctx->learner);
    for (unsigned series = 0; series < TAKT_SERIES_USER; series++)
        if (takt__model_has_series(model, series))
            write_line(ctx, model, series, file);
    takt__learner_leave(ctx->learner);
    fputs(takt__pin_last, file);
    if (!takt__memory_file_close(&made))
        errno = ENOMEM;
    *length = made.length;
    return made.text;
}

takt_status takt_ctx_write_pin(takt_ctx *ctx, const char *path, takt_diag *diag)
{
    size_t length;

    if (path == NULL)
        return takt__say(diag, TAKT_EINVAL, "no path");
    ctx = takt__ctx_or_default(ctx);
    if (ctx == NULL)
        return TAKT_ENOMEM;
    char *text = write_text(ctx, &length);
    if (text == NULL)
        return takt__say(diag, TAKT_EIO, "%.400s: %s", path, strerror(ENOMEM));
    const takt_status status =
        takt__write_whole(path, TAKT_NEW_FILE_STREAMS, text, length, diag);
    free(text);
    return status;
}
