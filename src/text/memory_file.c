/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* fopencookie() */
#include "text/memory_file.h"

#include <stdlib.h>
#include <string.h>

/* Room for so many bytes and a NUL. */
static bool grow(struct takt_memory_file *file, size_t length)
{
    size_t room = file->room > 0 ? file->room : 1024;

    while (room <= length)
        room *= 2;
    if (room == file->room)
        return true;
    char *more = realloc(file->text, room);
    if (more == NULL)
        return false;
    file->text = more;
    file->room = room;
    return true;
}

static ssize_t take(void *self, const char *bytes, size_t count)
{
    struct takt_memory_file *file = self;

    if (file->is_short || !grow(file, file->length + count)) {
        file->is_short = true;
        return 0; /* an error of the stream */
    }
    memcpy(file->text + file->length, bytes, count);
    file->length += count;
    return (ssize_t)count;
}

bool takt__memory_file_open(struct takt_memory_file *out)
{
    *out = (struct takt_memory_file){0};
    if (!grow(out, 0))
        return false;
    out->stream = fopencookie(out, "w", (cookie_io_functions_t){.write = take});
    if (out->stream != NULL)
        return true;
    free(out->text);
    out->text = NULL;
    return false;
}

bool takt__memory_file_close(struct takt_memory_file *file)
{
    const bool is_closed = fclose(file->stream) == 0;

    file->stream = NULL;
    if (is_closed && !file->is_short) {
        file->text[file->length] = '\0';
        return true;
    }
    free(file->text);
    file->text = NULL;
    return false;
}
