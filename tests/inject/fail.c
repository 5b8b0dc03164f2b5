/* SPDX-License-Identifier: MIT */
/*
 * fail.c - a library to preload: of the calls of one kind that our code makes,
 * the n-th fails, or the n-th and all after it.
 *
 * TAKT_FAIL_KIND   malloc, read, write, open, mmap, dlopen or thread
 * TAKT_FAIL_AT     n, from 1; 0 or not set: none
 * TAKT_FAIL_KEEPS  not empty: all after it, too
 * TAKT_FAIL_COUNT  a file that gets the number of such calls, one line for
 *                  each process
 *
 * Calls count that come from Takt, from SQLite, or from the C library on
 * somebody's behalf; what other libraries make of a lack of memory is theirs.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

enum kind { MALLOC, READ, WRITE, OPEN, MMAP, DLOPEN, THREAD, KINDS };

static const char *const names[KINDS] = {"malloc", "read",   "write", "open",
                                         "mmap",   "dlopen", "thread"};

static enum kind failing = KINDS;
static long fail_at;
static bool keeps;
static const char *count_path;
static _Atomic long calls;
static _Atomic bool is_armed;
static _Thread_local bool is_inside;

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

/* ---- who calls -------------------------------------------------------------
 */

static bool is_ours(const char *object)
{
    const char *slash = strrchr(object, '/');
    const char *name = slash != NULL ? slash + 1 : object;

    return strncmp(name, "libtakt", 7) == 0 || strcmp(name, "takt") == 0 ||
           strncmp(name, "inject_", 7) == 0 ||
           strncmp(name, "libsqlite3", 10) == 0 ||
           strncmp(name, "libc.so", 7) == 0;
}

/* Asking the loader takes its lock, so that answers are kept. */
static bool is_counted(const void *caller)
{
    static struct {
        _Atomic uintptr_t address; /* 1 added: it is ours */
    } known[8192];
    const uintptr_t address = (uintptr_t)caller * 2;
    const size_t slot = (uintptr_t)caller * 0x9e3779b97f4a7c15u >> 51;
    const uintptr_t found = atomic_load(&known[slot].address);
    Dl_info info;

    if ((found & ~(uintptr_t)1) == address)
        return found & 1;
    const bool answer = dladdr(caller, &info) != 0 && info.dli_fname != NULL &&
                        is_ours(info.dli_fname);
    atomic_store(&known[slot].address, address | answer);
    return answer;
}

static bool fails(enum kind kind, const void *caller)
{
    if (kind != failing || !atomic_load(&is_armed) || is_inside)
        return false;
    is_inside = true;
    const bool counts = is_counted(caller);
    is_inside = false;
    if (!counts)
        return false;
    const long call = atomic_fetch_add(&calls, 1) + 1;
    return call == fail_at || (keeps && fail_at > 0 && call > fail_at);
}

#define FAILS(kind) fails(kind, __builtin_return_address(0))

static void *no_memory(void)
{
    errno = ENOMEM;
    return NULL;
}

/* ---- the calls -------------------------------------------------------------
 */

void *malloc(size_t size)
{
    return FAILS(MALLOC) ? no_memory() : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return FAILS(MALLOC) ? no_memory() : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    return FAILS(MALLOC) ? no_memory() : __libc_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return FAILS(MALLOC) ? no_memory() : __libc_memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    void *made = FAILS(MALLOC) ? NULL : __libc_memalign(alignment, size);

    if (made == NULL)
        return ENOMEM;
    *out = made;
    return 0;
}

static long refuse(int error)
{
    errno = error;
    return -1;
}

ssize_t read(int fd, void *to, size_t size)
{
    return FAILS(READ) ? refuse(EIO) : syscall(SYS_read, fd, to, size);
}

ssize_t pread(int fd, void *to, size_t size, off_t at)
{
    return FAILS(READ) ? refuse(EIO) : syscall(SYS_pread64, fd, to, size, at);
}

ssize_t pread64(int fd, void *to, size_t size, off_t at)
{
    return FAILS(READ) ? refuse(EIO) : syscall(SYS_pread64, fd, to, size, at);
}

