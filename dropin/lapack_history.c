/* SPDX-License-Identifier: MIT */
/* lapack_history.c - choices as experts of an op of the store. */
#include "lapack_history.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lapack_opening.h"
#include "lapack_solver.h"
#include "opener.h"
#include "program_history.h"
#include "record.h"
#include "stack.h"

enum { most_known = 64 };

/* Kinds that take less than this in all are not worth being kept. */
static const float least_ns = 10e6f;

/* What gained, of each kind the fastest. */
struct lapack_memory {
    struct takt_lapack_key key;
    unsigned choice;  /* of those that are no teams; 0: a team */
    unsigned threads; /* of that team; 0: nothing gained */
    double share;
    bool is_expected; /* to gain on a GPU */
    double gpu_share; /* of calls that ran there; 0: none did */
};

static struct lapack_memory known[most_known];
static _Atomic unsigned known_count;
static const struct takt_route *_Atomic kept_in;
static const takt_op *program;
static pid_t process;             /* that has read it */
static double known_worth_s;      /* in earlier runs */
static _Atomic uint64_t worth_ns; /* in this one */

/* ---- names --------------------------------------------------------------- */

static const char *const stems[TAKT_LAPACKS] = {
#define TAKT_LAPACK(stem_, ...) #stem_,
#include "lapack.def"
};

static const char worth_name[] = "worth";
static const char gpu_word[] = "gpu", own_word[] = "own", team_word[] = "x",
                  expected_word[] = "expected";

static void name_choice(const struct takt_lapack_key *key, unsigned choice,
                        char out[16])
{
    if (choice < TAKT_TEAMS)
        snprintf(out, 16, "%s%u", team_word,
                 takt__team_threads(choice, key->threads));
    else
        snprintf(out, 16, "%s",
                 choice == TAKT_CHOICE_GPU ? gpu_word : own_word);
}

static bool read_choice(const char *word, struct lapack_memory *out)
{
    enum { most_threads = 1 << 15 };
    const size_t length = strlen(team_word);

    out->is_expected = strcmp(word, expected_word) == 0;
    out->choice = strcmp(word, gpu_word) == 0   ? TAKT_CHOICE_GPU
                  : strcmp(word, own_word) == 0 ? TAKT_CHOICE_OWN
                                                : 0;
    if (out->choice > 0 || out->is_expected)
        return true;
    if (strncmp(word, team_word, length) != 0)
        return false;
    const long threads = strtol(word + length, NULL, 10);
    out->threads = (unsigned)threads;
    return threads > 0 && threads < most_threads;
}

static bool read_name(const char *name, struct lapack_memory *out)
{
    enum { letters = sizeof out->key.option };
    const char *dot = strchr(name, '.');
    unsigned routine = 0;

    if (dot == NULL || strlen(dot) < letters + 3 || dot[letters + 1] != '.')
        return false;
    const size_t length = (size_t)(dot - name);
    while (routine < TAKT_LAPACKS &&
           (strlen(stems[routine]) != length ||
            strncmp(stems[routine], name, length) != 0))
        routine++;
    out->key.routine = (enum takt_lapack)routine;
    for (unsigned i = 0; i < letters; i++)
        out->key.option[i] = dot[1 + i] != '-' ? dot[1 + i] : '\0';
    return routine < TAKT_LAPACKS && read_choice(dot + letters + 2, out);
}

/* ---- records ------------------------------------------------------------- */

static void record_as(const char *name, takt_dtype dtype, double work_of,
                      double seconds)
{
    const takt_work work = {.bytes = work_of, .flops = work_of};
    const takt_request request = {.size = sizeof request,
                                  .op = program,
                                  .dtype = dtype,
                                  .shape = {.rank = 1, .dim = {1}},
                                  .work = &work};

    takt__record_learned(atomic_load(&kept_in),
                         &(takt_measurement){.size = sizeof(takt_measurement),
                                             .request = &request,
                                             .expert = name,
                                             .seconds = seconds,
                                             .calls = 1});
}

static void record(const struct takt_lapack_key *key, const char *word,
                   double share)
{
    char name[TAKT_EXPERT_NAME_MAX], letters[sizeof key->option];

    for (unsigned i = 0; i < sizeof letters; i++)
        letters[i] = key->option[i] != '\0' ? key->option[i] : '-';
    snprintf(name, sizeof name, "%s.%.3s.%s", stems[key->routine], letters,
             word);
    record_as(name, key->type == TAKT_D ? TAKT_F64 : TAKT_F32, key->work,
              share);
}

void takt__lapack_history_worth(double ns)
{
    if (ns > 0 && ns < 1e18)
        atomic_fetch_add(&worth_ns, (uint64_t)ns);
}

/* A child of fork() would keep that of its parent once more. */
static void keep_worth(void)
{
    const double seconds = (double)atomic_load(&worth_ns) * 1e-9;

    if (seconds > 0 && getpid() == process)
        record_as(worth_name, TAKT_F64, 1, seconds);
}

