/* SPDX-License-Identifier: MIT */
/*
 * tell.c - what was fed, one JSON object per line.
 */
#include "feed.h"

#include <inttypes.h>
#include <math.h>

#include <takt/machine.h>

static void tell_string(FILE *out, const char *text)
{
    fputc('"', out);
    for (const char *at = text; *at != '\0'; at++) {
        const unsigned byte = (unsigned char)*at;

        if (byte < 0x20 || byte > 0x7e || byte == '"' || byte == '\\')
            fprintf(out, "\\u%04x", byte);
        else
            fputc((int)byte, out);
    }
    fputc('"', out);
}

void tell_text(FILE *out, const char *key, const char *text)
{
    fprintf(out, ",\"%s\":", key);
    tell_string(out, text);
}

static void tell_count(FILE *out, const char *key, uint64_t count)
{
    fprintf(out, ",\"%s\":%" PRIu64, key, count);
}

static void tell_real(FILE *out, const char *key, double number)
{
    if (isinf(number))
        fprintf(out, ",\"%s\":Infinity", key);
    else
        fprintf(out, ",\"%s\":%.17g", key, number);
}

static void tell_id(FILE *out, const char *key, const unsigned char *id,
                    size_t size)
{
    fprintf(out, ",\"%s\":\"", key);
    for (size_t i = 0; i < size; i++)
        fprintf(out, "%02x", (unsigned)id[i]);
    fputc('"', out);
}

static void tell_run(FILE *out, const takt_event *event)
{
    tell_text(out, "backend", takt_backend_key(event->backend));
    tell_text(out, "expert", event->expert);
    tell_count(out, "threads", event->threads);
    tell_text(out, "device", event->device);
    tell_text(out, "reason", takt_reason_name(event->reason));
    tell_count(out, "has_history", (uint64_t)event->has_history);
    tell_text(out, "runner_up", event->runner_up);
    tell_real(out, "predicted_s", event->predicted_s);
    tell_real(out, "confidence", event->confidence);
    tell_text(out, "residency", takt_residency_name(event->residency));
    tell_text(out, "refused", event->refused);
    tell_text(out, "refusal", takt_status_text(event->refusal));
    tell_count(out, "status", (uint64_t)event->status);
    tell_text(out, "status_text", takt_status_text(event->status));
}

void tell_event(FILE *out, const takt_event *event)
{
    fprintf(out, "{\"event\":{\"kind\":%d", (int)event->kind);
    tell_count(out, "told", event->told);
    tell_text(out, "op", event->op);
    tell_text(out, "dtype", takt_dtype_name(event->dtype));
    fputs(",\"shape\":[", out);
    for (unsigned i = 0; i < event->shape.rank; i++)
        fprintf(out, "%s%zu", i > 0 ? "," : "", event->shape.dim[i]);
    fputc(']', out);
    tell_count(out, "elements", event->elements);
    tell_real(out, "bytes", event->work.bytes);
    tell_real(out, "flops", event->work.flops);
    tell_run(out, event);
    tell_count(out, "start_ns", event->start_ns);
    tell_count(out, "run_ns", event->run_ns);
    tell_count(out, "end_ns", event->end_ns);
    tell_real(out, "actual_s", event->actual_s);
    tell_count(out, "thread_id", event->thread_id);
    tell_id(out, "parent_trace", event->parent.trace_id, 16);
    tell_id(out, "parent_span", event->parent.span_id, 8);
    fputs("}}\n", out);
}

static void tell_op(FILE *out, const takt_op_metric *op)
{
    fputs("{\"is\":\"op\"", out);
    tell_text(out, "op", op->op);
    tell_count(out, "calls", op->calls);
    tell_count(out, "is_hot", (uint64_t)op->is_hot);
    tell_count(out, "times_hot", op->times_hot);
    tell_real(out, "calls_per_s", op->calls_per_s);
    fputc('}', out);
}

static void tell_counts(FILE *out, const uint64_t *count, size_t size)
{
    for (size_t i = 0; i < size; i++)
        fprintf(out, "%s%" PRIu64, i > 0 ? "," : "", count[i]);
    fputc(']', out);
}

static void tell_duration(FILE *out, const takt_duration_metric *duration)
{
    fputs("{\"is\":\"duration\"", out);
    tell_text(out, "op", duration->op);
    tell_text(out, "expert", duration->expert);
    tell_text(out, "backend", takt_backend_key(duration->backend));
    tell_count(out, "calls", duration->calls);
    tell_real(out, "seconds", duration->seconds);
    tell_real(out, "least_s", duration->least_s);
    tell_real(out, "most_s", duration->most_s);
    fputs(",\"in_class\":[", out);
    tell_counts(out, duration->in_class, TAKT_DURATION_BOUNDS + 1);
    fputc('}', out);
}

void tell_metrics(FILE *out, const takt_metrics *metrics)
{
    const double *bounds = takt_duration_bounds();

    fputs("{\"metrics\":{\"op\":[", out);
    for (size_t i = 0; i < metrics->op_count; i++) {
        fputs(i > 0 ? "," : "", out);
        tell_op(out, &metrics->op[i]);
    }
    fputs("],\"duration\":[", out);
    for (size_t i = 0; i < metrics->duration_count; i++) {
        fputs(i > 0 ? "," : "", out);
        tell_duration(out, &metrics->duration[i]);
    }
    fputs("],\"bounds\":[", out);
    for (size_t i = 0; i < TAKT_DURATION_BOUNDS; i++)
        fprintf(out, "%s%.17g", i > 0 ? "," : "", bounds[i]);
    fputs("],\"decisions\":[", out);
    tell_counts(out, metrics->decisions, TAKT_REASONS);
    tell_count(out, "start_ns", metrics->start_ns);
    tell_count(out, "now_ns", metrics->now_ns);
    tell_count(out, "explorations", metrics->explorations);
    tell_count(out, "fallbacks", metrics->fallbacks);
    tell_count(out, "drift_alarms", metrics->drift_alarms);
    tell_real(out, "exploring_s", metrics->exploring_s);
    tell_count(out, "told", metrics->told);
    tell_count(out, "dropped", metrics->dropped);
    tell_count(out, "samples_dropped", metrics->samples_dropped);
    fputs("}}\n", out);
}

void tell_machine(FILE *out, const takt_machine *machine)
{
    fputs("{\"machine\":{\"is\":\"machine\"", out);
    tell_text(out, "architecture", machine->architecture);
    tell_text(out, "cpu_vendor", machine->cpu_vendor);
    tell_text(out, "cpu_name", machine->cpu_name);
    tell_count(out, "cpu_family", machine->cpu_family);
    tell_count(out, "cpu_model", machine->cpu_model);
    tell_count(out, "cpu_stepping", machine->cpu_stepping);
    tell_text(out, "isa", takt_isa_name(takt_machine_best_isa(machine)));
    tell_count(out, "threads", machine->threads);
    fputs(",\"gpu\":[", out);
    for (unsigned i = 0; i < machine->gpu_count; i++) {
        fprintf(out, "%s{\"is\":\"gpu\"", i > 0 ? "," : "");
        tell_text(out, "name", machine->gpu[i].name);
        tell_text(out, "address", machine->gpu[i].address);
        fputc('}', out);
    }
    fputs("]}}\n", out);
}
