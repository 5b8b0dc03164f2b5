/* SPDX-License-Identifier: MIT */
/*
 * test_lapack_history.c - what a run keeps of LAPACK's choices, the next one
 * reads: by a made-up libtakt that lists what was recorded.
 */
#include "lapack_history.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opener.h"
#include "program_history.h"
#include "record.h"
#include "stack.h"
#include "support/tap.h"

enum { most_rows = 64 };

static struct made_up_row {
    char expert[TAKT_EXPERT_NAME_MAX];
    takt_dtype dtype;
    double work, share;
} rows[most_rows];
static unsigned row_count;
static const takt_op ours, others;

/* ---- what the file stands on ----------------------------------------------
 */

const takt_op *takt__history_define(const struct takt_route *route,
                                    const char *kind)
{
    (void)route;
    return strcmp(kind, "lapack") == 0 ? &ours : NULL;
}

_Thread_local struct takt_stack_room takt__stack_room;

bool takt__stack_measure(uintptr_t here)
{
    (void)here;
    return true;
}

void takt__record_learned(const struct takt_route *route,
                          const takt_measurement *measurement)
{
    struct made_up_row *row = &rows[row_count++];

    (void)route;
    REQUIRE(row_count <= most_rows && measurement->request->op == &ours);
    snprintf(row->expert, sizeof row->expert, "%s", measurement->expert);
    row->dtype = measurement->request->dtype;
    row->work = measurement->request->work->flops;
    row->share = measurement->seconds;
}

static void (*at_exit)(void);

void takt__opener_tell_at_exit(void (*handler)(void))
{
    at_exit = handler;
}

static takt_status history_read(takt_ctx *ctx, takt_history_visit *visit,
                                void *self)
{
    (void)ctx;
    for (unsigned i = 0; i < row_count; i++)
        visit(self, &(takt_history_row){.size = sizeof(takt_history_row),
                                        .op = &ours,
                                        .dtype = rows[i].dtype,
                                        .expert = rows[i].expert,
                                        .work_low = rows[i].work,
                                        .mean_s = rows[i].share});
    visit(self, &(takt_history_row){.size = sizeof(takt_history_row),
                                    .op = &others,
                                    .expert = "potrf.U--.gpu",
                                    .work_low = 1e9,
                                    .mean_s = 0.1});
    return TAKT_OK;
}

static const struct takt_libtakt libtakt = {.history_read = history_read};
static const struct takt_route route = {.takt = &libtakt};

/* ---- tests ---------------------------------------------------------------
 */

static struct takt_lapack_key key_of(enum takt_lapack routine,
                                     const char *letters, double work)
{
    struct takt_lapack_key key = {
        .routine = routine, .type = TAKT_D, .threads = 16, .work = work};

    for (unsigned i = 0; letters[i] != '\0'; i++)
        key.option[i] = letters[i] != '-' ? letters[i] : '\0';
    return key;
}

/* A kind whose choice takes that share of the time of the library. */
static struct takt_team_kind *chosen(struct takt_lapack_key key,
                                     unsigned choice, float share)
{
    struct takt_team_kind *kind = takt__lapack_kind(&key);

    REQUIRE(kind != NULL);
    for (unsigned i = 0; i < 4; i++) {
        takt__mean_add(&kind->team[0], 1, 24);
        takt__mean_add(&kind->team[choice], share, 24);
    }
    kind->all_ns = 20e6f;
    return kind;
}

static void nothing_is_kept_without_a_store(void)
{
    takt__lapack_history_keep(
        chosen(key_of(TAKT_LAPACK_getrf, "", 1e9), TAKT_CHOICE_GPU, 0.1f));
    EXPECT_INT(row_count, 0);
    EXPECT(!takt__lapack_history_open(&route));
}

