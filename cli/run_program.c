/* SPDX-License-Identifier: MIT */
/*
 * run_program.c - which file a command line leads to, and whether a library can
 * be loaded into it.
 *
 * The loader, which does the loading, says nothing when it passes a library
 * over, says it in the program's output, or gives up altogether. So the file is
 * looked at beforehand, as the kernel would: scripts lead to their interpreter,
 * and that one has to be dynamic, of our kind, and without rights of its own.
 */
#define _GNU_SOURCE /* memmem() */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "run.h"

enum {
    most_levels = 4,     /* of scripts; the kernel gives up there, too */
    most_headers = 4096, /* of an ELF file: real ones have a dozen */
    script_head = 256    /* as much of a script as the kernel reads */
};

/* ---- files ---- */

static bool read_at(int fd, uint64_t offset, void *out, size_t size)
{
    return offset <= INT64_MAX - size &&
           pread(fd, out, size, (off_t)offset) == (ssize_t)size;
}

/* The path of the loader; false: what the header says cannot be. */
static bool read_interpreter(int fd, const ElfW(Phdr) * header,
                             char out[PATH_MAX])
{
    const size_t size = (size_t)header->p_filesz;

    return size >= 2 && size <= PATH_MAX &&
           read_at(fd, header->p_offset, out, size) && out[size - 1] == '\0' &&
           strlen(out) == size - 1;
}

/* Of an ELF of our class and byte order: others are not looked into. */
static bool read_headers(int fd, const ElfW(Ehdr) * file, struct elf_facts *out)
{
    ElfW(Phdr) header;

    out->machine = file->e_machine;
    if (file->e_phentsize != sizeof header || file->e_phnum > most_headers)
        return false;
    for (unsigned i = 0; i < file->e_phnum; i++) {
        if (file->e_phoff > INT64_MAX / 2 ||
            !read_at(fd, file->e_phoff + i * sizeof header, &header,
                     sizeof header))
            return false;
        if (header.p_type == PT_INTERP)
            return read_interpreter(fd, &header, out->interpreter);
    }
    return true;
}

static bool is_like_ours(const unsigned char *ident)
{
    const uint16_t one = 1;
    const unsigned order =
        *(const unsigned char *)&one == 1 ? ELFDATA2LSB : ELFDATA2MSB;

    return ident[EI_CLASS] == (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) &&
           ident[EI_DATA] == order;
}

static enum file_kind read_elf(int fd, struct elf_facts *out)
{
    ElfW(Ehdr) file;

    *out = (struct elf_facts){0};
    if (!read_at(fd, 0, &file, sizeof file))
        return FILE_OTHER;
    out->class = file.e_ident[EI_CLASS];
    out->data = file.e_ident[EI_DATA];
    if (is_like_ours(file.e_ident) && !read_headers(fd, &file, out))
        return FILE_OTHER;
    return FILE_ELF;
}

static void copy_word(char *out, const char *from, size_t length)
{
    memcpy(out, from, length);
    out[length] = '\0';
}

/* "#!", the interpreter, and the rest of the line as one argument. */
static enum file_kind read_script(char *line, struct script_facts *out)
{
    static const char blanks[] = " \t";
    char *end = strchr(line, '\n');

    if (end != NULL)
        *end = '\0';
    const char *word = line + 2 + strspn(line + 2, blanks);
    const size_t length = strcspn(word, blanks);
    if (length == 0 || (end == NULL && word[length] == '\0' &&
                        strlen(line) == script_head - 1))
        return FILE_OTHER; /* none, or cut off */
    copy_word(out->interpreter, word, length);
    word += length + strspn(word + length, blanks);
    size_t rest = strlen(word);
    while (rest > 0 && strchr(blanks, word[rest - 1]) != NULL)
        rest--;
    copy_word(out->argument, word, rest);
    return FILE_SCRIPT;
}

enum file_kind read_file_kind(int fd, struct elf_facts *elf,
                              struct script_facts *script)
{
    char head[script_head] = "";
    const ssize_t got = pread(fd, head, sizeof head - 1, 0);

