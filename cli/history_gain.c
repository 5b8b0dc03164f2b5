/* SPDX-License-Identifier: MIT */
/*
 * history_gain.c - what routing saved against every fixed choice.
 *
 * For each op, size and situation in which programs made calls: the seconds
 * they took against the calls times what another choice would have taken, by
 * the model: measured where that expert was measured at this size, expected
 * elsewhere. A choice that cannot run an op takes our SIMD code instead, as a
 * program would have to.
 */
#include <math.h>
#include <string.h>

#include "context.h"
#include "history.h"
#include "number.h"

enum { most_choices = 16, most_estimates = 128, most_gains = 64 };

/* Always the same expert, or (moe) the expert of a rule. */
struct choice {
    char name[TAKT_EXPERT_NAME_MAX];
    char instead[TAKT_EXPERT_NAME_MAX]; /* where it cannot run */
    bool is_rule;
};

/* Sums of one op, or of all. */
struct gain {
    const takt_op *op; /* NULL: all */
    double calls, spent_s;
    double choice_s[most_choices];
    double measured_s[most_choices]; /* of it, where it was measured */
};

struct ledger {
    takt_ctx *ctx;
    struct choice choice[most_choices];
    size_t choice_count;
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
    if (strcmp(simd, "scalar") != 0)
        add_choice(ledger, simd, simd, false);
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
        gain->choice_s[i] += more->choice_s[i];
        gain->measured_s[i] += more->measured_s[i];
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
        here.choice_s[i] = row->calls * estimate->predicted_s;
        if (estimate->samples > 0)
            here.measured_s[i] = here.choice_s[i];
    }
    struct gain *gain = gain_of(ledger, row->op);
    if (gain == NULL)
        return;
    add_to(gain, &here);
    add_to(&ledger->total, &here);
}

/* ---- text ---- */

static void print_total(const struct ledger *ledger)
{
    const struct gain *total = &ledger->total;

    printf("%s calls took %.4g s, by the calls that were timed\n\n",
           count_text((size_t)total->calls).at, total->spent_s);
    printf("%-18s %14s %14s %10s %10s\n", "always", "would take s", "saved s",
           "times", "measured");
    for (size_t i = 0; i < ledger->choice_count; i++) {
        const double would_s = total->choice_s[i];
        printf("%-18s %14.4g %+14.4g %9.2fx %9.0f%%%s\n",
               ledger->choice[i].name, would_s, would_s - total->spent_s,
               would_s / total->spent_s,
               100 * total->measured_s[i] / fmax(would_s, 1e-30),
               would_s < total->spent_s ? "  lost" : "");
    }
}

static void print_ops(const struct ledger *ledger)
{
    printf("\nby op, seconds saved (below 0: lost)\n%-16s %12s %12s", "op",
           "calls", "took s");
    for (size_t i = 0; i < ledger->choice_count; i++)
        printf(" %*s", (int)fmax(12, (double)strlen(ledger->choice[i].name)),
               ledger->choice[i].name);
    putchar('\n');
    for (size_t o = 0; o < ledger->op_count; o++) {
        const struct gain *gain = &ledger->op[o];
        printf("%-16s %12s %12.4g", gain->op->name,
               count_text((size_t)gain->calls).at, gain->spent_s);
        for (size_t i = 0; i < ledger->choice_count; i++)
            printf(" %+*.4g",
                   (int)fmax(12, (double)strlen(ledger->choice[i].name)),
                   gain->choice_s[i] - gain->spent_s);
        putchar('\n');
    }
    puts("\nwhat other choices would take is by the model: measured where "
         "they were measured\nat that size, expected elsewhere");
}

/* ---- JSON ---- */

static void print_gain_json(struct json *json, const char *key,
                            const struct ledger *ledger,
                            const struct gain *gain)
{
    json_open(json, key, '{');
    if (gain->op != NULL)
        json_string(json, "op", gain->op->name);
    json_print(json, "calls:%g spent_s:%g choices:[", gain->calls,
               gain->spent_s);
    for (size_t i = 0; i < ledger->choice_count; i++)
        json_print(json, "{choice:%s seconds:%g saved_s:%g measured_s:%g}",
                   ledger->choice[i].name, gain->choice_s[i],
                   gain->choice_s[i] - gain->spent_s, gain->measured_s[i]);
    json_print(json, "]}");
}

static void print_ledger_json(const struct ledger *ledger)
{
    struct json json = json_begin(stdout);

    json_open(&json, NULL, '{');
    print_gain_json(&json, "total", ledger, &ledger->total);
    json_open(&json, "ops", '[');
    for (size_t i = 0; i < ledger->op_count; i++)
        print_gain_json(&json, NULL, ledger, &ledger->op[i]);
    json_print(&json, "]}\n");
}

void print_gain(takt_ctx *ctx, const struct memories *memories, bool is_json)
{
    struct ledger ledger = {.ctx = ctx};

    /* What a GPU takes with operands that it has can only be asked if it is
     * open. */
    for (size_t i = 0; i < memories->count; i++)
        if ((memories->memory[i].row.situation & TAKT_SITUATION_ON_GPU) != 0)
            takt_ctx_open_gpus(ctx);
    find_choices(&ledger);
    for (size_t i = 0; i < memories->count; i++)
        add_row(&ledger, &memories->memory[i].row);
    if (is_json) {
        print_ledger_json(&ledger);
    } else if (ledger.total.calls <= 0) {
        puts("no program has made a call that was learned from: nothing to "
             "compare yet");
    } else {
        print_total(&ledger);
        print_ops(&ledger);
    }
}
