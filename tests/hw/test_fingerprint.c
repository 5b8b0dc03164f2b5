/* SPDX-License-Identifier: MIT */
/* test_fingerprint.c - what makes a machine another one, and what does not. */
#include "hw/fingerprint.h"

#include "support/tap.h"

static const takt_machine genoa = {.architecture = "x86_64",
                                   .cpu_vendor = "AuthenticAMD",
                                   .cpu_name = "AMD EPYC",
                                   .cpu_family = 25,
                                   .cpu_model = 17,
                                   .cpu_stepping = 1,
                                   .isas = 15,
                                   .features = TAKT_CPU_AVX512_VNNI,
                                   .is_virtual = 1,
                                   .cores = 2,
                                   .logical_cpus = 2,
                                   .allowed_cpus = 2,
                                   .threads = 2,
                                   .numa_nodes = 1,
                                   .l1d_bytes = 32768,
                                   .l2_bytes = 1048576,
                                   .l3_bytes = 33554432,
                                   .memory_bytes = 1 << 30};

static bool is_same(const takt_machine *a, const takt_machine *b)
{
    char first[TAKT_SHA256_HEX];
    char second[TAKT_SHA256_HEX];

    takt__cpu_fingerprint(a, first);
    takt__cpu_fingerprint(b, second);
    return strcmp(first, second) == 0;
}

static void the_lines_of_a_cpu_are_pinned(void)
{
    static const char lines[] = "architecture=x86_64\n"
                                "vendor=AuthenticAMD\n"
                                "family=25\n"
                                "model=17\n"
                                "stepping=1\n"
                                "avx2_fma=1\n"
                                "avx512=1\n"
                                "avx512_vnni=1\n"
                                "amx=0\n"
                                "neon=0\n"
                                "sve_bits=0\n"
                                "cores=2\n"
                                "logical_cpus=2\n"
                                "numa_nodes=1\n"
                                "l1d_bytes=32768\n"
                                "l2_bytes=1048576\n"
                                "l3_bytes=33554432\n"
                                "hypervisor=1\n";
    char got[TAKT_SHA256_HEX];
    char want[TAKT_SHA256_HEX];

    takt__cpu_fingerprint(&genoa, got);
    takt__sha256_hex(lines, strlen(lines), want);
    EXPECT_STR(got, want);
}

static void what_limits_a_process_makes_no_new_machine(void)
{
    takt_machine other = genoa;

    other.allowed_cpus = 1;
    other.quota_cpus = 0.5;
    other.threads = 1;
    EXPECT(is_same(&genoa, &other));
}

static void names_and_memory_make_no_new_machine(void)
{
    takt_machine other = genoa;

    strcpy(other.cpu_name, "AMD EPYC 9B14");
    other.memory_bytes *= 2;
    EXPECT(is_same(&genoa, &other));
}

static void other_hardware_is_another_machine(void)
{
    takt_machine other = genoa;
    other.cpu_stepping = 2;
    EXPECT(!is_same(&genoa, &other));

    other = genoa;
    other.isas &= ~(1u << TAKT_ISA_AVX512);
    EXPECT(!is_same(&genoa, &other));

    other = genoa;
    other.cores = 1;
    EXPECT(!is_same(&genoa, &other));

    other = genoa;
    other.l3_bytes *= 2;
    EXPECT(!is_same(&genoa, &other));

    other = genoa;
    other.is_virtual = 0;
    EXPECT(!is_same(&genoa, &other));
}

static void the_lines_of_a_gpu_are_pinned(void)
{
    static const char lines[] = "vendor=4318\n"
                                "device=9013\n"
                                "subsystem=415109342\n"
                                "units=0\n"
                                "memory_mib=0\n"
                                "partition=0\n"
                                "ecc=0\n";
    const takt_gpu gpu = {
        .vendor = 0x10de, .device = 0x2335, .subsystem = 0x18be10de};
    char got[TAKT_SHA256_HEX];
    char want[TAKT_SHA256_HEX];

    takt__gpu_fingerprint(&gpu, got);
    takt__sha256_hex(lines, strlen(lines), want);
    EXPECT_STR(got, want);
}

static void a_gpu_is_the_same_in_another_slot_under_another_name(void)
{
    const takt_gpu a = {.name = "NVIDIA H200", .address = "0000:01:00.0"};
    const takt_gpu b = {.name = "other", .address = "0000:41:00.0"};
    char first[TAKT_SHA256_HEX];
    char second[TAKT_SHA256_HEX];

    takt__gpu_fingerprint(&a, first);
    takt__gpu_fingerprint(&b, second);
    EXPECT_STR(first, second);
}

static void the_lines_of_the_software_are_pinned(void)
{
    static const char lines[] = "abi=1\nkernels=abc\ndriver=550.54\n"
                                "vulkan_driver=\n";
    const struct takt_sw_traits traits = {"abc", "550.54", ""};
    char got[TAKT_SHA256_HEX];
    char want[TAKT_SHA256_HEX];

    takt__sw_fingerprint(&traits, got);
    takt__sha256_hex(lines, strlen(lines), want);
    EXPECT_STR(got, want);
}

int main(void)
{
    RUN(the_lines_of_a_cpu_are_pinned);
    RUN(what_limits_a_process_makes_no_new_machine);
    RUN(names_and_memory_make_no_new_machine);
    RUN(other_hardware_is_another_machine);
    RUN(the_lines_of_a_gpu_are_pinned);
    RUN(a_gpu_is_the_same_in_another_slot_under_another_name);
    RUN(the_lines_of_the_software_are_pinned);
    return tap_done();
}
