/* SPDX-License-Identifier: MIT */
/* trace_socket.c - the sockets on which readers wait for programs. */
#define _GNU_SOURCE /* struct ucred */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "telemetry/listener.h"
#include "trace.h"

/* Whether a process listens on a socket. */
static bool is_taken(const struct sockaddr_un *address)
{
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool is = fd >= 0 && connect(fd, (const struct sockaddr *)address,
                                       sizeof *address) == 0;
    if (fd >= 0)
        close(fd);
    return is;
}

/* A socket that listens at that address; -1: errno says why. */
static int listen_at(const struct sockaddr_un *address)
{
    const int fd =
        socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0 ||
        (bind(fd, (const struct sockaddr *)address, sizeof *address) == 0 &&
         listen(fd, 64) == 0))
        return fd;
    const int wrong = errno;
    close(fd);
    errno = wrong;
    return -1;
}

bool listen_on(const char *path, struct trace_place *out)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const int length =
        snprintf(address.sun_path, sizeof address.sun_path, "%s", path);

    if (length + 1 >= (int)sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return false;
    }
    if (is_taken(&address)) {
        errno = EADDRINUSE;
        return false;
    }
    strcat(address.sun_path, "~");
    unlink(address.sun_path);
    const int fd = listen_at(&address);
    if (fd < 0)
        return false;
    if (rename(address.sun_path, path) != 0) {
        const int wrong = errno;
        unlink(address.sun_path);
        close(fd);
        errno = wrong;
        return false;
    }
    out->fd = fd;
    snprintf(out->path, sizeof out->path, "%s", path);
    return true;
}

size_t listen_in_folders(const struct command *command, const char *name,
                         const char *who,
                         struct trace_place out[most_trace_places])
{
    char folder[sizeof out[0].path], path[sizeof folder + 32];
    size_t count = 0;
    bool is_taken = false;

    for (unsigned i = 0; i < most_trace_places &&
                         takt__listener_folder(i, folder, sizeof folder);
         i++) {
        mkdir(folder, 0700);
        if (!takt__listener_is_private(folder)) {
            errno = EACCES;
            continue;
        }
        snprintf(path, sizeof path, "%s/%s", folder, name);
        if (listen_on(path, &out[count]))
            count++;
        else
            is_taken |= errno == EADDRINUSE;
    }
    if (count == 0 && is_taken)
        complain(command, "%s is being traced already", who);
    else if (count == 0)
        complain(command,
                 "cannot listen in XDG_RUNTIME_DIR or in '%s', which must be "
                 "yours alone: %s",
                 folder, strerror(errno));
    return count;
}

void close_places(const struct trace_place *place, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        close(place[i].fd);
        unlink(place[i].path);
    }
}

/* Whether a program of this user, or of root, is at the other end. */
static bool is_own(int fd, pid_t *pid)
{
    struct ucred peer;
    socklen_t size = sizeof peer;

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
        return false;
    *pid = peer.pid;
    return peer.uid == geteuid() || peer.uid == 0;
}

/* Where no descriptor is left, a program is turned away by means of a spare
 * one: a listener with programs that wait is ready all the time. */
static int accept_any(int listener)
{
    static int spare = -1;

    if (spare < 0)
        spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
    const int fd = accept(listener, NULL, NULL);
    if (fd >= 0 || errno != EMFILE || spare < 0)
        return fd;
    close(spare);
    const int refused = accept(listener, NULL, NULL);
    if (refused >= 0)
        close(refused);
    spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
    return -1;
}

int accept_program(int listener, pid_t *pid)
{
    int fd;

    while ((fd = accept_any(listener)) >= 0) {
        if (is_own(fd, pid) && fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 &&
            fcntl(fd, F_SETFL, O_NONBLOCK) == 0)
            break;
        close(fd);
    }
    return fd;
}

void greet_program(int fd, struct takt_trace_greeting greeting)
{
    const struct takt_trace_record record = {.kind = TAKT_TRACE_GREETING,
                                             .greeting = greeting};
    unsigned char bytes[TAKT_TRACE_FRAME + TAKT_TRACE_MOST];

    /* Small enough for any socket that is new; one that is gone is noticed
     * when it is read. */
    send(fd, bytes, takt__trace_encode(&record, bytes), MSG_NOSIGNAL);
}
