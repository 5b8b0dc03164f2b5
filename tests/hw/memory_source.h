/* SPDX-License-Identifier: MIT */
/*
 * memory_source.h - a recorded machine in one string, for tests and fuzzing.
 *
 * First what cpuid.txt would hold, then each file after a line "@<path>":
 *
 *     arch x86_64
 *     0 0: 1 0 0 0
 *     @/proc/meminfo
 *     MemTotal: 1024 kB
 */
#pragma once

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "hw/cpuid_table.h"
#include "hw/source.h"

enum { memory_source_files = 256 };

struct memory_file {
    const char *path; /* ends with a newline */
    size_t path_length;
    const char *text;
    size_t length;
};

struct memory_source {
    char *copy; /* owned */
    struct takt_cpuid_table cpuid;
    size_t count;
    struct memory_file file[memory_source_files];
};

static inline void memory_source_cpuid(void *self, uint32_t leaf,
                                       uint32_t subleaf, uint32_t reg[4])
{
    const struct memory_source *source = self;
    const struct takt_cpuid_row *row =
        takt__cpuid_table_find(&source->cpuid, leaf, subleaf);

    memset(reg, 0, 4 * sizeof reg[0]);
    if (row != NULL)
        memcpy(reg, row->reg, sizeof row->reg);
}

static inline uint64_t memory_source_xcr0(void *self)
{
    const struct memory_source *source = self;
    return source->cpuid.xcr0;
}

static inline size_t memory_source_file(void *self, const char *path, char *buf,
                                        size_t cap)
{
    const struct memory_source *source = self;
    const size_t length = strlen(path);

    buf[0] = '\0';
    for (size_t i = 0; i < source->count; i++) {
        const struct memory_file *file = &source->file[i];
        if (file->path_length != length || memcmp(file->path, path, length))
            continue;
        const size_t size = file->length < cap ? file->length : cap - 1;
        memcpy(buf, file->text, size);
        buf[size] = '\0';
        return size;
    }
    return 0;
}

/* The entry of `folder` that the file is in or is; its length, 0 for none. */
static inline size_t memory_entry(const struct memory_file *file,
                                  const char *folder, const char **name)
{
    const size_t length = strlen(folder);

    if (file->path_length <= length + 1 ||
        memcmp(file->path, folder, length) != 0 || file->path[length] != '/')
        return 0;
    *name = file->path + length + 1;
    return strcspn(*name, "/\n");
}

/* Files are looked up in the order they are written in, which for a folder
 * that is listed must be byte order. */
static inline size_t memory_source_list(void *self, const char *folder,
                                        char *buf, size_t cap)
{
    const struct memory_source *source = self;
    const char *last = "";
    size_t last_size = 0;
    size_t length = 0;

    buf[0] = '\0';
    for (size_t i = 0; i < source->count; i++) {
        const char *name = NULL;
        const size_t size = memory_entry(&source->file[i], folder, &name);
        if (size == 0 || size + 1 >= cap - length ||
            (size == last_size && memcmp(name, last, size) == 0))
            continue;
        memcpy(buf + length, name, size);
        length += size;
        buf[length++] = '\n';
        buf[length] = '\0';
        last = name;
        last_size = size;
    }
    return length;
}

/* Cuts the next "@<path>\n<text>" off; NULL when there is none. */
static inline char *memory_source_cut(struct memory_source *source, char *at,
                                      char *end)
{
    struct memory_file *file = &source->file[source->count];
    char *line_end = memchr(at, '\n', (size_t)(end - at));

    if (line_end == NULL || source->count == memory_source_files)
        return NULL;
    char *next = line_end + 1;
    while (next < end && !(next[0] == '@' && next[-1] == '\n'))
        next++;
    *file = (struct memory_file){at + 1, (size_t)(line_end - at - 1),
                                 line_end + 1, (size_t)(next - line_end - 1)};
    source->count++;
    return next < end ? next : NULL;
}

/* False when the CPUID part is not understood. Close it in either case. */
static inline bool memory_source_open(struct memory_source *source,
                                      const char *text, size_t length,
                                      struct takt_hw_source *out)
{
    memset(source, 0, sizeof *source);
    source->copy = malloc(length + 1);
    if (source->copy == NULL)
        return false;
    memcpy(source->copy, text, length);
    source->copy[length] = '\0';

    char *at = strstr(source->copy, "\n@");
    char *const end = source->copy + length;
    if (at != NULL)
        *at++ = '\0';
    while (at != NULL)
        at = memory_source_cut(source, at, end);
    *out = (struct takt_hw_source){memory_source_cpuid,
                                   memory_source_xcr0,
                                   memory_source_file,
                                   memory_source_list,
                                   source,
                                   source->cpuid.architecture};
    return takt__cpuid_table_parse(source->copy, &source->cpuid);
}

static inline void memory_source_close(struct memory_source *source)
{
    free(source->copy);
    source->copy = NULL;
}
