/* SPDX-License-Identifier: MIT */
/*
 * run_tally.c - the file of shared statistics (dropin/stats.h), and its sums.
 *
 * Its space is allocated when it is made: on a full disk, a process that counts
 * would be killed. Any process of the program may have written anything into
 * it, so its content is checked.
 *
 * Of the calls that were passed through to the baseline library only some are
 * timed. They stand for the others of their routine and class; the sum is then
 * an estimate. A process that was killed may have counted a call and not its
 * time, so numbers need not agree with each other.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "commands.h"
#include "run.h"

/* All else is zero. */
static bool write_head(int fd)
{
    const struct {
        char title[sizeof((struct takt_stats *)NULL)->title];
        uint64_t size;
    } head = {.title = TAKT_STATS_TITLE, .size = sizeof(struct takt_stats)};
    const uint64_t start_ns = takt__now_ns();

    return pwrite(fd, &head, sizeof head, 0) == sizeof head &&
           pwrite(fd, &start_ns, sizeof start_ns,
                  offsetof(struct takt_stats, timeline.start_ns)) ==
               sizeof start_ns;
}

/* Returns 0, or an errno; no file is left then. */
static int make_in(const char *folder, struct stats_file *out)
{
    if ((size_t)snprintf(out->path, sizeof out->path, "%s/takt-run-XXXXXX",
                         folder) >= sizeof out->path)
        return ENAMETOOLONG;
    out->fd = mkstemp(out->path);
    if (out->fd < 0)
        return errno;
    fcntl(out->fd, F_SETFD, FD_CLOEXEC);
    int wrong = posix_fallocate(out->fd, 0, (off_t)sizeof(struct takt_stats));
    if (wrong == 0 && !write_head(out->fd))
        wrong = EIO;
    if (wrong != 0)
        stats_remove(out);
    return wrong;
}

bool stats_make(struct stats_file *out)
{
    const char *temporary = getenv("TMPDIR");
    const char *const folders[] = {getenv("XDG_RUNTIME_DIR"), "/dev/shm",
                                   temporary != NULL ? temporary : "/tmp"};
    const char *last = "";
    int wrong = 0;

    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        if (folders[i] == NULL || folders[i][0] != '/')
            continue;
        last = folders[i];
        wrong = make_in(last, out);
        if (wrong == 0)
            return true;
    }
    complain(&cmd_run, "there is no room to count in for --report: '%s': %s",
             last, strerror(wrong));
    return false;
}

void stats_remove(struct stats_file *file)
{
    unlink(file->path);
    close(file->fd);
}

static bool is_stats(const struct takt_stats *stats)
{
    static const char title[sizeof stats->title] = TAKT_STATS_TITLE;

    return memcmp(stats->title, title, sizeof title) == 0 &&
           stats->size == sizeof *stats;
}

struct takt_stats *stats_read(int fd)
{
    struct takt_stats *stats = calloc(1, sizeof *stats);
    struct stat facts;

    if (stats != NULL && fstat(fd, &facts) == 0 &&
        facts.st_size == (off_t)sizeof *stats &&
        pread(fd, stats, sizeof *stats, 0) == (ssize_t)sizeof *stats &&
        is_stats(stats))
        return stats;
    free(stats);
    return NULL;
}

const char *stats_text(const struct takt_stats_text *text)
{
    enum { written = 2 };
    const bool is_whole = text->state == written && text->text[0] != '\0' &&
                          memchr(text->text, '\0', sizeof text->text) != NULL;

    return is_whole ? text->text : NULL;
}

const char *const destination_keys[TAKT_DESTINATIONS] = {
    "pass_through", "baseline", "scalar", "simd", "gpu"};

const char *const why_keys[TAKT_WHYS] = {
    "small",  "settled", "starting", "form",      "routine",
    "nested", "empty",   "wrong",    "no_router", "no_gpu",
    "asleep", "slower",  "lost",     "policy",    "tried"};

