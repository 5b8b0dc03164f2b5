/* SPDX-License-Identifier: MIT */
/* test_recorder.c - a recording tells what a machine is and not whose. */
#include "hw/source.h"

#include <sys/stat.h>
#include <unistd.h>

#include "facts.h"
#include "hw/files.h"
#include "hw/probe.h"
#include "memory_source.h"
#include "support/tap.h"

/* Every file that names an owner does so with the word SECRET. */
static const char machine_with_an_owner[] =
    "arch aarch64\n"
    "@/proc/self/status\n"
    "Name:\tSECRET\n"
    "Cpus_allowed_list:\t0-5\n"
    "Uid:\tSECRET\n"
    "@/proc/self/cgroup\n"
    "12:memory:/SECRET\n"
    "4:cpu,cpuacct:/kubepods/SECRET-pod\n"
    "1:name=systemd:/user.slice/SECRET\n"
    "0::/SECRET.slice/SECRET-c1.scope\n"
    "@/proc/self/mountinfo\n"
    "1 0 8:1 /SECRET /home/SECRET rw - ext4 /dev/SECRET rw\n"
    "9 8 0:9 / /srv/SECRET/unified rw shared:1 - cgroup2 SECRET rw\n"
    "9 8 0:9 /kubepods /sys/fs/cgroup/cpu,cpuacct rw - cgroup SECRET rw,cpu\n"
    "@/srv/SECRET/unified/SECRET.slice/cpu.max\n"
    "450000 100000\n"
    "@/sys/fs/cgroup/cpu,cpuacct/SECRET-pod/cpu.cfs_quota_us\n"
    "350000\n"
    "@/sys/fs/cgroup/cpu,cpuacct/SECRET-pod/cpu.cfs_period_us\n"
    "100000\n"
    "@/proc/cpuinfo\n"
    "processor\t: 0\n"
    "BogoMIPS\t: 108.00\n"
    "Features\t: fp asimd\n"
    "CPU implementer\t: 0x41\n"
    "CPU part\t: 0xd08\n"
    "\n"
    "processor\t: 1\n"
    "Features\t: fp asimd\n"
    "\n"
    "Hardware\t: BCM2711\n"
    "Serial\t\t: SECRET\n"
    "Model\t\t: SECRET\n"
    "@/proc/meminfo\n"
    "MemTotal: 4096 kB\n"
    "SECRET: 1 kB\n"
    "@/sys/devices/system/cpu/present\n"
    "0-7\n"
    "@/sys/bus/pci/devices/0000:01:00.0/class\n"
    "0x030200\n"
    "@/sys/bus/pci/devices/0000:01:00.0/vendor\n"
    "0x10de\n"
    "@/sys/bus/pci/devices/0000:01:00.0/serial\n"
    "SECRET\n"
    "@/proc/driver/nvidia/gpus/0000:01:00.0/information\n"
    "Model: \t\t NVIDIA H200\n"
    "GPU UUID: \t SECRET\n";

static char scratch[64]; /* a folder for one test program, removed at exit */
static char folder[96];  /* the recording in it */
static struct memory_source memory;

static void probe_into(const struct takt_hw_source *source, struct facts *out)
{
    takt_machine machine;

    REQUIRE(takt__machine_probe(source, &machine) == TAKT_OK);
    facts_of(&machine, out);
}

static struct takt_hw_source open_owner(void)
{
    struct takt_hw_source source;

    REQUIRE(memory_source_open(&memory, machine_with_an_owner,
                               strlen(machine_with_an_owner), &source));
    return source;
}

/* Records the machine with an owner once, for the tests that look at it. */
static void record_owner(struct facts *out)
{
    const struct takt_hw_source source = open_owner();
    struct takt_hw_source recorder;

    REQUIRE(takt__recorder_open(&source, folder, &recorder) == TAKT_OK);
    probe_into(&recorder, out);
    REQUIRE(takt__recorder_close(&recorder, TAKT_OK) == TAKT_OK);
    memory_source_close(&memory);
}

static void read_recorded(const char *path, char *buf, size_t cap)
{
    char whole[256];
    REQUIRE(takt__path_join(folder, path, whole, sizeof whole));
    takt__file_read(whole, buf, cap);
}

static void what_is_recorded_is_what_the_probe_finds(void)
{
    static struct facts direct, recorded, replayed;
    const struct takt_hw_source source = open_owner();
    struct takt_hw_source replay;

    probe_into(&source, &direct);
    memory_source_close(&memory);
    record_owner(&recorded);
    REQUIRE(takt__replay_open(folder, &replay) == TAKT_OK);
    probe_into(&replay, &replayed);
    takt__replay_close(&replay);
    EXPECT_STR(recorded.text, direct.text);
    EXPECT_STR(replayed.text, direct.text);
    EXPECT(strstr(direct.text, "quota_cpus=3.5\n") != NULL);
    EXPECT(strstr(direct.text, "gpu0.name=NVIDIA H200\n") != NULL);
}