/* ---- reading ------------------------------------------------------------- */

/* The place of a kind; NULL: there are too many. */
static struct lapack_memory *place_of(const struct takt_lapack_key *key,
                                      unsigned *count)
{
    for (unsigned i = 0; i < *count; i++)
        if (takt__lapack_is_same(&known[i].key, key))
            return &known[i];
    if (*count == most_known)
        return NULL;
    known[*count] =
        (struct lapack_memory){.key = *key, .share = TAKT_CLEAR_GAIN};
    return &known[(*count)++];
}

static int visit(void *self, const takt_history_row *row)
{
    struct lapack_memory found = {
        .key = {.type = row->dtype == TAKT_F64 ? TAKT_D : TAKT_S,
                .work = row->work_low},
        .share = row->mean_s};

    if (row->op != program)
        return 0;
    if (strcmp(row->expert, worth_name) == 0)
        known_worth_s = row->mean_s;
    if (!read_name(row->expert, &found))
        return 0;
    struct lapack_memory *at = place_of(&found.key, self);
    if (at == NULL)
        return 0;
    found.gpu_share =
        found.choice == TAKT_CHOICE_GPU ? found.share : at->gpu_share;
    if (found.is_expected || found.share >= at->share) {
        at->is_expected |= found.is_expected;
        at->gpu_share = found.gpu_share;
    } else {
        found.is_expected = at->is_expected;
        *at = found;
    }
    return 0;
}

bool takt__lapack_history_open(const struct takt_route *route)
{
    takt_solver_call call;
    unsigned count = 0;

    known_worth_s = 0;
    program = takt__history_define(route, "lapack");
    if (program == NULL)
        return false;
    (void)route->takt->history_read(route->ctx, visit, &count);
    atomic_store_explicit(&known_count, count, memory_order_release);
    process = getpid();
    if (atomic_exchange(&kept_in, route) == NULL)
        takt__opener_tell_at_exit(keep_worth);
    return known_worth_s * 1e9 >= TAKT_OPENING_PRICE &&
           takt__lapack_history_gpu(0, &call);
}

static const struct lapack_memory *find(const struct takt_lapack_key *key)
{
    const unsigned count =
        atomic_load_explicit(&known_count, memory_order_acquire);

    for (unsigned i = 0; i < count; i++)
        if (takt__lapack_is_same(&known[i].key, key))
            return &known[i];
    return NULL;
}

unsigned takt__lapack_history_choice(const struct takt_lapack_key *key)
{
    const struct lapack_memory *found = find(key);
    const unsigned teams = takt__teams_of(key->threads);

    if (found == NULL || found->choice > 0)
        return found == NULL ? 0 : found->choice;
    for (unsigned i = 1; i < teams; i++)
        if (takt__team_threads(i, key->threads) == found->threads)
            return i;
    return 0;
}

double takt__lapack_history_share(const struct takt_team_kind *kind)
{
    const double measured = takt__team_share(kind, TAKT_CHOICE_GPU);
    const struct takt_lapack_key key = takt__lapack_key(kind);
    const struct lapack_memory *found = measured > 0 ? NULL : find(&key);

    return found != NULL ? found->gpu_share : measured;
}

bool takt__lapack_history_gpu(unsigned i, takt_solver_call *out)
{
    const unsigned count =
        atomic_load_explicit(&known_count, memory_order_acquire);

    for (unsigned at = 0; at < count; at++)
        if ((known[at].choice == TAKT_CHOICE_GPU ||
             (known[at].is_expected && known[at].gpu_share == 0)) &&
            takt__lapack_like(&known[at].key, out) && i-- == 0)
            return true;
    return false;
}

/* ---- keeping choices ----------------------------------------------------- */

static void keep(const struct takt_lapack_key *key, struct takt_team_kind *kind,
                 unsigned choice)
{
    const uint32_t bit = UINT32_C(1) << choice;
    const double share = takt__team_share(kind, choice);
    char word[16];

    if (choice == 0 || !(share > 0) || (atomic_load(&kind->kept) & bit) != 0)
        return;
    atomic_fetch_or(&kind->kept, bit);
    name_choice(key, choice, word);
    record(key, word, share);
}

static bool is_open(void)
{
    return atomic_load_explicit(&kept_in, memory_order_acquire) != NULL &&
           takt__has_stack();
}

void takt__lapack_history_expect(const struct takt_team_kind *kind,
                                 double share)
{
    const struct takt_lapack_key key = takt__lapack_key(kind);

    if (is_open())
        record(&key, expected_word, share);
}

/* What gained before may not do so any more. */
void takt__lapack_history_keep(struct takt_team_kind *kind)
{
    if (!is_open() || !(atomic_load(&kind->all_ns) >= least_ns))
        return;
    const struct takt_lapack_key key = takt__lapack_key(kind);
    keep(&key, kind, takt__team_fastest(kind));
    keep(&key, kind, takt__lapack_history_choice(&key));
}
