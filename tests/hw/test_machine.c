/* SPDX-License-Identifier: MIT */
/* test_machine.c - recorded machines, this machine, and a recording of it. */
#include "takt/machine.h"

#include <sys/stat.h>
#include <unistd.h>

#include "facts.h"
#include "hw/files.h"
#include "support/tap.h"

#define MACHINES TAKT_SOURCE_DIR "/tests/fixtures/machines"

static char scratch[64]; /* a folder for one test program, removed at exit */

static void join(char *out, size_t cap, const char *folder, const char *name)
{
    REQUIRE(takt__path_join(folder, name, out, cap));
}

static void write_file(const char *folder, const char *name, const char *text,
                       size_t length)
{
    mkdir(folder, 0777); /* it may exist already */
    REQUIRE(takt__file_write(folder, name, text, length));
}

/* Compares line by line, so that a failure names the fact. */
static void compare_facts(const char *name, char *got, char *want)
{
    while (*got != '\0' || *want != '\0') {
        const size_t got_length = strcspn(got, "\n");
        const size_t want_length = strcspn(want, "\n");
        TAP_CHECK(got_length == want_length &&
                      memcmp(got, want, got_length) == 0,
                  "%s: got \"%.*s\", not \"%.*s\"", name, (int)got_length, got,
                  (int)want_length, want);
        got += got_length + (got[got_length] == '\n');
        want += want_length + (want[want_length] == '\n');
    }
}

static void check_machine(const char *name)
{
    static struct facts facts;
    static char want[16384];
    char folder[1024];
    char path[1100];
    takt_machine *machine;

    join(folder, sizeof folder, MACHINES "/", name);
    join(path, sizeof path, folder, "/expected.txt");
    const takt_status status = takt_machine_create(folder, &machine);
    TAP_CHECK(status == TAKT_OK, "%s: %s", name, takt_status_text(status));
    if (machine == NULL)
        return;
    facts_of(machine, &facts);
    TAP_CHECK(takt__file_read(path, want, sizeof want) > 0,
              "%s has no expected.txt", name);
    compare_facts(name, facts.text, want);
    takt_machine_destroy(machine);
}

static void every_recorded_machine_has_the_expected_facts(void)
{
    char names[4096];
    int count = 0;

    takt__folder_list(MACHINES, names, sizeof names);
    for (char *name = strtok(names, "\n"); name; name = strtok(NULL, "\n")) {
        struct stat facts;
        char path[1024];
        join(path, sizeof path, MACHINES "/", name);
        if (stat(path, &facts) == 0 && S_ISDIR(facts.st_mode)) {
            check_machine(name);
            count++;
        }
    }
    EXPECT(count >= 8);
}

static void this_machine_has_at_least_a_cpu_and_a_fingerprint(void)
{
    takt_machine *machine;

    REQUIRE(takt_machine_create(NULL, &machine) == TAKT_OK);
    EXPECT(machine->threads >= 1);
    EXPECT(machine->threads <= machine->allowed_cpus);
    EXPECT(machine->allowed_cpus <= machine->logical_cpus);
    EXPECT(machine->cores >= 1 && machine->cores <= machine->logical_cpus);
    EXPECT(machine->isas & 1u << TAKT_ISA_SCALAR);
    EXPECT_INT(strlen(machine->hw_fingerprint), 64);
    EXPECT_INT(strlen(machine->sw_fingerprint), 64);
    takt_machine_destroy(machine);
}

