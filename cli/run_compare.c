/* SPDX-License-Identifier: MIT */
/*
 * run_compare.c - `takt run --compare`: which run comes next, and when it is
 * enough.
 *
 * The first pair stands apart: it fills the caches of the machine and, with an
 * empty store, learns from nothing. From then on a coin decides which run of a
 * pair comes first, so that a machine that gets slower or faster meanwhile
 * favours neither.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "commands.h"
#include "run_compare.h"
#include "run_compare_output.h"

/* An interval is narrow when its ends are not further apart than this: +-2%. */
static const double narrow = 1.04;

struct compare {
    const struct compare_wish *wish;
    struct launch plain, takt;
    struct compare_child child;
    struct run_comparison result;
    struct compare_pair *pair; /* owned */
    size_t most;               /* pairs */
    uint64_t start_ns;
    bool draws; /* progress */
    /* What the first run printed, if another one printed something else. */
    char *head; /* owned */
    size_t head_size;
};

/* ---- progress ---- */

static void draw(const struct compare *compare, size_t pair, const char *which)
{
    const struct interval *wall = &compare->result.wall;
    char known[80] = "";

    if (!compare->draws)
        return;
    if (isfinite(wall->low))
        snprintf(known, sizeof known, ", ratio %.3f (%.3f to %.3f)",
                 wall->ratio, wall->low, wall->high);
    else if (isfinite(wall->ratio))
        snprintf(known, sizeof known, ", ratio %.3f", wall->ratio);
    if (pair == 0)
        fprintf(stderr, "\r\033[Kfirst pair, %s", which);
    else
        fprintf(stderr, "\r\033[Kpair %zu of %s%zu, %s%s", pair,
                compare->wish->pairs == 0 ? "at most " : "", compare->most,
                which, known);
}

static void wipe(const struct compare *compare)
{
    if (compare->draws)
        fputs("\r\033[K", stderr);
}

/* ---- one run ---- */

/* What the report of the run claims, for the whole of it. */
static void read_claim(const struct takt_stats *stats, struct compare_run *run)
{
    struct run_tally tally;

    if (stats == NULL || !tally_stats(stats, &tally))
        return;
    run->calls = all_calls(&tally.total);
    run->elsewhere = calls_elsewhere(&tally.total);
    run->claimed_s = run_gain_s(&tally);
    run->claimed_error_s = run_gain_error_s(&tally);
    tally_drop(&tally);
}

static bool run_with_takt(struct compare *compare, struct compare_run *out,
                          int *code)
{
    struct stats_file stats;
    struct launch launch = compare->takt;

    *code = EXIT_FINDING;
    if (!stats_make(&stats))
        return false;
    launch.variable[launch.variable_count++] =
        (struct variable){.name = TAKT_STATS_VARIABLE, .value = stats.path};
    const bool has_run = compare_child_run(&compare->child, &launch, out, code);
    struct takt_stats *counted = has_run ? stats_read(stats.fd) : NULL;
    out->claimed_s = (double)NAN;
    read_claim(counted, out);
    free(counted);
    stats_remove(&stats);
    return has_run;
}

/* ---- what was printed ---- */

/* The first output is kept, to be compared with the first that differs from
 * it. False: no memory. */
static bool keep_output(struct compare *compare)
{
    compare->head = malloc(kept_bytes);
    if (compare->head == NULL)
        return false;
    compare->head_size = compare->child.head_size;
    memcpy(compare->head, compare->child.head, compare->head_size);
    return true;
}

static void compare_output(struct compare *compare,
                           const struct compare_run *run, bool is_takt)
{
    struct run_comparison *result = &compare->result;
    double difference;

    if (strcmp(run->output, result->first.plain.output) == 0)
        return;
    if (!is_takt)
        result->output = OUTPUT_VARIES;
    else if (result->output == OUTPUT_SAME)
        result->output = OUTPUT_DIFFERS;
    const bool is_whole = compare->head_size < kept_bytes &&
                          compare->child.head_size < kept_bytes;
    if (is_whole && differ_in_numbers(compare->head, compare->head_size,
                                      compare->child.head,
                                      compare->child.head_size, &difference))
        result->number_difference = fmax(result->number_difference, difference);
    else
        result->differs_in_text = true;
}

/* ---- pairs ---- */

/* False: it failed, or was interrupted, which `result` says. */
static bool judge_run(struct compare *compare, const struct compare_run *run,
                      bool is_takt)
{
    struct run_comparison *result = &compare->result;

    if (compare->child.signal != 0) {
        result->end = COMPARE_SIGNAL;
        return false;
    }
    if (WIFEXITED(run->status) && WEXITSTATUS(run->status) == 0)
        return true;
    result->end = COMPARE_FAILED;
    result->has_takt_failed = is_takt;
    result->failed_status = run->status;
    result->stopped_by = compare->child.stopped_by;
    result->error = compare->child.tail;
    return false;
}

/* False: that is the end, and *code is above 0 if nothing is to be printed. */
static bool run_one(struct compare *compare, struct compare_run *run,
                    bool is_takt, int *code)
{
    *code = 0;
    if (!(is_takt
              ? run_with_takt(compare, run, code)
              : compare_child_run(&compare->child, &compare->plain, run, code)))
        return false;
    *code = 0;
    return judge_run(compare, run, is_takt);
}

