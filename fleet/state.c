/* SPDX-License-Identifier: MIT */
/* state.c - the text beside the store, and its lock. */
#define _DEFAULT_SOURCE /* flock() */
#include "fleet/state.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/new_file.h"
#include "base/say.h"
#include "text/memory_file.h"

enum { most_bytes = 64 << 20 };

/* ---- reading ------------------------------------------------------------- */

/* Reads "key value\n"; false: that is not the next line. */
static bool take_line(const char **text, const char *key, char *out,
                      size_t size)
{
    const size_t length = strlen(key);
    const char *end = strchr(*text, '\n');

    if (end == NULL || strncmp(*text, key, length) != 0 ||
        (*text)[length] != ' ')
        return false;
    const char *value = *text + length + 1;
    if (value > end || (size_t)(end - value) >= size)
        return false;
    memcpy(out, value, (size_t)(end - value));
    out[end - value] = '\0';
    *text = end + 1;
    return true;
}

static bool is_number(const char *text, uint64_t *out)
{
    const size_t digits = strspn(text, "0123456789");

    if (digits == 0 || text[digits] != '\0')
        return false;
    errno = 0;
    *out = strtoull(text, NULL, 10);
    return errno == 0;
}

static bool take_number(const char **text, const char *key, uint64_t *out)
{
    char value[32];

    return take_line(text, key, value, sizeof value) && is_number(value, out);
}

static bool is_hex(const char *text, size_t length)
{
    return strlen(text) == length && strspn(text, "0123456789abcdef") == length;
}

/* "SEQ sent|waiting DIGEST LINE" */
static bool read_sent(char *text, struct takt_fleet_sent *out)
{
    char *rest = NULL;
    const char *seq = strtok_r(text, " ", &rest);
    const char *word = strtok_r(NULL, " ", &rest);
    const char *digest = strtok_r(NULL, " ", &rest);
    const char *line = strtok_r(NULL, "", &rest);

    if (line == NULL || !is_number(seq, &out->seq) ||
        !is_hex(digest, TAKT_FLEET_DIGEST - 1) ||
        strlen(line) >= sizeof out->line)
        return false;
    strcpy(out->digest, digest);
    strcpy(out->line, line);
    out->is_sent = strcmp(word, "sent") == 0;
    return out->is_sent || strcmp(word, "waiting") == 0;
}

static takt_status read_lines(const char *text, struct takt_fleet_state *out)
{
    char value[TAKT_FLEET_LINE + 64];
    uint64_t count;

    if (!take_number(&text, "lines", &count) || count > most_bytes / 32)
        return TAKT_ECORRUPT;
    out->sent = calloc(count + 1, sizeof *out->sent);
    if (out->sent == NULL)
        return TAKT_ENOMEM;
    for (; out->count < count; out->count++) {
        struct takt_fleet_sent *sent = &out->sent[out->count];
        if (!take_line(&text, "line", value, sizeof value) ||
            !read_sent(value, sent) ||
            (out->count > 0 && strcmp(sent[-1].line, sent->line) >= 0))
            return TAKT_ECORRUPT;
    }
    return strcmp(text, "end\n") == 0 ? TAKT_OK : TAKT_ECORRUPT;
}

static takt_status parse(const char *text, struct takt_fleet_state *out)
{
    char version[8];

    if (!take_line(&text, "takt-fleet", version, sizeof version) ||
        strcmp(version, "1") != 0 ||
        !take_line(&text, "origin", out->origin, sizeof out->origin) ||
        !is_hex(out->origin, TAKT_FLEET_ORIGIN - 1) ||
        !take_line(&text, "database", out->database, sizeof out->database) ||
        !take_number(&text, "inode", &out->inode) ||
        !take_number(&text, "epoch", &out->epoch) ||
        !take_number(&text, "seq", &out->seq) ||
        !take_number(&text, "generation", &out->generation) ||
        !take_number(&text, "received", &out->received) ||
        !take_number(&text, "machines", &out->machines))
        return TAKT_ECORRUPT;
    return read_lines(text, out);
}

static void forget(struct takt_fleet_state *state)
{
    free(state->sent);
    state->sent = NULL;
    state->count = 0;
    state->epoch = state->seq = state->generation = 0;
    state->received = state->machines = 0;
    state->origin[0] = state->database[0] = '\0';
}

takt_status takt__fleet_state_parse(const char *text, size_t length,
                                    struct takt_fleet_state *out)
{
    const takt_status status = text[length] != '\0' || strlen(text) != length
                                   ? TAKT_ECORRUPT
                                   : parse(text, out);

    if (status != TAKT_OK)
        forget(out);
    return status;
}

/* NULL: it cannot be read. */
static char *read_text(int fd, size_t *length)
{
    struct stat facts;
    char *text = NULL;

    if (fstat(fd, &facts) == 0 && facts.st_size < most_bytes)
        text = calloc(1, (size_t)facts.st_size + 1);
    *length = text == NULL ? 0 : (size_t)facts.st_size;
    if (text == NULL || read(fd, text, *length) == facts.st_size)
        return text;
    free(text);
    return NULL;
}

static bool is_regular(int fd)
{
    struct stat facts;

    return fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode);
}

/* Half a state begins as a whole one does. */
static bool is_foreign(const char *text, size_t length)
{
    static const char begin[] = "takt-fleet ";
    const size_t size = sizeof begin - 1;

    return memcmp(text, begin, length < size ? length : size) != 0;
}