static const char *const routine_stems[TAKT_ROUTINES] = {
    "gemm", "symm", "syrk", "syr2k", "trmm", "trsm", "gemv",
    "ger",  "axpy", "dot",  "scal",  "nrm2", "asum", "amax"};

const char *routine_name(unsigned routine, unsigned type, char out[16])
{
    static const char *const own[TAKT_BLAS_TYPES] = {"s", "d", "c", "z"};
    static const char *const real[TAKT_BLAS_TYPES] = {"s", "d", "sc", "dz"};
    const bool gives_real = routine == TAKT_NRM2 || routine == TAKT_ASUM;

    snprintf(out, 16, "%s%s%s", routine == TAKT_IAMAX ? "i" : "",
             gives_real ? real[type] : own[type], routine_stems[routine]);
    return out;
}

/* ---- sums ---- */

/* Saturates: a damaged file may hold any number. */
static uint64_t plus(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

uint64_t all_calls(const struct run_row *row)
{
    uint64_t sum = 0;

    for (size_t destination = 0; destination < TAKT_DESTINATIONS; destination++)
        sum = plus(sum, row->calls[destination]);
    return sum;
}

uint64_t calls_elsewhere(const struct run_row *row)
{
    return plus(row->calls[TAKT_DESTINATION_SCALAR],
                plus(row->calls[TAKT_DESTINATION_SIMD],
                     row->calls[TAKT_DESTINATION_GPU]));
}

double gained_s(const struct run_row *row)
{
    return row->baseline_s - row->instead_s;
}

double without_s(const struct run_row *row)
{
    /* A call that was compared and not timed would make it negative. */
    const double without = row->took_s + gained_s(row);
    return without > row->baseline_s ? without : row->baseline_s;
}

double gained_share(const struct run_row *row)
{
    const double without = without_s(row);
    return without > 0 ? gained_s(row) / without : 0;
}

double routed_s(const struct run_row *row)
{
    return row->measured_s[TAKT_DESTINATION_SCALAR] +
           row->measured_s[TAKT_DESTINATION_SIMD] +
           row->measured_s[TAKT_DESTINATION_GPU];
}

/* Calls in the baseline library. */
static double passed_s(const struct run_row *row)
{
    const double passed = row->took_s - routed_s(row);
    return passed > 0 ? passed : 0;
}

static void add_destination(struct run_row *row,
                            const struct takt_stats_cell *cell,
                            size_t destination)
{
    const uint64_t calls = cell->calls[destination],
                   timed = cell->timed[destination];
    const double measured_s = (double)cell->ns[destination] / 1e9;

    row->calls[destination] = calls;
    row->timed[destination] = timed;
    row->measured_s[destination] = measured_s;
    if (timed == 0) {
        row->untimed = plus(row->untimed, calls);
    } else if (timed < calls) {
        row->took_s += measured_s * ((double)calls / (double)timed);
        row->is_estimate = true;
    } else {
        row->took_s += measured_s;
    }
}

static struct run_row row_of(const struct takt_stats_cell *cell)
{
    struct run_row row = {.compared = cell->compared,
                          .transfer_s = (double)cell->transfer_ns / 1e9,
                          .wait_s = (double)cell->wait_ns / 1e9,
                          .baseline_s = (double)cell->baseline_ns / 1e9,
                          .error_s = (double)cell->error_ns / 1e9,
                          .instead_s = (double)cell->instead_ns / 1e9,
                          .judged = cell->judged,
                          .gpu_s = (double)cell->gpu_ns / 1e9,
                          .own_s = (double)cell->own_ns / 1e9};

    for (size_t destination = 0; destination < TAKT_DESTINATIONS; destination++)
        add_destination(&row, cell, destination);
    for (size_t why = 0; why < TAKT_WHYS; why++)
        row.why[why] = cell->why[why];
    return row;
}

void tally_add(struct run_row *sum, const struct run_row *row)
{
    for (size_t destination = 0; destination < TAKT_DESTINATIONS;
         destination++) {
        sum->calls[destination] =
            plus(sum->calls[destination], row->calls[destination]);
        sum->timed[destination] =
            plus(sum->timed[destination], row->timed[destination]);
        sum->measured_s[destination] += row->measured_s[destination];
    }
    for (size_t why = 0; why < TAKT_WHYS; why++)
        sum->why[why] = plus(sum->why[why], row->why[why]);
    sum->took_s += row->took_s;
    sum->is_estimate |= row->is_estimate;
    sum->untimed = plus(sum->untimed, row->untimed);
    sum->transfer_s += row->transfer_s;
    sum->wait_s += row->wait_s;
    sum->compared = plus(sum->compared, row->compared);
    sum->baseline_s += row->baseline_s;
    sum->error_s += row->error_s;
    sum->instead_s += row->instead_s;
    sum->judged = plus(sum->judged, row->judged);
    sum->gpu_s += row->gpu_s;
    sum->own_s += row->own_s;
}

/* ---- the run ---- */

static double threads_of(const struct takt_stats_span *span)
{
    const double all_ns = (double)span->threads_ns;
    const double from_ns = (double)span->first_ns;
    const double ns = (double)span->last_ns - from_ns;

    return ns > 0 && all_ns > ns ? all_ns / ns : 1;
}

/* Of the time of threads, the share that is wall time. What was not timed is
 * estimated, so it may seem to be more than there was. */
static double share_of(const struct run_tally *tally, double wall_s)
{
    const double all_s = tally->total.took_s + tally->loops.took_s +
                         tally->lapack.took_s + tally->opening_s;
    const double share = 1 / tally->threads;

    return all_s * share > wall_s ? wall_s / all_s : share;
}

/* As much of it as there is. */
static double take(double *from_s, double wanted_s)
{
    const double taken_s = wanted_s < *from_s ? wanted_s : *from_s;

    *from_s -= taken_s;
    return taken_s;
}

struct run_parts parts_of(const struct run_tally *tally, double wall_s)
{
    const struct run_row *total = &tally->total;
    const double share = share_of(tally, wall_s);
    double routed = routed_s(total);
    struct run_parts parts = {.baseline_s = share * passed_s(total),
                              .lapack_s = share * tally->lapack.took_s,
                              .loops_s = share * tally->loops.took_s,
                              .opening_s = share * tally->opening_s};

    parts.wait_s = share * take(&routed, total->wait_s);
    parts.transfer_s = share * take(&routed, total->transfer_s);
    parts.gpu_s =
        share * take(&routed, fmax(total->measured_s[TAKT_DESTINATION_GPU] -
                                       total->wait_s - total->transfer_s,
                                   0));
    parts.cpu_s = share * routed;
    parts.rest_s = fmax(wall_s - parts.baseline_s - parts.lapack_s -
                            parts.loops_s - parts.opening_s - parts.wait_s -
                            parts.transfer_s - parts.gpu_s - parts.cpu_s,
                        0);
    return parts;
}

static struct run_effect effect_of(const struct takt_stats_effect *stats)
{
    const uint64_t gain_ns = stats->gain_ns;

    return (struct run_effect){
        .slices = stats->slices,
        .gain_s = (double)(int64_t)gain_ns / 1e9,
        .baseline_s = (double)stats->baseline_ns / 1e9,
        .error_s = sqrt((double)stats->variance_us2) / 1e6,
        .covered_s = (double)stats->covered_ns / 1e9,
        .lapack_s = ((double)stats->lapack_baseline_ns -
                     (double)stats->lapack_instead_ns) /
                    1e9,
        .lapack_error_s = (double)stats->lapack_error_ns / 1e9};
}

bool is_effect_known(const struct run_tally *tally)
{
    const double changed_s =
        routed_s(&tally->total) + tally->loops.split_s + tally->lapack.split_s;

    return tally->effect.slices > 0 && tally->effect.baseline_s > 0 &&
           tally->effect.covered_s > changed_s / 2;
}

/* Nothing was compared of what may have gained: calls that ran elsewhere, and
 * loops, since the memory of their arrays is kept. */
static bool is_gain_unknown(const struct run_tally *tally)
{
    const struct run_row *total = &tally->total;
    const struct loop_row *loops = &tally->loops;

    return total->compared == 0 &&
           (calls_elsewhere(total) > 0 ||
            (loops->compared == 0 && loops->whole + loops->split > 0));
}

double run_gain_s(const struct run_tally *tally)
{
    const struct run_row *total = &tally->total;

    if (is_effect_known(tally))
        return (tally->effect.gain_s + loops_gain_s(&tally->lapack) -
                tally->effect.lapack_s - tally->opening_s) /
               tally->threads;
    if (is_gain_unknown(tally))
        return (double)NAN;
    return (gained_s(total) + loops_gain_s(&tally->loops) +
            loops_gain_s(&tally->lapack) - tally->opening_s) /
           tally->threads;
}

double run_gain_error_s(const struct run_tally *tally)
{
    const double error_s =
        is_effect_known(tally)
            ? tally->effect.error_s - tally->effect.lapack_error_s
            : tally->total.error_s + tally->loops.error_s;

    return 2 * (error_s + tally->lapack.error_s) / tally->threads;
}

/* ---- rows ---- */

/* Most cells are empty. */
static bool has_calls(const struct takt_stats_cell *cell)
{
    for (size_t destination = 0; destination < TAKT_DESTINATIONS; destination++)
        if (cell->calls[destination] > 0)
            return true;
    return false;
}

bool tally_stats(const struct takt_stats *stats, struct run_tally *out)
{
    enum { most = TAKT_ROUTINES * TAKT_BLAS_TYPES * TAKT_STATS_CLASSES };

    *out = (struct run_tally){.row = calloc(most, sizeof *out->row),
                              .loops = sum_loops(stats, loop_rows),
                              .lapack = sum_loops(stats, lapack_rows),
                              .effect = effect_of(&stats->effect),
                              .opening_s = (double)stats->result.own_ns / 1e9,
                              .threads = threads_of(&stats->span)};
    if (out->row == NULL)
        return false;
    for (unsigned i = 0; i < most; i++) {
        const unsigned class = i % TAKT_STATS_CLASSES;
        const unsigned type = i / TAKT_STATS_CLASSES % TAKT_BLAS_TYPES;
        const unsigned routine = i / TAKT_STATS_CLASSES / TAKT_BLAS_TYPES;
        const struct takt_stats_cell *cell = &stats->cell[routine][type][class];
        if (!has_calls(cell))
            continue;
        struct run_row row = row_of(cell);
        row.routine = routine;
        row.type = type;
        row.first_class = row.last_class = class;
        out->row[out->count++] = row;
        tally_add(&out->total, &row);
    }
    return true;
}

void tally_drop(struct run_tally *tally)
{
    free(tally->row);
    *tally = (struct run_tally){0};
}

static bool is_passed_through(const struct run_row *row)
{
    return row->calls[TAKT_DESTINATION_PASS_THROUGH] == all_calls(row);
}

void tally_merge(struct run_tally *tally)
{
    size_t count = 0;

    for (size_t i = 0; i < tally->count; i++) {
        const struct run_row row = tally->row[i];
        struct run_row *last = count > 0 ? &tally->row[count - 1] : NULL;
        if (last != NULL && last->routine == row.routine &&
            last->type == row.type && is_passed_through(last) &&
            is_passed_through(&row)) {
            tally_add(last, &row);
            last->last_class = row.last_class;
        } else {
            tally->row[count++] = row;
        }
    }
    tally->count = count;
}
