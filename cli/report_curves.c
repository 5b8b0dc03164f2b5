/* SPDX-License-Identifier: MIT */
/* report_curves.c - what each expert takes at each size, for pictures. */
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "route.h"

/* A page holds all ops of a machine with many experts: of these, the ones that
 * are the fastest somewhere are shown, one thread without and with SIMD, and
 * then those that come nearest. */
enum { most_curves = 8, choices = 4 };

/* What chooses: a static rule, and objectives. */
static const char *const choice_names[choices] = {"moe", "time", "p99",
                                                  "energy"};

/* What is known of one op in one situation. */
struct survey {
    const takt_op *op;
    takt_dtype dtype;
    const struct takt_family *family;
    unsigned situation;
    size_t count; /* of sizes */
    struct {
        unsigned step;
        /* Empty: nothing is known of it. */
        char choice[choices][TAKT_EXPERT_NAME_MAX];
        size_t count;
        takt_estimate estimate[most_estimates];
    } size[TAKT_FAMILY_STEPS];
};

struct candidate {
    char name[TAKT_EXPERT_NAME_MAX];
    size_t wins;
    double nearest; /* its time over that of the fastest, at its best size */
    bool is_reference;
};

static void ask_choice(takt_ctx *ctx, const takt_request *request,
                       unsigned choice, char *out)
{
    takt_request asked = *request;
    takt_decision decision = {.size = sizeof decision};

    asked.size = sizeof asked;
    asked.policy = choice == 0 ? TAKT_POLICY_MOE : TAKT_POLICY_ADAPTIVE;
    asked.objective = choice == 0 ? NULL : choice_names[choice];
    out[0] = '\0';
    if (takt_select(ctx, &asked, &decision) == TAKT_OK)
        memcpy(out, decision.expert, sizeof decision.expert);
}

/* False: no memory. */
static bool ask(struct survey *survey, takt_ctx *ctx, unsigned step)
{
    takt_request request =
        takt__family_request(survey->family, survey->op, survey->dtype, step);
    takt_estimate *out = survey->size[survey->count].estimate;
    size_t found = 0;

    request.situation = survey->situation;
    out[0].size = sizeof out[0];
    const takt_status status =
        takt_explain(ctx, &request, out, most_estimates, &found);
    if (status != TAKT_OK || found == 0)
        return status != TAKT_ENOMEM;
    survey->size[survey->count].count =
        found < most_estimates ? found : most_estimates;
    survey->size[survey->count].step = step;
    for (unsigned i = 0; i < choices; i++)
        ask_choice(ctx, &request, i, survey->size[survey->count].choice[i]);
    survey->count++;
    return true;
}

static struct candidate *candidate_of(struct candidate *all, size_t *count,
                                      const char *name)
{
    for (size_t i = 0; i < *count; i++)
        if (strcmp(all[i].name, name) == 0)
            return &all[i];
    if (*count == most_estimates)
        return NULL;
    struct candidate *out = &all[(*count)++];
    *out = (struct candidate){.nearest = 1e300};
    memcpy(out->name, name, sizeof out->name);
    return out;
}

static bool is_single_simd(const char *name)
{
    return strncmp(name, "simd.", 5) == 0 && expert_threads(name) == 1;
}

static int by_interest(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;

    if ((x->wins > 0) != (y->wins > 0))
        return x->wins > 0 ? -1 : 1;
    if (x->is_reference != y->is_reference)
        return x->is_reference ? -1 : 1;
    if (x->wins != y->wins)
        return x->wins > y->wins ? -1 : 1;
    return (x->nearest > y->nearest) - (x->nearest < y->nearest);
}

/* The experts that are shown, the most interesting first. */
static size_t choose(const struct survey *survey,
                     struct candidate all[most_estimates])
{
    bool has_simd = false;
    size_t count = 0;

    for (size_t s = 0; s < survey->count; s++) {
        const takt_estimate *at = survey->size[s].estimate;
        for (size_t i = 0; i < survey->size[s].count; i++) {
            struct candidate *one = candidate_of(all, &count, at[i].expert);
            if (one == NULL)
                continue;
            const double ratio = total_s(&at[i]) / total_s(&at[0]);
            one->wins += i == 0;
            one->nearest = ratio < one->nearest ? ratio : one->nearest;
        }
    }
    if (count == 0)
        return 0;
    qsort(all, count, sizeof all[0], by_interest);
    for (size_t i = 0; i < count; i++) {
        const bool is_simd = is_single_simd(all[i].name);
        all[i].is_reference =
            strcmp(all[i].name, "scalar") == 0 || (is_simd && !has_simd);
        has_simd |= is_simd;
    }
    qsort(all, count, sizeof all[0], by_interest);
    return count < most_curves ? count : most_curves;
}

