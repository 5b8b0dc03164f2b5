/* SPDX-License-Identifier: MIT */
/* decide.c - which expert runs a call: by a rule, by the table, or by the
 * prior. */
#include "decide/decide.h"

#include <math.h>

#include "decide/inside.h"

_Thread_local struct takt_thread takt__thread = {.left = 1};

/* Low ops are element-wise, Medium ones vectors, and High ones pay for what
 * their shape says; a user's op pays for what the user says. */
static takt_status ask_cost(const struct takt_decider *decider,
                            const struct takt_question *question,
                            takt_backend *out)
{
    const takt_op *op = question->op;

    if (question->work_is_given) {
        *out = takt_cost_select(&decider->cost, question->work);
        return TAKT_OK;
    }
    if (op == NULL)
        return TAKT_EINVAL;
    if (!op->is_user && op->complexity == TAKT_COMPLEXITY_LOW) {
        *out = takt_cost_select_elementwise(question->elements);
        return TAKT_OK;
    }
    if (question->work.bytes < 0)
        return TAKT_ESHAPE;
    if (op->is_user || op->complexity == TAKT_COMPLEXITY_HIGH) {
        *out = takt_cost_select(&decider->cost, question->work);
        return TAKT_OK;
    }
    const double n = (double)question->elements;
    *out = takt_cost_select_vector(&decider->cost, question->elements,
                                   n > 0 ? question->work.flops / n : 0);
    return TAKT_OK;
}

/* What the static rule says; it consults no machine. */
static takt_status ask_rule(const struct takt_decider *decider,
                            takt_policy policy,
                            const struct takt_question *question,
                            takt_backend *out)
{
    const char *name = question->name;

    switch (policy) {
    case TAKT_POLICY_MOE:
        *out = takt_moe_select(question->complexity, question->elements);
        return TAKT_OK;
    case TAKT_POLICY_COST:
        return ask_cost(decider, question, out);
    case TAKT_POLICY_HEURISTIC:
        if (name == NULL && question->op != NULL)
            name = question->op->name;
        *out = takt_heuristic_select(name, question->elements);
        return TAKT_OK;
    case TAKT_POLICY_ADAPTIVE:
    case TAKT_POLICY_FIXED:
    case TAKT_POLICY_PINNED:
        break;
    }
    return TAKT_EINVAL;
}

/* ---- the prior ----------------------------------------------------------- */

struct takt_cell takt__decide_by_prior(const struct takt_decider *decider,
                                       const struct takt_question *question,
                                       unsigned situation)
{
    const double cost =
        question->has_key ? takt__series_cost(question->key.series) : 1;
    const double serial =
        question->has_key ? takt__series_serial(question->key.series) : 0;

    struct takt_cell cell = {.best = (uint8_t)decider->team[0].expert,
                             .runner_up = (uint8_t)decider->team[0].expert,
                             .confidence = 0.5f};
    double best_s = INFINITY, second_s = INFINITY;

    for (unsigned i = 0; i < decider->team_count; i++) {
        const struct takt_team *team = &decider->team[i];
        const double flops =
            question->work.flops * cost *
            takt__serial_factor(serial, &question->work, team->rates.threads);
        const double seconds = takt__rates_seconds(
            &team->rates, question->work.bytes, flops, situation);
        if (seconds < best_s) {
            second_s = best_s;
            cell.runner_up = cell.best;
            best_s = seconds;
            cell.best = (uint8_t)team->expert;
        } else if (seconds < second_s) {
            second_s = seconds;
            cell.runner_up = (uint8_t)team->expert;
        }
    }
    cell.seconds = (float)best_s;
    cell.is_threaded = cell.best != decider->team[0].expert;
    return cell;
}

bool takt__decider_prefers_one_thread(const struct takt_decider *decider,
                                      struct takt_key key,
                                      const takt_work *work)
{
    const struct takt_question question = {
        .work = *work, .has_key = true, .key = key};

    return !takt__decide_by_prior(decider, &question, TAKT_REPEAT).is_threaded;
}

void takt__decider_set_default(struct takt_decider *decider, const takt_op *op,
                               unsigned expert, unsigned threads)
{
    atomic_store(&decider->by_default[takt__op_id(op)],
                 (uint16_t)(expert << 1 | (threads > 1)));
}

