/* SPDX-License-Identifier: MIT */
/*
 * optimize_sarif.c - findings for code hosts and editors: SARIF 2.1.0.
 *
 * Results are written as they come, and the rules after them, because which
 * patterns occur is known only then.
 */
#define _XOPEN_SOURCE 700 /* realpath */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "findings.h"

static void begin(struct optimize_report *report)
{
    struct json *json = &report->json;

    *json = json_begin(stdout);
    json_print(json, "{$schema:%s version:%s runs:[{columnKind:%s results:[",
               "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/"
               "schemas/sarif-schema-2.1.0.json",
               "2.1.0", "utf16CodeUnits");
}

/* The rule of a finding: one for each pattern. SIZE_MAX: no memory. */
static size_t rule_of(struct optimize_report *report,
                      const struct takt_finding *finding)
{
    for (size_t i = 0; i < report->rule_count; i++)
        if (strncmp(report->rule[i].pattern, finding->pattern,
                    sizeof report->rule[i].pattern - 1) == 0 &&
            report->rule[i].op == finding->op)
            return i;
    if (!takt__grow(&report->rule, &report->rule_room, report->rule_count + 1,
                    sizeof *report->rule))
        return SIZE_MAX;
    struct sarif_rule *rule = &report->rule[report->rule_count];
    snprintf(rule->pattern, sizeof rule->pattern, "%s", finding->pattern);
    rule->op = finding->op;
    return report->rule_count++;
}

static void rule_id(const char *pattern, const takt_op *op, char *out,
                    size_t size)
{
    snprintf(out, size, "%s/%s", pattern, op->name);
}

/* A path as a URI: RFC 3986's plain characters, and / between the parts. */
static void format_uri(const char *path, char *out, size_t size)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/";
    size_t used = 0;

    for (; *path != '\0' && used + 4 < size; path++)
        if (strchr(plain, *path) != NULL)
            out[used++] = *path;
        else
            used += (size_t)snprintf(out + used, size - used, "%%%02X",
                                     (unsigned)(unsigned char)*path);
    out[used] = '\0';
}

static const char *level_of(const struct kept_finding *kept,
                            const struct advice *advice)
{
    if (kept->finding.is_test || !is_listed(kept))
        return "none";
    if (advice->backend == TAKT_BACKEND_GPU)
        return "warning";
    return advice->is_conditional || advice->backend == TAKT_BACKEND_SIMD
               ? "note"
               : "none";
}

static void print_message(struct json *json, const struct takt_finding *finding,
                          const struct advice *advice)
{
    const struct phrase speedup = describe_speedup(advice);

    json_print(json, "message:{text:%s}",
               phrase("%s: %s%s%s%s%s%s", describe_found(finding, advice).at,
                      advice->text, speedup.at[0] != '\0' ? ", " : "",
                      speedup.at, advice->call[0] != '\0' ? "; " : "",
                      advice->call,
                      advice->call[0] != '\0' ? " replaces it" : "")
                   .at);
}

static void print_location(struct json *json,
                           const struct takt_finding *finding)
{
    char uri[3 * longest_path];

    format_uri(finding->path, uri, sizeof uri);
    json_print(json,
               "locations:[{physicalLocation:{artifactLocation:{uri:%s "
               "uriBaseId:%s} region:{startLine:%u startColumn:%u endLine:%u "
               "endColumn:%u snippet:{text:%s}}}}]",
               uri, "SRCROOT", finding->line, finding->column,
               finding->end_line, finding->end_column, finding->snippet);
}

/* The same finding again when lines were added above it. */
static void print_fingerprint(struct json *json,
                              const struct takt_finding *finding)
{
    char hex[TAKT_SHA256_HEX];

    fingerprint(finding, hex);
    json_print(json, "partialFingerprints:{taktFinding/v1:%s}", hex);
}

/* Code hosts do not show what is suppressed. */
static void print_suppression(struct json *json,
                              const struct kept_finding *kept)
{
    if (kept->standing == STANDING_IGNORED)
        json_print(json, "suppressions:[{kind:%s justification:%s}]",
                   "inSource", kept->reason);
    else if (kept->standing == STANDING_KNOWN)
        json_print(json, "suppressions:[{kind:%s}] baselineState:%s",
                   "external", "unchanged");
}

static void print_finding(struct optimize_report *report,
                          const struct kept_finding *kept,
                          const struct advice *advice)
{
    const struct takt_finding *finding = &kept->finding;
    struct json *json = &report->json;
    const size_t rule = rule_of(report, finding);
    const char *level = level_of(kept, advice);
    char id[128];

    rule_id(finding->pattern, finding->op, id, sizeof id);
    json_print(json, "{ruleId:%s", id);
    if (rule != SIZE_MAX)
        json_count(json, "ruleIndex", rule);
    json_string(json, "level", level);
    if (strcmp(level, "none") == 0)
        json_string(json, "kind", "informational");
    print_message(json, finding, advice);
    print_location(json, finding);
    print_fingerprint(json, finding);
    print_suppression(json, kept);
    if (kept->share > 0)
        json_number(json, "rank", 100 * kept->share);
    json_print(json,
               "properties:{op:%s complexity:%s recommendation:%s test:%d "
               "standing:%s",
               finding->name, takt_complexity_name(finding->op->complexity),
               advice->text, finding->is_test, standing_key(kept->standing));
    if (kept->share > 0)
        json_number(json, "time_share", kept->share);
    if (predicted_speedup(advice) > 0)
        json_print(json, "predicted_speedup:%g baseline:%s",
                   predicted_speedup(advice), advice->baseline);
    json_print(json, "}}");
}

static void print_rule(struct json *json, const char *pattern,
                       const takt_op *op)
{
    char id[128], brief[192], text[192];

    rule_id(pattern, op, id, sizeof id);
    snprintf(brief, sizeof brief, "%s: %s", op->name, op->summary);
    snprintf(text, sizeof text,
             "The pattern %s computes what the op %s of Takt does, of %s "
             "complexity.",
             pattern, op->name, takt_complexity_name(op->complexity));
    json_print(json,
               "{id:%s shortDescription:{text:%s} fullDescription:{text:%s} "
               "defaultConfiguration:{level:%s}}",
               id, brief, text, "note");
}

static void print_base(struct json *json, const struct optimize_report *report)
{
    char real[PATH_MAX], uri[3 * PATH_MAX], text[3 * PATH_MAX + 16];

    if (realpath(report->search->folder, real) == NULL)
        return;
    format_uri(real, uri, sizeof uri);
    snprintf(text, sizeof text, "file://%s%s", uri,
             strcmp(uri, "/") == 0 ? "" : "/");
    json_print(json, "originalUriBaseIds:{SRCROOT:{uri:%s}}", text);
}

static void end(struct optimize_report *report)
{
    struct json *json = &report->json;

    json_print(json, "] tool:{driver:{name:%s version:%s rules:[", "takt",
               takt_version());
    for (size_t i = 0; i < report->rule_count; i++)
        print_rule(json, report->rule[i].pattern, report->rule[i].op);
    json_print(json, "]}}");
    print_base(json, report);
    json_print(json, "invocations:[{executionSuccessful:%d}]}]}\n",
               report->error == NULL);
    free(report->rule);
}

const struct report_form report_sarif = {begin, print_finding, end};
