/* SPDX-License-Identifier: MIT */
/* cutting.c - learns which way is faster. */
#include "cutting.h"

static struct takt_cutting kinds[TAKT_CUTTING_KINDS];
static _Atomic unsigned kind_count;
static atomic_flag is_adding = ATOMIC_FLAG_INIT;

/* Of all kinds. */
static _Atomic uint64_t call_ns_sum, trial_ns_sum;

/* A first probation may lose some milliseconds. */
static const uint64_t first_patience_ns = 50000000;

/* ---- kinds -----------------------------------------------------------------
 */

takt_shape takt__first_product(const struct takt_triangular *call)
{
    const size_t half = takt__triangle_order(call) / 2;

    if (takt__writes_triangle(call))
        return (takt_shape){.rank = 3, .dim = {half, half, call->k}};
    if (call->is_right)
        return (takt_shape){.rank = 3, .dim = {call->m, half, half}};
    return (takt_shape){.rank = 3, .dim = {half, call->n, half}};
}

static bool is_same(const struct takt_cutting_kind *a,
                    const struct takt_cutting_kind *b)
{
    return a->route == b->route && a->is_double == b->is_double &&
           a->is_transposed == b->is_transposed && a->n_class == b->n_class &&
           a->k_class == b->k_class;
}

static struct takt_cutting *find_kind(const struct takt_cutting_kind *kind)
{
    const unsigned count =
        atomic_load_explicit(&kind_count, memory_order_acquire);

    for (unsigned i = 0; i < count; i++)
        if (is_same(&kinds[i].kind, kind))
            return &kinds[i];
    return NULL;
}

/* The index of an expert by its name; false: there is none. */
static bool find_expert(const struct takt_route *route, const char *name,
                        size_t *out)
{
    const char *at;

    for (size_t i = 0; (at = route->takt->expert(route->ctx, i, NULL)) != NULL;
         i++)
        if (strcmp(at, name) == 0) {
            *out = i;
            return true;
        }
    return false;
}

/* The expert on processors, other than the baseline library, that is expected
 * to be the fastest at the products. */
static bool choose_expert(const struct takt_route *route,
                          const struct takt_triangular *call, size_t *out)
{
    enum { most = 64 };
    takt_estimate estimate[most] = {{.size = sizeof estimate[0]}};
    const takt_request request = {.op = route->op[TAKT_GEMM],
                                  .dtype =
                                      call->is_double ? TAKT_F64 : TAKT_F32,
                                  .shape = takt__first_product(call)};
    const takt_estimate *best = NULL;
    size_t count = 0;

    if (route->takt->explain(route->ctx, &request, estimate, most, &count) !=
        TAKT_OK)
        return false;
    for (size_t i = 0; i < count && i < most; i++) {
        const takt_estimate *at = &estimate[i];
        if (at->backend != TAKT_BACKEND_GPU && at->predicted_s > 0 &&
            at->is_suspect == 0 &&
            !takt__is_baseline_expert(route, at->expert) &&
            (best == NULL || at->predicted_s < best->predicted_s))
            best = at;
    }
    return best != NULL && find_expert(route, best->expert, out);
}

static void add_kind(const struct takt_cutting_kind *kind,
                     const struct takt_triangular *call)
{
    const unsigned count = atomic_load(&kind_count);
    struct takt_cutting *made = &kinds[count];

    if (count == TAKT_CUTTING_KINDS || find_kind(kind) != NULL ||
        !choose_expert(kind->route, call, &made->expert))
        return;
    made->kind = *kind;
    made->patience_ns = first_patience_ns;
    atomic_flag_clear(&made->is_busy);
    atomic_store_explicit(&kind_count, count + 1, memory_order_release);
}

/* Half octaves of n, octaves of k. */
struct takt_cutting *takt__cutting_of(const struct takt_route *route,
                                      const struct takt_triangular *call)
{
    const double n = (double)call->n;
    const struct takt_cutting_kind kind = {
        .route = route,
        .is_double = call->is_double,
        .is_transposed = call->is_transposed,
        .n_class = (uint8_t)takt__exponent(n * n),
        .k_class = (uint8_t)takt__exponent((double)call->k)};
    struct takt_cutting *found = find_kind(&kind);

    if (found == NULL && !atomic_flag_test_and_set(&is_adding)) {
        add_kind(&kind, call);
        atomic_flag_clear(&is_adding);
        found = find_kind(&kind);
    }
    return found;
}

/* ---- what is learned -------------------------------------------------------
 */

enum { enough = 5 }; /* numbers, to believe their median */

