/* SPDX-License-Identifier: MIT */
/* test_meter.c - counters that are there, are missing, or may not be read. */
#include "energy/meter.h"

#include "hw/memory_source.h"
#include "hw/powercap.h"
#include "support/config.h"
#include "support/tap.h"

#define ZONE(zone, name) "@/sys/class/powercap/" zone "/name\n" name "\n"
#define ENERGY(zone, energy, range)                         \
    "@/sys/class/powercap/" zone "/energy_uj\n" energy "\n" \
    "@/sys/class/powercap/" zone "/max_energy_range_uj\n" range "\n"

/* Two packages with all that there may be beside them. */
static const char server[] = "arch aarch64\n" ZONE("dtpm", "none")
    ZONE("intel-rapl-mmio:0", "package-0") ENERGY("intel-rapl-mmio:0", "5", "9")
        ZONE("intel-rapl:0", "package-0") ENERGY("intel-rapl:0", "1000",
                                                 "262143328850")
            ZONE("intel-rapl:0:0", "core") ENERGY("intel-rapl:0:0", "5", "9")
                ZONE("intel-rapl:0:1", "dram")
                    ENERGY("intel-rapl:0:1", "77", "65712999613")
                        ZONE("intel-rapl:1", "package-1")
                            ENERGY("intel-rapl:1", "2000", "262143328850")
                                ZONE("intel-rapl:2", "psys")
                                    ENERGY("intel-rapl:2", "5", "9");

static const char hidden[] = "arch aarch64\n" ZONE("intel-rapl:0", "package-0");

static struct memory_source memory;

static struct takt_energy_meter *open_meter(const char *text, bool is_live)
{
    struct takt_hw_source source;

    REQUIRE(memory_source_open(&memory, text, strlen(text), &source));
    struct takt_energy_meter *meter = takt__meter_open(&source, is_live);
    REQUIRE(meter != NULL);
    return meter;
}

static void close_meter(struct takt_energy_meter *meter)
{
    takt__meter_close(meter);
    memory_source_close(&memory);
}

static bool has_problem(const struct takt_energy_meter *meter, const char *word)
{
    const char *problem;

    for (unsigned i = 0; (problem = takt__meter_problem(meter, i)) != NULL; i++)
        if (strstr(problem, word) != NULL && strchr(problem, '\n') == NULL)
            return true;
    return false;
}

static void packages_and_their_memory_are_counted_once(void)
{
    struct takt_energy_meter *meter = open_meter(server, false);
    const struct takt_energy_counter *counter = takt__meter_counters(meter);

    EXPECT_INT(takt__meter_count(meter), 3);
    EXPECT_STR(counter[0].name, "package-0");
    EXPECT_STR(counter[1].name, "dram of package-0");
    EXPECT_STR(counter[2].name, "package-1");
    EXPECT(counter[1].range == UINT64_C(65712999613));
    EXPECT(counter[0].address[0] == '\0');
    EXPECT(takt__meter_problem(meter, 0) == NULL);
    close_meter(meter);
}

static void counters_that_only_root_may_read_are_said_so(void)
{
    struct takt_energy_meter *meter = open_meter(hidden, false);

    EXPECT_INT(takt__meter_count(meter), 0);
    EXPECT(has_problem(meter, "as root"));
    EXPECT(has_problem(meter, "chmod a+r /sys/class/powercap"));
    close_meter(meter);
}

static void a_machine_without_counters_is_said_to_be_one(void)
{
    struct takt_energy_meter *meter = open_meter("arch aarch64\n", false);

    EXPECT_INT(takt__meter_count(meter), 0);
    EXPECT(has_problem(meter, "virtual machines"));
    close_meter(meter);
}

