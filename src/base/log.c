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
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/name.h"

static const char *const level_name[] = {
    [TAKT_LOG_OFF] = "off",
    [TAKT_LOG_ERROR] = "error",
    [TAKT_LOG_INFO] = "info",
    [TAKT_LOG_DEBUG] = "debug",
};

/* Where messages go. */
struct target {
    takt_log_level level;
    takt_log_function *function; /* NULL: stderr */
    void *self;
    struct target *before; /* kept: another thread may be using it */
};

/* One of these until the program sets its own. */
static struct target to_stderr[] = {
    {.level = TAKT_LOG_OFF},
    {.level = TAKT_LOG_ERROR},
    {.level = TAKT_LOG_INFO},
    {.level = TAKT_LOG_DEBUG},
};

static _Atomic(struct target *) current = &to_stderr[TAKT_LOG_ERROR];
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
    struct target *target = malloc(sizeof *target);
    if (target == NULL)
        return TAKT_ENOMEM;
    *target =
        (struct target){.level = level, .function = function, .self = self};
    atomic_store(&is_set_by_program, true);
    target->before = atomic_load(&current);
    while (!atomic_compare_exchange_weak(&current, &target->before, target))
        ;
    return TAKT_OK;
}

/* ---- each message once -----------------------------------------------------
 */

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

    /* One call, so that lines of several processes do not mix. A failure of
     * stderr cannot be reported anywhere. */
    if (length > 0)
        (void)!write(STDERR_FILENO, line, (size_t)length);
}

/* Characters that a terminal should not get: controls, and marks that change
 * the order of letters or show nothing. */
static bool is_hidden(uint32_t code)
{
    static const uint32_t ranges[][2] = {
        {0x00, 0x1f},     {0x7f, 0x9f},     {0x61c, 0x61c},  {0x200b, 0x200f},
        {0x2028, 0x202e}, {0x2060, 0x207f}, {0xfeff, 0xfeff}};

    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (code >= ranges[i][0] && code <= ranges[i][1])
            return true;
    return false;
}

/* By the first byte of a character; 0: none begins with it. */
static size_t length_by(unsigned char first)
{
    if (first < 0x80)
        return 1;
    if (first < 0xc2 || first > 0xf4)
        return 0;
    return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

/* How many bytes at `at` are hidden, or not UTF-8. 0: none; *length is that of
 * the character then. */
static size_t unsafe_bytes(const unsigned char *at, size_t *length)
{
    *length = length_by(at[0]);
    if (*length == 0)
        return 1;
    uint32_t code = *length == 1 ? at[0] : at[0] & 0x7fu >> *length;
    for (size_t i = 1; i < *length; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return i;
        code = code << 6 | (at[i] & 0x3f);
    }
    return is_hidden(code) ? *length : 0;
}

/* A message is one line that can be shown, whatever it quotes. */
static void clean(char *text)
{
    unsigned char *at = (unsigned char *)text;
    size_t length;

    while (*at != '\0') {
        const size_t unsafe = unsafe_bytes(at, &length);
        memset(at, '?', unsafe);
        at += unsafe > 0 ? unsafe : length;
    }
}

void takt__log(takt_log_level level, const char *format, ...)
{
    const struct target *target = atomic_load(&current);
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