static void add(struct takt_recent *recent, float number)
{
    recent->number[recent->count++ % TAKT_CUTTING_RECENT] = number;
}

static float median_of(const struct takt_recent *recent)
{
    const unsigned count = recent->count < TAKT_CUTTING_RECENT
                               ? recent->count
                               : TAKT_CUTTING_RECENT;
    float sorted[TAKT_CUTTING_RECENT] = {0};

    for (unsigned i = 0; i < count; i++) {
        unsigned at = i;
        for (; at > 0 && sorted[at - 1] > recent->number[i]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = recent->number[i];
    }
    return sorted[count / 2];
}

static bool is_cut_now(const struct takt_cutting *cutting)
{
    return atomic_load_explicit(&cutting->is_cut, memory_order_relaxed);
}

static void change_way(struct takt_cutting *cutting)
{
    atomic_store_explicit(&cutting->is_cut, !is_cut_now(cutting),
                          memory_order_relaxed);
    cutting->way_ns = 0;
    cutting->trial.count = 0;
}

static void begin_probation(struct takt_cutting *cutting)
{
    change_way(cutting);
    cutting->is_on_probation = true;
    cutting->place[is_cut_now(cutting)].count = 0;
    atomic_store_explicit(&cutting->gain, 0, memory_order_relaxed);
}

/* It must gain 5%. A gain is believed at once, but a loss only when the threads
 * of the way before sleep: OpenBLAS's spin for some 25 ms. A way that failed
 * is not taken again for four times as long as before. */
static void judge_probation(struct takt_cutting *cutting)
{
    static const float clear = 0.95f;
    enum { settled_ns = 30000000 };
    const bool is_cut = is_cut_now(cutting);

    if (cutting->place[is_cut].count < enough)
        return;
    const float ratio = median_of(&cutting->place[is_cut]) /
                        median_of(&cutting->place[!is_cut]);
    atomic_store_explicit(&cutting->gain, is_cut ? 1 / ratio : ratio,
                          memory_order_relaxed);
    if (ratio < clear) {
        cutting->is_on_probation = false;
    } else if (cutting->way_ns >= settled_ns) {
        cutting->is_on_probation = false;
        cutting->patience_ns *= 4;
        change_way(cutting);
    }
}

/* Trials of cut calls are slowed down by the spinning threads of the library,
 * so they need not be faster. */
static bool is_promising(const struct takt_cutting *cutting)
{
    const bool is_cut = is_cut_now(cutting);

    return cutting->way_ns >= cutting->patience_ns &&
           cutting->trial.count >= enough &&
           cutting->place[is_cut].count >= enough &&
           median_of(&cutting->trial) < (is_cut ? 0.95f : 1.2f);
}

/* What is known is looked at again four times more rarely. */
static bool may_try(const struct takt_cutting *cutting, uint64_t ns)
{
    enum { share = 100, rare_share = 400, advance_ns = 2000000 };
    const bool is_known = cutting->trial.count >= enough;
    const uint64_t all =
        atomic_load_explicit(&call_ns_sum, memory_order_relaxed);
    const uint64_t spent =
        atomic_load_explicit(&trial_ns_sum, memory_order_relaxed);

    return !cutting->is_on_probation &&
           spent + ns <=
               (is_known ? all / rare_share : all / share + advance_ns);
}

bool takt__cutting_ran(struct takt_cutting *cutting, bool was_cut, uint64_t ns,
                       double work)
{
    atomic_fetch_add_explicit(&call_ns_sum, ns, memory_order_relaxed);
    if (atomic_flag_test_and_set(&cutting->is_busy))
        return false;
    const bool is_current = was_cut == is_cut_now(cutting);
    if (is_current) {
        add(&cutting->place[was_cut], (float)((double)ns / work));
        cutting->way_ns += ns;
        if (cutting->is_on_probation)
            judge_probation(cutting);
        else if (is_promising(cutting))
            begin_probation(cutting);
    }
    const bool is_due = is_current && may_try(cutting, ns);
    atomic_flag_clear(&cutting->is_busy);
    return is_due;
}

void takt__cutting_tried(struct takt_cutting *cutting, uint64_t call_ns,
                         uint64_t trial_ns, uint64_t cost_ns)
{
    atomic_fetch_add_explicit(&trial_ns_sum, cost_ns, memory_order_relaxed);
    if (call_ns == 0 || trial_ns == 0 ||
        atomic_flag_test_and_set(&cutting->is_busy))
        return;
    add(&cutting->trial, (float)trial_ns / (float)call_ns);
    atomic_flag_clear(&cutting->is_busy);
}
