/* SPDX-License-Identifier: MIT */
/*
 * history_gain.c - what routing gained against every fixed choice.
 *
 * For each op, size and situation in which programs made calls: the calls times
 * the difference between the measured means of the expert that is always used
 * and of the one that ran them. That is no comparison within one run, but both
 * were measured. Where one of them was not, nothing is claimed. What all calls
 * are predicted to take with one expert is told apart. A choice that cannot run
 * an op takes our SIMD code instead, as a program would have to.
 */
#include <math.h>
#include <string.h>

#include "context.h"
#include "history.h"
#include "number.h"

enum { most_choices = 16, most_estimates = 128, most_gains = 64 };

/* Always the same expert, or (moe) the expert of a rule: the baseline of a
 * gain. */
struct choice {
    char name[TAKT_EXPERT_NAME_MAX];
    char instead[TAKT_EXPERT_NAME_MAX]; /* where it cannot run */
    bool is_rule;
};

/* Calls against one choice. */
struct against {
    double calls;            /* of which both were measured */
    double gain_s, variance; /* of these */
    double predicted_s;      /* of all calls */
};

/* Sums of one op, or of all. */
struct gain {
    const takt_op *op; /* NULL: all */
    double calls, spent_s;
    struct against against[most_choices];
};

struct ledger {
    takt_ctx *ctx;
    const struct memories *memories;
    struct choice choice[most_choices];
    size_t choice_count;
    size_t one_thread; /* the choice of one thread of SIMD */
    struct gain total, op[most_gains];
    size_t op_count;
};

/* ---- the choices ---- */

static void add_choice(struct ledger *ledger, const char *name,
                       const char *instead, bool is_rule)
{
    struct choice *choice = &ledger->choice[ledger->choice_count];

    if (ledger->choice_count == most_choices)
        return;
    snprintf(choice->name, sizeof choice->name, "%s", name);
    snprintf(choice->instead, sizeof choice->instead, "%s", instead);
    choice->is_rule = is_rule;
    ledger->choice_count++;
}

/* Whether two experts differ by their number of threads alone. */
static bool is_same_code(const char *a, const char *b)
{
    const size_t length = strlen(a);
    return strncmp(a, b, length) == 0 &&
           (b[length] == '\0' || (b[length] == 'x' && expert_threads(b) > 1));
}

/* The expert with that code and the most threads. */
static const char *with_all_threads(const takt_ctx *ctx, const char *name)
{
    const char *most = name, *other;

    for (size_t i = 0; (other = takt_ctx_expert(ctx, i, NULL)) != NULL; i++)
        if (is_same_code(name, other) &&
            expert_threads(other) > expert_threads(most))
            most = other;
    return most;
}

static void find_choices(struct ledger *ledger)
{
    const char *simd = "scalar", *name;

    for (size_t i = 0; (name = takt_ctx_expert(ledger->ctx, i, NULL)) != NULL;
         i++)
        if (strncmp(name, "simd.", 5) == 0 && strcmp(simd, "scalar") == 0)
            simd = name; /* the widest comes first */
    const char *all = with_all_threads(ledger->ctx, simd);
    add_choice(ledger, "scalar", "scalar", false);
    if (strcmp(simd, "scalar") != 0) {
        ledger->one_thread = ledger->choice_count;
        add_choice(ledger, simd, simd, false);
    }
    if (strcmp(all, simd) != 0)
        add_choice(ledger, all, all, false);
    for (size_t i = 0; (name = takt_ctx_expert(ledger->ctx, i, NULL)) != NULL;
         i++)
        if (strncmp(name, "blas.", 5) == 0 && expert_threads(name) == 1)
            add_choice(ledger, with_all_threads(ledger->ctx, name), all, false);
    for (size_t i = 0; (name = takt_ctx_expert(ledger->ctx, i, NULL)) != NULL;
         i++)
        if (is_worthy_gpu(ledger->ctx, name))
            add_choice(ledger, name, all, false);
    add_choice(ledger, "moe", "scalar", true);
}

/* ---- the sums ---- */

static const takt_estimate *find(const takt_estimate *all, size_t count,
                                 const char *expert)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(all[i].expert, expert) == 0)
            return &all[i];
    return NULL;
}

/* What a choice would run; NULL: nothing. */
static const takt_estimate *estimate_of(struct ledger *ledger,
                                        const struct choice *choice,
                                        takt_request request,
                                        const takt_estimate *all, size_t count)
{
    takt_decision decision = {.size = sizeof decision};
    const takt_estimate *found;

    if (choice->is_rule) {
        request.policy = TAKT_POLICY_MOE;
        if (takt_select(ledger->ctx, &request, &decision) != TAKT_OK)
            return NULL;
        return find(all, count, decision.expert);
    }
    found = find(all, count, choice->name);
    return found != NULL ? found : find(all, count, choice->instead);
}

