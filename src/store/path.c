/* SPDX-License-Identifier: MIT */
/*
 * path.c - where the store is: named after the machine, below the folder that
 * the XDG rules give to state.
 *
 * A home on a network file system is seen by many hosts, and SQLite's locks
 * cannot be relied on there; so each host gets a file of its own, named with a
 * hash, since the name of a host may identify its owner.
 */
#define _GNU_SOURCE /* asprintf(), realpath() */
#include "store/path.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "base/config.h"
#include "base/sha256.h"
#include "takt/machine.h"
#include "takt/store.h"

/* From linux/magic.h and, for those that it lacks, from their own sources. */
static const uint32_t remote_kinds[] = {
    0x6969,     /* NFS */
    0x517B,     /* SMB */
    0xFF534D42, /* CIFS */
    0xFE534D42, /* SMB 2 and 3 */
    0x65735546, /* FUSE: sshfs, virtiofs, gcsfuse and many more */
    0x01021997, /* 9P */
    0x00C36400, /* Ceph */
    0x5346414F, /* AFS */
    0x6B414653, /* AFS, the kernel's */
    0x73757245, /* Coda */
    0x564C,     /* NCP */
    0x7461636F, /* OCFS2 */
    0x01161970, /* GFS2 */
    0x0BD00BD0, /* Lustre */
    0x47504653, /* GPFS */
    0x19830326, /* BeeGFS */
    0xAAD7AAEA, /* PanFS */
    0x786F4256, /* VirtualBox's shared folders */
};

bool takt__path_is_remote_kind(uint32_t kind)
{
    for (size_t i = 0; i < sizeof remote_kinds / sizeof remote_kinds[0]; i++)
        if (remote_kinds[i] == kind)
            return true;
    return false;
}

/* Cuts the last part off; false when there is none left to cut. */
static bool cut_to_folder(char *path)
{
    char *slash = strrchr(path, '/');

    if (slash == NULL || strcmp(path, "/") == 0)
        return false;
    slash[slash == path] = '\0';
    return true;
}

bool takt__path_is_remote(const char *path)
{
    char folder[PATH_MAX];
    struct statfs facts;

    if (strlen(path) >= sizeof folder)
        return false;
    strcpy(folder, path);
    while (statfs(folder, &facts) != 0)
        if (!cut_to_folder(folder))
            return statfs(".", &facts) == 0 &&
                   takt__path_is_remote_kind((uint32_t)facts.f_type);
    return takt__path_is_remote_kind((uint32_t)facts.f_type);
}

/* True too where it is not known whether it is there: opening the file fails
 * then. */
static bool make_folder(const char *folder)
{
    if (mkdir(folder, 0700) == 0 || errno == EEXIST)
        return true;
    const int wrong = errno;
    if ((wrong == EROFS || wrong == EACCES) &&
        (access(folder, F_OK) == 0 || errno != ENOENT))
        return true;
    errno = wrong;
    return false;
}

bool takt__path_make_folders(const char *path)
{
    char folder[PATH_MAX];

    if (strlen(path) >= sizeof folder) {
        errno = ENAMETOOLONG;
        return false;
    }
    strcpy(folder, path);
    for (char *at = folder + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        if (!make_folder(folder))
            return false;
        *at = '/';
    }
    return true;
}

char *takt__path_extend(const char *path, const char *end)
{
    char *whole;

    return asprintf(&whole, "%s%s", path, end) < 0 ? NULL : whole;
}

char *takt__path_resolve(const char *path)
{
    char folder[PATH_MAX];
    char *whole = realpath(path, NULL);

    if (whole != NULL || errno != ENOENT || strlen(path) >= sizeof folder)
        return whole;
    const char *slash = strrchr(path, '/');
    strcpy(folder, path);
    char *above = realpath(cut_to_folder(folder) ? folder : ".", NULL);
    if (above == NULL)
        return NULL;
    const char *name = slash != NULL ? slash + 1 : path;
    if (asprintf(&whole, "%s/%s", strcmp(above, "/") == 0 ? "" : above, name) <
        0)
        whole = NULL;
    free(above);
    return whole;
}

/* XDG: a relative path is to be ignored. So is a relative home: it would be
 * another one in every folder. */
static bool is_absolute(const char *text)
{
    return text != NULL && text[0] == '/';
}

/* The folder for state; empty when there is none. */
static bool find_folder(const struct takt_config *config, char *out,
                        size_t size)
{
    int length = 0;

    out[0] = '\0';
    if (is_absolute(config->state_home))
        length = snprintf(out, size, "%s/takt", config->state_home);
    else if (is_absolute(config->home))
        length = snprintf(out, size, "%s/.local/state/takt", config->home);
    return length >= 0 && (size_t)length < size;
}

/* Builds for debugging are many times as slow: what they measure has a file of
 * its own, or programs on the same machine would use it. */
#ifndef __has_feature /* which clang has */
#define __has_feature(name_) 0
#endif
#if !defined(__OPTIMIZE__) || defined(__SANITIZE_ADDRESS__) ||          \
    defined(__SANITIZE_THREAD__) || __has_feature(address_sanitizer) || \
    __has_feature(thread_sanitizer)
#define TAKT_FILE_END "-debug.db"
#else
#define TAKT_FILE_END ".db"
#endif

static takt_status find_file(const char *fingerprint, char *out, size_t size)
{
    char folder[PATH_MAX];

    if (!find_folder(takt__config(), folder, sizeof folder))
        return TAKT_EINVAL;
    if (folder[0] == '\0')
        return TAKT_OK;
    const int length =
        snprintf(out, size, "%s/%.16s" TAKT_FILE_END, folder, fingerprint);
    return (size_t)length < size ? TAKT_OK : TAKT_EINVAL;
}

static takt_status add_host(char *path, size_t size)
{
    char host[HOST_NAME_MAX + 1] = "";
    char hash[TAKT_SHA256_HEX];
    const size_t length = strlen(path);

    gethostname(host, sizeof host - 1);
    takt__sha256_hex(host, strlen(host), hash);
    const int more = snprintf(path + length, size - length, ".%.8s", hash);
    return (size_t)more < size - length ? TAKT_OK : TAKT_EINVAL;
}

takt_status takt__path_of_machine(const char *fingerprint, char *out,
                                  size_t size)
{
    const char *db = takt__config()->db;
    takt_status status = TAKT_OK;

    out[0] = '\0';
    if (db == NULL)
        status = find_file(fingerprint, out, size);
    else if ((size_t)snprintf(out, size, "%s", db) >= size)
        status = TAKT_EINVAL;
    if (status == TAKT_OK && out[0] != '\0' && takt__path_is_remote(out))
        status = add_host(out, size);
    if (status != TAKT_OK)
        out[0] = '\0';
    return status;
}

takt_status takt_store_path(char *out, size_t size)
{
    takt_machine *machine;

    if (out == NULL || size == 0)
        return TAKT_EINVAL;
    if (takt__config()->db != NULL)
        return takt__path_of_machine("", out, size);
    out[0] = '\0';
    takt_status status = takt_machine_create(NULL, &machine);
    if (status != TAKT_OK)
        return status;
    status = machine->hw_fingerprint[0] == '\0'
                 ? TAKT_EIO
                 : takt__path_of_machine(machine->hw_fingerprint, out, size);
    takt_machine_destroy(machine);
    return status;
}
