/* SPDX-License-Identifier: MIT */
/* loop_reduce.c - which ufuncs can be reduced in parts, and the parts. */
#include "loop_reduce.h"

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

/* ---- which --------------------------------------------------------------- */

/* Letters of the types. Not halves, whose sums NumPy rounds once, at the end.
 */
#define BOOLEANS "?"
#define INTEGERS "bBhHiIlLqQ"
#define REALS "fd"
#define COMPLEXES "FD"

/* How the results of parts are joined. */
static const struct {
    const char *ufunc, *letters;
    enum { ZERO, ONE, MINUS_ZERO } neutral;
    bool is_idempotent, stops;
} rules[] = {
    {"add", INTEGERS, ZERO, false, false},
    {"add", REALS COMPLEXES, MINUS_ZERO, false, false},
    {"multiply", INTEGERS, ONE, false, false},
    {"maximum", BOOLEANS INTEGERS REALS, ZERO, true, false},
    {"minimum", BOOLEANS INTEGERS REALS, ZERO, true, false},
    {"fmax", BOOLEANS INTEGERS REALS, ZERO, true, false},
    {"fmin", BOOLEANS INTEGERS REALS, ZERO, true, false},
    {"bitwise_and", INTEGERS, ZERO, true, false},
    {"bitwise_or", INTEGERS, ZERO, true, false},
    {"logical_or", BOOLEANS, ZERO, false, true},
    {"logical_and", BOOLEANS, ONE, false, true},
};

static bool is_of(const char *letters, char letter)
{
    return letter != '\0' && strchr(letters, letter) != NULL;
}

/* -0, which changes no number, not even 0. */
static void set_minus_zero(struct takt_reduction *reduction)
{
    const unsigned real = reduction->size / reduction->reals;

    for (unsigned end = real; end <= reduction->size; end += real)
        reduction->neutral[end - 1] = (char)0x80;
}

struct takt_reduction takt__reduction_of(const char *ufunc, char letter,
                                         unsigned size)
{
    struct takt_reduction reduction = {0};
    size_t i = 0;

    while (i < sizeof rules / sizeof rules[0] &&
           (strcmp(ufunc, rules[i].ufunc) != 0 ||
            !is_of(rules[i].letters, letter)))
        i++;
    if (i == sizeof rules / sizeof rules[0])
        return reduction;
    reduction.size = (unsigned char)size;
    reduction.reals = is_of(COMPLEXES, letter) ? 2 : 1;
    reduction.is_idempotent = rules[i].is_idempotent;
    reduction.stops = rules[i].stops;
    reduction.is_real = is_of(REALS COMPLEXES, letter);
    if (rules[i].neutral == MINUS_ZERO)
        set_minus_zero(&reduction);
    else
        reduction.neutral[0] = rules[i].neutral == ONE; /* little endian */
    return reduction;
}

bool takt__loop_is_reduction(const struct takt_reduction *reduction,
                             const struct takt_loop_call *call)
{
    const uintptr_t out = (uintptr_t)call->args[2];
    const uintptr_t from = (uintptr_t)call->args[1];
    const uintptr_t last =
        from + (uintptr_t)(call->n - 1) * (uintptr_t)call->steps[1];
    const uintptr_t low = from < last ? from : last;
    const uintptr_t high = (from < last ? last : from) + reduction->size;

    return call->args[0] == call->args[2] && call->steps[0] == 0 &&
           call->steps[2] == 0 && (out + reduction->size <= low || high <= out);
}

/* ---- parts ----------------------------------------------------------------
 *
 * NumPy's halves: the first one has a multiple of eight reals.
 */

enum { most_parts = 128, least_reals = 512, pair_multiple = 8 };

struct loop_reduction {
    const struct takt_loop_call *call;
    const struct takt_reduction *reduction;
    ptrdiff_t first[most_parts + 1]; /* number of each part, and the end */
    unsigned parts;
    _Atomic unsigned next;
    char result[most_parts * TAKT_REDUCED_SIZE];
    void (*run_one)(struct loop_reduction *job, unsigned part);
    uint64_t wanted; /* bits that are looked for */
    _Atomic bool is_found;
};

/* Cuts each part into two halves. */
static void cut(struct loop_reduction *job)
{
    const ptrdiff_t reals_each = job->reduction->reals;

    job->first[2 * job->parts] = job->first[job->parts];
    for (unsigned i = job->parts; i-- > 0;) {
        const ptrdiff_t first = job->first[i];
        const ptrdiff_t half = (job->first[2 * i + 2] - first) * reals_each / 2;
        job->first[2 * i] = first;
        job->first[2 * i + 1] =
            first + half / pair_multiple * pair_multiple / reals_each;
    }
    job->parts *= 2;
}

/* Four parts for each thread, of which none is short. */
static void cut_for(struct loop_reduction *job, unsigned threads)
{
    enum { per_thread = 4 };
    const ptrdiff_t count = job->call->n * job->reduction->reals;

    while (job->parts < per_thread * threads && job->parts < most_parts &&
           count / (2 * (ptrdiff_t)job->parts) >= least_reals)
        cut(job);
}

static char *result_of(struct loop_reduction *job, unsigned part)
{
    return job->result + part * job->reduction->size;
}

static void reduce_one(struct loop_reduction *job, unsigned part)
{
    const struct takt_reduction *reduction = job->reduction;
    const struct takt_loop_call *call = job->call;
    char *result = result_of(job, part);
    char *from = call->args[1] + job->first[part] * call->steps[1];
    char *args[] = {result, from, result};
    const ptrdiff_t count = job->first[part + 1] - job->first[part];

    if (reduction->is_idempotent)
        memcpy(result, from, reduction->size);
    call->run(args, &count, call->steps, call->data);
    if (reduction->stops &&
        memcmp(result, reduction->neutral, reduction->size) != 0)
        atomic_store_explicit(&job->next, job->parts, memory_order_relaxed);
}

