/* SPDX-License-Identifier: MIT */
/*
 * log.c - messages for people, to stderr or to the program.
 *
 * No lock: a message may come from a child of fork() or from a thread that is
 * stopped in the middle of another message.
 */
#include "base/log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/name.h"
#include "base/write_signals.h"
#include "text/utf8.h"

static const char *const level_name[] = {
    [TAKT_LOG_OFF] = "off",
    [TAKT_LOG_ERROR] = "error",
    [TAKT_LOG_INFO] = "info",
    [TAKT_LOG_DEBUG] = "debug",
};

/* Where messages go. */
struct log_target {
    takt_log_level level;
    takt_log_function *function; /* NULL: stderr */
    void *self;
    struct log_target *before; /* kept: another thread may be using it */
};

/* One of these until the program sets its own. */
static struct log_target to_stderr[] = {
    {.level = TAKT_LOG_OFF},
    {.level = TAKT_LOG_ERROR},
    {.level = TAKT_LOG_INFO},
    {.level = TAKT_LOG_DEBUG},
};

static _Atomic(struct log_target *) current = &to_stderr[TAKT_LOG_ERROR];
static _Atomic bool is_set_by_program;

const char *takt_log_level_name(takt_log_level level)
{
    return (unsigned)level <= TAKT_LOG_DEBUG ? level_name[level] : "?";
}

bool takt__log_level_find(const char *name, takt_log_level *out)
{
    for (unsigned i = 0; i <= TAKT_LOG_DEBUG; i++)
        if (takt__name_equal(name, level_name[i])) {
            *out = (takt_log_level)i;
            return true;
        }
    return false;
}

void takt__log_default(takt_log_level level)
{
    if (!atomic_load(&is_set_by_program))
        atomic_store(&current, &to_stderr[level]);
}

takt_status takt_log_set(takt_log_level level, takt_log_function *function,
                         void *self)
{
    if ((unsigned)level > TAKT_LOG_DEBUG)
        return TAKT_EINVAL;
    struct log_target *target = malloc(sizeof *target);
    if (target == NULL)
        return TAKT_ENOMEM;
    *target =
        (struct log_target){.level = level, .function = function, .self = self};
    atomic_store(&is_set_by_program, true);
    target->before = atomic_load(&current);
    while (!atomic_compare_exchange_weak(&current, &target->before, target))
        ;
    return TAKT_OK;
}

/* ---- each message once --------------------------------------------------- */

/* Hashes of what was said. When it is full, nothing new is said: that bounds
 * what a failure that repeats with changing words can write. */
static _Atomic uint64_t said[256];

static uint64_t hash(const char *text)
{
    uint64_t value = 0xcbf29ce484222325u; /* FNV-1a */

    for (; *text != '\0'; text++)
        value = (value ^ (unsigned char)*text) * 0x100000001b3u;
    return value != 0 ? value : 1;
}

static bool is_new(const char *text)
{
    const uint64_t wanted = hash(text);

    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        uint64_t found = 0;
        if (atomic_compare_exchange_strong(&said[i], &found, wanted))
            return true;
        if (found == wanted)
            return false;
    }
    return false;
}

static void write_line(const char *text)
{
    char line[1200];
    const int length = snprintf(line, sizeof line, "takt: %s\n", text);
    struct takt_write_signals signals;

    /* One call, so that lines of several processes do not mix. A failure of
     * stderr cannot be reported anywhere. */
    takt__write_signals_block(&signals);
    if (length > 0)
        (void)!write(STDERR_FILENO, line, (size_t)length);
    takt__write_signals_restore(&signals);
}

/* A message is one line that can be shown, whatever it quotes: a byte that a
 * terminal should not get becomes a '?'. */
static void clean(char *text)
{
    uint32_t character;
    bool is_whole;

    for (size_t length; *text != '\0'; text += length) {
        length = takt__utf8_take(text, SIZE_MAX, &is_whole);
        takt__utf8_read(text, &character);
        if (!is_whole || takt__is_unsafe(character))
            memset(text, '?', length);
    }
}

void takt__log(takt_log_level level, const char *format, ...)
{
    const struct log_target *target = atomic_load(&current);
    char text[1024];
    va_list values;

    if (level > target->level)
        return;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    clean(text);
    if (!is_new(text))
        return;
    if (target->function != NULL)
        target->function(target->self, level, text);
    else
        write_line(text);
}
