/* SPDX-License-Identifier: MIT */
/* program_history.c - the program as an op of the store. */
#include "program_history.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/open_files.h"
#include "mode.h"
#include "record.h"

static const takt_work unit = {.bytes = 1, .flops = 1};

static const struct takt_route *kept_in;
static const takt_op *program;
/* Ops of their own: what was expected is no gain, nor is a pace. */
static const takt_op *expected, *paces;

/* ---- the name ------------------------------------------------------------ */

static const char prefix[] = "run.";

static uint32_t hash(uint32_t seed, const char *text)
{
    for (; *text != '\0'; text++)
        seed = (seed ^ (unsigned char)*text) * 16777619u;
    return seed;
}

static ssize_t read_whole(const char *path, char *out, size_t size)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t length = fd < 0 ? -1 : read(fd, out, size - 1);

    if (fd >= 0)
        close(fd);
    out[length > 0 ? length : 0] = '\0';
    return length;
}

/* Options of interpreters whose argument is the program. */
static bool takes_program(const char *option)
{
    return strcmp(option, "-c") == 0 || strcmp(option, "-e") == 0 ||
           strcmp(option, "-m") == 0;
}

/* The first argument that names a file, or the text of the program. */
static const char *find_script(const char *arguments, ssize_t length,
                               char whole[PATH_MAX])
{
    const char *at = arguments + strlen(arguments) + 1;

    for (; at < arguments + length; at += strlen(at) + 1) {
        if (takes_program(at))
            return at + strlen(at) + 1 < arguments + length
                       ? at + strlen(at) + 1
                       : "";
        if (at[0] != '-' && at[0] != '\0' && realpath(at, whole) != NULL)
            return whole;
    }
    return "";
}

static bool is_in_names(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}

/* "run.train.py-1f2e3d4c". */
static void name_program(char *out, size_t size)
{
    char executable[PATH_MAX], script[PATH_MAX], arguments[4096];
    const ssize_t got =
        readlink("/proc/self/exe", executable, sizeof executable - 1);
    const ssize_t length =
        read_whole("/proc/self/cmdline", arguments, sizeof arguments);

    executable[got > 0 ? got : 0] = '\0';
    const char *file = find_script(arguments, length, script);
    const uint32_t number = hash(hash(2166136261u, executable), file);
    const char *path = file[0] == '/' ? file : executable;
    const char *slash = strrchr(path, '/');
    snprintf(out, size, "%s%.40s-%08x", prefix,
             slash != NULL ? slash + 1 : path, (unsigned)number);
    for (char *c = out; *c != '\0'; c++)
        if (!is_in_names(*c))
            *c = '_';
}

/* ---- the program in the store ----------------------------------------
 *
 * Without the prefix: it may be known by another op of it alone. The program
 * may use Takt by itself, and have the store open.
 */

/* Of all files together; there may be something in what is left. */
enum { most_bytes = 8 << 20, chunk = 1 << 16, longest_name = 64 };

static bool is_in_file(int folder, const char *file, const char *name,
                       size_t *left)
{
    const struct takt_borrowed from = takt__borrow(folder, file);
    char bytes[longest_name + chunk];
    size_t kept = 0; /* of the chunk before: the name may lie across */
    bool is_found = false;
    off_t at = 0;
    ssize_t got;

    while (from.fd >= 0 && !is_found &&
           (got = pread(from.fd, bytes + kept, chunk, at)) > 0) {
        at += got;
        const size_t length = kept + (size_t)got;
        is_found = (size_t)got > *left ||
                   memmem(bytes, length, name, strlen(name)) != NULL;
        *left -= is_found ? 0 : (size_t)got;
        kept = length < longest_name ? length : longest_name;
        memmove(bytes, bytes + length - kept, kept);
    }
    takt__give_back(from);
    return is_found;
}

static bool is_in_folder(const char *path, const char *first, const char *name)
{
    size_t left = most_bytes;
    DIR *folder = opendir(path);
    bool is_found = false;
    struct dirent *entry;

    while (!is_found && folder != NULL && (entry = readdir(folder)) != NULL)
        is_found = entry->d_type != DT_DIR &&
                   strncmp(entry->d_name, first, strlen(first)) == 0 &&
                   is_in_file(dirfd(folder), entry->d_name, name, &left);
    if (folder != NULL)
        closedir(folder);
    return is_found;
}

/* The folder of a file, and its name in there. */
static void split(const char *path, char folder[PATH_MAX], const char **name)
{
    const char *slash = strrchr(path, '/');

    *name = slash != NULL ? slash + 1 : path;
    snprintf(folder, PATH_MAX, "%s%.*s", slash != NULL ? "" : ".",
             (int)(*name - path), path);
}

bool takt__history_is_kept(void)
{
    const char *store = takt__mode_value("TAKT_DB");

    return store == NULL || store[0] != '\0';
}