/* What cannot be read for the moment is an error: without its text a machine
 * would be a second origin. A pipe that somebody put beside a store is not
 * waited for. */
static takt_status read_state(struct takt_fleet_state *state, takt_diag *diag)
{
    const int fd = open(state->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    size_t length;

    if (fd < 0 && errno == ENOENT)
        return TAKT_OK;
    if (fd >= 0 && !is_regular(fd)) {
        close(fd);
        return takt__say(diag, TAKT_EIO,
                         "%s cannot be read: it is not a regular file",
                         state->path);
    }
    char *text = fd < 0 ? NULL : read_text(fd, &length);
    const int why = errno;
    if (fd >= 0)
        close(fd);
    if (text == NULL)
        return takt__say(diag, TAKT_EIO, "%s cannot be read: %s", state->path,
                         strerror(why));
    if (is_foreign(text, length)) {
        free(text);
        return takt__say(diag, TAKT_ECORRUPT,
                         "%s is no file of Takt's and stays as it is: use "
                         "another store (TAKT_DB)",
                         state->path);
    }
    const takt_status status = takt__fleet_state_parse(text, length, state);
    free(text);
    if (status == TAKT_ENOMEM)
        return takt__say(diag, status, "there is not enough memory");
    return TAKT_OK;
}

static uint64_t inode_of(const char *store)
{
    struct stat facts;

    return stat(store, &facts) == 0 ? (uint64_t)facts.st_ino : 0;
}

/* ---- the lock ------------------------------------------------------------ */

static takt_status take_lock(struct takt_fleet_state *state, takt_diag *diag)
{
    enum { tries = 500 };
    char path[sizeof state->path + 8];

    snprintf(path, sizeof path, "%s-lock", state->path);
    state->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (state->lock < 0)
        return takt__say(diag, TAKT_EIO, "%s cannot be opened: %s", path,
                         strerror(errno));
    for (int i = 0; flock(state->lock, LOCK_EX | LOCK_NB) != 0; i++) {
        if (i == tries || (errno != EWOULDBLOCK && errno != EINTR))
            return takt__say(diag, TAKT_EIO,
                             "another process is syncing this store");
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    return TAKT_OK;
}

takt_status takt__fleet_state_open(const char *store, bool is_locked,
                                   struct takt_fleet_state *out,
                                   takt_diag *diag)
{
    takt_status status = TAKT_OK;

    *out = (struct takt_fleet_state){.lock = -1};
    snprintf(out->path, sizeof out->path, "%s-fleet", store);
    if (is_locked)
        status = take_lock(out, diag);
    if (status == TAKT_OK)
        status = read_state(out, diag);
    if (status != TAKT_OK) {
        takt__fleet_state_close(out);
        return status;
    }
    if (out->inode != inode_of(store))
        forget(out);
    out->inode = inode_of(store);
    return TAKT_OK;
}

void takt__fleet_state_close(struct takt_fleet_state *state)
{
    if (state->lock >= 0)
        close(state->lock);
    free(state->sent);
    state->sent = NULL;
    state->lock = -1;
}

/* ---- writing ------------------------------------------------------------- */

static void print(const struct takt_fleet_state *state, FILE *stream)
{
    fprintf(stream,
            "takt-fleet 1\norigin %s\ndatabase %s\ninode %" PRIu64
            "\nepoch %" PRIu64 "\nseq %" PRIu64 "\ngeneration %" PRIu64
            "\nreceived %" PRIu64 "\nmachines %" PRIu64 "\n",
            state->origin, state->database, state->inode, state->epoch,
            state->seq, state->generation, state->received, state->machines);
    fprintf(stream, "lines %zu\n", state->count);
    for (size_t i = 0; i < state->count; i++)
        fprintf(stream, "line %" PRIu64 " %s %s %s\n", state->sent[i].seq,
                state->sent[i].is_sent ? "sent" : "waiting",
                state->sent[i].digest, state->sent[i].line);
    fputs("end\n", stream);
}

takt_status takt__fleet_state_write(const struct takt_fleet_state *state,
                                    takt_diag *diag)
{
    struct takt_memory_file file;

    if (!takt__memory_file_open(&file))
        return takt__say(diag, TAKT_ENOMEM, "there is not enough memory");
    print(state, file.stream);
    if (!takt__memory_file_close(&file))
        return takt__say(diag, TAKT_ENOMEM, "there is not enough memory");
    const takt_status status = takt__write_whole(
        state->path, TAKT_NEW_FILE_NO_LINKS, file.text, file.length, diag);
    free(file.text);
    return status;
}

takt_status takt__fleet_state_renew(struct takt_fleet_state *state)
{
    unsigned char bytes[(TAKT_FLEET_ORIGIN - 1) / 2];

    forget(state);
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return TAKT_EIO;
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(state->origin + 2 * i, 3, "%02x", bytes[i]);
    state->epoch = 1;
    return TAKT_OK;
}

static int compare(const void *key, const void *at)
{
    return strcmp(key, ((const struct takt_fleet_sent *)at)->line);
}

struct takt_fleet_sent *
takt__fleet_state_find(const struct takt_fleet_state *state, const char *line)
{
    return state->count == 0 ? NULL
                             : bsearch(line, state->sent, state->count,
                                       sizeof *state->sent, compare);
}