static int files_seen;

/* Looks for the word in every path and every file below `path`. */
static void search_secret(const char *path)
{
    char names[4096];
    char text[4096];
    char below[512];

    EXPECT(strstr(path, "SECRET") == NULL);
    if (takt__file_read(path, text, sizeof text) > 0) {
        files_seen++;
        TAP_CHECK(strstr(text, "SECRET") == NULL, "in %s: %s", path, text);
        return;
    }
    takt__folder_list(path, names, sizeof names);
    for (char *name = names, *end; (end = strchr(name, '\n')) != NULL;
         name = end + 1) {
        *end = '\0';
        REQUIRE(takt__path_join(path, "/", text, sizeof text) &&
                takt__path_join(text, name, below, sizeof below));
        search_secret(below);
    }
}

static void a_recording_holds_nothing_that_names_the_owner(void)
{
    files_seen = 0;
    search_secret(folder);
    EXPECT(files_seen > 10);
}

static void only_needed_lines_are_recorded(void)
{
    char text[1024];

    read_recorded("/proc/self/status", text, sizeof text);
    EXPECT_STR(text, "Cpus_allowed_list:\t0-5\n");
    read_recorded("/proc/meminfo", text, sizeof text);
    EXPECT_STR(text, "MemTotal: 4096 kB\n");
    read_recorded("/proc/cpuinfo", text, sizeof text);
    EXPECT_STR(text, "processor\t: 0\nFeatures\t: fp asimd\n"
                     "CPU implementer\t: 0x41\nCPU part\t: 0xd08\n"
                     "processor\t: 1\n");
}

static void groups_are_recorded_under_neutral_names(void)
{
    char text[1024];

    read_recorded("/proc/self/cgroup", text, sizeof text);
    EXPECT_STR(text, "1:cpu:/g0/g1\n0::/g2/g3\n");
    read_recorded("/proc/self/mountinfo", text, sizeof text);
    EXPECT_STR(text, "1 0 0:1 / /g4/g5/unified rw - cgroup2 cgroup2 rw\n"
                     "1 0 0:1 /g0 /sys/fs/cgroup/cpu,cpuacct rw - "
                     "cgroup cgroup rw,cpu\n");
    read_recorded("/g4/g5/unified/g2/cpu.max", text, sizeof text);
    EXPECT_STR(text, "450000 100000\n");
}

static bool folder_exists(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0;
}

static void a_failed_recording_leaves_nothing_behind(void)
{
    const struct takt_hw_source source = open_owner();
    struct takt_hw_source recorder;
    char path[128];
    static struct facts facts;

    snprintf(path, sizeof path, "%s/failed", scratch);
    REQUIRE(takt__recorder_open(&source, path, &recorder) == TAKT_OK);
    probe_into(&recorder, &facts);
    EXPECT(folder_exists(path));
    EXPECT_INT(takt__recorder_close(&recorder, TAKT_ENOMEM), TAKT_ENOMEM);
    EXPECT(!folder_exists(path));
    memory_source_close(&memory);
}

static void a_recording_that_cannot_be_written_is_an_error(void)
{
    const struct takt_hw_source source = open_owner();
    struct takt_hw_source recorder;
    char path[128];
    static struct facts facts;

    snprintf(path, sizeof path, "%s/blocked", scratch);
    REQUIRE(takt__recorder_open(&source, path, &recorder) == TAKT_OK);
    REQUIRE(takt__file_write(path, "/proc", "in the way", 10));
    probe_into(&recorder, &facts);
    EXPECT_INT(takt__recorder_close(&recorder, TAKT_OK), TAKT_EIO);
    EXPECT(!folder_exists(path));
    memory_source_close(&memory);
}

static void remove_scratch(void)
{
    takt__folder_remove(scratch);
}

int main(void)
{
    strcpy(scratch, "/tmp/takt-recorder-XXXXXX");
    REQUIRE(mkdtemp(scratch) != NULL);
    atexit(remove_scratch);
    snprintf(folder, sizeof folder, "%s/owner", scratch);

    RUN(what_is_recorded_is_what_the_probe_finds);
    RUN(a_recording_holds_nothing_that_names_the_owner);
    RUN(only_needed_lines_are_recorded);
    RUN(groups_are_recorded_under_neutral_names);
    RUN(a_failed_recording_leaves_nothing_behind);
    RUN(a_recording_that_cannot_be_written_is_an_error);
    return tap_done();
}