    if (got >= SELFMAG && memcmp(head, ELFMAG, SELFMAG) == 0)
        return read_elf(fd, elf);
    if (got > 2 && memcmp(head, "#!", 2) == 0)
        return read_script(head, script);
    return FILE_OTHER;
}

/* ---- where they are ---- */

static bool is_program(const char *path)
{
    struct stat facts;

    return stat(path, &facts) == 0 && S_ISREG(facts.st_mode) &&
           access(path, X_OK) == 0;
}

bool find_program(const char *name, char *out, size_t size)
{
    const char *path = getenv("PATH");

    if (strchr(name, '/') != NULL)
        return (size_t)snprintf(out, size, "%s", name) < size;
    if (name[0] == '\0')
        return false;
    for (const char *at = path != NULL ? path : "/bin:/usr/bin";; at++) {
        const size_t length = strcspn(at, ":");
        const int used = snprintf(out, size, "%.*s%s%s", (int)length, at,
                                  length > 0 ? "/" : "./", name);
        if (used > 0 && (size_t)used < size && is_program(out))
            return true;
        at += length;
        if (*at == '\0')
            return false;
    }
}

/* Options of env whose value is the next word. */
static bool takes_value(const char *word)
{
    return strcmp(word, "-u") == 0 || strcmp(word, "-C") == 0 ||
           strcmp(word, "--unset") == 0 || strcmp(word, "--chdir") == 0;
}

bool find_env_program(const char *argument, char *out, size_t size)
{
    char words[script_head], *rest;

    snprintf(words, sizeof words, "%s", argument);
    for (char *word = strtok_r(words, " \t", &rest); word != NULL;
         word = strtok_r(NULL, " \t", &rest)) {
        if (strncmp(word, "-S", 2) == 0)
            word += 2;
        if (takes_value(word))
            strtok_r(NULL, " \t", &rest);
        else if (word[0] != '\0' && word[0] != '-' && strchr(word, '=') == NULL)
            return find_program(word, out, size);
    }
    return false;
}

/* ---- verdicts ---- */

/* Whether it is run with more rights than we have. The loader then ignores
 * LD_PRELOAD. */
static bool gains_rights(int fd, const struct stat *facts)
{
    struct statvfs place;
    const mode_t group = S_ISGID | S_IXGRP;

    if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ||
        (fstatvfs(fd, &place) == 0 && (place.f_flag & ST_NOSUID) != 0))
        return false;
    return ((facts->st_mode & S_ISUID) != 0 && facts->st_uid != getuid()) ||
           ((facts->st_mode & group) == group && facts->st_gid != getgid()) ||
           (getuid() != 0 && fgetxattr(fd, "security.capability", NULL, 0) > 0);
}

static bool is_same_file(const char *path, const struct stat *facts)
{
    struct stat other;

    return path[0] != '\0' && stat(path, &other) == 0 &&
           other.st_dev == facts->st_dev && other.st_ino == facts->st_ino;
}

static bool is_same_loader(const char *one, const char *other)
{
    struct stat facts;

    return strcmp(one, other) == 0 ||
           (stat(one, &facts) == 0 && is_same_file(other, &facts));
}

/* What takt itself is. False: it cannot be found out. */
static bool read_self(struct elf_facts *out)
{
    struct script_facts none;
    const int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    const bool is_known = fd >= 0 && read_file_kind(fd, out, &none) == FILE_ELF;

    if (fd >= 0)
        close(fd);
    return is_known;
}

static bool is_of_kind(const struct elf_facts *one,
                       const struct elf_facts *other)
{
    return one->class == other->class && one->data == other->data &&
           one->machine == other->machine;
}

