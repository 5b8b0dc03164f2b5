/* SPDX-License-Identifier: MIT */
/* read_stream.c - the rest of a stream. */
#include "base/read_stream.h"

#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"

int takt__read_stream(FILE *stream, size_t most, char **text, size_t *length)
{
    size_t room = 0, got = 1;
    int wrong = 0;

    *text = NULL;
    *length = 0;
    for (; wrong == 0 && got > 0; *length += got) {
        if (!takt__grow(text, &room, *length + (1 << 16), 1))
            wrong = ENOMEM;
        got = wrong == 0 ? fread(*text + *length, 1, room - *length - 1, stream)
                         : 0;
        if (ferror(stream) != 0)
            wrong = errno != 0 ? errno : EIO;
        else if (*length + got > most)
            wrong = EFBIG;
    }
    if (wrong == 0) {
        (*text)[*length] = '\0';
        return 0;
    }
    free(*text);
    *text = NULL;
    return wrong;
}
