/* SPDX-License-Identifier: MIT */
/*
 * run_stats.c - the file of shared statistics (dropin/stats.h).
 *
 * Its space is allocated when it is made: on a full disk, a process that counts
 * would be killed. Any process of the program may have written anything into
 * it, so its content is checked.
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

/* Returns 0, or an errno; no file is left then. */
static int make_in(const char *folder, struct stats_file *out)
{
    struct {
        char title[sizeof((struct takt_stats *)NULL)->title];
        uint64_t size;
    } head = {.title = TAKT_STATS_TITLE, .size = sizeof(struct takt_stats)};

    if ((size_t)snprintf(out->path, sizeof out->path, "%s/takt-run-XXXXXX",
                         folder) >= sizeof out->path)
        return ENAMETOOLONG;
    out->fd = mkstemp(out->path);
    if (out->fd < 0)
        return errno;
    fcntl(out->fd, F_SETFD, FD_CLOEXEC);
    int wrong = posix_fallocate(out->fd, 0, (off_t)sizeof(struct takt_stats));
    if (wrong == 0 && pwrite(out->fd, &head, sizeof head, 0) != sizeof head)
        wrong = EIO;
    if (wrong != 0)
        stats_remove(out);
    return wrong;
}

bool stats_make(struct stats_file *out)
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

void stats_remove(struct stats_file *file)
{
    unlink(file->path);
    close(file->fd);
}

static bool is_stats(const struct takt_stats *stats)
{
    static const char title[sizeof stats->title] = TAKT_STATS_TITLE;

    return memcmp(stats->title, title, sizeof title) == 0 &&
           stats->size == sizeof *stats;
}

struct takt_stats *stats_read(int fd)
{
    struct takt_stats *stats = calloc(1, sizeof *stats);
    struct stat facts;

    if (stats != NULL && fstat(fd, &facts) == 0 &&
        facts.st_size == (off_t)sizeof *stats &&
        pread(fd, stats, sizeof *stats, 0) == (ssize_t)sizeof *stats &&
        is_stats(stats))
        return stats;
    free(stats);
    return NULL;
}

const char *stats_text(const struct takt_stats_text *text)
{
    enum { written = 2 };
    const bool is_whole = text->state == written && text->text[0] != '\0' &&
                          memchr(text->text, '\0', sizeof text->text) != NULL;

    return is_whole ? text->text : NULL;
}
