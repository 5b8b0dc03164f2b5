/* SPDX-License-Identifier: MIT */
/* listener.c - finds the socket of a reader. */
#define _GNU_SOURCE /* struct ucred */
#include "telemetry/listener.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/config.h"

bool takt__listener_folder(unsigned index, char *out, size_t size)
{
    const char *runtime = takt__config()->runtime_dir;
    const bool has_runtime =
        runtime != NULL && runtime[0] == '/' &&
        strlen(runtime) < 80; /* a socket's path is short */
    int length = -1;

    if (has_runtime && index == 0)
        length = snprintf(out, size, "%s/takt", runtime);
    else if (index == (has_runtime ? 1u : 0u))
        length = snprintf(out, size, "/tmp/takt-%lu", (unsigned long)geteuid());
    return length > 0 && (size_t)length < size;
}

bool takt__listener_is_private(const char *folder)
{
    struct stat facts;

    return lstat(folder, &facts) == 0 && S_ISDIR(facts.st_mode) &&
           facts.st_uid == geteuid() && (facts.st_mode & 022) == 0;
}

struct takt_listener_name takt__listener_name(long pid)
{
    struct takt_listener_name out = {"all.trace"};

    if (pid != 0)
        snprintf(out.at, sizeof out.at, "%ld.trace", pid);
    return out;
}

bool takt__listener_path(long pid, char *out, size_t size)
{
    struct sockaddr_un address;
    char folder[sizeof address.sun_path];
    struct stat facts;

    for (unsigned i = 0; takt__listener_folder(i, folder, sizeof folder); i++) {
        const int length = snprintf(out, size, "unix:%s/%s", folder,
                                    takt__listener_name(pid).at);
        if (length > 0 && (size_t)length < size &&
            takt__listener_is_private(folder) && lstat(out + 5, &facts) == 0 &&
            S_ISSOCK(facts.st_mode) && facts.st_uid == geteuid())
            return true;
    }
    return false;
}

bool takt__listener_is_ours(int fd)
{
    struct ucred peer;
    socklen_t size = sizeof peer;

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
        (peer.uid == geteuid() || peer.uid == 0))
        return true;
    errno = EACCES;
    return false;
}
