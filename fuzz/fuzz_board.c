/* SPDX-License-Identifier: MIT */
/*
 * fuzz_board.c - a board after a program has written anything anywhere: refused
 * or reported, as text and as JSON, with nothing that commands a terminal.
 *
 * The input is a list of writes: three bytes of offset, one of length, and what
 * is written. Its first byte says whether the board has another size.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>
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

static void scribble(unsigned char *stats, const uint8_t *bytes, size_t length)
{
    for (size_t at = 0; at + 4 <= length;) {
        const size_t offset =
            (bytes[at] + 256u * bytes[at + 1] + 65536u * bytes[at + 2]) %
            sizeof(struct takt_stats);
        const size_t left = length - at - 4;
        const size_t wanted = bytes[at + 3] < left ? bytes[at + 3] : left;
        const size_t room = sizeof(struct takt_stats) - offset;
        memcpy(stats + offset, bytes + at + 4, wanted < room ? wanted : room);
        at += 4 + wanted;
    }
}

/* A file as a program left it. */
static int file_of(const uint8_t *bytes, size_t length)
{
    static FILE *file;
    static struct takt_stats stats;

    if (file == NULL)
        file = tmpfile();
    stats =
        (struct takt_stats){.title = TAKT_STATS_TITLE, .size = sizeof stats};
    scribble((unsigned char *)&stats, bytes + 1, length - 1);
    demand(file != NULL && ftruncate(fileno(file), 0) == 0 &&
           pwrite(fileno(file), &stats, sizeof stats, 0) ==
               (ssize_t)sizeof stats &&
           ftruncate(fileno(file), (off_t)sizeof stats + (bytes[0] % 4 == 3)) ==
               0);
    return fileno(file);
}

static void check(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        demand((unsigned char)text[i] >= 0x20 || text[i] == '\n');
}

static void show(struct takt_stats *stats,
                 void (*print)(FILE *out, struct run_report *report))
{
    static char name[] = "program", argument[] = "a\x1b[2J\xff";
    static char *const program[] = {name, argument, NULL};
    struct run_report report = {.program = program, .stats = stats};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    demand(out != NULL && tally_stats(stats, &report.tally));
    print(out, &report);
    fclose(out);
    check(text, size);
    free(text);
    tally_drop(&report.tally);
}

static void print_json(FILE *out, struct run_report *report)
{
    print_run_json(out, report);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    if (length == 0)
        return 0;
    struct takt_stats *stats = stats_read(file_of(bytes, length));
    if (stats != NULL) {
        show(stats, print_run_text);
        show(stats, print_json);
    }
    free(stats);
    return 0;
}
