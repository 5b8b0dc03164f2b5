/* SPDX-License-Identifier: MIT */
/*
 * location.c - where to run a call whose operands may be anywhere.
 *
 * The table says what the best processor would take if the host had everything,
 * and what each GPU would if it did; the caller says what moving costs.
 */

#include "decide/inside.h"

/* ---- links --------------------------------------------------------------- */

double takt__decide_link(const struct takt_decider *decider, unsigned gpu,
                         unsigned link, double bytes)
{
    const struct takt_key key = {(uint16_t)(TAKT_SERIES_LINKS + link),
                                 takt__bucket_of(bytes)};
    const uint64_t word =
        takt__table_load(&decider->table, key, TAKT_COLUMN_GPU + gpu);
    const struct takt_rates *rates =
        atomic_load_explicit(&decider->gpu[gpu].rates, memory_order_acquire);

    if (word != 0)
        return (double)takt__cell_unpack(word).seconds;
    return rates->link_s + bytes * rates->s_per_link_byte;
}

void takt__decider_add_gpus(struct takt_decider *decider)
{
    for (unsigned i = 0; i < decider->experts->count; i++) {
        const struct takt_expert *expert = &decider->experts->expert[i];
        if (expert->device == NULL)
            continue;
        struct takt_gpu_expert *made = &decider->gpu[decider->gpu_count++];
        made->expert = i;
        made->device = expert->device;
        made->guessed = takt__prior_gpu(0, 0, 0);
        atomic_init(&made->rates, &made->guessed);
    }
}

void takt__decider_update_gpu(struct takt_decider *decider, unsigned gpu)
{
    struct takt_gpu_expert *expert = &decider->gpu[gpu];
    const struct takt_device_facts *facts = &expert->device->known;

    if (atomic_load(&expert->rates) == &expert->known)
        return; /* it was lost and came back */
    expert->known =
        takt__prior_gpu(facts->flops[TAKT_F32], facts->memory_rate, 0);
    atomic_store_explicit(&expert->rates, &expert->known, memory_order_release);
}

/* ---- locations ----------------------------------------------------------- */

void takt__decide_host(struct takt_decider *decider, struct takt_thread *thread,
                       const struct takt_question *question,
                       struct takt_choice *out)
{
    const unsigned situation =
        TAKT_RESIDENT | takt__sleep_situation(decider, thread);

    /* While no GPU is open, the table has no columns for resident operands. */
    if (takt__decide_learned(decider, question, situation, out) ||
        (takt__decide_learned(decider, question,
                              situation & ~(unsigned)TAKT_RESIDENT, out) &&
         decider->experts->expert[out->expert].device == NULL))
        return;
    const struct takt_cell cell =
        takt__decide_by_prior(decider, question, situation);
    *out = (struct takt_choice){
        .expert = cell.best,
        .situation = (uint8_t)situation,
        .is_threaded = cell.is_threaded,
        .reason = TAKT_REASON_PRIOR,
        .word = takt__cell_pack(&cell),
    };
}

/* What a GPU would take, and (`low`) what it may take at best. */
static double gpu_seconds(const struct takt_decider *decider, unsigned gpu,
                          const struct takt_question *question, uint64_t *word,
                          double *low)
{
    const struct takt_rates *rates =
        atomic_load_explicit(&decider->gpu[gpu].rates, memory_order_acquire);

    *word = takt__table_load(
        &decider->table, question->key,
        takt__table_column(question->objective, TAKT_COLUMN_GPU + gpu));
    if (*word == 0) {
        *low = takt__rates_seconds(rates, question->work.bytes,
                                   question->work.flops, TAKT_RESIDENT);
        return *low;
    }
    const struct takt_cell cell = takt__cell_unpack(*word);
    *low = (double)cell.seconds * (double)cell.confidence;
    return (double)cell.seconds;
}

static void choose_gpu(const struct takt_decider *decider, unsigned gpu,
                       uint64_t word, takt_reason reason,
                       struct takt_choice *out)
{
    const uint8_t rival = out->expert;

    *out = (struct takt_choice){
        .expert = (uint8_t)decider->gpu[gpu].expert,
        .situation = TAKT_RESIDENT,
        .reason = reason,
        .word = word,
    };
    if (word == 0)
        return;
    if (reason != TAKT_REASON_EXPLORE)
        out->reason = (word >> TAKT_CELL_MEASURED & 1) != 0 ? TAKT_REASON_MODEL
                                                            : TAKT_REASON_PRIOR;
    struct takt_cell cell = takt__cell_unpack(word);
    cell.runner_up = rival;
    out->word = takt__cell_pack(&cell);
}

static bool may_try(struct takt_decider *decider, unsigned gpu,
                    const struct takt_question *question, uint64_t word)
{
    return takt__cell_tries(word) != 0 &&
           takt__table_take_try(
               &decider->table, question->key,
               takt__table_column(question->objective, TAKT_COLUMN_GPU + gpu),
               word);
}

void takt__decide_location(struct takt_decider *decider,
                           struct takt_thread *thread,
                           const struct takt_question *question,
                           const struct takt_move_costs *moves, bool is_urgent,
                           struct takt_choice *out)
{
    takt__decide_host(decider, thread, question, out);
    double best = (double)takt__cell_unpack(out->word).seconds + moves->host_s;
    bool is_try = false;

    for (unsigned i = 0; i < decider->gpu_count && !is_try; i++) {
        uint64_t word;
        double low;
        if (!moves->is_open[i])
            continue;
        const double cost =
            gpu_seconds(decider, i, question, &word, &low) + moves->gpu_s[i];
        is_try = !is_urgent && low + moves->gpu_s[i] < best &&
                 may_try(decider, i, question, word);
        if (is_try || cost < best) {
            choose_gpu(decider, i, word,
                       is_try ? TAKT_REASON_EXPLORE : TAKT_REASON_PRIOR, out);
            best = cost;
        }
    }
    out->predicted_s = best;
}
