/* SPDX-License-Identifier: MIT */
/*
 * examine.c - reads one file, no more of it than was allowed, and finds out
 * whether it is worth parsing.
 *
 * It is read, not mapped: a file that somebody cuts short while it is looked at
 * must not end the scan.
 */
#include "examine.h"

#include "languages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "text/utf8.h"

enum {
    MOST_BYTES = 8 << 20,
    BINARY_BYTES = 8192,
    FIRST_ROOM = 256 * 1024,
    TABLE_BYTES = 128 * 1024,
    BORROWED = 20 * 1024 /* room for declarations of other files */
};

void takt__shared_open(struct takt_shared *shared,
                       const struct takt_scan_options *options)
{
    *shared = (struct takt_shared){.options = options,
                                   .project = takt__project_open()};
    pthread_mutex_init(&shared->lock, NULL);
    for (int i = 0; i < TAKT_SCAN_LANGUAGES; i++) {
        const struct takt_language *language =
            takt__language((enum takt_scan_language)i);
        if (language != NULL)
            takt__filter_make(&shared->filter[i], language->words);
        if (language != NULL)
            takt__filter_make(&shared->loops[i], language->loops);
    }
}

void takt__shared_close(struct takt_shared *shared)
{
    for (int i = 0; i < TAKT_SCAN_LANGUAGES; i++)
        if (shared->patterns[i].query != NULL)
            takt__patterns_close(&shared->patterns[i]);
    takt__project_close(shared->project);
    pthread_mutex_destroy(&shared->lock);
}

static takt_status patterns_of(struct takt_shared *shared,
                               const struct takt_language *language)
{
    struct takt_patterns *patterns = &shared->patterns[language->id];
    takt_status status = TAKT_OK;

    pthread_mutex_lock(&shared->lock);
    if (patterns->query == NULL)
        status = takt__patterns_open(language, patterns, &shared->diag);
    pthread_mutex_unlock(&shared->lock);
    return status;
}

takt_status takt__examiner_open(struct takt_examiner *examiner)
{
    *examiner = (struct takt_examiner){0};
    return takt__finder_open(&examiner->finder);
}

void takt__examiner_close(struct takt_examiner *examiner)
{
    takt__finder_close(&examiner->finder);
    free(examiner->text);
    *examiner = (struct takt_examiner){0};
}

static bool make_room(struct takt_examiner *examiner, size_t room)
{
    if (room <= examiner->room)
        return true;
    free(examiner->text); /* nothing of it is kept */
    examiner->text = malloc(room);
    examiner->room = examiner->text != NULL ? room : 0;
    return examiner->text != NULL;
}

/* Reads until there is no more, or no room. */
static enum takt_file_kind fill(struct takt_examiner *examiner, int fd,
                                size_t most, struct takt_examined *out)
{
    const size_t room = examiner->room - BORROWED;
    size_t size = 0;

    while (size < room) {
        const ssize_t got = read(fd, examiner->text + size, room - size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            out->error = errno;
            return TAKT_FILE_UNREADABLE;
        }
        if (got == 0)
            break;
        size += (size_t)got;
    }
    out->bytes = size;
    return size > most ? TAKT_FILE_TOO_LARGE : TAKT_FILE_TEXT;
}

static void read_file(struct takt_examiner *examiner, int fd, uint64_t most,
                      struct takt_examined *out)
{
    struct stat facts;
    size_t wanted;

    if (fstat(fd, &facts) != 0) {
        out->error = errno;
        out->kind = TAKT_FILE_UNREADABLE;
        return;
    }
    if (facts.st_size > 0 && (uint64_t)facts.st_size > most) {
        out->kind = TAKT_FILE_TOO_LARGE;
        return;
    }
    /* A file may be larger by now than it says. */
    wanted = (size_t)facts.st_size + 1 + BORROWED;
    if (!make_room(examiner, wanted > FIRST_ROOM ? wanted : FIRST_ROOM)) {
        out->status = TAKT_ENOMEM;
        return;
    }
    out->kind = fill(examiner, fd, (size_t)most, out);
    if (out->kind == TAKT_FILE_TEXT && out->bytes == examiner->room - BORROWED)
        out->kind = TAKT_FILE_TOO_LARGE; /* it grew: another time */
}