/* The default expert of an op comes before the one that the prior prefers. */
static void prefer_default(const struct takt_decider *decider,
                           const takt_op *op, struct takt_cell *cell)
{
    const uint16_t preferred =
        op == NULL || op->is_user
            ? 0
            : atomic_load_explicit(&decider->by_default[takt__op_id(op)],
                                   memory_order_acquire);

    if (preferred == 0)
        return;
    cell->runner_up = cell->best;
    cell->best = (uint8_t)(preferred >> 1);
    cell->is_threaded = (preferred & 1) != 0;
}

static void choose_simd(const struct takt_decider *decider,
                        const struct takt_question *question,
                        unsigned situation, bool is_rule,
                        struct takt_choice *out)
{
    out->expert = (uint8_t)decider->team[0].expert;
    if (question->work.bytes < 0)
        return;
    struct takt_cell cell = takt__decide_by_prior(decider, question, situation);
    if (!is_rule)
        prefer_default(decider, question->op, &cell);
    out->expert = cell.best;
    out->predicted_s = (double)cell.seconds;
    out->is_threaded = cell.is_threaded;
}

/* ---- rules --------------------------------------------------------------- */

/* The first GPU that may be usable; false: none. */
static bool choose_gpu(const struct takt_decider *decider,
                       struct takt_choice *out)
{
    for (unsigned i = 0; i < decider->gpu_count; i++) {
        const struct takt_device *device = decider->gpu[i].device;
        const int state = atomic_load(&device->state);
        if (state == TAKT_DEVICE_ASLEEP ||
            (state == TAKT_DEVICE_READY && !takt__device_is_software(device))) {
            out->expert = (uint8_t)decider->gpu[i].expert;
            return true;
        }
    }
    return false;
}

static takt_status choose_by_rule(const struct takt_decider *decider,
                                  takt_policy policy,
                                  const struct takt_question *question,
                                  unsigned situation, struct takt_choice *out)
{
    const takt_status status =
        ask_rule(decider, policy, question, &out->backend);

    out->is_rule = true;
    if (status != TAKT_OK)
        return status;
    if (out->backend == TAKT_BACKEND_SIMD ||
        (out->backend == TAKT_BACKEND_GPU && !choose_gpu(decider, out)))
        choose_simd(decider, question, situation, true, out);
    out->reason = decider->experts->expert[out->expert].backend == out->backend
                      ? TAKT_REASON_STATIC
                      : TAKT_REASON_FALLBACK;
    return TAKT_OK;
}

/* Without a key, or where the pin file is silent, one thread of the best
 * instruction set: always the same. */
static void choose_pinned(const struct takt_decider *decider,
                          const struct takt_question *question,
                          struct takt_choice *out)
{
    const uint64_t word =
        question->has_key ? takt__table_load(&decider->table, question->key, 0)
                          : 0;

    out->expert = word != 0 ? (uint8_t)word : (uint8_t)decider->team[0].expert;
    out->reason = TAKT_REASON_PINNED;
}

static takt_status decide_static(const struct takt_decider *decider,
                                 takt_policy policy,
                                 const struct takt_question *question,
                                 unsigned situation, struct takt_choice *out)
{
    *out = (struct takt_choice){.situation = (uint8_t)situation,
                                .predicted_s = -1};
    switch (policy) {
    case TAKT_POLICY_FIXED:
        out->expert = (uint8_t)decider->fixed;
        out->reason = TAKT_REASON_FORCED;
        /* There may be no fixed expert. */
        return decider->policy == policy ? TAKT_OK : TAKT_EINVAL;
    case TAKT_POLICY_PINNED:
        choose_pinned(decider, question, out);
        /* There may be no file. */
        return decider->policy == policy ? TAKT_OK : TAKT_EINVAL;
    case TAKT_POLICY_ADAPTIVE:
        choose_simd(decider, question, situation, false, out);
        out->reason = takt__experts_known(decider->experts) == 1
                          ? TAKT_REASON_ONLY
                          : TAKT_REASON_PRIOR;
        break;
    case TAKT_POLICY_MOE:
    case TAKT_POLICY_COST:
    case TAKT_POLICY_HEURISTIC:
        return choose_by_rule(decider, policy, question, situation, out);
    }
    return TAKT_OK;
}