ssize_t write(int fd, const void *from, size_t size)
{
    return FAILS(WRITE) ? refuse(ENOSPC) : syscall(SYS_write, fd, from, size);
}

ssize_t pwrite(int fd, const void *from, size_t size, off_t at)
{
    return FAILS(WRITE) ? refuse(ENOSPC)
                        : syscall(SYS_pwrite64, fd, from, size, at);
}

ssize_t pwrite64(int fd, const void *from, size_t size, off_t at)
{
    return FAILS(WRITE) ? refuse(ENOSPC)
                        : syscall(SYS_pwrite64, fd, from, size, at);
}

static unsigned mode_of(int flags, va_list more)
{
    return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, unsigned) : 0;
}

static int open_file(int folder, const char *path, int flags, unsigned mode,
                     bool is_refused)
{
    return is_refused ? (int)refuse(EMFILE)
                      : (int)syscall(SYS_openat, folder, path, flags, mode);
}

/* OPEN_AS(name, parameters, folder): open() and those that are like it. */
#define OPEN_AS(name, folder, ...)                                \
    int name(__VA_ARGS__)                                         \
    {                                                             \
        va_list more;                                             \
        va_start(more, flags);                                    \
        const unsigned mode = mode_of(flags, more);               \
        va_end(more);                                             \
        return open_file(folder, path, flags, mode, FAILS(OPEN)); \
    }
OPEN_AS(open, AT_FDCWD, const char *path, int flags, ...)
OPEN_AS(open64, AT_FDCWD, const char *path, int flags, ...)
OPEN_AS(openat, at, int at, const char *path, int flags, ...)
OPEN_AS(openat64, at, int at, const char *path, int flags, ...)

static void *map(void *address, size_t size, int protection, int flags,
                 const long place[2], bool is_refused)
{
    if (is_refused) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return (void *)syscall(SYS_mmap, address, size, protection, flags, place[0],
                           place[1]);
}

void *mmap(void *address, size_t size, int protection, int flags, int fd,
           off_t at)
{
    return map(address, size, protection, flags, (const long[]){fd, at},
               FAILS(MMAP));
}

void *mmap64(void *address, size_t size, int protection, int flags, int fd,
             off_t at)
{
    return map(address, size, protection, flags, (const long[]){fd, at},
               FAILS(MMAP));
}

void *dlopen(const char *path, int flags)
{
    static void *(*real)(const char *, int);

    if (FAILS(DLOPEN))
        path = "/nowhere/refused.so"; /* so that dlerror() says something */
    if (real == NULL)
        *(void **)&real = dlsym(RTLD_NEXT, "dlopen");
    return real(path, flags);
}

int pthread_create(pthread_t *out, const pthread_attr_t *attributes,
                   void *(*body)(void *), void *self)
{
    static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *),
                       void *);

    if (FAILS(THREAD))
        return EAGAIN;
    if (real == NULL)
        *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
    return real(out, attributes, body, self);
}

/* ---- start and end ---------------------------------------------------------
 */

static void __attribute__((constructor)) arm(void)
{
    const char *kind = getenv("TAKT_FAIL_KIND");
    const char *at = getenv("TAKT_FAIL_AT");
    const char *after = getenv("TAKT_FAIL_KEEPS");

    for (int i = 0; kind != NULL && i < KINDS; i++)
        if (strcmp(kind, names[i]) == 0)
            failing = (enum kind)i;
    fail_at = at != NULL ? atol(at) : 0;
    keeps = after != NULL && after[0] != '\0';
    count_path = getenv("TAKT_FAIL_COUNT");
    atomic_store(&is_armed, true);
}

static void __attribute__((destructor)) report(void)
{
    char line[32];

    atomic_store(&is_armed, false);
    if (count_path == NULL)
        return;
    const int fd = open_file(AT_FDCWD, count_path,
                             O_WRONLY | O_CREAT | O_APPEND, 0600, false);
    const int length =
        snprintf(line, sizeof line, "%ld\n", atomic_load(&calls));
    syscall(SYS_write, fd, line, (size_t)length);
    close(fd);
}