static uint64_t count_lines(const char *text, size_t size)
{
    uint64_t lines = size > 0 && text[size - 1] != '\n';

    for (size_t i = 0; i < size; i++)
        lines += text[i] == '\n';
    return lines;
}

/* Of a file that was read: what it is. */
static void judge(const struct takt_scan_options *options, const char *path,
                  const char *text, struct takt_examined *out)
{
    const unsigned languages = options->languages;
    const size_t size = (size_t)out->bytes;
    const size_t head = size < BINARY_BYTES ? size : BINARY_BYTES;

    if (memchr(text, 0, head) != NULL) {
        out->kind = TAKT_FILE_BINARY;
        return;
    }
    out->language = takt__language_in(out->language, path, text, size);
    if (languages != 0 && (languages & 1u << out->language->id) == 0) {
        out->kind = TAKT_FILE_OTHER;
        return;
    }
    out->lines = count_lines(text, size);
    out->is_utf8 = takt__is_utf8(text, size);
    if (options->file != NULL)
        options->file(options->self, path, out->language->id, text, size);
}

static bool is_outlined(const struct takt_walk_file *file)
{
    const char *const *one =
        file->language == NULL ? NULL : file->language->outlined;
    const char *dot = strrchr(file->path, '.');

    while (one != NULL && *one != NULL && dot != NULL && strcmp(dot, *one) != 0)
        one++;
    return file->fd >= 0 && one != NULL && *one != NULL && dot != NULL;
}

takt_status takt__examine_outline(struct takt_examiner *examiner,
                                  struct takt_shared *shared,
                                  const struct takt_walk_file *file)
{
    const uint64_t most = shared->options->most_bytes;
    struct takt_examined read = {.language = file->language};

    if (!is_outlined(file))
        return TAKT_OK;
    read_file(examiner, file->fd, most != 0 ? most : MOST_BYTES, &read);
    if (read.status == TAKT_OK && read.kind == TAKT_FILE_TEXT)
        takt__project_add(shared->project, file->language, file->path,
                          examiner->text, (size_t)read.bytes);
    return read.status;
}

/* Declarations of other files, behind a text; how many bytes. */
static size_t borrow(struct takt_examiner *examiner, struct takt_shared *shared,
                     const char *path, const struct takt_examined *out)
{
    const size_t size = (size_t)out->bytes;

    if (out->language->outline == NULL ||
        !takt__filter_passes(&shared->loops[out->language->id], examiner->text,
                             size))
        return 0;
    return takt__project_declarations(shared->project, out->language, path,
                                      examiner->text, size,
                                      examiner->text + size, BORROWED);
}

/* A large file of numbers without a loop: its tree would take a hundred times
 * its size, and hold nothing. */
static bool is_table(const struct takt_shared *shared,
                     const struct takt_language *language, const char *text,
                     size_t size)
{
    size_t numbers = 0;

    if (size < TABLE_BYTES || language->loops == NULL ||
        takt__filter_passes(&shared->loops[language->id], text, size))
        return false;
    for (size_t i = 0; i < size; i++)
        numbers += (text[i] >= '0' && text[i] <= '9') || text[i] == ',';
    return numbers > size / 5 * 2;
}

void takt__examine(struct takt_examiner *examiner, struct takt_shared *shared,
                   const struct takt_walk_file *file, struct takt_examined *out)
{
    const struct takt_scan_options *options = shared->options;

    *out =
        (struct takt_examined){.status = TAKT_OK, .language = file->language};
    read_file(examiner, file->fd,
              options->most_bytes != 0 ? options->most_bytes : MOST_BYTES, out);
    if (out->status != TAKT_OK || out->kind != TAKT_FILE_TEXT)
        return;
    const char *text = examiner->text;
    const size_t size = (size_t)out->bytes;
    judge(options, file->path, text, out);
    if (out->kind != TAKT_FILE_TEXT)
        return;
    const size_t whole = size + borrow(examiner, shared, file->path, out);
    if (!takt__filter_passes(&shared->filter[out->language->id], text, whole) ||
        is_table(shared, out->language, text, size))
        return;
    out->status = patterns_of(shared, out->language);
    if (out->status != TAKT_OK)
        return;
    out->is_parsed = true;
    out->status = takt__find_among(&examiner->finder,
                                   &shared->patterns[out->language->id],
                                   file->inner, text, size, whole, &out->found);
}