/* The folder of the store, and how the names of its files begin: a log is
 * beside it. Without a variable it is named after the machine, which takes long
 * to find out, so any file there will do. False: there is none. */
static bool find_files(char folder[PATH_MAX], const char **first)
{
    const char *store = takt__mode_value("TAKT_DB");
    const char *state = takt__mode_value("XDG_STATE_HOME");
    const char *home = takt__mode_value("HOME");

    *first = "";
    if (store != NULL)
        split(store, folder, first);
    else if (state != NULL && state[0] == '/')
        snprintf(folder, PATH_MAX, "%s/takt", state);
    else if (home != NULL && home[0] == '/')
        snprintf(folder, PATH_MAX, "%s/.local/state/takt", home);
    else
        return false;
    return takt__history_is_kept();
}

bool takt__history_may_exist(void)
{
    char folder[PATH_MAX], name[longest_name];
    const char *first;

    name_program(name, sizeof name);
    return find_files(folder, &first) &&
           is_in_folder(folder, first, name + strlen(prefix));
}

/* ---- the store ----------------------------------------------------------- */

static takt_request request_of(const takt_op *op)
{
    return (takt_request){.size = sizeof(takt_request),
                          .op = op,
                          .shape = {.rank = 1, .dim = {1}},
                          .work = &unit};
}

/* "expected.train.py-1f2e3d4c", of "run.train.py-1f2e3d4c"; NULL: no memory. */
static const takt_op *define_beside(const struct takt_route *route,
                                    const char *kind, const char *program_name)
{
    char name[longest_name + 8];
    const takt_op_spec spec = {.size = sizeof spec, .name = name};
    const takt_op *made = NULL;

    snprintf(name, sizeof name, "%s.%s", kind, program_name + strlen(prefix));
    return route->takt->define_op(route->ctx, &spec, &made) == TAKT_OK ? made
                                                                       : NULL;
}

const takt_op *takt__history_define(const struct takt_route *route,
                                    const char *kind)
{
    char name[longest_name];

    name_program(name, sizeof name);
    return define_beside(route, kind, name);
}

enum takt_history takt__history_open(const struct takt_route *route)
{
    char name[longest_name];
    const takt_op_spec spec = {.size = sizeof spec, .name = name};
    takt_history_row best = {.size = sizeof best};

    name_program(name, sizeof name);
    if (route->takt->define_op(route->ctx, &spec, &program) != TAKT_OK)
        return TAKT_HISTORY_NONE;
    kept_in = route;
    expected = define_beside(route, "expected", name);
    paces = define_beside(route, "pace", name);
    const takt_request request = request_of(program);
    if (route->takt->history_best(route->ctx, &request, &best) != TAKT_OK)
        return TAKT_HISTORY_NONE;
    if (best.mean_s > TAKT_CLEAR_GAIN)
        return TAKT_HISTORY_BASELINE;
    return strcmp(best.expert, "gpu") == 0 ? TAKT_HISTORY_GPU
                                           : TAKT_HISTORY_ROUTED;
}

double takt__history_pace(void)
{
    takt_history_row best = {.size = sizeof best};

    if (paces == NULL)
        return 0;
    const takt_request request = request_of(paces);
    return kept_in->takt->history_best(kept_in->ctx, &request, &best) == TAKT_OK
               ? best.mean_s
               : 0;
}

bool takt__history_expects_gpu(const struct takt_route *route)
{
    takt_history_row best = {.size = sizeof best};

    if (expected == NULL)
        return false;
    const takt_request request = request_of(expected);
    return route->takt->history_best(route->ctx, &request, &best) == TAKT_OK &&
           strcmp(best.expert, "gpu") == 0 && best.mean_s < TAKT_CLEAR_GAIN;
}

static void keep(const takt_op *op, const char *expert, double seconds)
{
    const takt_request request = request_of(op);
    const takt_measurement measurement = {.size = sizeof measurement,
                                          .request = &request,
                                          .expert = expert,
                                          .seconds = seconds,
                                          .calls = 1};

    takt__record_learned(kept_in, &measurement);
}

void takt__history_keep_expected(double ratio)
{
    if (kept_in == NULL || expected == NULL || !(ratio > 0))
        return;
    keep(expected, "baseline", 1);
    keep(expected, "gpu", ratio);
}

void takt__history_keep(const struct takt_switchback_result *result)
{
    if (kept_in == NULL || !(result->ratio > 0))
        return;
    keep(program, "baseline", 1);
    keep(program, result->is_gpu ? "gpu" : "routed",
         result->is_clear ? result->ratio : 1);
    if (paces != NULL && result->is_routed && !result->is_gpu &&
        result->pace > 0)
        keep(paces, "routed", result->pace);
}