takt_status takt__decide_static(const struct takt_decider *decider,
                                takt_policy policy,
                                const struct takt_question *question,
                                struct takt_choice *out)
{
    return decide_static(decider, policy, question, TAKT_ASLEEP, out);
}

/* ---- what was learned ---------------------------------------------------- */

/* Only what every call needs is taken out of the word. */
static inline void read_cell(uint64_t word, unsigned situation,
                             struct takt_choice *out)
{
    out->expert = (uint8_t)word;
    out->situation = (uint8_t)situation;
    out->sample_shift = word >> TAKT_CELL_SHIFT & 7;
    out->is_threaded = word >> TAKT_CELL_THREADED & 1;
    out->is_rule = false;
    out->reason = (word >> TAKT_CELL_MEASURED & 1) != 0 ? TAKT_REASON_MODEL
                                                        : TAKT_REASON_PRIOR;
    out->word = word;
}

bool takt__decide_learned(const struct takt_decider *decider,
                          const struct takt_question *question,
                          unsigned situation, struct takt_choice *out)
{
    const uint64_t word =
        takt__table_load(&decider->table, question->key,
                         takt__table_column(question->objective, situation));

    if (word == 0)
        return false;
    read_cell(word, situation, out);
    return true;
}

/* Nothing is known here: the prior decides, and its answer is written for the
 * next call. */
static uint64_t ask_prior(struct takt_decider *decider,
                          const struct takt_question *question,
                          unsigned situation)
{
    struct takt_cell cell = takt__decide_by_prior(decider, question, situation);

    prefer_default(decider, question->op, &cell);
    takt__table_offer(&decider->table, question->key,
                      takt__table_column(question->objective, situation),
                      &cell);
    return takt__cell_pack(&cell);
}

static inline uint64_t look_up(struct takt_decider *decider,
                               const struct takt_question *question,
                               unsigned situation)
{
    const uint64_t word =
        takt__table_load(&decider->table, question->key,
                         takt__table_column(question->objective, situation));

    if (word != 0 || question->op->is_user ||
        !takt__table_is_asked(&decider->table, question->key.series, situation))
        return word;
    return ask_prior(decider, question, situation);
}

static inline takt_status decide_adaptive(struct takt_decider *decider,
                                          struct takt_thread *thread,
                                          const struct takt_question *question,
                                          unsigned situation, double longest_s,
                                          struct takt_choice *out)
{
    uint64_t word = look_up(decider, question, situation);
    const bool is_threaded = (word >> TAKT_CELL_THREADED & 1) != 0;

    /* Whether threads sleep takes a look at the clock, which is dearer than a
     * word of the table, and matters to experts with threads alone. */
    if (is_threaded && !question->is_steady &&
        takt__sleep_situation(decider, thread) != 0) {
        situation |= TAKT_ASLEEP;
        word = look_up(decider, question, situation);
    }
    if (word == 0)
        return TAKT_ENOENT;
    read_cell(word, situation, out);
    out->is_threaded = is_threaded;
    if (takt__cell_tries(word) != 0 &&
        (double)takt__cell_unpack(word).seconds <= longest_s &&
        takt__table_take_try(&decider->table, question->key,
                             takt__table_column(question->objective, situation),
                             word)) {
        out->expert = (uint8_t)(word >> 16);
        out->reason = TAKT_REASON_EXPLORE;
    }
    return TAKT_OK;
}

takt_status takt__decide(struct takt_decider *decider,
                         struct takt_thread *thread,
                         const struct takt_question *question, bool is_repeat,
                         double longest_s, struct takt_choice *out)
{
    const unsigned situation = is_repeat ? TAKT_REPEAT : 0;

    if (decider->policy != TAKT_POLICY_ADAPTIVE)
        return decide_static(decider, decider->policy, question,
                             situation | takt__sleep_situation(decider, thread),
                             out);
    return decide_adaptive(decider, thread, question, situation, longest_s,
                           out);
}