static void counters_of_the_processor_are_read_with_the_load(void)
{
    static const char files[] =
        "arch aarch64\n@/proc/stat\n"
        "cpu  100 20 30 9999 50 3 2 0 0 0\ncpu0 1 1 1 1\n" ZONE("intel-rapl:0",
                                                                "package-0")
            ENERGY("intel-rapl:0", "4711", "262143328850");
    struct takt_energy_reading reading;

    test_config()->nvml = "/nowhere/libnvidia-ml.so.1";
    struct takt_energy_meter *meter = open_meter(files, true);
    EXPECT_INT(takt__meter_count(meter), 1);
    EXPECT(has_problem(meter, "nvml: "));
    takt__meter_read(meter, 0, &reading);
    EXPECT(!reading.is_gone);
    EXPECT_INT(reading.count, 4711);
    EXPECT_INT(reading.cpu_ns, INT64_C(1550000000)); /* 155 ticks */
    EXPECT(reading.at_ns > 0);

    const char *at = strstr(memory.copy, "4711"); /* it vanishes */
    memory.file[2].path_length = at == NULL ? 0 : 1;
    takt__meter_read(meter, 0, &reading);
    EXPECT(reading.is_gone);
    close_meter(meter);
}

static void power_events_need_a_kernel_that_has_them(void)
{
    static const char events[] =
        "arch aarch64\n@/proc/sys/kernel/perf_event_paranoid\n2\n"
        "@/sys/bus/event_source/devices/power/cpumask\n0\n"
        "@/sys/bus/event_source/devices/power/type\n9999\n";

    test_config()->nvml = "/nowhere/libnvidia-ml.so.1";
    struct takt_energy_meter *meter = open_meter("arch aarch64\n", true);
    EXPECT(has_problem(meter, "perf: the kernel has no power events"));
    close_meter(meter);
    meter = open_meter(events, true);
    EXPECT(has_problem(meter, "perf: there is no event energy-pkg"));
    close_meter(meter);
}

/* The kernel knows no such type, or lets no one ask. */
static void power_events_that_cannot_be_opened_are_said_so(void)
{
    static const char events[] =
        "arch aarch64\n@/proc/sys/kernel/perf_event_paranoid\n2\n"
        "@/sys/bus/event_source/devices/power/cpumask\n0\n"
        "@/sys/bus/event_source/devices/power/events/energy-pkg\n"
        "event=0x02\n"
        "@/sys/bus/event_source/devices/power/events/energy-pkg.scale\n"
        "2.3283064365386962890625e-10\n"
        "@/sys/bus/event_source/devices/power/events/energy-pkg.unit\n"
        "Joules\n"
        "@/sys/bus/event_source/devices/power/type\n65000\n";

    test_config()->nvml = "/nowhere/libnvidia-ml.so.1";
    struct takt_energy_meter *meter = open_meter(events, true);
    EXPECT_INT(takt__meter_count(meter), 0);
    EXPECT(has_problem(meter, "perf: power events cannot be opened") ||
           has_problem(meter, "perf_event_paranoid is 2"));
    close_meter(meter);
}

#ifdef TAKT_FAKE_NVML

static void gpus_are_counted_by_their_addresses(void)
{
    struct takt_energy_reading reading;

    test_config()->nvml = TAKT_FAKE_NVML;
    setenv("FAKE_NVML_GPUS", "2", 1);
    struct takt_energy_meter *meter = open_meter(server, true);
    const struct takt_energy_counter *counter = takt__meter_counters(meter);
    EXPECT_INT(takt__meter_count(meter), 5); /* and the processor's */
    EXPECT_STR(counter[0].address, "0000:00:00.0");
    EXPECT_STR(counter[1].address, "0000:01:00.0");
    EXPECT_STR(counter[0].name, "Fake GPU");
    EXPECT_INT(counter[0].step_ms, 100);
    EXPECT(!counter[0].is_power);
    takt__meter_read(meter, 1, &reading);
    EXPECT(!reading.is_gone && reading.count > 0);
    EXPECT_INT(reading.share_pml, 0);
    takt__meter_read(meter, 4, &reading);
    EXPECT_INT(reading.count, 2000);
    close_meter(meter);
}

