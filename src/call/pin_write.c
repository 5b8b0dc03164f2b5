/* SPDX-License-Identifier: MIT */
/* pin_write.c - writes the decisions of a context to a file. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/new_file.h"
#include "base/say.h"
#include "call/pin.h"
#include "takt/history.h"

/* No stream: exit() writes those of all threads, also in a child of a fork()
 * that has copies of them. */
struct pin_text {
    char *at;
    size_t length, room;
    bool is_short; /* there was no memory for all of it */
};

__attribute__((format(printf, 2, 3))) static void add(struct pin_text *out,
                                                      const char *format, ...)
{
    char line[512];
    va_list list;

    va_start(list, format);
    const int length = vsnprintf(line, sizeof line, format, list);
    va_end(list);
    if (length < 0 || (size_t)length >= sizeof line ||
        !takt__grow(&out->at, &out->room, out->length + (size_t)length, 1)) {
        out->is_short = true;
        return;
    }
    memcpy(out->at + out->length, line, (size_t)length);
    out->length += (size_t)length;
}

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
                       unsigned series, struct pin_text *out)
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
            add(out, "%s %s %s %u %s\n", takt_op_at(op)->name,
                takt_dtype_name(dtype), layout[0] == '\0' ? "-" : layout,
                bucket, takt__ctx_expert(ctx, (uint8_t)word)->name);
    }
}

/* All decisions as text, to be freed; NULL: no memory. Written to memory, so
 * that the learner's lock is not held while a disk is written. */
static char *write_text(takt_ctx *ctx, size_t *length)
{
    struct pin_text made = {0};

    add(&made, "%s", takt__pin_title);
    add(&made, "# machine %s\n# op dtype layout bucket expert\n",
        ctx->machine->hw_fingerprint);
    struct takt_model *model = takt__learner_enter(ctx->learner);
    for (unsigned series = 0; series < TAKT_SERIES_USER; series++)
        if (takt__model_has_series(model, series))
            write_line(ctx, model, series, &made);
    takt__learner_leave(ctx->learner);
    add(&made, "%s", takt__pin_last);
    *length = made.length;
    if (!made.is_short)
        return made.at;
    free(made.at);
    return NULL;
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