static void what_was_chosen_is_kept_once(void)
{
    struct takt_team_kind *kind =
        chosen(key_of(TAKT_LAPACK_gesv, "", 8.7e9), TAKT_CHOICE_GPU, 0.1f);

    kind->all_ns = 5e6f;
    takt__lapack_history_keep(kind); /* too little */
    EXPECT_INT(row_count, 0);
    kind->all_ns = 20e6f;
    takt__lapack_history_keep(kind);
    takt__lapack_history_keep(kind);
    REQUIRE(row_count == 1);
    EXPECT(strcmp(rows[0].expert, "gesv.---.gpu") == 0);
    EXPECT(rows[0].dtype == TAKT_F64);
    EXPECT(rows[0].work > 8e9 && rows[0].work <= 8.7e9);
    EXPECT_NEAR(rows[0].share, 0.1, 1e-6);
    takt__lapack_history_keep(/* as the program has it */
                              chosen(key_of(TAKT_LAPACK_getrs, "N", 1e9), 1,
                                     1.5f));
    EXPECT_INT(row_count, 1);
    takt__lapack_history_keep(
        chosen(key_of(TAKT_LAPACK_syevd, "VL", 8e6), 3, 0.4f));
    REQUIRE(row_count == 2);
    EXPECT(strcmp(rows[1].expert, "syevd.VL-.x2") == 0);
    takt__lapack_history_keep(
        chosen(key_of(TAKT_LAPACK_gesdd, "S-P", 1e9), TAKT_CHOICE_GPU, 0.2f));
    takt__lapack_history_keep(
        chosen(key_of(TAKT_LAPACK_potrf, "U", 1e6), TAKT_CHOICE_OWN, 0.5f));
    REQUIRE(row_count == 4);
    EXPECT(strcmp(rows[2].expert, "gesdd.S-P.gpu") == 0);
}

static void add_row(const char *expert, double share)
{
    rows[row_count] =
        (struct made_up_row){.dtype = TAKT_F64, .work = 4e9, .share = share};
    snprintf(rows[row_count++].expert, TAKT_EXPERT_NAME_MAX, "%s", expert);
}

/* Files may have been made by others. */
static void names_that_are_none_are_passed_over(void)
{
    static const char *const names[] = {"",
                                        ".",
                                        "gesv",
                                        "gesv.",
                                        "gesv.---",
                                        "gesv.---.",
                                        "gesv.---gpu",
                                        "gesv.--.gpu",
                                        "nope.---.gpu",
                                        "ges.---.gpu",
                                        "gesv.---.x0",
                                        "gesv.---.x99999999",
                                        "gesv.---.cpu",
                                        "....gpu"};

    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        add_row(names[i], 0.1);
    (void)takt__lapack_history_open(&route);
    const struct takt_lapack_key key = key_of(TAKT_LAPACK_gesv, "", 4e9);
    EXPECT_INT(takt__lapack_history_choice(&key), 0);
}

static unsigned choice_of(enum takt_lapack routine, const char *letters,
                          double work, unsigned threads)
{
    struct takt_lapack_key key = key_of(routine, letters, work);

    key.threads = threads;
    return takt__lapack_history_choice(&key);
}

static void the_next_run_knows_it(void)
{
    EXPECT_INT(choice_of(TAKT_LAPACK_gesv, "", 8.6e9, 16), TAKT_CHOICE_GPU);
    EXPECT_INT(choice_of(TAKT_LAPACK_gesv, "", 8.6e9, 2), TAKT_CHOICE_GPU);
    EXPECT_INT(choice_of(TAKT_LAPACK_gesv, "", 4.2e9, 16), 0);
    EXPECT_INT(choice_of(TAKT_LAPACK_getrf, "", 8.6e9, 16), 0);
    EXPECT_INT(choice_of(TAKT_LAPACK_syevd, "VL", 8e6, 16), 3);
    EXPECT_INT(choice_of(TAKT_LAPACK_syevd, "VL", 8e6, 8), 2);
    EXPECT_INT(choice_of(TAKT_LAPACK_syevd, "VL", 8e6, 2), 0);
    EXPECT_INT(choice_of(TAKT_LAPACK_syevd, "VU", 8e6, 16), 0);
    EXPECT_INT(choice_of(TAKT_LAPACK_potrf, "U", 1e6, 16), TAKT_CHOICE_OWN);
}

static void the_fastest_of_several_counts(void)
{
    add_row("geqrf.---.own", 0.5);
    add_row("geqrf.---.gpu", 0.2);
    add_row("geqrf.---.x8", 0.6);
    add_row("orgqr.---.gpu", 0.98); /* no gain */
    (void)takt__lapack_history_open(&route);
    EXPECT_INT(choice_of(TAKT_LAPACK_geqrf, "", 4e9, 16), TAKT_CHOICE_GPU);
    EXPECT_INT(choice_of(TAKT_LAPACK_orgqr, "", 4e9, 16), 0);
}

