/* SPDX-License-Identifier: MIT */
/*
 * fuzz_program.c - any bytes, as a file that `takt run` is to run: what is
 * found in it fits where it is kept.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run.h"

static void demand(bool condition)
{
    if (!condition)
        abort();
}

static int file_of(const uint8_t *bytes, size_t length)
{
    static FILE *file;

    if (file == NULL)
        file = tmpfile();
    demand(file != NULL && ftruncate(fileno(file), 0) == 0 &&
           pwrite(fileno(file), bytes, length, 0) == (ssize_t)length);
    return fileno(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    static struct elf_facts elf;
    struct script_facts script;
    char path[PATH_MAX];

    memset(&elf, 'x', sizeof elf);
    memset(&script, 'x', sizeof script);
    switch (read_file_kind(file_of(bytes, length), &elf, &script)) {
    case FILE_ELF:
        demand(memchr(elf.interpreter, '\0', sizeof elf.interpreter) != NULL);
        break;
    case FILE_SCRIPT:
        demand(script.interpreter[0] != '\0');
        demand(strlen(script.interpreter) + strlen(script.argument) < 256);
        find_env_program(script.argument, path, sizeof path);
        break;
    case FILE_OTHER:
        break;
    }
    return 0;
}
