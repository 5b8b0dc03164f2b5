/* SPDX-License-Identifier: MIT */
/*
 * replay.c - a recorded machine as a source of facts.
 *
 * cpuid.txt is read when the recording is opened and must make sense; every
 * other file is read when it is asked for and may be missing, as on a real
 * machine.
 */
#include "hw/source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "hw/cpuid_table.h"
#include "hw/files.h"

enum { longest_path = 4096, longest_cpuid_file = 65536 };

struct replay {
    struct takt_cpuid_table cpuid;
    char root[]; /* the folder */
};

static void ask_cpuid(void *self, uint32_t leaf, uint32_t subleaf,
                      uint32_t reg[4])
{
    const struct replay *replay = self;
    const struct takt_cpuid_row *row =
        takt__cpuid_table_find(&replay->cpuid, leaf, subleaf);

    memset(reg, 0, 4 * sizeof reg[0]);
    if (row != NULL)
        memcpy(reg, row->reg, sizeof row->reg);
}

static uint64_t ask_xcr0(void *self)
{
    const struct replay *replay = self;
    return replay->cpuid.xcr0;
}

static bool place(const struct replay *replay, const char *path, char *out)
{
    return takt__path_stays_below(path) &&
           takt__path_join(replay->root, path, out, longest_path);
}

static size_t read_file(void *self, const char *path, char *buf, size_t cap)
{
    char whole[longest_path];
    return takt__file_read(place(self, path, whole) ? whole : "", buf, cap);
}

static size_t list_folder(void *self, const char *folder, char *buf, size_t cap)
{
    char whole[longest_path];
    return takt__folder_list(place(self, folder, whole) ? whole : "", buf, cap);
}

static takt_status load_cpuid(struct replay *replay)
{
    char *text = malloc(longest_cpuid_file);
    if (text == NULL)
        return TAKT_ENOMEM;

    const size_t length =
        read_file(replay, "/cpuid.txt", text, longest_cpuid_file);
    const bool is_text =
        length > 0 && length < longest_cpuid_file - 1 && strlen(text) == length;
    const bool is_good =
        is_text && takt__cpuid_table_parse(text, &replay->cpuid);
    free(text);
    if (length == TAKT_HW_FAILED)
        return TAKT_EIO;
    return is_good ? TAKT_OK : TAKT_ECORRUPT;
}

static takt_status check_folder(const char *folder)
{
    struct stat facts;
    if (stat(folder, &facts) != 0)
        return errno == ENOENT || errno == ENOTDIR ? TAKT_ENOENT : TAKT_EIO;
    return S_ISDIR(facts.st_mode) ? TAKT_OK : TAKT_ECORRUPT;
}

takt_status takt__replay_open(const char *folder, struct takt_hw_source *out)
{
    memset(out, 0, sizeof *out);
    takt_status status = check_folder(folder);
    if (status != TAKT_OK)
        return status;

    const size_t size = strlen(folder) + 1;
    struct replay *replay = calloc(1, sizeof *replay + size);
    if (replay == NULL)
        return TAKT_ENOMEM;
    memcpy(replay->root, folder, size);
    status = load_cpuid(replay);
    if (status != TAKT_OK) {
        free(replay);
        return status;
    }

    *out = (struct takt_hw_source){ask_cpuid, ask_xcr0,
                                   read_file, list_folder,
                                   replay,    replay->cpuid.architecture};
    return TAKT_OK;
}

void takt__replay_close(struct takt_hw_source *replay)
{
    free(replay->self);
    memset(replay, 0, sizeof *replay);
}
