/* SPDX-License-Identifier: MIT */
/* loop_split.c - which loops can be cut, and cutting them. */
#include "loop_split.h"

#include <stdatomic.h>
#include <stdint.h>

/* ---- whether ------------------------------------------------------------- */

/* Bytes, from the first to the last one or the next element after it. NumPy
 * looks whether such ranges touch, and then takes scalar code, with other last
 * bits, for the whole loop: so do stretches of it only if it is not cut. */
struct operand_range {
    uintptr_t first, end;
};

static struct operand_range range_of(const struct takt_loop_form *form,
                                     const struct takt_loop_call *call,
                                     unsigned i)
{
    const uintptr_t at = (uintptr_t)call->args[i];
    const uintptr_t next = at + (uintptr_t)call->n * (uintptr_t)call->steps[i];

    return at < next ? (struct operand_range){at, next}
                     : (struct operand_range){next, at + form->size[i]};
}

/* The same array, or nothing in common, and a gap. */
static bool are_apart(const struct takt_loop_form *form,
                      const struct takt_loop_call *call, unsigned i, unsigned j)
{
    const struct operand_range a = range_of(form, call, i);
    const struct operand_range b = range_of(form, call, j);

    return a.end < b.first || b.end < a.first ||
           (j < form->inputs && call->args[i] == call->args[j] &&
            call->steps[i] == call->steps[j]);
}

bool takt__loop_is_divisible(const struct takt_loop_form *form,
                             const struct takt_loop_call *call)
{
    for (unsigned i = form->inputs; i < form->operands; i++) {
        const ptrdiff_t step = call->steps[i];
        if ((step < 0 ? -step : step) < form->size[i])
            return false;
        for (unsigned j = 0; j < i; j++)
            if (!are_apart(form, call, i, j))
                return false;
    }
    return true;
}

/* ---- cutting ------------------------------------------------------------- */

struct job {
    const struct takt_loop_call *call;
    unsigned operands;
    ptrdiff_t stretch; /* elements that a thread takes at once */
    _Atomic ptrdiff_t next;
};

void takt__loop_move_flags(void)
{
#if defined(__x86_64__)
    enum { exceptions = 0x3d }; /* all but that for denormal numbers */
    uint16_t status;

    __asm__ volatile("fnstsw %0" : "=am"(status));
    if ((status & exceptions) == 0)
        return;
    __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() |
                           (uint32_t)(status & exceptions));
    __asm__ volatile("fnclex");
#endif
}

static void run_stretch(const struct takt_loop_call *call, unsigned operands,
                        ptrdiff_t first, ptrdiff_t count)
{
    char *args[TAKT_LOOP_OPERANDS];

    for (unsigned i = 0; i < operands; i++)
        args[i] = call->args[i] + first * call->steps[i];
    call->run(args, &count, call->steps, call->data);
}

/* Stretches are claimed: a thread that has lost its processor is left behind
 * with one of them at most. */
static void run_part(void *self, unsigned part, unsigned parts)
{
    struct job *job = self;
    ptrdiff_t first;

    (void)part;
    (void)parts;
    while ((first = atomic_fetch_add_explicit(&job->next, job->stretch,
                                              memory_order_relaxed)) <
           job->call->n) {
        const ptrdiff_t left = job->call->n - first;
        run_stretch(job->call, job->operands, first,
                    left < job->stretch ? left : job->stretch);
    }
    takt__loop_move_flags();
}

void takt__loop_split(const struct takt_route *route,
                      const struct takt_loop_form *form,
                      const struct takt_loop_call *call, unsigned threads)
{
    /* Four stretches for each thread. They end where vectors do, so that the
     * same elements are computed together as in the whole. */
    enum { per_thread = 4, vector = 64 };
    const ptrdiff_t share = call->n / (ptrdiff_t)(per_thread * threads) + 1;
    struct job job = {.call = call,
                      .operands = form->operands,
                      .stretch = (share + vector - 1) / vector * vector};

    if (route->takt->run_parts(route->ctx, threads, run_part, &job) != TAKT_OK)
        run_part(&job, 0, 1);
}
