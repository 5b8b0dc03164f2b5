/* SPDX-License-Identifier: MIT */
/* tally.c - finding the board and writing on it. */
#include "tally.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "gate.h"
#include "plain.h"

_Atomic(struct takt_board *) takt__board;
_Atomic unsigned takt__mode;

static struct takt_board *map_board(const char *path)
{
    const int fd = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY);
    struct takt_board *board = MAP_FAILED;
    struct stat facts;

    if (fd < 0)
        return NULL;
    if (fstat(fd, &facts) == 0 && facts.st_size == (off_t)sizeof *board)
        board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED,
                     fd, 0);
    close(fd);
    if (board == MAP_FAILED)
        return NULL;
    if (memcmp(board->title, TAKT_BOARD_TITLE, sizeof TAKT_BOARD_TITLE) == 0 &&
        board->size == sizeof *board)
        return board;
    munmap(board, sizeof *board);
    return NULL;
}

static bool is_set(const char *value)
{
    return value != NULL && value[0] != '\0';
}

/* A process is counted when it makes its first call; after a fork(), the child
 * is another one. */
static _Atomic bool is_counted;

static void begin_anew(void)
{
    atomic_store_explicit(&is_counted, false, memory_order_relaxed);
}

static void count_process(struct takt_board *board)
{
    if (!atomic_load_explicit(&is_counted, memory_order_relaxed) &&
        !atomic_exchange(&is_counted, true))
        takt__tally_add(&board->processes, 1);
}

static void read_mode(void)
{
    const char *path = secure_getenv(TAKT_BOARD_VARIABLE);
    struct takt_board *board = is_set(path) ? map_board(path) : NULL;

    if (board != NULL) {
        pthread_atfork(NULL, NULL, begin_anew);
        atomic_store(&takt__board, board);
    }
    atomic_store_explicit(
        &takt__mode,
        (board != NULL ? TAKT_MODE_TALLIED : 0u) |
            (is_set(secure_getenv("TAKT_RUN_EAGER")) ? TAKT_MODE_EAGER : 0u),
        memory_order_release);
}

void takt__mode_read(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, read_mode);
}

/* ---- what was met ----------------------------------------------------------
 */

/* False: somebody else has written there. */
static bool write_text(struct takt_board_text *at, const char *text)
{
    uint32_t empty = 0;

    if (!atomic_compare_exchange_strong(&at->state, &empty, 1))
        return false;
    const size_t length = strnlen(text, sizeof at->text - 1);
    memcpy(at->text, text, length);
    atomic_store_explicit(&at->state, 2, memory_order_release);
    return true;
}

static bool says(const struct takt_board_text *at, const char *text)
{
    return atomic_load_explicit(&at->state, memory_order_acquire) == 2 &&
           strncmp(at->text, text, sizeof at->text - 1) == 0;
}

void takt__tally_library(const struct takt_plain *plain)
{
    struct takt_board *board = atomic_load(&takt__board);

    if (board == NULL)
        return;
    for (unsigned i = 0; i < TAKT_BOARD_LIBRARIES; i++)
        if (says(&board->library[i], plain->path) ||
            write_text(&board->library[i], plain->path))
            return;
}

void takt__tally_router(void)
{
    struct takt_board *board = atomic_load(&takt__board);

    if (board != NULL)
        takt__tally_add(&board->routers, 1);
}

void takt__tally_trouble(const char *text)
{
    struct takt_board *board = atomic_load(&takt__board);

    if (board != NULL)
        write_text(&board->trouble, text);
}

void takt__tally_gpu(const char *name)
{
    struct takt_board *board = atomic_load(&takt__board);

    if (board != NULL)
        write_text(&board->gpu, name);
}

/* ---- calls -----------------------------------------------------------------
 */

struct takt_board_cell *takt__tally_cell(enum takt_routine routine,
                                         enum takt_letter letter, double work)
{
    struct takt_board *board = atomic_load(&takt__board);
    const unsigned exponent = takt__exponent(work);
    const unsigned class = routine <= TAKT_TRSM  ? exponent / 3
                           : routine <= TAKT_GER ? exponent / 2
                                                 : exponent;

    count_process(board);
    return &board->cell
                [routine][letter]
                [class < TAKT_BOARD_CLASSES ? class : TAKT_BOARD_CLASSES - 1];
}

void takt__tally_run(struct takt_board_cell *cell, enum takt_way way,
                     uint64_t ns)
{
    takt__tally_add(&cell->calls[way], 1);
    if (ns > 0) {
        takt__tally_add(&cell->timed[way], 1);
        takt__tally_add(&cell->ns[way], ns);
    }
}

uint64_t takt__now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}
