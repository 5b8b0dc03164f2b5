/* SPDX-License-Identifier: MIT */
/*
 * resource.c - the source: the service, this process, this machine.
 *
 * A key is written once: what the user gives wins, and of several values
 * that the user gives, the last.
 */
#include "writer.h"

#include <stdio.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <takt/version.h>

struct resource {
    struct takt_otel_writer writer;
    const struct takt_otel_source *source;
};

static bool is_given(const struct takt_otel_pairs *pairs, const char *key,
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

static void put_pairs(struct resource *resource)
{
    const struct takt_otel_pairs *pairs = resource->source->attributes;

    for (size_t i = 0; pairs != NULL && i < pairs->count; i++) {
        const struct takt_otel_pair *pair = &pairs->pair[i];
        if (is_given(pairs, pair->key, i + 1))
            continue;
        if (has_service(resource->source) &&
            strcmp(pair->key, "service.name") == 0)
            continue;
        takt__otel_key_text(&resource->writer, pair->key, pair->value);
    }
}

static void put_text(struct resource *resource, const char *key,
                     const char *text)
{
    if (text[0] != '\0' && !is_given(resource->source->attributes, key, 0))
        takt__otel_key_text(&resource->writer, key, text);
}

static void put_integer(struct resource *resource, const char *key,
                        uint64_t value)
{
    if (!is_given(resource->source->attributes, key, 0))
        takt__otel_key_integer(&resource->writer, key, value);
}

/* Conventions have numbers of processors as strings. */
static void put_digits(struct resource *resource, const char *key,
                       unsigned value)
{
    char digits[16];

    snprintf(digits, sizeof digits, "%u", value);
    put_text(resource, key, digits);
}

static void put_service(struct resource *resource, const char *executable)
{
    char unknown[300];

    snprintf(unknown, sizeof unknown, "unknown_service%s%.255s",
             executable[0] != '\0' ? ":" : "", executable);
    if (has_service(resource->source))
        takt__otel_key_text(&resource->writer, "service.name",
                            resource->source->service_name);
    else
        put_text(resource, "service.name", unknown);
    if (resource->source->instance_id != NULL)
        put_text(resource, "service.instance.id",
                 resource->source->instance_id);
    put_text(resource, "telemetry.sdk.name", "takt");
    put_text(resource, "telemetry.sdk.language", "c");
    put_text(resource, "telemetry.sdk.version", takt_version());
}

static void put_system(struct resource *resource)
{
    struct utsname system;
    char description[sizeof system.sysname + sizeof system.release +
                     sizeof system.version + 2];

    if (uname(&system) != 0)
        return;
    put_text(resource, "host.name", system.nodename);
    put_text(resource, "os.type", "linux");
    snprintf(description, sizeof description, "%s %s %s", system.sysname,
             system.release, system.version);
    put_text(resource, "os.description", description);
    put_text(resource, "os.version", system.release);
}

static void put_cpu(struct resource *resource, const takt_machine *machine)
{
    const char *architecture = machine->architecture;

    if (strcmp(architecture, "x86_64") == 0)
        architecture = "amd64";
    else if (strcmp(architecture, "aarch64") == 0)
        architecture = "arm64";
    put_text(resource, "host.arch", architecture);
    put_text(resource, "host.cpu.vendor.id", machine->cpu_vendor);
    put_text(resource, "host.cpu.model.name", machine->cpu_name);
    put_digits(resource, "host.cpu.family", machine->cpu_family);
    put_digits(resource, "host.cpu.model.id", machine->cpu_model);
    put_digits(resource, "host.cpu.stepping", machine->cpu_stepping);
    put_text(resource, "takt.cpu.isa",
             takt_isa_name(takt_machine_best_isa(machine)));
    put_integer(resource, "takt.cpu.threads", machine->threads);
}

static void put_gpus(struct resource *resource, const takt_machine *machine)
{
    static const char *const key[] = {"takt.gpu.name", "takt.gpu.address"};

    for (int k = 0; k < 2; k++) {
        if (machine->gpu_count == 0 ||
            is_given(resource->source->attributes, key[k], 0))
            continue;
        const struct takt_otel_list list =
            takt__otel_key_list(&resource->writer, key[k]);
        for (unsigned i = 0;
             i < machine->gpu_count && i < TAKT_MACHINE_MAX_GPUS; i++)
            takt__otel_list_text(&resource->writer,
                                 k == 0 ? machine->gpu[i].name
                                        : machine->gpu[i].address);
        takt__otel_key_list_end(&resource->writer, list);
    }
}

/* "" when the system does not say. */
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
    struct resource resource = {.writer = takt__otel_writer(format, out),
                                .source = source};
    struct takt_otel_writer *w = &resource.writer;
    const size_t begun = w->form->begin(w, 1, "resource");
    char path[4096];
    const char *executable = find_executable(path, sizeof path);

    takt__otel_attributes(w, 1);
    put_service(&resource, executable);
    put_pairs(&resource);
    put_system(&resource);
    put_integer(&resource, "process.pid", (uint64_t)getpid());
    put_text(&resource, "process.executable.name", executable);
    if (source->machine != NULL) {
        put_cpu(&resource, source->machine);
        put_gpus(&resource, source->machine);
    }
    takt__otel_attributes_end(w);
    w->form->end(w, begun);
}
