/* SPDX-License-Identifier: MIT */
/*
 * tune.h - what `takt tune` is made of.
 *
 *     tune_plan.c      what to measure, in which order
 *     tune_stage.c     the operands of a cell, laid out in one arena
 *     tune_cell.c      one cell: experts in turns, in every situation
 *     tune_resident.c  one cell on GPUs that have its operands
 *     tune_links.c     what moving operands to a GPU and back takes
 *     tune_window.c    samples wait until it is known that the machine was calm
 *     tune_progress.c  a bar for people, lines for logs
 *     tune_facts.c     what is worth telling at the end
 *     tune_report.c    and telling it
 */
#ifndef TAKT_CLI_TUNE_H
#define TAKT_CLI_TUNE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <takt/takt.h>

#include "command.h"
#include "context.h"
#include "family.h"

enum { most_experts = 128 };

enum effort { effort_quick, effort_usual, effort_full };

/* One op, dtype and family: sizes along which experts are compared. */
struct series {
    const takt_op *op;
    takt_dtype dtype;
    const struct family *family;
    unsigned stride; /* of the coarse pass, in steps */
    /* Seconds over those of the best, where known; 0 elsewhere. By step, then
     * by expert; owned. */
    float (*ratio)[most_experts];
    bool is_known[most_steps]; /* somebody has measured at this step */
};

/* One size of a series. */
struct cell_plan {
    struct series *series;
    takt_shape shape;
    unsigned step;
    unsigned phase;    /* lower ones first */
    double expected_s; /* that measuring takes */
    bool needs_reason; /* measured only if a crossover is near */
    bool is_done;
};

struct plan {
    struct series *series; /* owned */
    size_t series_count;
    struct cell_plan *cell; /* owned */
    size_t count;
    double expected_s; /* of all cells that are certain */
};

/* What one cell measures. */
struct pace {
    unsigned rounds;   /* of experts taking turns */
    double enough;     /* samples per expert and situation */
    double longest_s;  /* of a call that is still run */
    double most_bytes; /* of operands */
    bool times_repeated_alone;
};

/* Operands of the cell at hand: see tune_stage.c. */
enum { most_copies = 24 };
struct stage {
    unsigned char *arena; /* owned */
    size_t room;
    takt_call call[most_copies];
    takt_call small; /* wakes threads, touches nothing of call[] */
    size_t copies;
    double bytes; /* of one copy */
    size_t in_bytes[4];
};

/* The same in buffers, for GPUs to keep. */
struct resident_stage {
    takt_call call;
    takt_buffer *buffer[5]; /* of in[] and out; NULL: there is none */
    bool is_async;          /* the result stays on the GPU */
    double result[8];       /* else it is here */
};

/* A GPU that calls may be routed to. */
enum { most_gpus = 8 };
struct tuned_gpu {
    size_t expert;
    double memory_bytes;
};

/* Samples that are not told yet. */
struct note {
    takt_request request;
    size_t expert;
    double seconds;
};

struct window {
    struct note *note; /* owned */
    size_t count, room;
    double start_s, start_busy_s, start_own_s; /* processor time */
};

struct tune {
    const struct command *command;
    takt_ctx *ctx;
    const takt_machine *machine;
    enum effort effort;
    struct pace pace;
    bool takes_anything; /* --anyway */
    bool is_json;
    double start_s, deadline_s;
    bool has_own_budget; /* --budget: GPUs add nothing to it */

    const char *expert[most_experts];
    size_t expert_count;
    struct tuned_gpu gpu[most_gpus];
    size_t gpu_count;

    struct plan plan;
    struct stage stage;
    struct window window;
    uint64_t random;

    bool is_complete;          /* nothing of the plan is left */
    size_t cells, known_cells; /* measured; skipped because they were known */
    size_t samples, rejected, discarded;
    size_t resident_samples; /* of the samples */
    takt_status refused;     /* why a sample could not be told; else TAKT_OK */
    double done_s;           /* of plan.expected_s */
    double next_line_s;
};

/* Set by SIGINT and SIGTERM. */
extern volatile int stop_signal;

double tune_now(void);
bool tune_is_over(const struct tune *tune); /* time is up, or a signal came */

/* ---- tune_plan.c ---- */

struct plan_wish {
    const takt_op **op; /* in the order of importance */
    size_t op_count;
    bool dtype[2];
    const takt_shape *shape; /* NULL: the families' own sizes */
    size_t shape_count;
};

/* False: no memory. */
bool make_plan(struct tune *tune, const struct plan_wish *wish);
void free_plan(struct plan *plan);

/* Whether the winner changes, or nearly does, between the neighbours. */
bool is_near_crossover(const struct series *series, unsigned step);

/* Whether an expert is so far behind (`behind` times the best) at smaller
 * sizes, or on both sides, that it need not be run. */
bool is_out_of_race(const struct series *series, unsigned step, size_t expert,
                    double behind);

/* ---- tune_stage.c ---- */

bool set_stage(struct tune *tune, const struct cell_plan *cell);
void free_stage(struct stage *stage);

bool set_resident_stage(struct tune *tune, const struct cell_plan *cell,
                        struct resident_stage *out);
void free_resident_stage(struct resident_stage *stage);

/* Writes the inputs again, on this thread; returns the seconds it took. */
double rewrite_inputs(struct stage *stage, size_t copy);

/* ---- tune_cell.c ---- */

/* Measures what is not known yet; false: everything was. */
bool measure_cell(struct tune *tune, struct cell_plan *cell);

/* The request of a cell, in a situation. */
takt_request cell_request(const struct cell_plan *cell, unsigned situation);

/* Samples that an expert needs whose calls take so long: those of long ones
 * differ less, and all the other cells wait for them. A single one that is far
 * off what is expected is not believed, and of a GPU that is often so. */
double samples_enough(const struct tune *tune, double call_s, bool is_gpu);

/* ---- tune_resident.c ---- */

/* The same, on GPUs that have the operands. */
bool measure_resident(struct tune *tune, const struct cell_plan *cell);

/* ---- tune_links.c ---- */

/* Moves buffers of several sizes, of which the context learns. */
void measure_links(struct tune *tune);

/* ---- tune_window.c ---- */

/* Waits until others leave the machine alone; false: they did not. */
bool wait_for_calm(struct tune *tune, double patience_s, double *others);

void open_window(struct tune *tune);
bool note_sample(struct tune *tune, const takt_request *request, size_t expert,
                 double seconds);
/* Tells the context what was measured since, or throws it away if others used
 * the machine meanwhile: then false. */
bool close_window(struct tune *tune);

/* Whether this thread was interrupted since: by others, or, where that can be
 * seen in a call of `about_s`, by a hypervisor. */
struct attention {
    long preemptions;
    double stolen_s; /* negative: not looked at */
};
struct attention pay_attention(double about_s);
bool was_interrupted(const struct attention *since, double seconds);

/* ---- tune_progress.c ---- */

void show_progress(struct tune *tune, const struct cell_plan *cell);
void show_waiting(struct tune *tune);
void show_links(struct tune *tune, const char *expert);
void hide_progress(const struct tune *tune);

/* ---- tune_facts.c ---- */

enum { most_told = 3, most_facts = 2 * most_told + 1, longest_fact = 240 };

/* Sentences about what was found; returns how many. */
size_t find_facts(struct tune *tune, char facts[most_facts][longest_fact]);

/* ---- tune_report.c ---- */

/* Stores, pins (`pin` may be NULL) and says what was done; returns the exit
 * status. */
int report_tune(struct tune *tune, const char *pin);

#endif
