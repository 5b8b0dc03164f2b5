/* SPDX-License-Identifier: MIT */
/*
 * fuzz_store.c - any bytes, opened as the file of a store.
 *
 * It ends with a store that can be used, or with an error that says why. The
 * first byte tells whether the rest is the file, or is laid over a sound one
 * at the place that the next two bytes tell, in 16-byte steps: a fuzzer would
 * take long to find out how a database begins.
 */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/store.h"

static const struct takt_store_identity identity = {.machine = "aa",
                                                    .software = "bb"};
static char folder[] = "/dev/shm/takt-fuzz-XXXXXX";
static char path[64], aside[96];
static char sound[65536];
static size_t sound_length;

static void demand(bool condition)
{
    if (!condition)
        abort();
}

static void remove_files(void)
{
    static const char *const ends[] = {"", "-wal", "-shm", "-journal"};

    for (int number = 0; number < 4; number++)
        for (size_t i = 0; i < 4; i++) {
            snprintf(aside, sizeof aside, "%s", path);
            if (number > 0)
                snprintf(aside, sizeof aside, "%s.damaged-%d", path, number);
            strcat(aside, ends[i]);
            unlink(aside);
        }
}

static void clean_up(void)
{
    remove_files();
    snprintf(aside, sizeof aside, "%s-writers", path);
    unlink(aside);
    rmdir(folder);
}

static takt_status learn(struct takt_store *store)
{
    struct takt_record records[40];

    memset(records, 0, sizeof records);
    for (unsigned i = 0; i < 40; i++) {
        snprintf(records[i].op, sizeof records[i].op, "op%u", i % 5);
        strcpy(records[i].expert, "scalar");
        records[i].bin = i;
        records[i].seq = 1u << 20;
    }
    return takt__store_write(store, records, 40);
}

static void make_sound(void)
{
    struct takt_store *store;

    demand(mkdtemp(folder) != NULL);
    atexit(clean_up);
    snprintf(path, sizeof path, "%s/f.db", folder);
    demand(takt__store_open(path, &identity, NULL, &store) == TAKT_OK);
    demand(learn(store) == TAKT_OK);
    takt__store_close(store);
    FILE *file = fopen(path, "rb");
    demand(file != NULL);
    sound_length = fread(sound, 1, sizeof sound, file);
    fclose(file);
}

static void save(const uint8_t *bytes, size_t length)
{
    static char whole[65536];
    FILE *file = fopen(path, "wb");

    demand(file != NULL);
    if (length < 3 || bytes[0] % 4 == 0) {
        fwrite(bytes, 1, length, file);
    } else {
        const size_t at = 16 * (size_t)(bytes[1] + 256 * bytes[2]);
        memcpy(whole, sound, sound_length);
        for (size_t i = 3; i < length && at + i - 3 < sound_length; i++)
            whole[at + i - 3] = (char)bytes[i];
        fwrite(whole, 1, sound_length, file);
    }
    fclose(file);
}

static void look(void *self, const struct takt_record *record)
{
    (void)self;
    demand(takt__record_is_sound(record));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    takt_status used = TAKT_ECORRUPT;

    if (sound_length == 0)
        make_sound();
    remove_files();
    save(bytes, length);
    for (int i = 0; i < 3 && used == TAKT_ECORRUPT; i++) {
        struct takt_store *store;
        takt_diag diag;
        const takt_status status =
            takt__store_open(path, &identity, &diag, &store);
        demand((status == TAKT_OK) == (store != NULL));
        if (status != TAKT_OK) {
            demand(diag.text[0] != '\0');
            return 0;
        }
        used = takt__store_read(store, look, NULL);
        if (used == TAKT_OK)
            used = learn(store);
        takt__store_close(store);
    }
    demand(used == TAKT_OK);
    return 0;
}
