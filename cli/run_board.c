/* SPDX-License-Identifier: MIT */
/*
 * run_board.c - the file of shared statistics of a tree of processes.
 *
 * Its space is taken when it is made: a process that counts on a full disk
 * would die of it. Any process of the tree may have written to it, so what is
 * read back is checked.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"
#include "run.h"
#include "workflow.h"

/* Returns 0, or what is wrong; nothing is left then. */
static int make_in(const char *folder, struct board_file *out)
{
    struct {
        char title[sizeof((struct takt_board *)NULL)->title];
        uint64_t size;
    } head = {.title = TAKT_BOARD_TITLE, .size = sizeof(struct takt_board)};

    if ((size_t)snprintf(out->path, sizeof out->path, "%s/takt-run-XXXXXX",
                         folder) >= sizeof out->path)
        return ENAMETOOLONG;
    out->fd = mkstemp(out->path);
    if (out->fd < 0)
        return errno;
    fcntl(out->fd, F_SETFD, FD_CLOEXEC);
    int wrong = posix_fallocate(out->fd, 0, (off_t)sizeof(struct takt_board));
    if (wrong == 0 && pwrite(out->fd, &head, sizeof head, 0) != sizeof head)
        wrong = EIO;
    if (wrong != 0)
        board_remove(out);
    return wrong;
}

bool board_make(struct board_file *out)
{
    const char *temporary = getenv("TMPDIR");
    const char *const folders[] = {getenv("XDG_RUNTIME_DIR"), "/dev/shm",
                                   temporary != NULL ? temporary : "/tmp"};
    const char *last = "";
    int wrong = 0;

    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        if (folders[i] == NULL || folders[i][0] != '/')
            continue;
        last = folders[i];
        wrong = make_in(last, out);
        if (wrong == 0)
            return true;
    }
    complain(&cmd_run, "there is no room to count in for --report: '%s': %s",
             last, strerror(wrong));
    return false;
}

void board_remove(struct board_file *file)
{
    unlink(file->path);
    close(file->fd);
}

static bool is_board(const struct takt_board *board)
{
    static const char title[sizeof board->title] = TAKT_BOARD_TITLE;

    return memcmp(board->title, title, sizeof title) == 0 &&
           board->size == sizeof *board;
}

struct takt_board *board_read(int fd)
{
    struct takt_board *board = calloc(1, sizeof *board);
    struct stat facts;

    if (board != NULL && fstat(fd, &facts) == 0 &&
        facts.st_size == (off_t)sizeof *board &&
        pread(fd, board, sizeof *board, 0) == (ssize_t)sizeof *board &&
        is_board(board))
        return board;
    free(board);
    return NULL;
}

const char *board_text(const struct takt_board_text *text)
{
    enum { written = 2 };
    const bool is_whole = text->state == written && text->text[0] != '\0' &&
                          memchr(text->text, '\0', sizeof text->text) != NULL;

    return is_whole ? text->text : NULL;
}
