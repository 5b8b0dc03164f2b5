/* SPDX-License-Identifier: MIT */
/* perf.c - RAPL by the power events of perf. */
#define _GNU_SOURCE /* syscall() */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "energy/sources.h"
#include "hw/text.h"

static const char folder[] = "/sys/bus/event_source/devices/power";

static bool read_text(const struct takt_hw_source *source, const char *file,
                      char *out, size_t size)
{
    char path[160];

    snprintf(path, sizeof path, "%s/%s", folder, file);
    source->file(source->self, path, out, size);
    if (out[0] == '\0') /* none, or it cannot be read */
        return false;
    out[strcspn(out, "\n")] = '\0';
    return true;
}

static bool read_number(const struct takt_hw_source *source, const char *file,
                        uint64_t *out)
{
    char text[64];
    const char *at = text;

    return read_text(source, file, text, sizeof text) &&
           takt__text_number(&at, 10, out);
}

/* "2.3283064365386962890625e-10" joules as attojoules, whatever the locale. */
static uint64_t read_scale(const char *text)
{
    double value = 0, digit = 1;
    bool is_behind = false;

    for (; (*text >= '0' && *text <= '9') || *text == '.'; text++) {
        if (*text == '.') {
            is_behind = true;
            continue;
        }
        if (is_behind)
            digit /= 10;
        value = is_behind ? value + (*text - '0') * digit
                          : 10 * value + (*text - '0');
    }
    long exponent =
        *text == 'e' || *text == 'E' ? strtol(text + 1, NULL, 10) : 0;
    for (exponent += 18; exponent > 0 && value < 1e18; exponent--)
        value *= 10;
    for (; exponent < 0 && value >= 1; exponent++)
        value /= 10;
    return value >= 1 && value < 1e18 ? (uint64_t)(value + 0.5) : 0;
}

/* The event of that name: "event=0x02", in joules. */
static bool find_event(const struct takt_hw_source *source, const char *name,
                       uint64_t *config, uint64_t *unit_aj)
{
    char file[64], text[64];
    const char *at = text + 6;

    snprintf(file, sizeof file, "events/%s", name);
    if (!read_text(source, file, text, sizeof text) ||
        strncmp(text, "event=", 6) != 0 || !takt__text_number(&at, 16, config))
        return false;
    snprintf(file, sizeof file, "events/%s.unit", name);
    if (!read_text(source, file, text, sizeof text) ||
        strcmp(text, "Joules") != 0)
        return false;
    snprintf(file, sizeof file, "events/%s.scale", name);
    *unit_aj =
        read_text(source, file, text, sizeof text) ? read_scale(text) : 0;
    return *unit_aj > 0;
}

static int open_event(uint64_t type, uint64_t config, unsigned cpu)
{
    struct perf_event_attr attribute = {
        .type = (uint32_t)type, .size = sizeof attribute, .config = config};

    return (int)syscall(SYS_perf_event_open, &attribute, -1, (int)cpu, -1,
                        PERF_FLAG_FD_CLOEXEC);
}

static void explain(const struct takt_hw_source *source, int error,
                    char *problem, size_t size)
{
    char level[32] = "unknown";

    source->file(source->self, "/proc/sys/kernel/perf_event_paranoid", level,
                 sizeof level);
    level[strcspn(level, "\n")] = '\0';
    if (error == EACCES || error == EPERM)
        snprintf(problem, size,
                 "perf: this user may not open power events "
                 "(perf_event_paranoid is %.8s): run 'sysctl "
                 "kernel.perf_event_paranoid=0' as root, or give the program "
                 "CAP_PERFMON",
                 level);
    else
        snprintf(problem, size, "perf: power events cannot be opened: %s",
                 strerror(error));
}

/* The next processor of a list such as "0,18" or "0-3"; false: the end. */
static bool next_cpu(const char **at, unsigned *out)
{
    uint64_t cpu;

    while (**at == ',')
        ++*at;
    if (!takt__text_number(at, 10, &cpu) || cpu > 65535)
        return false;
    *out = (unsigned)cpu;
    *at += strcspn(*at, ","); /* of a range, the first */
    return true;
}

struct opening {
    const struct takt_hw_source *source;
    struct takt_perf_counter *perf;
    struct takt_energy_counter *counter;
    unsigned count;
    int error;
};

/* Opens an event on a processor of each package. */
static void open_all(struct opening *opening, const char *event,
                     const char *name, uint64_t type, const char *cpus)
{
    uint64_t config, unit_aj;
    unsigned cpu, package = 0;

    if (!find_event(opening->source, event, &config, &unit_aj))
        return;
    for (; opening->count < TAKT_ENERGY_COUNTERS && next_cpu(&cpus, &cpu);
         package++) {
        struct takt_perf_counter *perf = &opening->perf[opening->count];
        perf->fd = open_event(type, config, cpu);
        if (perf->fd < 0) {
            opening->error = errno;
            return;
        }
        if (ioctl(perf->fd, PERF_EVENT_IOC_ID, &perf->id) != 0)
            perf->id = 0;
        struct takt_energy_counter *counter =
            &opening->counter[opening->count++];
        *counter =
            (struct takt_energy_counter){.source = "perf", .unit_aj = unit_aj};
        snprintf(counter->name, sizeof counter->name, "%s-%u", name, package);
    }
}

unsigned takt__perf_open(const struct takt_hw_source *source,
                         struct takt_perf_counter out[TAKT_ENERGY_COUNTERS],
                         struct takt_energy_counter counter[], char *problem,
                         size_t size)
{
    struct opening opening = {source, out, counter, 0, 0};
    char cpus[256];
    uint64_t type;

    if (!read_number(source, "type", &type) ||
        !read_text(source, "cpumask", cpus, sizeof cpus)) {
        snprintf(problem, size,
                 "perf: the kernel has no power events (virtual machines "
                 "mostly have none)");
        return 0;
    }
    open_all(&opening, "energy-pkg", "package", type, cpus);
    if (opening.count > 0)
        open_all(&opening, "energy-ram", "dram", type, cpus);
    else if (opening.error == 0)
        snprintf(problem, size, "perf: there is no event energy-pkg");
    else
        explain(source, opening.error, problem, size);
    return opening.count;
}

/* A program may have closed the descriptor, and have another file there. */
static bool is_ours(const struct takt_perf_counter *perf)
{
    uint64_t id = 0;

    return ioctl(perf->fd, PERF_EVENT_IOC_ID, &id) == 0 && id == perf->id;
}

bool takt__perf_read(const struct takt_perf_counter *perf, uint64_t *count)
{
    return is_ours(perf) &&
           read(perf->fd, count, sizeof *count) == sizeof *count;
}

void takt__perf_close(const struct takt_perf_counter *perf)
{
    if (is_ours(perf))
        close(perf->fd);
}
