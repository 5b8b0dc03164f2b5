/* SPDX-License-Identifier: MIT */
/*
 * pin.c - reads decisions from a file, for runs that must give the same bits.
 *
 * One line of text per op, dtype, layout and bucket. What the file does not
 * mention runs on one thread of the best instruction set.
 */
#include "call/pin.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/config.h"
#include "base/database_file.h"
#include "base/log.h"
#include "base/read_stream.h"
#include "call/libraries.h"

const char takt__pin_title[] = "takt pin 1\n";
const char takt__pin_last[] = "end\n";

/* ---- the text ------------------------------------------------------------ */

/* What is left to read. */
struct text {
    const char *at, *end;
};

/* Whether the text goes on with exactly that; then it is passed over. */
static bool skip(struct text *text, const char *expected)
{
    const size_t length = strlen(expected);

    if ((size_t)(text->end - text->at) < length ||
        memcmp(text->at, expected, length) != 0)
        return false;
    text->at += length;
    return true;
}

/* A word of printable letters, which `after` must follow. */
static bool read_word(struct text *text, char *out, size_t size, char after)
{
    size_t length = 0;

    while (text->at<text->end && * text->at> ' ' && *text->at <= '~') {
        if (length + 1 == size)
            return false;
        out[length++] = *text->at++;
    }
    out[length] = '\0';
    return length > 0 && text->at < text->end && *text->at++ == after;
}

static bool read_bucket(struct text *text, unsigned *out)
{
    char digits[3];

    if (!read_word(text, digits, sizeof digits, ' ') ||
        digits[strspn(digits, "0123456789")] != '\0')
        return false;
    *out = (unsigned)strtoul(digits, NULL, 10);
    return *out < TAKT_BUCKETS;
}

static bool read_pin(struct text *text, struct takt_pin *out)
{
    const bool is_read =
        read_word(text, out->op, sizeof out->op, ' ') &&
        read_word(text, out->dtype, sizeof out->dtype, ' ') &&
        read_word(text, out->layout, sizeof out->layout, ' ') &&
        read_bucket(text, &out->bucket) &&
        read_word(text, out->expert, sizeof out->expert, '\n');

    if (is_read && strcmp(out->layout, "-") == 0)
        out->layout[0] = '\0';
    return is_read;
}

/* A comment, or an empty line. */
static bool skip_line(struct text *text)
{
    if (skip(text, "\n"))
        return true;
    if (!skip(text, "#"))
        return false;
    while (text->at < text->end && *text->at++ != '\n')
        ;
    return true;
}

takt_status takt__pin_parse(const char *text, size_t length,
                            takt_pin_visit *visit, void *self, size_t *line)
{
    struct text rest = {text, text + length};
    struct takt_pin pin;

    *line = 1;
    if (!skip(&rest, takt__pin_title))
        return TAKT_ECORRUPT;
    while (++*line, !skip(&rest, takt__pin_last)) {
        if (skip_line(&rest))
            continue;
        if (!read_pin(&rest, &pin))
            return TAKT_ECORRUPT;
        const takt_status status = visit(self, &pin);
        if (status != TAKT_OK)
            return status;
    }
    return rest.at == rest.end ? TAKT_OK : TAKT_ECORRUPT;
}

/* ---- reading ------------------------------------------------------------- */

static int series_of_pin(const struct takt_pin *pin)
{
    const takt_op *op = takt_op_find(pin->op);
    const bool is_f64 = strcmp(pin->dtype, "f64") == 0;

    if (op == NULL || (!is_f64 && strcmp(pin->dtype, "f32") != 0))
        return -1;
    return takt__series_find(op, is_f64 ? TAKT_F64 : TAKT_F32, pin->layout);
}

static bool may_run(const takt_ctx *ctx, unsigned number,
                    const struct takt_pin *pin)
{
    const struct takt_expert *expert = takt__ctx_expert(ctx, number);

    return expert->class->may(expert, takt_op_find(pin->op),
                              pin->dtype[1] == '6' ? TAKT_F64 : TAKT_F32);
}

static takt_status apply(void *self, const struct takt_pin *pin)
{
    takt_ctx *ctx = self;
    const int series = series_of_pin(pin);
    takt__ctx_open_named(ctx, pin->expert);
    const int expert = takt__experts_find(&ctx->experts, pin->expert);
    const struct takt_key key = {(uint16_t)series, (uint8_t)pin->bucket};

    if (series < 0 ||
        (expert >= 0 && takt__table_load(&ctx->decider.table, key, 0) != 0))
        return TAKT_ECORRUPT; /* no such call, or it was pinned before */
    if (expert < 0 || !may_run(ctx, (unsigned)expert, pin))
        return TAKT_ENODEV;
    const struct takt_cell cell = {.best = (uint8_t)expert,
                                   .runner_up = (uint8_t)expert};
    takt__table_store(&ctx->decider.table, key, 0, &cell);
    return TAKT_OK;
}

/* A pipe would have the program wait for a writer, and a store that it has open
 * would lose its locks. */
static takt_status open_regular(const char *path, FILE **out)
{
    *out = NULL;
    if (takt__is_database(AT_FDCWD, path))
        return TAKT_ECORRUPT;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat facts;

    if (fd < 0)
        return errno == ENOENT ? TAKT_ENOENT : TAKT_EIO;
    const bool is_regular = fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode);
    if (is_regular)
        *out = fdopen(fd, "r");
    if (*out != NULL)
        return TAKT_OK;
    close(fd);
    return is_regular ? TAKT_ENOMEM : TAKT_ECORRUPT;
}

/* What the program itself named is its own to report. */
static void log_line(const char *path, size_t line, takt_status status)
{
    const char *wrong =
        status == TAKT_ECORRUPT
            ? "it is not understood, or says again what another one said"
        : status == TAKT_ENODEV ? "this machine has no such expert for that op "
                                  "('takt machine' lists them)"
                                : takt_status_text(status);

    if (path == takt__config()->pin)
        takt__log(TAKT_LOG_ERROR, "TAKT_PIN=%.200s is ignored, line %zu: %s",
                  path, line, wrong);
    else
        takt__log(TAKT_LOG_INFO, "%.200s, line %zu: %s", path, line, wrong);
}

static void log_file(const char *path, takt_status status)
{
    if (path == takt__config()->pin)
        takt__log(TAKT_LOG_ERROR, "TAKT_PIN=%.200s is ignored: %s", path,
                  status == TAKT_ECORRUPT ? "it is not a regular file"
                                          : takt_status_text(status));
}

takt_status takt__ctx_read_pin(takt_ctx *ctx, const char *path)
{
    FILE *file;
    takt_status status = open_regular(path, &file);
    static const size_t most = 16 << 20; /* every series of every op: 8 MB */
    size_t length, line = 0;
    char *text = NULL;

    if (status == TAKT_OK) {
        status = takt__read_stream(file, most, &text, &length) != 0
                     ? TAKT_EIO
                     : takt__pin_parse(text, length, apply, ctx, &line);
        fclose(file);
    }
    if (text != NULL && status != TAKT_OK)
        log_line(path, line, status);
    else if (status != TAKT_OK)
        log_file(path, status);
    free(text);
    return status;
}
