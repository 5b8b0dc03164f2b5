/* SPDX-License-Identifier: MIT */
/*
 * environment.c - reads memory that may be freed or unmapped at any time.
 *
 * By a file, so that an address which is no longer valid is an error and not a
 * signal. The list may also be overwritten while it is read: then it is read
 * again, since there is another one or will be.
 */
#include "base/environment.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

extern char **environ;

/* A stretch of memory as it was. Variables mostly lie side by side. */
struct window {
    uintptr_t begin;
    size_t size, room;
    char *bytes;
};

struct environment_reader {
    int memory; /* /proc/self/mem; negative: there is none */
    struct window list, text;
    struct takt_environment *out;
};

/* How many bytes there are at an address: `least` or more, or none. */
static size_t look(const struct environment_reader *reader,
                   struct window *window, const void *at, size_t least,
                   const char **found)
{
    const uintptr_t first = (uintptr_t)at;

    *found = at;
    if (reader->memory < 0)
        return least;
    if (first < window->begin || first + least > window->begin + window->size) {
        const ssize_t got =
            pread(reader->memory, window->bytes, window->room, (off_t)first);
        window->begin = first;
        window->size = got < 0 ? 0 : (size_t)got;
    }
    *found = window->bytes + (first - window->begin);
    const size_t there = window->begin + window->size - first;
    return there < least ? 0 : there;
}

static bool is_wanted(const char *variable)
{
    static const char *const prefix[] = {
        "TAKT_",
        "HOME=",
        "XDG_",
        "OTEL_",
        "OPENBLAS_",
        "GOTO_",
        "MKL_",
        "BLIS_",
        "OMP_",
        /* of libpq and its libraries, for `takt fleet` */
        "PG",
        "KRB5",
        "SSL_CERT_",
        "LD_LIBRARY_PATH=",
    };

    for (size_t i = 0; i < sizeof prefix / sizeof *prefix; i++)
        if (strncmp(variable, prefix[i], strlen(prefix[i])) == 0)
            return true;
    return false;
}

/* `variable`: as much of it as there is room for. */
static void note_left_out(struct takt_environment *out, const char *variable,
                          size_t length)
{
    char *name = out->left_out;
    const size_t most = sizeof out->left_out - 1;

    if (name[0] != '\0')
        return;
    memcpy(name, variable, length < most ? length : most);
    name[length < most ? length : most] = '\0';
    name[is_wanted(name) ? strcspn(name, "=") : 0] = '\0';
}

/* False: it cannot be read. */
static bool add_variable(struct environment_reader *reader, const char *at)
{
    struct takt_environment *out = reader->out;
    size_t size = out->size;
    const char *found, *end;

    do {
        const size_t there = look(reader, &reader->text, at, 1, &found);
        end = memchr(found, '\0', there);
        const size_t length = end != NULL ? (size_t)(end - found) + 1 : there;
        if (there == 0)
            return false;
        if (size + length >= sizeof out->text) {
            if (size > out->size)
                note_left_out(out, out->text + out->size, size - out->size);
            else
                note_left_out(out, found, length);
            return true;
        }
        memcpy(out->text + size, found, length);
        size += length;
        at += length;
    } while (end == NULL);
    if (is_wanted(out->text + out->size))
        out->size = size;
    return true;
}

/* False: the list is being changed. */
static bool read_list(struct environment_reader *reader, char **list)
{
    const char *found;
    char *at = NULL;
    bool is_whole = true;

    reader->out->size = 0;
    reader->out->left_out[0] = '\0';
    reader->list.size = reader->text.size = 0;
    for (; list != NULL && is_whole; list++) {
        if (look(reader, &reader->list, list, sizeof at, &found) > 0)
            memcpy(&at, found, sizeof at);
        else
            is_whole = false;
        if (at == NULL)
            break;
        is_whole = is_whole && add_variable(reader, at);
    }
    reader->out->text[reader->out->size] = '\0';
    return is_whole;
}

/* The file of this process's memory; -1: there is none, or it cannot be read,
 * or (in an emulator) it is the memory of another program. */
static int open_memory(void)
{
    const int fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
    const uint64_t written = 0x54616b74u ^ (uintptr_t)&fd;
    uint64_t found = 0;

    if (fd >= 0 &&
        pread(fd, &found, sizeof found, (off_t)(uintptr_t)&written) ==
            sizeof found &&
        found == written)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

void takt__environment_read(struct takt_environment *out)
{
    enum { tries = 100 };
    struct environment_reader reader = {
        .memory = open_memory(),
        .list = {.bytes = out->list_window, .room = sizeof out->list_window},
        .text = {.bytes = out->text_window, .room = sizeof out->text_window},
        .out = out};
    char **volatile *const now = &environ;

    for (int i = 0; i < tries; i++) {
        char **list = *now;
        if (read_list(&reader, list) && list == *now)
            break;
    }
    if (reader.memory >= 0)
        close(reader.memory);
}

const char *takt__environment_find(const struct takt_environment *in,
                                   const char *name)
{
    const size_t length = strlen(name);

    for (const char *at = in->text; *at != '\0'; at += strlen(at) + 1)
        if (strncmp(at, name, length) == 0 && at[length] == '=')
            return at + length + 1;
    return NULL;
}

bool takt__environment_switch(const char *text, bool *is_on)
{
    static const char *const word[] = {"0", "off", "no",  "false",
                                       "1", "on",  "yes", "true"};
    enum { words = sizeof word / sizeof *word };

    for (size_t i = 0; i < words; i++)
        if (strcasecmp(text, word[i]) == 0) {
            *is_on = i >= words / 2;
            return true;
        }
    return false;
}
