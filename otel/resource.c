/* SPDX-License-Identifier: MIT */
/*
 * resource.c - the source: the service, this process, this machine.
 *
 * A key is written once: what the user says of it wins, and of several things
 * that the user says, the last.
 */
#include "writer.h"

#include <stdio.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <takt/version.h>

struct speaker {
    struct takt_otel_writer writer;
    const struct takt_otel_source *source;
};

static bool is_said(const struct takt_otel_pairs *pairs, const char *key,
                    size_t from)
{
    for (size_t i = from; pairs != NULL && i < pairs->count; i++)
        if (strcmp(pairs->pair[i].key, key) == 0)
            return true;
    return false;
}

static bool has_service(const struct takt_otel_source *source)
{
    return source->service_name != NULL && source->service_name[0] != '\0';
}

static void put_pairs(struct speaker *speaker)
{
    const struct takt_otel_pairs *pairs = speaker->source->attributes;

    for (size_t i = 0; pairs != NULL && i < pairs->count; i++) {
        const struct takt_otel_pair *pair = &pairs->pair[i];
        if (is_said(pairs, pair->key, i + 1))
            continue;
        if (has_service(speaker->source) &&
            strcmp(pair->key, "service.name") == 0)
            continue;
        takt__otel_key_text(&speaker->writer, pair->key, pair->value);
    }
}

static void say(struct speaker *speaker, const char *key, const char *text)
{
    if (text[0] != '\0' && !is_said(speaker->source->attributes, key, 0))
        takt__otel_key_text(&speaker->writer, key, text);
}

static void say_integer(struct speaker *speaker, const char *key,
                        uint64_t value)
{
    if (!is_said(speaker->source->attributes, key, 0))
        takt__otel_key_integer(&speaker->writer, key, value);
}

/* Conventions have numbers of processors as strings. */
static void say_digits(struct speaker *speaker, const char *key, unsigned value)
{
    char digits[16];

    snprintf(digits, sizeof digits, "%u", value);
    say(speaker, key, digits);
}

static void put_service(struct speaker *speaker, const char *executable)
{
    char unknown[300];

    snprintf(unknown, sizeof unknown, "unknown_service%s%.255s",
             executable[0] != '\0' ? ":" : "", executable);
    if (has_service(speaker->source))
        takt__otel_key_text(&speaker->writer, "service.name",
                            speaker->source->service_name);
    else
        say(speaker, "service.name", unknown);
    if (speaker->source->instance_id != NULL)
        say(speaker, "service.instance.id", speaker->source->instance_id);
    say(speaker, "telemetry.sdk.name", "takt");
    say(speaker, "telemetry.sdk.language", "c");
    say(speaker, "telemetry.sdk.version", takt_version());
}

static void put_system(struct speaker *speaker)
{
    struct utsname system;
    char description[sizeof system.sysname + sizeof system.release +
                     sizeof system.version + 2];

    if (uname(&system) != 0)
        return;
    say(speaker, "host.name", system.nodename);
    say(speaker, "os.type", "linux");
    snprintf(description, sizeof description, "%s %s %s", system.sysname,
             system.release, system.version);
    say(speaker, "os.description", description);
    say(speaker, "os.version", system.release);
}

static void put_cpu(struct speaker *speaker, const takt_machine *machine)
{
    const char *architecture = machine->architecture;

    if (strcmp(architecture, "x86_64") == 0)
        architecture = "amd64";
    else if (strcmp(architecture, "aarch64") == 0)
        architecture = "arm64";
    say(speaker, "host.arch", architecture);
    say(speaker, "host.cpu.vendor.id", machine->cpu_vendor);
    say(speaker, "host.cpu.model.name", machine->cpu_name);
    say_digits(speaker, "host.cpu.family", machine->cpu_family);
    say_digits(speaker, "host.cpu.model.id", machine->cpu_model);
    say_digits(speaker, "host.cpu.stepping", machine->cpu_stepping);
    say(speaker, "takt.cpu.isa", takt_isa_name(takt_machine_best_isa(machine)));
    say_integer(speaker, "takt.cpu.threads", machine->threads);
}

static void put_gpus(struct speaker *speaker, const takt_machine *machine)
{
    static const char *const key[] = {"takt.gpu.name", "takt.gpu.address"};

    for (int k = 0; k < 2; k++) {
        if (machine->gpu_count == 0 ||
            is_said(speaker->source->attributes, key[k], 0))
            continue;
        const struct takt_otel_list list =
            takt__otel_key_list(&speaker->writer, key[k]);
        for (unsigned i = 0;
             i < machine->gpu_count && i < TAKT_MACHINE_MAX_GPUS; i++)
            takt__otel_list_text(&speaker->writer,
                                 k == 0 ? machine->gpu[i].name
                                        : machine->gpu[i].address);
        takt__otel_key_list_end(&speaker->writer, list);
    }
}

/* "" when the system does not tell. */
static const char *find_executable(char *path, size_t size)
{
    const ssize_t length = readlink("/proc/self/exe", path, size - 1);
    const char *slash;

    path[length > 0 ? length : 0] = '\0';
    slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

void takt__otel_resource(enum takt_otel_format format,
                         const struct takt_otel_source *source,
                         struct takt_otel_bytes *out)
{
    struct speaker speaker = {.writer = takt__otel_writer(format, out),
                              .source = source};
    struct takt_otel_writer *w = &speaker.writer;
    const size_t begun = w->form->begin(w, 1, "resource");
    char path[4096];
    const char *executable = find_executable(path, sizeof path);

    takt__otel_attributes(w, 1);
    put_service(&speaker, executable);
    put_pairs(&speaker);
    put_system(&speaker);
    say_integer(&speaker, "process.pid", (uint64_t)getpid());
    say(&speaker, "process.executable.name", executable);
    if (source->machine != NULL) {
        put_cpu(&speaker, source->machine);
        put_gpus(&speaker, source->machine);
    }
    takt__otel_attributes_end(w);
    w->form->end(w, begun);
}