static void usable_instruction_sets_match_what_the_compiler_finds(void)
{
#if defined(__x86_64__)
    takt_machine *machine;

    REQUIRE(takt_machine_create(NULL, &machine) == TAKT_OK);
    __builtin_cpu_init();
    EXPECT_INT(machine->isas >> TAKT_ISA_AVX2 & 1,
               __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"));
    EXPECT_INT(machine->isas >> TAKT_ISA_AVX512 & 1,
               __builtin_cpu_supports("avx512f") &&
                   __builtin_cpu_supports("avx512bw") &&
                   __builtin_cpu_supports("avx512cd") &&
                   __builtin_cpu_supports("avx512dq") &&
                   __builtin_cpu_supports("avx512vl"));
    takt_machine_destroy(machine);
#else
    SKIP("the compiler tells only on x86_64");
#endif
}

static void a_recording_of_this_machine_replays_the_same_facts(void)
{
    static struct facts here;
    static struct facts replayed;
    char folder[128];
    takt_machine *machine;

    join(folder, sizeof folder, scratch, "/here");
    REQUIRE(takt_machine_record(folder) == TAKT_OK);
    REQUIRE(takt_machine_create(NULL, &machine) == TAKT_OK);
    facts_of(machine, &here);
    takt_machine_destroy(machine);
    REQUIRE(takt_machine_create(folder, &machine) == TAKT_OK);
    facts_of(machine, &replayed);
    takt_machine_destroy(machine);
    compare_facts("replayed", replayed.text, here.text);
}

static void recording_refuses_a_folder_that_exists_and_leaves_it_alone(void)
{
    char folder[128];
    char names[64];

    join(folder, sizeof folder, scratch, "/taken");
    write_file(folder, "/mine", "x", 1);
    EXPECT_INT(takt_machine_record(folder), TAKT_EEXIST);
    takt__folder_list(folder, names, sizeof names);
    EXPECT_STR(names, "mine\n");
}

static void recording_where_nothing_can_be_written_is_an_error(void)
{
    EXPECT_INT(takt_machine_record("/proc/takt"), TAKT_EIO);
    EXPECT_INT(takt_machine_record("/no/such/folder"), TAKT_EIO);
    EXPECT_INT(takt_machine_record(NULL), TAKT_EINVAL);
    EXPECT_INT(takt_machine_record(""), TAKT_EINVAL);
}

static takt_status create_from(const char *folder)
{
    takt_machine *machine = (takt_machine *)scratch; /* must be overwritten */
    const takt_status status = takt_machine_create(folder, &machine);

    EXPECT((machine == NULL) == (status != TAKT_OK));
    if (status == TAKT_OK)
        takt_machine_destroy(machine);
    return status;
}

static void a_missing_recording_is_not_found(void)
{
    EXPECT_INT(create_from(MACHINES "/no-such-machine"), TAKT_ENOENT);
    EXPECT_INT(create_from(""), TAKT_ENOENT);
    EXPECT_INT(create_from(MACHINES "/README.md"), TAKT_ECORRUPT);
    EXPECT_INT(create_from(MACHINES), TAKT_ECORRUPT);
    EXPECT_INT(takt_machine_create(NULL, NULL), TAKT_EINVAL);
}

static takt_status create_with_cpuid(const char *text, size_t length)
{
    char folder[128];

    join(folder, sizeof folder, scratch, "/damaged");
    write_file(folder, "/cpuid.txt", text, length);
    return create_from(folder);
}

static void a_damaged_recording_is_refused(void)
{
    static const char *const damaged[] = {
        "\n",
        "arch\n",
        "arch x86_64\n",
        "arch two words\n",
        "xcr0 7\n0 0: 1 2 3 4\n",
        "arch x86_64\n0 0: 1 2 3\n",
        "arch x86_64\n0 0: 1 2 3 4 5\n",
        "arch x86_64\n0 0: 1 2 3 100000000\n",
        "arch x86_64\n0 0: 1 2 3 4\nxcr0 fffffffffffffffff\n",
        "arch x86_64\n0 0: 1 2 3 4\nwhat is this\n",
    };

    for (size_t i = 0; i < sizeof damaged / sizeof damaged[0]; i++)
        TAP_CHECK(create_with_cpuid(damaged[i], strlen(damaged[i])) ==
                      TAKT_ECORRUPT,
                  "accepted: %s", damaged[i]);
    EXPECT_INT(create_with_cpuid("arch aarch64\n\0", 14), TAKT_ECORRUPT);
}

static void a_recording_with_too_many_rows_is_refused(void)
{
    static char text[100000];
    size_t length = (size_t)snprintf(text, sizeof text, "arch x86_64\n");

    while (length < sizeof text - 32)
        length += (size_t)snprintf(text + length, sizeof text - length,
                                   "0 %zx: 0 0 0 0\n", length);
    EXPECT_INT(create_with_cpuid(text, 9000), TAKT_ECORRUPT);
    EXPECT_INT(create_with_cpuid(text, length), TAKT_ECORRUPT);
}

static void a_recording_of_an_unknown_architecture_has_scalar_code_only(void)
{
    char folder[128];
    takt_machine *machine;

    join(folder, sizeof folder, scratch, "/riscv");
    write_file(folder, "/cpuid.txt", "# new\narch riscv64\n", 19);
    REQUIRE(takt_machine_create(folder, &machine) == TAKT_OK);
    EXPECT_STR(machine->architecture, "riscv64");
    EXPECT_INT(machine->isas, 1u << TAKT_ISA_SCALAR);
    EXPECT_INT(takt_machine_best_isa(machine), TAKT_ISA_SCALAR);
    EXPECT_INT(machine->threads, 1);
    EXPECT_INT(machine->numa_nodes, 1);
    takt_machine_destroy(machine);
}

static void a_recording_never_leads_outside_of_its_folder(void)
{
    static const char groups[] = "0::/../../outside\n";
    static const char mounts[] = "1 0 0:1 / /../outside rw - cgroup2 c rw\n";
    char folder[128];
    takt_machine *machine;

    write_file(scratch, "/outside/cpu.max", "100000 100000\n", 14);
    join(folder, sizeof folder, scratch, "/inside");
    write_file(folder, "/cpuid.txt", "arch aarch64\n", 13);
    write_file(folder, "/proc/self/cgroup", groups, strlen(groups));
    write_file(folder, "/proc/self/mountinfo", mounts, strlen(mounts));
    REQUIRE(takt_machine_create(folder, &machine) == TAKT_OK);
    EXPECT_NEAR(machine->quota_cpus, 0.0, 0.0);
    takt_machine_destroy(machine);
}

static void a_pipe_in_a_recording_does_not_stop_the_reader(void)
{
    char folder[128];
    char path[160];

    join(folder, sizeof folder, scratch, "/piped");
    write_file(folder, "/cpuid.txt", "arch aarch64\n", 13);
    write_file(folder, "/proc/x", "x", 1);
    join(path, sizeof path, folder, "/proc/cpuinfo");
    REQUIRE(mkfifo(path, 0600) == 0);
    EXPECT_INT(create_from(folder), TAKT_OK);
}

static void every_instruction_set_has_a_name(void)
{
    EXPECT_STR(takt_isa_name(TAKT_ISA_SCALAR), "scalar");
    EXPECT_STR(takt_isa_name(TAKT_ISA_SSE2), "sse2");
    EXPECT_STR(takt_isa_name(TAKT_ISA_AVX2), "avx2");
    EXPECT_STR(takt_isa_name(TAKT_ISA_AVX512), "avx512");
    EXPECT_STR(takt_isa_name(TAKT_ISA_NEON), "neon");
    EXPECT_STR(takt_isa_name((takt_isa)99), "?");
}

static void remove_scratch(void)
{
    takt__folder_remove(scratch);
}

int main(void)
{
    strcpy(scratch, "/tmp/takt-machine-XXXXXX");
    REQUIRE(mkdtemp(scratch) != NULL);
    atexit(remove_scratch);

    RUN(every_recorded_machine_has_the_expected_facts);
    RUN(this_machine_has_at_least_a_cpu_and_a_fingerprint);
    RUN(usable_instruction_sets_match_what_the_compiler_finds);
    RUN(a_recording_of_this_machine_replays_the_same_facts);
    RUN(recording_refuses_a_folder_that_exists_and_leaves_it_alone);
    RUN(recording_where_nothing_can_be_written_is_an_error);
    RUN(a_missing_recording_is_not_found);
    RUN(a_damaged_recording_is_refused);
    RUN(a_recording_with_too_many_rows_is_refused);
    RUN(a_recording_of_an_unknown_architecture_has_scalar_code_only);
    RUN(a_recording_never_leads_outside_of_its_folder);
    RUN(a_pipe_in_a_recording_does_not_stop_the_reader);
    RUN(every_instruction_set_has_a_name);
    return tap_done();
}