static bool run_pair(struct compare *compare, size_t number,
                     struct compare_pair *pair, int *code)
{
    for (int turn = 0; turn < 2; turn++) {
        const bool is_takt = (turn == 0) == pair->is_takt_first;
        struct compare_run *run = is_takt ? &pair->takt : &pair->plain;
        draw(compare, number, is_takt ? "with Takt" : "plain");
        if (!run_one(compare, run, is_takt, code))
            return false;
        if (number == 0 && !is_takt && !keep_output(compare))
            *code = complain(&cmd_run, "there is not enough memory");
        if (*code != 0)
            return false;
        compare_output(compare, run, is_takt);
    }
    return true;
}

static bool throw_coin(void)
{
    unsigned char byte = 0;

    if (getrandom(&byte, sizeof byte, 0) != (ssize_t)sizeof byte)
        byte = (unsigned char)takt__now_ns();
    return byte & 1;
}

/* ---- the whole ---- */

/* False: no memory. */
static bool sum_up(struct compare *compare)
{
    struct run_comparison *result = &compare->result;
    const size_t count = result->count;
    double *number = calloc(4 * count + 1, sizeof *number);
    double *takt_s = number, *plain_s = takt_s + count;
    double *takt_cpu_s = plain_s + count, *plain_cpu_s = takt_cpu_s + count;

    if (number == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        takt_s[i] = compare->pair[i].takt.wall_s;
        plain_s[i] = compare->pair[i].plain.wall_s;
        takt_cpu_s[i] = compare->pair[i].takt.cpu_s;
        plain_cpu_s[i] = compare->pair[i].plain.cpu_s;
    }
    const bool is_done =
        ratio_interval(takt_s, plain_s, count, &result->wall) &&
        ratio_interval(takt_cpu_s, plain_cpu_s, count, &result->cpu);
    free(number);
    return is_done;
}

/* Whether there are enough pairs; `result` says why. */
static bool is_enough(struct compare *compare)
{
    struct run_comparison *result = &compare->result;
    const struct interval *wall = &result->wall;

    result->end = COMPARE_PAIRS;
    if (compare->wish->pairs > 0)
        return result->count >= compare->wish->pairs;
    if (result->count < compare_least)
        return false;
    const double took_s = (double)(takt__now_ns() - compare->start_ns) / 1e9;
    if (wall->high / wall->low <= narrow)
        result->end = COMPARE_NARROW;
    else if (result->count >= compare_most)
        result->end = COMPARE_MOST;
    else
        result->end = COMPARE_LATE;
    return result->end != COMPARE_LATE || took_s > compare_limit;
}

/* Returns 0, or the exit status when there is nothing to print. */
static int run_pairs(struct compare *compare)
{
    struct run_comparison *result = &compare->result;
    int code;

    if (!run_pair(compare, 0, &result->first, &code))
        return code;
    result->is_first_done = true;
    while (!is_enough(compare)) {
        struct compare_pair *pair = &compare->pair[result->count];
        pair->is_takt_first = throw_coin();
        if (!run_pair(compare, result->count + 1, pair, &code))
            return code;
        result->count++;
        if (!sum_up(compare))
            return complain(&cmd_run, "there is not enough memory");
    }
    return 0;
}

static int finish(struct compare *compare)
{
    const struct compare_wish *wish = compare->wish;
    struct run_comparison *result = &compare->result;

    result->took_s = (double)(takt__now_ns() - compare->start_ns) / 1e9;
    if (wish->is_json)
        print_compare_json(wish->out, result);
    else
        print_compare_text(wish->out, result);
    return result->end == COMPARE_FAILED ? EXIT_FINDING : EXIT_DONE;
}

static void set_up(struct compare *compare, const struct compare_wish *wish)
{
    const double unknown = (double)NAN;
    const struct interval none = {unknown, unknown, unknown};

    compare->wish = wish;
    compare->plain = (struct launch){.program = wish->launch->program};
    compare->takt = *wish->launch;
    compare->most = wish->pairs > 0 ? wish->pairs : compare_most;
    compare->pair = calloc(compare->most, sizeof *compare->pair);
    compare->start_ns = takt__now_ns();
    compare->draws = isatty(STDERR_FILENO) && !wish->shows_output;
    compare->result =
        (struct run_comparison){.program = wish->launch->program,
                                .store = wish->store,
                                .is_new_store = access(wish->store, F_OK) != 0,
                                .pair = compare->pair,
                                .wall = none,
                                .cpu = none};
}

int run_compared(const struct compare_wish *wish, int *signal_number)
{
    static struct compare compare;
    int code = EXIT_FINDING;

    set_up(&compare, wish);
    if (compare.pair == NULL)
        complain(&cmd_run, "there is not enough memory");
    else if (compare_open(&compare.child, wish->shows_output)) {
        hold_signals(&compare.child.before);
        code = run_pairs(&compare);
        wipe(&compare);
        if (code == 0)
            code = finish(&compare);
    }
    *signal_number = compare.child.signal;
    compare_close(&compare.child);
    free(compare.pair);
    free(compare.head);
    return code;
}