/* Watts between two readings a millisecond apart. */
static double watts_now(struct takt_energy_meter *meter)
{
    struct takt_energy_reading first, second;

    takt__meter_read(meter, 0, &first);
    do
        takt__meter_read(meter, 0, &second);
    while (second.at_ns - first.at_ns < 1000000);
    EXPECT(second.count > first.count);
    return (double)(second.count - first.count) /
           ((double)(second.at_ns - first.at_ns) * 1e-3);
}

/* A reading that is held up between the power and the clock is off: it is tried
 * again. */
static void a_gpu_without_a_counter_has_its_power_added_up(void)
{
    double watts = 0;

    test_config()->nvml = TAKT_FAKE_NVML;
    setenv("FAKE_NVML_GPUS", "1", 1);
    setenv("FAKE_NVML_FAIL", "energy", 1);
    struct takt_energy_meter *meter = open_meter("arch aarch64\n", true);
    REQUIRE(takt__meter_count(meter) == 1);
    EXPECT(takt__meter_counters(meter)->is_power);
    for (int i = 0; i < 5000 && !(watts > 110 && watts < 130); i++)
        watts = watts_now(meter);
    EXPECT_NEAR(watts, 120, 10);
    close_meter(meter);
    unsetenv("FAKE_NVML_FAIL");
}

static void what_nvml_cannot_do_is_said_in_a_line(void)
{
    test_config()->nvml = TAKT_FAKE_NVML;
    setenv("FAKE_NVML_FAIL", "init", 1);
    struct takt_energy_meter *meter = open_meter("arch aarch64\n", true);
    EXPECT(has_problem(meter, "nvml: it cannot be used: Not Supported"));
    close_meter(meter);
    setenv("FAKE_NVML_FAIL", "energy,power", 1);
    meter = open_meter("arch aarch64\n", true);
    EXPECT(has_problem(meter, "GPU 0 tells neither energy nor power"));
    EXPECT_INT(takt__meter_count(meter), 0);
    close_meter(meter);
    unsetenv("FAKE_NVML_FAIL");
    setenv("FAKE_NVML_GPUS", "0", 1);
    meter = open_meter("arch aarch64\n", true);
    EXPECT(has_problem(meter, "shows no GPU"));
    close_meter(meter);
}

static void a_counter_that_fails_later_is_gone(void)
{
    struct takt_energy_reading reading;

    test_config()->nvml = TAKT_FAKE_NVML;
    setenv("FAKE_NVML_GPUS", "1", 1);
    struct takt_energy_meter *meter = open_meter("arch aarch64\n", true);
    setenv("FAKE_NVML_FAIL", "energy", 1);
    takt__meter_read(meter, 0, &reading);
    EXPECT(reading.is_gone);
    unsetenv("FAKE_NVML_FAIL");
    close_meter(meter);
}

#endif

static void a_privileged_program_loads_no_library_by_name(void)
{
    test_config()->nvml = NULL;
    test_config()->is_privileged = true;
    struct takt_energy_meter *meter = open_meter("arch aarch64\n", true);
    EXPECT(has_problem(meter, "more rights than its user"));
    test_config()->is_privileged = false;
    close_meter(meter);
}

int main(void)
{
    RUN(packages_and_their_memory_are_counted_once);
    RUN(counters_that_only_root_may_read_are_said_so);
    RUN(a_machine_without_counters_is_said_to_be_one);
    RUN(counters_of_the_processor_are_read_with_the_load);
    RUN(power_events_need_a_kernel_that_has_them);
    RUN(power_events_that_cannot_be_opened_are_said_so);
#ifdef TAKT_FAKE_NVML
    RUN(gpus_are_counted_by_their_addresses);
    RUN(a_gpu_without_a_counter_has_its_power_added_up);
    RUN(what_nvml_cannot_do_is_said_in_a_line);
    RUN(a_counter_that_fails_later_is_gone);
#endif
    RUN(a_privileged_program_loads_no_library_by_name);
    return tap_done();
}
