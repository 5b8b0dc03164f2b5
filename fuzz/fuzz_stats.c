/* SPDX-License-Identifier: MIT */
/*
 * fuzz_stats.c - statistics after a program has written anything anywhere:
 * refused or reported, as text and as JSON, with nothing that commands a
 * terminal.
 *
 * The input is a list of writes: three bytes of offset, one of length, and what
 * is written. Its first byte says whether the file has another size, and in
 * which form it is reported. The file is read as the command does where its
 * size is another, and for one in 16 of those with another head; otherwise what
 * is read is what is mapped, and half a megabyte is not copied.
 */
#define _GNU_SOURCE /* memfd_create() */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "commands.h"
#include "run.h"

/* Whose name stands in front of messages; the command itself is not linked. */
const struct command cmd_run = {.name = "run"};

const struct command *const commands[] = {NULL};

static void demand(bool condition)
{
    if (!condition)
        abort();
}

/* What the command allocates, of two sizes, once: no more than was asked for is
 * accessible. Both are written over as far as they are read. */
void *fuzz_calloc(size_t count, size_t size);
void fuzz_free(void *block);

void *fuzz_calloc(size_t count, size_t size)
{
    static struct {
        size_t bytes;
        void *block;
    } made[2];

    for (size_t i = 0; i < 2; i++) {
        if (made[i].bytes == 0) {
            made[i].bytes = count * size;
            made[i].block = calloc(count, size);
        }
        if (made[i].bytes == count * size)
            return made[i].block;
    }
    abort();
}

void fuzz_free(void *block)
{
    (void)block;
}

/* The file, mapped: what a run wrote is taken back after it. */
static struct takt_stats *mapped;
static int file = -1;

static void map_file(void)
{
    file = memfd_create("stats", MFD_CLOEXEC);
    demand(file >= 0 && ftruncate(file, (off_t)sizeof *mapped) == 0);
    mapped =
        mmap(NULL, sizeof *mapped, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    demand(mapped != MAP_FAILED);
}

static void begin(void)
{
    strcpy(mapped->title, TAKT_STATS_TITLE);
    mapped->size = sizeof *mapped;
}

/* Writes what the input says, or zeros. Returns whether any of it was the
 * title or the size. */
static bool scribble(const uint8_t *bytes, size_t length, bool is_zero)
{
    unsigned char *stats = (unsigned char *)mapped;
    bool is_head = false;

    for (size_t at = 0; at + 4 <= length;) {
        const size_t offset =
            (bytes[at] + 256u * bytes[at + 1] + 65536u * bytes[at + 2]) %
            sizeof *mapped;
        const size_t left = length - at - 4;
        const size_t wanted = bytes[at + 3] < left ? bytes[at + 3] : left;
        const size_t room = sizeof *mapped - offset;
        const size_t some = wanted < room ? wanted : room;
        if (is_zero)
            memset(stats + offset, 0, some);
        else
            memcpy(stats + offset, bytes + at + 4, some);
        is_head |= offset < offsetof(struct takt_stats, processes);
        at += 4 + wanted;
    }
    return is_head;
}

static void check(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        demand((unsigned char)text[i] >= 0x20 || text[i] == '\n');
}

static void show(struct run_report *report,
                 void (*print)(FILE *out, struct run_report *report))
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    demand(out != NULL);
    print(out, report);
    fclose(out);
    check(text, size);
    free(text);
}

static void print_json(FILE *out, struct run_report *report)
{
    print_run_json(out, report);
}

static void show_report(const struct takt_stats *stats, bool is_json)
{
    static char name[] = "program", argument[] = "a\x1b[2J\xff";
    static char *const program[] = {name, argument, NULL};
    struct run_report report = {.program = program, .stats = stats};

    demand(tally_stats(stats, &report.tally));
    show(&report, is_json ? print_json : print_run_text);
    tally_drop(&report.tally);
}

/* As the command reads it, into a copy. */
static void read_and_show(bool is_longer, bool is_json)
{
    if (is_longer)
        demand(ftruncate(file, (off_t)sizeof *mapped + 1) == 0);
    struct takt_stats *stats = stats_read(file);
    if (is_longer)
        demand(stats == NULL && ftruncate(file, (off_t)sizeof *mapped) == 0);
    if (stats != NULL)
        show_report(stats, is_json);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    if (length == 0)
        return 0;
    if (file < 0)
        map_file();
    begin();
    const bool is_json = bytes[0] % 2 == 0;
    const bool is_head = scribble(bytes + 1, length - 1, false);
    if (bytes[0] == 0xff || (is_head && bytes[0] / 2 % 16 == 0)) {
        read_and_show(bytes[0] == 0xff, is_json);
    } else {
        begin();
        show_report(mapped, is_json);
    }
    scribble(bytes + 1, length - 1, true);
    return 0;
}