/* They are warmed up: of about the size they had. */
static void calls_on_a_gpu_are_known_by_their_sizes(void)
{
    takt_solver_call call;

    REQUIRE(takt__lapack_history_gpu(0, &call));
    EXPECT(call.routine == TAKT_SOLVER_GESV && call.dtype == TAKT_F64);
    EXPECT(call.n >= 2048 && call.n < 2300 && call.m == call.n && call.k == 1);
    EXPECT(!call.is_by_rows);
    REQUIRE(takt__lapack_history_gpu(1, &call));
    EXPECT(call.routine == TAKT_SOLVER_GESDD && call.job == 'S');
    EXPECT(call.is_by_rows && call.uplo == '\0');
    REQUIRE(takt__lapack_history_gpu(2, &call));
    EXPECT(call.routine == TAKT_SOLVER_GEQRF);
    EXPECT(!takt__lapack_history_gpu(3, &call));
}

/* A GPU that was never tried for a kind is opened for it, too. */
static void what_is_expected_counts_until_it_is_tried(void)
{
    struct takt_team_kind *kind =
        chosen(key_of(TAKT_LAPACK_syevd, "NU", 4e9), 1, 2);
    takt_solver_call call;

    takt__lapack_history_expect(kind, 0.2);
    EXPECT(strcmp(rows[row_count - 1].expert, "syevd.NU-.expected") == 0);
    (void)takt__lapack_history_open(&route);
    EXPECT_INT(choice_of(TAKT_LAPACK_syevd, "NU", 4e9, 16), 0);
    EXPECT_NEAR(takt__lapack_history_share(kind), 0, 0);
    REQUIRE(takt__lapack_history_gpu(3, &call));
    EXPECT(call.routine == TAKT_SOLVER_SYEVD && call.job == 'N');
    EXPECT(call.uplo == 'U');
    add_row("syevd.NU-.gpu", 1.1);
    rows[row_count - 1].work = rows[row_count - 2].work;
    (void)takt__lapack_history_open(&route);
    EXPECT(!takt__lapack_history_gpu(3, &call));
    EXPECT_NEAR(takt__lapack_history_share(kind), 1.1, 1e-9);
    takt__mean_add(&kind->team[TAKT_CHOICE_GPU], 0.5f, 24); /* in this run */
    takt__mean_add(&kind->team[TAKT_CHOICE_GPU], 0.5f, 24);
    EXPECT_NEAR(takt__lapack_history_share(kind), 0.5, 1e-6);
}

static void what_does_not_gain_any_more_is_kept_too(void)
{
    const unsigned before = row_count;
    const struct takt_lapack_key key = key_of(TAKT_LAPACK_geqrf, "", 4e9);

    takt__lapack_history_keep(chosen(key, TAKT_CHOICE_GPU, 1.5f));
    REQUIRE(row_count == before + 1);
    EXPECT(strcmp(rows[before].expert, "geqrf.---.gpu") == 0);
    EXPECT_NEAR(rows[before].share, 1.5, 1e-6);
}

/* What it saves must be more than what opening it takes. */
static void a_gpu_is_opened_at_once_where_that_pays(void)
{
    EXPECT(!takt__lapack_history_open(&route));
    takt__lapack_history_worth(0.6e9);
    takt__lapack_history_worth(-1e9);
    REQUIRE(at_exit != NULL);
    at_exit();
    struct made_up_row *worth = &rows[row_count - 1];
    EXPECT(strcmp(worth->expert, "worth") == 0);
    EXPECT_NEAR(worth->share, 0.6, 1e-9);
    EXPECT(!takt__lapack_history_open(&route));
    worth->share = 3;
    EXPECT(takt__lapack_history_open(&route));
}

int main(void)
{
    RUN(nothing_is_kept_without_a_store);
    RUN(what_was_chosen_is_kept_once);
    RUN(names_that_are_none_are_passed_over);
    RUN(the_next_run_knows_it);
    RUN(the_fastest_of_several_counts);
    RUN(calls_on_a_gpu_are_known_by_their_sizes);
    RUN(what_is_expected_counts_until_it_is_tried);
    RUN(what_does_not_gain_any_more_is_kept_too);
    RUN(a_gpu_is_opened_at_once_where_that_pays);
    return tap_done();
}
