/* SPDX-License-Identifier: MIT */
/* optimize_json.c - findings for programs: one JSON object. */
#include <stdio.h>
#include <string.h>

#include "optimize.h"

static const char *profile_name(const struct report *report)
{
    return takt__profile_name(report->workflow->config.profile);
}

static void begin(struct report *report)
{
    struct json *json = &report->json;
    const struct rules *rules = report->rules;

    *json = json_begin(stdout);
    json_open(json, NULL, '{');
    json_string(json, "project", report->workflow->folder);
    json_open(json, "options", '{');
    json_bool(json, "enable_gpu", rules->enable_gpu);
    json_bool(json, "enable_simd", rules->enable_simd);
    json_count(json, "gpu_threshold", rules->gpu_threshold);
    json_bool(json, "use_moe_routing", rules->use_moe);
    json_string(json, "profile", profile_name(report));
    json_bool(json, "dry_run", report->workflow->is_dry);
    json_bool(json, "tuned", rules->is_tuned);
    json_close(json, '}');
    json_open(json, "findings", '[');
}

static void print_size(struct json *json, const struct takt_finding *finding)
{
    const struct takt_found_size *size = &finding->size;

    if (size->shape.rank == 0) {
        json_null(json, "size");
        return;
    }
    json_open(json, "size", '{');
    json_open(json, "shape", '[');
    for (unsigned i = 0; i < size->shape.rank; i++)
        if (size->shape.dim[i] == 0)
            json_null(json, NULL);
        else
            json_count(json, NULL, size->shape.dim[i]);
    json_close(json, ']');
    json_string(json, "order", finding->op->shape);
    json_string(json, "source", takt__size_source_name(size->source));
    json_close(json, '}');
}

static void print_from(struct json *json, const char *key, size_t from)
{
    if (from == SIZE_MAX)
        json_null(json, key);
    else
        json_count(json, key, from);
}

static void print_advice(struct json *json, const struct advice *advice)
{
    json_open(json, "recommendation", '{');
    json_string(json, "backend",
                advice->is_conditional ? NULL
                                       : takt_backend_key(advice->backend));
    json_string(json, "text", advice->text);
    json_bool(json, "conditional", advice->is_conditional);
    if (advice->is_conditional) {
        json_string(json, "n",
                    advice->is_dimension ? "matrix dimension" : "elements");
        print_from(json, "gpu_from", advice->gpu_from);
        print_from(json, "simd_from", advice->simd_from);
    }
    if (predicted_gain(advice) > 0) {
        json_string(json, "expert", advice->expert);
        json_number(json, "gain", predicted_gain(advice));
        json_number(json, "scalar_us", advice->scalar_s * 1e6);
        json_number(json, "predicted_us", advice->best_s * 1e6);
    } else {
        json_null(json, "gain");
    }
    json_string(json, "call", advice->call[0] != '\0' ? advice->call : NULL);
    json_close(json, '}');
}

static void print_finding(struct report *report,
                          const struct takt_finding *finding,
                          const struct advice *advice)
{
    struct json *json = &report->json;

    json_open(json, NULL, '{');
    json_string(json, "file", finding->path);
    json_count(json, "line", finding->line);
    json_count(json, "column", finding->column);
    json_count(json, "end_line", finding->end_line);
    json_count(json, "end_column", finding->end_column);
    json_string(json, "language", takt__scan_language_name(finding->language));
    json_string(json, "pattern", finding->pattern);
    json_string(json, "op", finding->name);
    json_string(json, "complexity",
                takt_complexity_name(finding->op->complexity));
    json_string(json, "dtype",
                finding->is_dtype_known ? takt_dtype_name(finding->dtype)
                                        : NULL);
    print_size(json, finding);
    json_string(json, "function",
                finding->function == NULL || finding->function[0] == '\0'
                    ? NULL
                    : finding->function);
    json_bool(json, "test", finding->is_test);
    json_string(json, "snippet", finding->snippet);
    print_advice(json, advice);
    json_close(json, '}');
}

static void print_counts(struct json *json, const struct report *report)
{
    const struct tally *tally = &report->tally;
    const struct takt_scan_report *found = &report->search->report;

    json_open(json, "summary", '{');
    json_count(json, "findings", tally_total(tally));
    json_count(json, "gpu", tally->gpu);
    json_count(json, "simd", tally->simd);
    json_count(json, "scalar", tally->scalar);
    json_count(json, "conditional", tally->conditional);
    json_count(json, "in_tests", tally->in_tests);
    json_open(json, "languages", '{');
    for (int i = 0; i < TAKT_SCAN_LANGUAGES; i++) {
        const struct takt_scan_counts *of = &found->of[i];
        if (of->files == 0)
            continue;
        json_open(json, takt__scan_language_name((enum takt_scan_language)i),
                  '{');
        json_count(json, "files", of->files);
        json_count(json, "lines", of->lines);
        json_count(json, "bytes", of->bytes);
        json_count(json, "parsed", of->parsed);
        json_count(json, "parsed_partly", of->partly);
        json_close(json, '}');
    }
    json_close(json, '}');
    json_count(json, "ignored", found->ignored);
    json_count(json, "unreadable", found->unreadable);
    json_count(json, "binary", found->binary);
    json_count(json, "too_large", found->too_large);
    json_count(json, "not_utf8", found->not_utf8);
    json_count(json, "gave_up", found->gave_up);
    json_number(json, "seconds", found->seconds);
    json_close(json, '}');
}

static void print_profile(struct json *json,
                          const struct profile_outcome *profile)
{
    if (profile == NULL || !profile->is_cargo) {
        json_null(json, "manifest");
        return;
    }
    json_open(json, "manifest", '{');
    json_string(json, "path", profile->path);
    json_string(json, "profile", profile->profile);
    json_bool(json, "changed", profile->is_changed);
    json_string(json, "backup",
                profile->backup[0] == '\0' ? NULL : profile->backup);
    json_string(json, "diff", profile->diff);
    json_close(json, '}');
}

static void end(struct report *report)
{
    struct json *json = &report->json;

    json_close(json, ']');
    print_counts(json, report);
    print_profile(json, report->profile);
    json_string(json, "error", report->error);
    json_close(json, '}');
    json_end(json);
}

const struct report_form report_json = {begin, print_finding, end};
