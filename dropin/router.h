/* SPDX-License-Identifier: MIT */
/*
 * router.h - libtakt, loaded when it pays.
 *
 * A process that hardly calls BLAS must not pay for a router: it is opened when
 * calls that were worth a question have taken a while. One context for each
 * library below and number of threads that the program allows it; in each, the
 * library is an expert beside Takt's own, and the usual one.
 *
 * Threads: who opens does so alone; the others go straight meanwhile, and wait
 * for nothing.
 */
#ifndef TAKT_DROPIN_ROUTER_H
#define TAKT_DROPIN_ROUTER_H

#include "baseline.h"
#include "stats.h"
#include "takt/takt.h"

/* Where the baseline library wrote last as an expert, in this thread: the
 * output of a call, or memory beside it where it was only tried. (Found the
 * long way: the space of threads that can be reached at once is set aside when
 * a program starts, and this library may come later.) */
extern _Thread_local const void *takt__baseline_wrote;

/* What is used of libtakt. */
struct takt_library {
    takt_ctx_options (*environment)(void);
    takt_status (*create)(const takt_ctx_options *, takt_ctx **);
    takt_status (*add_expert)(takt_ctx *, const takt_op *,
                              const takt_expert_spec *);
    takt_status (*run)(takt_ctx *, const takt_call *, takt_decision *);
    takt_status (*explain)(takt_ctx *, const takt_request *, takt_estimate *,
                           size_t, size_t *);
    const takt_op *(*find_op)(const char *);
    takt_status (*gpu)(takt_ctx *, size_t, takt_gpu_device *);
    /* Of reuse.c. */
    const char *(*expert)(const takt_ctx *, size_t, takt_backend *);
    takt_status (*run_on)(takt_ctx *, const takt_call *, size_t);
    takt_status (*buffer_create)(takt_ctx *, size_t, const void *,
                                 takt_buffer **);
    void (*buffer_destroy)(takt_buffer *);
    void *(*buffer_address)(const takt_buffer *);
    takt_status (*buffer_map)(takt_buffer *, unsigned, void **);
    takt_status (*buffer_unmap)(takt_buffer *);
};

struct takt_route {
    const struct takt_baseline *baseline;
    unsigned threads; /* that the program allowed; 0: nobody said */
    const struct takt_library *takt;
    takt_ctx *ctx;
    char expert[TAKT_EXPERT_NAME_MAX]; /* what `baseline` is called in it */
    const takt_op *op[TAKT_ROUTINES];  /* NULL: not routed as such */
    bool is_adaptive;
};

/* The way for calls of that library at this moment; NULL: straight on, and *why
 * says why. */
struct takt_route *takt__route(const struct takt_baseline *baseline,
                               enum takt_why *why);

/* Time that calls took which would have been asked about; opens the router when
 * it is enough. */
void takt__router_spent(uint64_t ns);

/* What a product would take: in the baseline library, on the best expert
 * whether awake or not, and on the best GPU; in seconds, 0: not known. */
struct takt_forecast {
    double baseline_s, best_s, gpu_s;
    bool has_gpu, is_asleep, is_suspect; /* that GPU */
};
void takt__forecast(const struct takt_route *route, const takt_request *request,
                    struct takt_forecast *out);

/* baseline_experts.c: makes the baseline library an expert of the ops it has.
 */
void takt__add_baseline_experts(struct takt_route *route);

#endif