/* Whether both are of the same size, and of situations in which a call takes
 * the same: one thread is the same awake or asleep, and for a GPU only the
 * place of the operands matters. */
static bool is_same_call(const takt_history_row *used,
                         const takt_history_row *base)
{
    const unsigned apart = used->situation ^ base->situation;

    if (used->op != base->op || used->dtype != base->dtype ||
        strcmp(used->layout, base->layout) != 0 ||
        used->work_low < base->work_low || used->work_low > base->work_low ||
        (apart & TAKT_SITUATION_ON_GPU) != 0)
        return false;
    return apart == 0 || base->backend == TAKT_BACKEND_GPU ||
           (apart == TAKT_SITUATION_ASLEEP &&
            expert_threads(base->expert) == 1);
}

/* The row of that expert with the most samples; NULL: it was not measured. */
static const takt_history_row *measured_row(const struct ledger *ledger,
                                            const takt_history_row *used,
                                            const char *expert)
{
    enum { least_samples = 2 };
    const takt_history_row *best = NULL;

    for (size_t i = 0; i < ledger->memories->count; i++) {
        const takt_history_row *row = &ledger->memories->memory[i].row;
        if (row->samples >= least_samples && strcmp(row->expert, expert) == 0 &&
            is_same_call(used, row) &&
            (best == NULL || row->samples > best->samples))
            best = row;
    }
    return best;
}

/* Typical calls of two experts differ a little in their work. */
static double scale_of(const takt_history_row *used,
                       const takt_history_row *base)
{
    if (used->work.flops > 0 && base->work.flops > 0)
        return used->work.flops / base->work.flops;
    return base->work.bytes > 0 ? used->work.bytes / base->work.bytes : 1;
}

static double error_of(const takt_history_row *row)
{
    return row->mean_s * row->spread / sqrt(row->samples);
}

/* Against an expert, by the means of both. */
static void compare(const struct ledger *ledger, const takt_history_row *used,
                    const char *expert, struct against *out)
{
    const bool is_same = strcmp(used->expert, expert) == 0;
    const takt_history_row *own = measured_row(ledger, used, used->expert);
    const takt_history_row *base = measured_row(ledger, used, expert);

    if (is_same)
        out->calls = used->calls;
    if (is_same || own == NULL || base == NULL)
        return;
    const double scale = scale_of(used, base);
    const double mean_s =
        scale * base->mean_s - scale_of(used, own) * own->mean_s;
    const double error_s = hypot(scale * error_of(base), error_of(own));
    out->calls = used->calls;
    out->gain_s = used->calls * mean_s;
    out->variance = used->calls * used->calls * error_s * error_s;
}

static struct gain *gain_of(struct ledger *ledger, const takt_op *op)
{
    for (size_t i = 0; i < ledger->op_count; i++)
        if (ledger->op[i].op == op)
            return &ledger->op[i];
    if (ledger->op_count == most_gains)
        return NULL;
    ledger->op[ledger->op_count] = (struct gain){.op = op};
    return &ledger->op[ledger->op_count++];
}

static void add_to(struct gain *gain, const struct gain *more)
{
    gain->calls += more->calls;
    gain->spent_s += more->spent_s;
    for (size_t i = 0; i < most_choices; i++) {
        gain->against[i].calls += more->against[i].calls;
        gain->against[i].gain_s += more->against[i].gain_s;
        gain->against[i].variance += more->against[i].variance;
        gain->against[i].predicted_s += more->against[i].predicted_s;
    }
}

/* The calls of one expert at one size in one situation. An expert that
 * had always been used would have had the operands: no transfers count. */
static void add_row(struct ledger *ledger, const takt_history_row *row)
{
    struct gain here = {.calls = row->calls, .spent_s = row->seconds};
    takt_estimate all[most_estimates] = {{.size = sizeof all[0]}};
    takt_request request;
    size_t count;

    if (row->calls <= 0 || !request_like(row, &request) ||
        takt_explain(ledger->ctx, &request, all, most_estimates, &count) !=
            TAKT_OK)
        return;
    for (size_t i = 0; i < ledger->choice_count; i++) {
        const takt_estimate *estimate =
            estimate_of(ledger, &ledger->choice[i], request, all, count);
        if (estimate == NULL)
            continue;
        here.against[i].predicted_s = row->calls * estimate->predicted_s;
        compare(ledger, row, estimate->expert, &here.against[i]);
    }
    struct gain *gain = gain_of(ledger, row->op);
    if (gain == NULL)
        return;
    add_to(gain, &here);
    add_to(&ledger->total, &here);
}

/* ---- text ---- */