static const takt_estimate *estimate_at(const struct survey *survey, size_t s,
                                        const char *name)
{
    for (size_t i = 0; i < survey->size[s].count; i++)
        if (strcmp(survey->size[s].estimate[i].expert, name) == 0)
            return &survey->size[s].estimate[i];
    return NULL;
}

/* Four digits: a page has tens of thousands of these. */
static void print_values(struct json *json, const struct survey *survey,
                         const char *expert, const char *key,
                         double (*value)(const takt_estimate *))
{
    json_open(json, key, '[');
    for (size_t s = 0; s < survey->count; s++) {
        const takt_estimate *at = estimate_at(survey, s, expert);
        char text[32];
        snprintf(text, sizeof text, "%.4g", at != NULL ? value(at) : 0);
        json_number(json, NULL, at != NULL ? strtod(text, NULL) : (double)NAN);
    }
    json_close(json, ']');
}

static double value_us(const takt_estimate *e)
{
    return 1e6 * total_s(e);
}

static double low_us(const takt_estimate *e)
{
    return 1e6 * (e->low_s + total_s(e) - e->predicted_s);
}

static double high_us(const takt_estimate *e)
{
    return 1e6 * (e->high_s + total_s(e) - e->predicted_s);
}

static double p99_us(const takt_estimate *e)
{
    return 1e6 * (e->p99_s + total_s(e) - e->predicted_s);
}

static double energy_mj(const takt_estimate *e)
{
    return e->joules < 0 ? (double)NAN : 1e3 * e->joules;
}

static double dominated(const takt_estimate *e)
{
    return e->is_dominated != 0;
}

static double samples(const takt_estimate *e)
{
    return e->samples;
}

static void print_survey(struct json *json, const struct survey *survey)
{
    struct candidate chosen[most_estimates];
    const size_t count = choose(survey, chosen);
    char pattern[64];

    name_pattern(survey->family, pattern, sizeof pattern);
    json_print(json, "{op:%s dtype:%s shape:%s resident:%s n:[",
               survey->op->name, takt_dtype_name(survey->dtype), pattern,
               survey->situation & TAKT_SITUATION_ON_GPU ? "gpu" : "host");
    for (size_t s = 0; s < survey->count; s++)
        json_count(json, NULL, takt__step_side(survey->size[s].step));
    json_close(json, ']');
    for (unsigned i = 0; i < choices; i++) {
        json_open(json, choice_names[i], '[');
        for (size_t s = 0; s < survey->count; s++)
            json_string(json, NULL, known_text(survey->size[s].choice[i]));
        json_close(json, ']');
    }
    json_print(json, " experts:[");
    for (size_t i = 0; i < count; i++) {
        json_print(json, "{name:%s", chosen[i].name);
        print_values(json, survey, chosen[i].name, "us", value_us);
        print_values(json, survey, chosen[i].name, "low_us", low_us);
        print_values(json, survey, chosen[i].name, "high_us", high_us);
        print_values(json, survey, chosen[i].name, "samples", samples);
        print_values(json, survey, chosen[i].name, "p99_us", p99_us);
        print_values(json, survey, chosen[i].name, "energy_mj", energy_mj);
        print_values(json, survey, chosen[i].name, "dominated", dominated);
        json_close(json, '}');
    }
    json_print(json, "]}");
}

/* Every octave, or every half of one where these are few. */
static bool print_curve(struct json *json, takt_ctx *ctx, struct survey *survey)
{
    enum { few = 28 };
    const struct takt_family *family = survey->family;
    const unsigned stride = family->high - family->low >= few ? 2 : 1;

    survey->count = 0;
    for (unsigned step = family->low; step <= family->high; step += stride)
        if (!ask(survey, ctx, step))
            return false;
    if (survey->count > 0)
        print_survey(json, survey);
    return true;
}

bool print_curves_json(struct json *json, takt_ctx *ctx, bool has_gpu)
{
    struct survey *survey = calloc(1, sizeof *survey);
    bool is_whole = survey != NULL;

    for (size_t i = 0; is_whole && i < takt_op_count(); i++)
        for (int dtype = TAKT_F32; dtype <= TAKT_F64; dtype++) {
            survey->op = takt_op_at(i);
            survey->dtype = (takt_dtype)dtype;
            survey->family = takt__family_at(survey->op, 0);
            if ((survey->op->dtypes >> dtype & 1) == 0 ||
                survey->family == NULL)
                continue;
            survey->situation = 0;
            is_whole = is_whole && print_curve(json, ctx, survey);
            survey->situation = TAKT_SITUATION_ON_GPU;
            is_whole = is_whole && (!has_gpu || print_curve(json, ctx, survey));
        }
    free(survey);
    return is_whole;
}