/* Parts are claimed. */
static void run_parts(void *self, unsigned part, unsigned parts)
{
    struct loop_reduction *job = self;
    unsigned number;

    (void)part;
    (void)parts;
    while ((number = atomic_fetch_add_explicit(
                &job->next, 1, memory_order_relaxed)) < job->parts)
        job->run_one(job, number);
    takt__loop_move_flags();
}

/* Two results at a time, as they were cut, and the last one with the output;
 * returns where that is. */
static const char *join(struct loop_reduction *job)
{
    const struct takt_loop_call *call = job->call;
    const ptrdiff_t size = job->reduction->size, one = 1;
    const ptrdiff_t steps[] = {size, size, size};
    char *last[] = {call->args[2], job->result, result_of(job, 1)};

    for (unsigned left = job->parts; left > 1; left /= 2)
        for (unsigned i = 0; i < left / 2; i++) {
            char *args[] = {result_of(job, 2 * i), result_of(job, 2 * i + 1),
                            result_of(job, i)};
            call->run(args, &one, steps, call->data);
        }
    call->run(last, &one, steps, call->data);
    return last[2];
}

/* ---- zeros and NaNs ------------------------------------------------------ */

/* With its step known, a loop becomes vectors; the highest bit of x | -x is set
 * unless x is 0, which even SSE2 computes of 64 bits. */
#define LOOK(type_, step_)                                    \
    do {                                                      \
        type_ others = (type_)-1, value;                      \
        for (ptrdiff_t i = 0; i < count; i++) {               \
            memcpy(&value, from + i * (step_), sizeof value); \
            value ^= (type_)wanted;                           \
            others &= value | (0 - value);                    \
        }                                                     \
        return others >> (8 * sizeof value - 1) == 0;         \
    } while (0)

static bool has_wanted(const struct loop_reduction *job, unsigned part)
{
    const ptrdiff_t step = job->call->steps[1];
    const char *from = job->call->args[1] + job->first[part] * step;
    const ptrdiff_t count = job->first[part + 1] - job->first[part];
    const uint64_t wanted = job->wanted;

    if (job->reduction->size == sizeof(double)) {
        if (step == sizeof(double))
            LOOK(uint64_t, (ptrdiff_t)sizeof(double));
        LOOK(uint64_t, step);
    }
    if (step == sizeof(float))
        LOOK(uint32_t, (ptrdiff_t)sizeof(float));
    LOOK(uint32_t, step);
}

static void look_in_one(struct loop_reduction *job, unsigned part)
{
    if (!has_wanted(job, part))
        return;
    atomic_store_explicit(&job->is_found, true, memory_order_relaxed);
    atomic_store_explicit(&job->next, job->parts, memory_order_relaxed);
}

static void run_all(const struct takt_route *route, struct loop_reduction *job,
                    unsigned threads,
                    void (*run)(struct loop_reduction *job, unsigned part))
{
    job->run_one = run;
    atomic_store_explicit(&job->next, 0, memory_order_relaxed);
    if (route->takt->run_parts(route->ctx, threads, run_parts, job) != TAKT_OK)
        run_parts(job, 0, 1);
}

/* A real of a number: of a complex one there are two. */
static uint64_t bits_of(const struct takt_reduction *reduction, const char *at,
                        unsigned i)
{
    const size_t size = reduction->size / reduction->reals;
    uint64_t bits = 0;

    memcpy(&bits, at + i * size, size); /* little endian */
    return bits;
}

/* Whether there may be another result that is as good, with other bits. */
static bool is_ambiguous(const struct takt_route *route,
                         struct loop_reduction *job, unsigned threads,
                         const char *result)
{
    const struct takt_reduction *reduction = job->reduction;
    const bool is_float = reduction->size / reduction->reals == sizeof(float);
    const uint64_t sign = UINT64_C(1) << (is_float ? 31 : 63);
    const uint64_t infinite =
        is_float ? UINT64_C(0xff) << 23 : UINT64_C(0x7ff) << 52;
    const uint64_t first = bits_of(reduction, result, 0);

    if (!reduction->is_real)
        return false;
    for (unsigned i = 0; i < reduction->reals; i++)
        if ((bits_of(reduction, result, i) & ~sign) > infinite)
            return true; /* NaN */
    if (!reduction->is_idempotent || (first & ~sign) != 0)
        return false;
    job->wanted = first ^ sign;
    atomic_init(&job->is_found,
                bits_of(reduction, job->call->args[2], 0) == job->wanted);
    if (!job->is_found)
        run_all(route, job, threads, look_in_one);
    return job->is_found;
}

/* ---- all of it ----------------------------------------------------------- */

void takt__loop_reduce(const struct takt_route *route,
                       const struct takt_reduction *reduction,
                       const struct takt_loop_call *call, unsigned threads)
{
    struct loop_reduction job;

    job.call = call;
    job.reduction = reduction;
    job.parts = 1;
    job.first[0] = 0;
    job.first[1] = call->n;
    atomic_init(&job.next, 0);
    cut_for(&job, threads);
    for (unsigned i = 0; i < job.parts; i++)
        memcpy(result_of(&job, i), reduction->neutral, reduction->size);
    if (job.parts > 1) {
        run_all(route, &job, threads, reduce_one);
        const char *result = join(&job);
        if (!is_ambiguous(route, &job, threads, result)) {
            memcpy(call->args[2], result, reduction->size);
            return;
        }
    }
    call->run(call->args, &call->n, call->steps, call->data);
}