/* "+1.2 s +- 30 ms", with a 95% interval. */
static struct phrase gain_text(const struct against *against)
{
    const double error_s = 2 * sqrt(against->variance);

    if (against->calls <= 0)
        return phrase("not measured");
    return phrase("%c%s +- %s", against->gain_s < 0 ? '-' : '+',
                  against->gain_s == 0 ? "0 s"
                                       : seconds_text(fabs(against->gain_s)).at,
                  error_s > 0 ? seconds_text(error_s).at : "0 s");
}

static void print_total(const struct ledger *ledger)
{
    const struct gain *total = &ledger->total;

    printf("%s calls took %s, by the calls that were timed\n\n",
           count_text((size_t)total->calls).at,
           seconds_text(total->spent_s).at);
    printf("%-18s %10s %26s %20s\n", "against always", "compared", "gain",
           "predicted to take");
    for (size_t i = 0; i < ledger->choice_count; i++) {
        const struct against *against = &total->against[i];
        printf("%-18s %9.0f%% %26s %20s\n", ledger->choice[i].name,
               100 * against->calls / total->calls, gain_text(against).at,
               against->predicted_s > 0 ? seconds_text(against->predicted_s).at
                                        : "-");
    }
}

static void print_ops(const struct ledger *ledger)
{
    const size_t one = ledger->one_thread;

    printf("\nby op, against always %s\n%-16s %12s %9s %10s %26s\n",
           ledger->choice[one].name, "op", "calls", "took", "compared", "gain");
    for (size_t o = 0; o < ledger->op_count; o++) {
        const struct gain *gain = &ledger->op[o];
        printf("%-16s %12s %9s %9.0f%% %26s\n", gain->op->name,
               count_text((size_t)gain->calls).at,
               gain->spent_s > 0 ? seconds_text(gain->spent_s).at : "-",
               100 * gain->against[one].calls / gain->calls,
               gain_text(&gain->against[one]).at);
    }
    puts("\ngain: of the compared calls, by what both experts were measured to "
         "take on\naverage, with a 95% interval; not in the same run, so load "
         "and clock may differ\npredicted to take: all calls with that expert "
         "alone, by the model");
}

/* ---- JSON ---- */

static void print_gain_json(struct json *json, const char *key,
                            const struct ledger *ledger,
                            const struct gain *gain)
{
    json_open(json, key, '{');
    if (gain->op != NULL)
        json_string(json, "op", gain->op->name);
    json_print(json, "calls:%g spent_s:%g against:[", gain->calls,
               gain->spent_s);
    for (size_t i = 0; i < ledger->choice_count; i++) {
        const struct against *against = &gain->against[i];
        const double unknown = against->calls > 0 ? 0 : (double)NAN;
        const double error_s = 2 * sqrt(against->variance) + unknown;
        json_print(json,
                   "{baseline:%s compared:%g gain_s:%g gain_low_s:%g "
                   "gain_high_s:%g predicted_s:%g}",
                   ledger->choice[i].name, against->calls,
                   against->gain_s + unknown, against->gain_s - error_s,
                   against->gain_s + error_s,
                   positive_number(against->predicted_s));
    }
    json_print(json, "]}");
}

static void print_ledger_json(const struct ledger *ledger)
{
    struct json json = json_begin(stdout);

    json_print(&json, "{schema:2");
    print_programs_json(&json, ledger->memories);
    print_gain_json(&json, "total", ledger, &ledger->total);
    json_open(&json, "ops", '[');
    for (size_t i = 0; i < ledger->op_count; i++)
        print_gain_json(&json, NULL, ledger, &ledger->op[i]);
    json_print(&json, "]}\n");
}

static void print_ledger_text(const struct ledger *ledger)
{
    const bool has_programs = print_programs(ledger->memories);

    if (has_programs && ledger->total.calls > 0)
        puts("\ncalls that were routed, of all programs");
    if (ledger->total.calls > 0) {
        print_total(ledger);
        print_ops(ledger);
    } else if (!has_programs) {
        puts("no program has made a call that was learned from: nothing to "
             "compare yet");
    }
}

void print_gain(takt_ctx *ctx, const struct memories *memories, bool is_json)
{
    struct ledger ledger = {.ctx = ctx, .memories = memories};

    /* What a GPU takes with operands that it has can only be asked if it is
     * open. */
    for (size_t i = 0; i < memories->count; i++)
        if ((memories->memory[i].row.situation & TAKT_SITUATION_ON_GPU) != 0)
            takt_ctx_open_gpus(ctx);
    find_choices(&ledger);
    for (size_t i = 0; i < memories->count; i++)
        add_row(&ledger, &memories->memory[i].row);
    if (is_json)
        print_ledger_json(&ledger);
    else
        print_ledger_text(&ledger);
}
