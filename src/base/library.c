/* SPDX-License-Identifier: MIT */
/* library.c - loads shared libraries at run time. */
#define _GNU_SOURCE /* dl_iterate_phdr() */
#include "base/library.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "base/config.h"
#include "base/database_file.h"
#include "base/fork.h"
#include "base/loading.h"

static _Thread_local const char *problem;

/* The first object is the program itself. One that is not static names the
 * loader that it needs. */
static int check_program(struct dl_phdr_info *info, size_t size, void *self)
{
    bool *is_static = self;

    (void)size;
    *is_static = true;
    for (unsigned i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_INTERP)
            *is_static = false;
    return 1;
}

bool takt__is_static(void)
{
    bool is_static = false;

    dl_iterate_phdr(check_program, &is_static);
    return is_static;
}

static const char *refusal(const char *file)
{
    if (takt__is_static())
        return "a static program loads no library";
    if (takt__fork_was_torn())
        return takt__loading_problem();
    if (takt__config()->is_privileged && file[0] != '/')
        return "this program has more rights than its user (setuid or "
               "capabilities): libraries are not searched for by name";
    if (!takt__library_may_be(file))
        return "it is not a regular file";
    if (strchr(file, '/') != NULL && takt__is_database(AT_FDCWD, file))
        return "it is a database";
    return NULL;
}

#if defined(__x86_64__)
enum { own_machine = EM_X86_64 };
#elif defined(__aarch64__)
enum { own_machine = EM_AARCH64 };
#else
enum { own_machine = EM_NONE };
#endif

/* The loader passes over these, and says that there is no such file. */
static bool is_of_another_processor(const char *file)
{
    ElfW(Ehdr) header;
    const int fd = strchr(file, '/') != NULL
                       ? open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
                       : -1;

    if (fd < 0)
        return false;
    const bool is_elf =
        read(fd, &header, sizeof header) == (ssize_t)sizeof header &&
        memcmp(header.e_ident, ELFMAG, SELFMAG) == 0;
    close(fd);
    return is_elf && own_machine != EM_NONE &&
           (header.e_machine != own_machine ||
            header.e_ident[EI_CLASS] !=
                (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32));
}

void *takt__library_open(const char *file)
{
    problem = refusal(file);
    if (problem != NULL)
        return NULL;
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        problem = is_of_another_processor(file)
                      ? "it is a library for another processor"
                      : dlerror();
    return library;
}

const char *takt__library_problem(void)
{
    return problem != NULL ? problem : "it cannot be loaded";
}

/* ISO C has no cast from object to function pointer; POSIX promises that the
 * bytes are the same. */
bool takt__library_find(void *library, const char *name, void *function)
{
    void *const found = library == NULL ? NULL : dlsym(library, name);

    memcpy(function, &found, sizeof found);
    return found != NULL;
}

const char *takt__library_find_all(void *library,
                                   const struct takt_library_symbol *symbol,
                                   size_t count, void *out)
{
    for (size_t i = 0; i < count; i++)
        if (!takt__library_find(library, symbol[i].name,
                                (char *)out + symbol[i].offset))
            return symbol[i].name;
    return NULL;
}
