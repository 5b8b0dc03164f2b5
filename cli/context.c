/* SPDX-License-Identifier: MIT */
/* context.c - options and environment made into a context. */
#include "context.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/config.h"
#include "number.h"

static const char *const situations[situation_count] = {
    "fresh", "repeat", "asleep", "repeat-asleep"};

bool is_pinned(void)
{
    const char *pin = takt__config()->pin;
    return pin != NULL && pin[0] != '\0';
}

static int refuse(const struct command *command,
                  const struct context_wish *wish,
                  const takt_ctx_options *options, takt_status status)
{
    if (options->policy == TAKT_POLICY_PINNED)
        return usage_error(command, "TAKT_PIN '%s': %s%s", options->pin,
                           takt_status_text(status),
                           status == TAKT_ECORRUPT || status == TAKT_ENODEV
                               ? "; 'takt doctor' names the line"
                               : "");
    if (wish->objective != NULL && status == TAKT_ENOTSUP)
        return usage_error(command,
                           "--objective '%s': energy cannot be measured here: "
                           "the power of no expert is known; use time, p95, "
                           "p99, p999 or throughput",
                           wish->objective);
    if (wish->recording != NULL)
        return usage_error(command, "--machine '%s': %s", wish->recording,
                           takt_status_text(status));
    return usage_error(command, "this machine: %s", takt_status_text(status));
}

const char *all_gpus(void)
{
    const char *gpu = takt__config()->gpu;
    return gpu != NULL && gpu[0] == '\0' ? "" : "all";
}

bool find_usable_gpu(takt_ctx *ctx, takt_gpu_device *out)
{
    for (size_t i = 0; takt_ctx_gpu(ctx, i, out) == TAKT_OK; i++)
        if (out->state == TAKT_GPU_READY && !out->is_software)
            return true;
    return false;
}

bool is_worthy_gpu(takt_ctx *ctx, const char *expert)
{
    takt_gpu_device gpu = {.size = sizeof gpu};

    for (size_t i = 0; takt_ctx_gpu(ctx, i, &gpu) == TAKT_OK; i++)
        if (strcmp(gpu.expert, expert) == 0)
            return gpu.state != TAKT_GPU_ABSENT && !gpu.is_software;
    return false;
}

bool choose_store(const struct command *command, const char *db, char *out,
                  size_t size)
{
    takt_status status = TAKT_OK;

    if (db == NULL)
        status = takt_store_path(out, size);
    else if ((size_t)snprintf(out, size, "%s", db) >= size)
        status = TAKT_EINVAL;
    if (status == TAKT_EIO)
        complain(command, "a file of the machine cannot be read, so that it is "
                          "not known whose store to open; try again");
    else if (status != TAKT_OK)
        complain(command, "the path of the store is too long: use a shorter "
                          "one (TAKT_DB, or --db FILE)");
    else if (out[0] == '\0')
        complain(command, "there is no store: set TAKT_DB, or use --db FILE");
    return status == TAKT_OK && out[0] != '\0';
}

