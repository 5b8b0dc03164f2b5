/* SPDX-License-Identifier: MIT */
/*
 * host.c - this machine as a source of facts.
 *
 * The only file of hw that is compiled differently for each architecture:
 * decoding is the same everywhere, so that any recording can be replayed.
 */
#include "hw/source.h"

#include <string.h>

#include "hw/files.h"

#if defined(__x86_64__)

#include <cpuid.h>

static const char architecture[] = "x86_64";

static void ask_cpuid(void *self, uint32_t leaf, uint32_t subleaf,
                      uint32_t reg[4])
{
    (void)self;
    __cpuid_count(leaf, subleaf, reg[0], reg[1], reg[2], reg[3]);
}

/* Without OSXSAVE the instruction itself is undefined. */
static uint64_t ask_xcr0(void *self)
{
    uint32_t reg[4];
    uint32_t low, high;

    ask_cpuid(self, 1, 0, reg);
    if ((reg[2] >> 27 & 1) == 0)
        return 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}

#else

#if defined(__aarch64__)
static const char architecture[] = "aarch64";
#else
static const char architecture[] = "other";
#endif

static void ask_cpuid(void *self, uint32_t leaf, uint32_t subleaf,
                      uint32_t reg[4])
{
    (void)self;
    (void)leaf;
    (void)subleaf;
    memset(reg, 0, 4 * sizeof reg[0]);
}

static uint64_t ask_xcr0(void *self)
{
    (void)self;
    return 0;
}

#endif

static size_t read_file(void *self, const char *path, char *buf, size_t cap)
{
    (void)self;
    return takt__file_read(path, buf, cap);
}

static size_t list_folder(void *self, const char *folder, char *buf, size_t cap)
{
    (void)self;
    return takt__folder_list(folder, buf, cap);
}

struct takt_hw_source takt__host_source(void)
{
    return (struct takt_hw_source){.cpuid = ask_cpuid,
                                   .xcr0 = ask_xcr0,
                                   .file = read_file,
                                   .list = list_folder,
                                   .architecture = architecture};
}
