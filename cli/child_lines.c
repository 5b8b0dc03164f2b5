/* SPDX-License-Identifier: MIT */
#define _XOPEN_SOURCE 700 /* setenv(), getline() */
#include "child_lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run.h"

static void become(const struct child_lines *child, const char *program,
                   int output)
{
    const struct rlimit limit = {child->most_seconds, child->most_seconds};
    const int nothing = open("/dev/null", O_RDWR);
    const int read = child->reads_errors ? STDERR_FILENO : STDOUT_FILENO;

    if ((child->folder != NULL && chdir(child->folder) != 0) || nothing < 0 ||
        (child->most_seconds > 0 && setrlimit(RLIMIT_CPU, &limit) != 0) ||
        dup2(nothing, STDIN_FILENO) < 0 ||
        (child->reads_errors && dup2(nothing, STDOUT_FILENO) < 0) ||
        dup2(output, read) < 0)
        _exit(126);
    setenv("LC_ALL", "C", 1);
    execv(program, (char *const *)(size_t)child->word);
    _exit(127);
}

static void read_lines(int input, const struct child_lines *child)
{
    FILE *stream = fdopen(input, "r");
    char *line = NULL;
    size_t room = 0;
    ssize_t length;

    if (stream == NULL) {
        close(input);
        return;
    }
    while ((length = getline(&line, &room, stream)) > 0) {
        if (line[length - 1] == '\n')
            line[length - 1] = '\0';
        child->visit(child->self, line);
    }
    free(line);
    fclose(stream);
}

bool read_child(const struct child_lines *child)
{
    char program[4096];
    int ends[2], status = -1;
    pid_t done;

    if (!find_program(child->name, program, sizeof program) || pipe(ends) != 0)
        return false;
    fflush(NULL);
    const pid_t id = fork();
    if (id == 0) {
        close(ends[0]);
        become(child, program, ends[1]);
    }
    close(ends[1]);
    read_lines(ends[0], child);
    do
        done = id < 0 ? -1 : waitpid(id, &status, 0);
    while (done < 0 && id > 0 && errno == EINTR);
    return done > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
