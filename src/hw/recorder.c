/* SPDX-License-Identifier: MIT */
/*
 * recorder.c - a source that keeps what another one answers.
 *
 * The probe sees the scrubbed answers, so what a replay will find was found
 * once already while recording. A folder's listing is not kept: the probe
 * reads a file of every entry it cares about, and that file makes the entry.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "hw/ask.h"
#include "hw/cpuid_table.h"
#include "hw/files.h"
#include "hw/scrub.h"

enum { longest_path = 4096 };

struct recorder {
    const struct takt_hw_source *original;
    struct takt_cpuid_table cpuid;
    struct takt_scrub scrub;
    bool has_failed; /* something could not be read or written */
    char text[TAKT_PROBE_TEXT];
    char root[]; /* the folder */
};

/* The initial APIC id in leaf 1 tells only which CPU was asked. */
static void drop_apic_id(uint32_t leaf, uint32_t reg[4])
{
    if (leaf == 1)
        reg[1] &= 0x00ffffff;
}

static void ask_cpuid(void *self, uint32_t leaf, uint32_t subleaf,
                      uint32_t reg[4])
{
    struct recorder *recorder = self;
    struct takt_cpuid_table *table = &recorder->cpuid;

    recorder->original->cpuid(recorder->original->self, leaf, subleaf, reg);
    drop_apic_id(leaf, reg);
    if (takt__cpuid_table_find(table, leaf, subleaf) != NULL)
        return;
    if (table->count == TAKT_CPUID_ROWS) {
        recorder->has_failed = true;
        return;
    }
    struct takt_cpuid_row *row = &table->row[table->count++];
    row->leaf = leaf;
    row->subleaf = subleaf;
    memcpy(row->reg, reg, sizeof row->reg);
}

static uint64_t ask_xcr0(void *self)
{
    struct recorder *recorder = self;
    recorder->cpuid.xcr0 = recorder->original->xcr0(recorder->original->self);
    return recorder->cpuid.xcr0;
}

static size_t read_file(void *self, const char *path, char *buf, size_t cap)
{
    struct recorder *recorder = self;
    const struct takt_hw_source *original = recorder->original;
    char real[longest_path];

    recorder->text[0] = '\0';
    if (takt__scrub_restore(&recorder->scrub, path, real, sizeof real))
        recorder->has_failed |=
            original->file(original->self, real, recorder->text,
                           sizeof recorder->text) == TAKT_HW_FAILED;
    const size_t length =
        takt__scrub_text(&recorder->scrub, path, recorder->text, buf, cap);
    if (length > 0 && !takt__file_write(recorder->root, path, buf, length))
        recorder->has_failed = true;
    return length;
}

static size_t list_folder(void *self, const char *folder, char *buf, size_t cap)
{
    struct recorder *recorder = self;
    const struct takt_hw_source *original = recorder->original;
    const size_t length = original->list(original->self, folder, buf, cap);
    recorder->has_failed |= length == TAKT_HW_FAILED;
    return length;
}

takt_status takt__recorder_open(const struct takt_hw_source *original,
                                const char *folder, struct takt_hw_source *out)
{
    const size_t size = strlen(folder) + 1;
    struct recorder *recorder = calloc(1, sizeof *recorder + size);

    memset(out, 0, sizeof *out);
    if (recorder == NULL)
        return TAKT_ENOMEM;
    if (mkdir(folder, 0777) != 0) {
        const bool exists = errno == EEXIST;
        free(recorder);
        return exists ? TAKT_EEXIST : TAKT_EIO;
    }
    memcpy(recorder->root, folder, size);
    recorder->original = original;
    strncpy(recorder->cpuid.architecture, original->architecture,
            sizeof recorder->cpuid.architecture - 1);
    *out = (struct takt_hw_source){ask_cpuid, ask_xcr0,
                                   read_file, list_folder,
                                   recorder,  recorder->cpuid.architecture};
    return TAKT_OK;
}

static bool write_cpuid(struct recorder *recorder)
{
    char text[TAKT_CPUID_TEXT];
    const size_t length = takt__cpuid_table_print(&recorder->cpuid, text);
    return takt__file_write(recorder->root, "/cpuid.txt", text, length);
}

takt_status takt__recorder_close(struct takt_hw_source *source,
                                 takt_status so_far)
{
    struct recorder *recorder = source->self;

    if (so_far == TAKT_OK && (recorder->has_failed || !write_cpuid(recorder)))
        so_far = TAKT_EIO;
    if (so_far != TAKT_OK)
        takt__folder_remove(recorder->root);
    free(recorder);
    memset(source, 0, sizeof *source);
    return so_far;
}
