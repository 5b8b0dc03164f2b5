/* SPDX-License-Identifier: MIT */
/*
 * fake_blas.c - stands in for libtakt-blas.so: writes to the statistics what it
 * is told in FAKE_STATS, so that a report can be compared with known numbers.
 *
 * Lines, separated by ';':
 *
 *     cell ROUTINE LETTER CLASS FIELD INDEX VALUE    adds to a counter
 *     count NAME VALUE                               processes, routers
 *     span FIRST LAST THREADS                        ns
 *     opening NS                                     of libtakt
 *     loop INDEX CLASS NAME: CALLS... SPLIT_NS       10 numbers of a cell
 *     lapack ROUTINE LETTER CLASS CALLS... FEWER_NS  10 numbers of a cell
 *     text NAME INDEX WORDS                          library, trouble, gpu
 *     title WORDS                                    damages the title
 *     size VALUE                                     of the file
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dropin/stats.h"

static _Atomic uint64_t *field(struct takt_stats_cell *cell, const char *name)
{
    const struct {
        const char *name;
        _Atomic uint64_t *at;
    } fields[] = {{"calls", cell->calls},
                  {"timed", cell->timed},
                  {"ns", cell->ns},
                  {"why", cell->why},
                  {"compared", &cell->compared},
                  {"baseline", &cell->baseline_ns},
                  {"transfer", &cell->transfer_ns},
                  {"wait", &cell->wait_ns},
                  {"error", &cell->error_ns},
                  {"instead", &cell->instead_ns},
                  {"judged", &cell->judged},
                  {"gpu", &cell->gpu_ns},
                  {"own", &cell->own_ns}};

    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        if (strcmp(fields[i].name, name) == 0)
            return fields[i].at;
    abort();
}

static void write_text(struct takt_stats *stats, const char *name,
                       unsigned index, const char *words)
{
    struct takt_stats_text *text = strcmp(name, "gpu") == 0 ? &stats->gpu
                                   : strcmp(name, "trouble") == 0
                                       ? &stats->trouble
                                       : &stats->library[index];

    memset(text->text, '\0', sizeof text->text);
    memcpy(text->text, words, strnlen(words, sizeof text->text - 1));
    if (strcmp(words, "endless") == 0)
        memset(text->text, 'x', sizeof text->text);
    text->state = 2;
}

/* "1 2 3 ..." */
static void write_loop_cell(struct takt_stats_loop_cell *cell,
                            const char *numbers)
{
    _Atomic uint64_t *at[] = {
        &cell->calls[0], &cell->calls[1],  &cell->timed[0], &cell->timed[1],
        &cell->ns[0],    &cell->ns[1],     &cell->compared, &cell->baseline_ns,
        &cell->error_ns, &cell->instead_ns};
    char *rest = (char *)(uintptr_t)numbers;

    for (size_t i = 0; i < sizeof at / sizeof at[0]; i++)
        *at[i] = strtoull(rest, &rest, 10);
}

/* "exp d->d: 1 2 3 ..." */
static void write_loop(struct takt_stats_loop *loop, unsigned class,
                       const char *words)
{
    const char *end = strchr(words, ':');
    const size_t length = (size_t)(end - words);

    memcpy(loop->name, words,
           length < sizeof loop->name ? length : sizeof loop->name - 1);
    write_loop_cell(&loop->cell[class], end + 1);
    loop->state = 2;
}

static void obey(struct takt_stats *stats, int fd, const char *line)
{
    unsigned routine, letter, class, index;
    char name[32], words[600];
    uint64_t value, result[3];
    int at = 0;

    if (sscanf(line, "cell %u %u %u %31s %u %" SCNu64, &routine, &letter,
               &class, name, &index, &value) == 6)
        field(&stats->cell[routine][letter][class], name)[index] += value;
    else if (sscanf(line, "count %31s %" SCNu64, name, &value) == 2)
        *(strcmp(name, "routers") == 0 ? &stats->routers : &stats->processes) +=
            value;
    else if (sscanf(line, "result %" SCNu64 " %" SCNu64 " %" SCNu64 " %u %u %u",
                    &result[0], &result[1], &result[2], &routine, &letter,
                    &class) == 6)
        stats->result = (struct takt_stats_result){.probes = result[0],
                                                   .ratio = result[1],
                                                   .error = result[2],
                                                   .is_routed = routine,
                                                   .is_clear = letter,
                                                   .history = class};
    else if (sscanf(line, "span %" SCNu64 " %" SCNu64 " %" SCNu64, &result[0],
                    &result[1], &result[2]) == 3)
        stats->span = (struct takt_stats_span){result[0], result[1], result[2]};
    else if (sscanf(line, "loop %u %u %n", &index, &class, &at) == 2)
        write_loop(&stats->loop[index], class, line + at);
    else if (sscanf(line, "lapack %u %u %u %n", &routine, &letter, &class,
                    &at) == 3)
        write_loop_cell(&stats->lapack[routine][letter][class], line + at);
    else if (sscanf(line, "opening %" SCNu64, &value) == 1)
        stats->result.own_ns = value;
    else if (sscanf(line, "text %31s %u %599[^\n]", name, &index, words) == 3)
        write_text(stats, name, index, words);
    else if (sscanf(line, "title %15s", words) == 1)
        memcpy(stats->title, words, sizeof stats->title);
    else if (sscanf(line, "size %" SCNu64, &value) != 1 ||
             ftruncate(fd, (off_t)value) != 0)
        abort();
}

__attribute__((constructor)) static void count(void)
{
    const char *path = getenv(TAKT_STATS_VARIABLE);
    char *lines = getenv("FAKE_STATS"), *rest;
    const int fd = path != NULL && lines != NULL ? open(path, O_RDWR) : -1;

    if (fd < 0)
        return;
    struct takt_stats *stats =
        mmap(NULL, sizeof *stats, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (stats == MAP_FAILED || stats->size != sizeof *stats)
        abort();
    lines = strdup(lines);
    for (char *line = strtok_r(lines, ";", &rest); line != NULL;
         line = strtok_r(NULL, ";", &rest))
        obey(stats, fd, line);
    free(lines);
    close(fd);
}
