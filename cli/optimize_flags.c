/* SPDX-License-Identifier: MIT */
/* optimize_flags.c - options of `takt optimize`, over the project's file, over
 * the defaults. */
#include "commands.h"
#include "context.h"
#include "findings.h"

static bool read_threshold(const struct invocation *invocation, size_t *out)
{
    return read_count_option(invocation, "gpu-threshold", SIZE_MAX,
                             "should be at least 1", out);
}

/* The page would replace what it is made from. */
static bool is_output_apart(const struct invocation *invocation)
{
    static const char *const inputs[] = {"profile-data", "baseline",
                                         "compile-commands"};
    const char *output = option_value(invocation, "output"), *path;

    for (size_t i = 0; output != NULL && i < sizeof inputs / sizeof inputs[0];
         i++)
        for (size_t k = 0;
             (path = option_value_at(invocation, inputs[i], k)) != NULL; k++)
            if (is_same_file(output, path))
                return reject(invocation->command,
                              "--output '%s' is the file of --%s", output,
                              inputs[i]);
    return true;
}

bool check_optimize_flags(const struct invocation *invocation)
{
    /* --patch and --report have forms of their own. */
    static const char *const apart[][2] = {
        {"enable-gpu", "no-gpu"}, {"enable-simd", "no-simd"},
        {"patch", "format"},      {"patch", "json"},
        {"patch", "all"},         {"report", "format"},
        {"format", "json"},       {"report", "json"},
        {"report", "patch"}};
    static const char *const needs[][2] = {{"output", "report"},
                                           {"write-baseline", "baseline"}};
    size_t unused;

    for (size_t i = 0; i < sizeof apart / sizeof apart[0]; i++)
        if (option_given(invocation, apart[i][0]) &&
            option_given(invocation, apart[i][1]))
            return reject(invocation->command,
                          "--%s and --%s exclude each other", apart[i][0],
                          apart[i][1]);
    for (size_t i = 0; i < sizeof needs / sizeof needs[0]; i++)
        if (option_given(invocation, needs[i][0]) &&
            !option_given(invocation, needs[i][1]))
            return reject(invocation->command, "--%s needs --%s", needs[i][0],
                          needs[i][1]);
    return check_languages(invocation) && is_output_apart(invocation) &&
           read_threshold(invocation, &unused);
}

void apply_optimize_flags(const struct invocation *invocation,
                          struct takt_project_config *config)
{
    const char *profile = option_value(invocation, "profile");

    if (profile != NULL)
        takt__profile_parse(profile, &config->profile);
    config->enable_gpu =
        (config->enable_gpu || option_given(invocation, "enable-gpu")) &&
        !option_given(invocation, "no-gpu");
    config->enable_simd =
        (config->enable_simd || option_given(invocation, "enable-simd")) &&
        !option_given(invocation, "no-simd");
    size_t threshold = config->gpu_threshold;
    read_threshold(invocation, &threshold);
    config->gpu_threshold = threshold;
}

const struct report_form *optimize_form(const struct invocation *invocation)
{
    static const struct report_form *const forms[] = {
        &report_text, &report_json, &report_sarif};

    if (option_given(invocation, "patch"))
        return &report_patch;
    if (option_given(invocation, "report") ||
        (option_given(invocation, "json") &&
         !option_given(invocation, "format")))
        return &report_json;
    return forms[option_choice(invocation, "format")];
}