/* NULL: a library can be loaded into it. */
static const char *judge_elf(int fd, const struct stat *facts,
                             const struct elf_facts *elf)
{
    static struct elf_facts self;

    if (!read_self(&self))
        return NULL;
    if (!is_of_kind(elf, &self))
        return "is for another kind of machine than takt";
    if (gains_rights(fd, facts))
        return "is run with rights of its own (setuid, setgid or "
               "capabilities)";
    if (is_same_file(self.interpreter, facts))
        return NULL; /* the loader, with a program as its argument */
    if (elf->interpreter[0] == '\0')
        return "is linked statically";
    if (self.interpreter[0] != '\0' &&
        !is_same_loader(self.interpreter, elf->interpreter))
        return "uses another C library than takt";
    return NULL;
}

/* Where a script leads to. */
static bool follow(const struct script_facts *script, char *path, size_t size)
{
    const char *slash = strrchr(script->interpreter, '/');
    const char *base = slash != NULL ? slash + 1 : script->interpreter;

    if (strcmp(base, "env") == 0 &&
        find_env_program(script->argument, path, size))
        return true;
    return (size_t)snprintf(path, size, "%s", script->interpreter) < size;
}

/* A pipe would be waited for, were it not for O_NONBLOCK. */
static int open_program(const char *path, struct stat *facts)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

    if (fd >= 0 && (fstat(fd, facts) != 0 || !S_ISREG(facts->st_mode))) {
        close(fd);
        return -1;
    }
    return fd;
}

/* The file that the kernel would load in the end. */
struct image {
    int fd; /* open */
    int scripts;
    struct stat facts;
    struct elf_facts elf;
    char path[PATH_MAX];
};

/* False: there is none that can be read. */
static bool find_image(const char *program, struct image *out)
{
    struct script_facts script;

    if (!find_program(program, out->path, sizeof out->path))
        return false;
    for (out->scripts = 0; out->scripts <= most_levels; out->scripts++) {
        out->fd = open_program(out->path, &out->facts);
        if (out->fd < 0)
            return false;
        const enum file_kind kind = read_file_kind(out->fd, &out->elf, &script);
        if (kind == FILE_ELF)
            return true;
        close(out->fd);
        if (kind != FILE_SCRIPT ||
            !follow(&script, out->path, sizeof out->path))
            return false;
    }
    return false;
}

bool must_leave_alone(const char *program, char reason[reason_size])
{
    static struct image image;

    if (!find_image(program, &image))
        return false;
    const char *wrong = judge_elf(image.fd, &image.facts, &image.elf);
    close(image.fd);
    if (wrong != NULL && image.scripts > 0)
        snprintf(reason, reason_size, "is run by '%.300s', which %s",
                 image.path, wrong);
    else if (wrong != NULL)
        snprintf(reason, reason_size, "%s", wrong);
    return wrong != NULL;
}

static bool has_one(const char *program, const char *const signs[2])
{
    static struct image image;
    bool is_there = false;

    if (!find_image(program, &image))
        return false;
    const size_t size = (size_t)image.facts.st_size;
    void *bytes = size > 0
                      ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, image.fd, 0)
                      : MAP_FAILED;
    close(image.fd);
    if (bytes == MAP_FAILED)
        return false;
    for (size_t i = 0; i < 2; i++)
        is_there |= memmem(bytes, size, signs[i], strlen(signs[i])) != NULL;
    munmap(bytes, size);
    return is_there;
}

/* One that is linked with the shared library names it; one that has the static
 * library inside has its strings. */
bool contains_takt(const char *program)
{
    static const char *const signs[] = {"libtakt.so", "TAKT_TRACE"};

    return has_one(program, signs);
}

bool is_preload_library(const char *path)
{
    static const char *const signs[] = {TAKT_STATS_VARIABLE,
                                        TAKT_STATS_VARIABLE};

    return has_one(path, signs);
}

bool is_of_this_machine(const char *path)
{
    static struct elf_facts elf, self;
    struct script_facts none;

    if (!read_self(&self))
        return true;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const bool is_elf = fd >= 0 && read_file_kind(fd, &elf, &none) == FILE_ELF;
    if (fd >= 0)
        close(fd);
    return is_elf && is_of_kind(&elf, &self);
}
