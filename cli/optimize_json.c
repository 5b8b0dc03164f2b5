/* SPDX-License-Identifier: MIT */
/* optimize_json.c - findings for programs: one JSON object. */

#include "findings.h"

static const char *profile_name(const struct optimize_report *report)
{
    return takt__profile_name(report->workflow->config.profile);
}

static void begin(struct optimize_report *report)
{
    struct json *json = &report->json;
    const struct rules *rules = report->rules;

    *json = json_begin(report->out);
    json_print(json,
               "{schema:2 project:%s options:{enable_gpu:%d enable_simd:%d "
               "gpu_threshold:%ju "
               "use_moe_routing:%d profile:%s dry_run:%d tuned:%d} findings:[",
               report->workflow->folder, rules->enable_gpu, rules->enable_simd,
               rules->gpu_threshold, rules->use_moe, profile_name(report),
               report->workflow->is_dry, rules->is_tuned);
}

static void print_size(struct json *json, const struct takt_finding *finding)
{
    const struct takt_found_size *size = &finding->size;

    if (size->shape.rank == 0) {
        json_print(json, "size:null");
        return;
    }
    json_print(json, "size:{shape:[");
    for (unsigned i = 0; i < size->shape.rank; i++)
        json_print(json, "%zu",
                   size->shape.dim[i] == 0 ? SIZE_MAX : size->shape.dim[i]);
    json_print(json, "] order:%s source:%s}", finding->op->shape,
               takt__size_source_name(size->source));
}

static void print_advice(struct json *json, const struct advice *advice)
{
    json_print(json, "recommendation:{backend:%s text:%s conditional:%d",
               advice->is_conditional ? NULL
                                      : takt_backend_key(advice->backend),
               advice->text, advice->is_conditional);
    if (advice->is_conditional)
        json_print(json, "n:%s gpu_from:%zu simd_from:%zu",
                   advice->is_dimension ? "matrix dimension" : "elements",
                   advice->gpu_from, advice->simd_from);
    if (predicted_speedup(advice) > 0)
        json_print(json,
                   "expert:%s predicted_speedup:%g baseline:%s baseline_us:%g "
                   "predicted_us:%g",
                   advice->expert, predicted_speedup(advice), advice->baseline,
                   advice->baseline_s * 1e6, advice->best_s * 1e6);
    else
        json_print(json, "predicted_speedup:null");
    json_print(json, "call:%s}", known_text(advice->call));
}

static void print_evidence(struct json *json, const struct kept_finding *kept)
{
    static const char *const by[] = {NULL, "line", "function", "op"};

    json_print(json, "standing:%s reason:%s loops_around:%u",
               standing_key(kept->standing), kept->reason,
               kept->finding.loops_around);
    if (kept->evidence == EVIDENCE_NONE) {
        json_print(json, "evidence:null");
        return;
    }
    json_print(json, "evidence:{share:%g by:%s shared_by:%u calls:%g",
               kept->share, by[kept->evidence], kept->sharers,
               positive_number(kept->calls));
    if (kept->least > 0)
        json_print(json, "least:%ju most:%zu", kept->least,
                   kept->most > 0 ? (size_t)kept->most : SIZE_MAX);
    json_close(json, '}');
}

static void print_finding(struct optimize_report *report,
                          const struct kept_finding *kept,
                          const struct advice *advice)
{
    const struct takt_finding *finding = &kept->finding;
    struct json *json = &report->json;

    json_print(
        json,
        "{file:%s line:%u column:%u end_line:%u end_column:%u "
        "language:%s pattern:%s op:%s certainty:%s complexity:%s dtype:%s",
        finding->path, finding->line, finding->column, finding->end_line,
        finding->end_column, takt__scan_language_name(finding->language),
        finding->pattern, finding->name,
        takt__certainty_name(finding->certainty),
        takt_complexity_name(finding->op->complexity),
        finding->is_dtype_known ? takt_dtype_name(finding->dtype) : NULL);
    print_size(json, finding);
    json_print(json, "function:%s test:%d snippet:%s",
               finding->function == NULL || finding->function[0] == '\0'
                   ? NULL
                   : finding->function,
               finding->is_test, finding->snippet);
    json_string(json, "rewrite", finding->rewrite);
    print_evidence(json, kept);
    print_advice(json, advice);
    json_close(json, '}');
}

static void print_profiles(struct json *json,
                           const struct evidence_summary *evidence)
{
    json_print(
        json, "formats:%s in_findings:%g in_project:%g elsewhere:%g other:[",
        evidence->formats, evidence->found, evidence->own, evidence->elsewhere);
    for (size_t i = 0; i < evidence->hot.count; i++) {
        const struct hot_place *place = &evidence->hot.at[i];
        json_print(json, "{file:%s line:%u end_line:%u function:%s share:%g}",
                   place->path, place->from, place->to, place->function,
                   place->share);
    }
    json_close(json, ']');
}

static void print_counts(struct json *json,
                         const struct optimize_report *report)
{
    const struct finding_tally *tally = &report->tally;
    const struct takt_scan_report *found = &report->search->report;

    json_print(json,
               "summary:{findings:%ju gpu:%ju simd:%ju scalar:%ju "
               "conditional:%ju in_tests:%ju unchanged:%ju standing:{",
               tally_total(tally), tally->gpu, tally->simd, tally->scalar,
               tally->conditional, tally->in_tests, tally->unchanged);
    for (int i = 0; i < STANDINGS; i++)
        json_count(json, standing_key((enum standing)i), tally->of[i]);
    json_print(json, "} profiles:{files:%zu", report->evidence->files);
    if (report->evidence->files > 0)
        print_profiles(json, report->evidence);
    json_print(json, "} languages:{");
    for (int i = 0; i < TAKT_SCAN_LANGUAGES; i++) {
        const struct takt_scan_counts *of = &found->of[i];
        if (of->files == 0)
            continue;
        json_open(json, takt__scan_language_name((enum takt_scan_language)i),
                  '{');
        json_print(
            json, "files:%ju lines:%ju bytes:%ju parsed:%ju parsed_partly:%ju}",
            of->files, of->lines, of->bytes, of->parsed, of->partly);
    }
    json_print(json,
               "} ignored:%ju unreadable:%ju binary:%ju too_large:%ju "
               "not_utf8:%ju gave_up:%ju seconds:%g}",
               found->ignored, found->unreadable, found->binary,
               found->too_large, found->not_utf8, found->gave_up,
               found->seconds);
}

static void print_profile(struct json *json,
                          const struct profile_outcome *profile)
{
    if (profile == NULL || !profile->is_cargo) {
        json_print(json, "manifest:null");
        return;
    }
    json_print(json,
               "manifest:{path:%s profile:%s changed:%d kept:%s backup:%s "
               "diff:%s}",
               profile->path, profile->profile, profile->is_changed,
               known_text(profile->kept.text), known_text(profile->backup),
               profile->diff);
}

static void end(struct optimize_report *report)
{
    struct json *json = &report->json;

    json_close(json, ']');
    print_counts(json, report);
    print_profile(json, report->profile);
    json_print(json, "error:%s}\n", report->error);
}

const struct report_form report_json = {begin, print_finding, end};