bool is_same_file(const char *a, const char *b)
{
    struct stat first, second;

    return stat(a, &first) == 0 && stat(b, &second) == 0 &&
           first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

bool is_foreign_store(const char *path)
{
    char own[1024];

    if (path == NULL || path[0] == '\0')
        return false;
    if (takt_store_path(own, sizeof own) != TAKT_OK || own[0] == '\0')
        return true;
    return strcmp(own, path) != 0 && !is_same_file(own, path);
}

/* A store that cannot be read must not look like an empty one. */
static void report_store(const struct command *command, takt_ctx *ctx)
{
    takt_learning learning = {.size = sizeof learning};

    if (takt_ctx_learning(ctx, &learning) == TAKT_OK &&
        learning.diag.text[0] != '\0')
        complain(command, "%s", learning.diag.text);
}

bool check_objective(const struct command *command, const char *text)
{
    takt_diag diag;

    return text == NULL || takt_objective_check(text, NULL, &diag) == TAKT_OK ||
           reject(command, "--objective '%s': %s", text, diag.text);
}

bool open_context(const struct command *command,
                  const struct context_wish *wish, takt_ctx **out)
{
    const struct takt_config *config = takt__config();
    const bool is_live = wish->recording == NULL;
    char pin[PATH_MAX] = ""; /* a copy, for the message in refuse() */

    if (!check_objective(command, wish->objective))
        return false;
    if (config->pin != NULL)
        snprintf(pin, sizeof pin, "%s", config->pin);
    const takt_ctx_options options = {
        .size = sizeof options,
        .objective = wish->objective,
        .recording = wish->recording,
        .telemetry = "", /* what is asked here is no program's call */
        .cost = wish->cost,
        .policy = wish->obeys_pin && is_live && is_pinned()
                      ? TAKT_POLICY_PINNED
                      : TAKT_POLICY_ADAPTIVE,
        .pin = pin,
        .threads = wish->threads > 0 ? wish->threads
                   : is_live         ? config->threads
                                     : 0,
        .blas = is_live ? config->blas : "",
        .store = wish->store,
        .store_is_foreign =
            !wish->writes_store && is_foreign_store(wish->store),
        .exploration = -1,
        .gpu = wish->asks_drivers && is_live ? all_gpus() : NULL,
    };
    const takt_status status = takt_ctx_create(&options, out);

    if (status != TAKT_OK) {
        refuse(command, wish, &options, status);
        return false;
    }
    if (takt_ctx_machine(*out)->hw_fingerprint[0] == '\0') {
        /* An empty history would be a wrong answer; why was said. */
        refuse(command, wish, &options, TAKT_EIO);
        takt_ctx_destroy(*out);
        *out = NULL;
        return false;
    }
    report_store(command, *out);
    if (wish->opens_gpus && is_live)
        takt_ctx_open_gpus(*out);
    return true;
}

static bool accept(const struct invocation *invocation, const char *name,
                   const char *wrong)
{
    return wrong == NULL || reject(invocation->command, "--%s '%s' %s", name,
                                   option_value(invocation, name), wrong);
}

bool read_rate_option(const struct invocation *invocation, const char *name,
                      double most, const char *range, double *out)
{
    const char *text = option_value(invocation, name);
    const char *wrong = text != NULL ? parse_rate(text, out) : NULL;

    if (text != NULL && wrong == NULL && !(*out > 0 && *out <= most))
        wrong = range;
    return accept(invocation, name, wrong);
}

bool read_count_option(const struct invocation *invocation, const char *name,
                       size_t most, const char *range, size_t *out)
{
    const char *text = option_value(invocation, name);
    const char *wrong = text != NULL ? parse_count(text, out) : NULL;

    if (text != NULL && wrong == NULL && (*out == 0 || *out > most))
        wrong = range;
    return accept(invocation, name, wrong);
}

unsigned read_situation(const struct invocation *invocation)
{
    return (unsigned)option_choice(invocation, "situation");
}

const char *situation_name(unsigned situation)
{
    if ((situation & TAKT_SITUATION_ON_GPU) != 0)
        return "on-gpu";
    return situation < situation_count ? situations[situation] : "?";
}

unsigned expert_threads(const char *name)
{
    const char *x = strrchr(name, 'x');
    char *end;

    if (x == NULL || x[1] < '0' || x[1] > '9')
        return 1;
    const unsigned long threads = strtoul(x + 1, &end, 10);
    /* "simd.avx512" has an x and digits too: a count follows a digit or a
     * letter other than v. */
    return *end != '\0' || (x > name && x[-1] == 'v') ? 1 : (unsigned)threads;
}

bool shape_error(const struct command *command, const takt_op *op,
                 const char *shape)
{
    return reject(command, "shape '%s' does not fit %s, which takes %s", shape,
                  op->name, op->shape);
}

bool has_dtype(const struct command *command, const takt_op *op,
               takt_dtype dtype)
{
    const takt_dtype other = dtype == TAKT_F32 ? TAKT_F64 : TAKT_F32;

    if ((op->dtypes >> dtype & 1) != 0)
        return true;
    return reject(command, "%s has no %s, only %s", op->name,
                  takt_dtype_name(dtype), takt_dtype_name(other));
}

const takt_op *find_named_op(const struct command *command, const char *name)
{
    const takt_op *op = takt_op_find(name);
    const char *near = op == NULL ? takt_op_nearest(name) : NULL;

    if (near != NULL)
        usage_error(command, "no op '%s'; did you mean '%s'?", name, near);
    else if (op == NULL)
        usage_error(command, "no op '%s' (see 'takt map')", name);
    return op;
}
