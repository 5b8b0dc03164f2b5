/* SPDX-License-Identifier: MIT */
/*
 * bench_question.c - from words to ops, sizes and experts.
 *
 * All that can be wrong with the question is found before anything is timed,
 * so that a long run does not end in a complaint.
 */
#include <stdio.h>
#include <string.h>

#include "base/name.h"
#include "bench_operands.h"
#include "bench_plan.h"
#include "context.h"
#include "number.h"

enum { longest_list = 2048 };

static const char usual_ops[] = "add,sum,exp,softmax,gemv,matmul";
static const double longest_s = 60;

/* Cuts the next word off a list separated by commas; NULL: there is none. */
static char *next_word(char **list)
{
    char *word = *list;

    if (word == NULL)
        return NULL;
    char *comma = strchr(word, ',');
    if (comma != NULL)
        *comma = '\0';
    *list = comma == NULL ? NULL : comma + 1;
    return word;
}

static bool copy_list(const struct bench *bench, const char *option,
                      const char *text, char out[longest_list])
{
    if (strlen(text) < longest_list) {
        memcpy(out, text, strlen(text) + 1);
        return true;
    }
    usage_error(bench->command, "--%s is longer than %d characters", option,
                longest_list - 1);
    return false;
}

static bool has_room(const struct bench *bench, const takt_op *op,
                     const char *size, const takt_shape *shape)
{
    const double memory = (double)bench->machine->memory_bytes;
    takt_work work;

    if (takt_op_work(op, bench->dtype, shape, &work) == TAKT_OK &&
        (memory == 0 || 2 * work.bytes < memory))
        return true;
    usage_error(bench->command, "%s of %s needs more memory than there is",
                op->name, size);
    return false;
}

/* Whether the size means something to the op; not said for ops nobody named. */
static bool size_fits(const takt_op *op, const takt_shape *shape)
{
    for (unsigned i = 0; i < shape->rank; i++)
        if (shape->dim[i] == 0 && i < op->rank_min)
            return false;
    return shape->rank >= op->rank_min &&
           takt_op_check_shape(op, shape) == TAKT_OK;
}

static bool add_cell(struct bench *bench, const takt_op *op, const char *size,
                     bool is_named)
{
    takt_shape shape;
    const char *wrong = parse_shape(size, &shape);

    if (wrong != NULL) {
        usage_error(bench->command, "size '%s' %s", size, wrong);
        return false;
    }
    if (!size_fits(op, &shape)) {
        if (is_named)
            usage_error(bench->command, "%s takes %s, not '%s'", op->name,
                        op->shape, size);
        return !is_named;
    }
    if (!has_room(bench, op, size, &shape))
        return false;
    if (bench->cell_count == most_cells) {
        usage_error(bench->command, "more than %d sizes", most_cells);
        return false;
    }
    bench->cell[bench->cell_count++] = (struct cell){op, shape};
    return true;
}

static bool add_op(struct bench *bench, const takt_op *op, const char *sizes,
                   bool is_named)
{
    char list[longest_list], *rest = list, *size;

    if (!copy_list(bench, "sizes", sizes != NULL ? sizes : usual_sizes(op),
                   list))
        return false;
    while ((size = next_word(&rest)) != NULL)
        if (!add_cell(bench, op, size, is_named))
            return false;
    return true;
}

static const takt_op *find_op(const struct bench *bench, const char *name)
{
    const takt_op *op = find_named_op(bench->command, name);

    if (op == NULL || !has_dtype(bench->command, op, bench->dtype))
        return NULL;
    if (!takt__name_equal(op->name, "reshape"))
        return op;
    usage_error(bench->command, "%s moves nothing: nothing to time", op->name);
    return NULL;
}

static bool read_ops(const struct invocation *invocation, struct bench *bench)
{
    const char *sizes = option_value(invocation, "sizes");
    char list[longest_list], *rest = list, *name;

    for (size_t i = 0; i < invocation->operand_count; i++) {
        const takt_op *op = find_op(bench, invocation->operands[i]);
        if (op == NULL || !add_op(bench, op, sizes, true))
            return false;
    }
    if (invocation->operand_count > 0)
        return true;
    memcpy(list, usual_ops, sizeof usual_ops);
    while ((name = next_word(&rest)) != NULL) {
        const takt_op *op = takt_op_find(name);
        if ((op->dtypes >> bench->dtype & 1) != 0 &&
            !add_op(bench, op, sizes, false))
            return false;
    }
    if (bench->cell_count == 0)
        usage_error(bench->command, "no size in --sizes fits any of %s",
                    usual_ops);
    return bench->cell_count > 0;
}

static bool read_options(const struct invocation *invocation,
                         struct bench *bench)
{
    const char *dtype = option_value(invocation, "dtype");
    const char *seconds = option_value(invocation, "seconds");
    size_t index = TAKT_F32;

    if (dtype != NULL)
        find_choice(dtype, "f32|f64", &index);
    bench->dtype = (takt_dtype)index;
    bench->budget_s = 0.3;
    const char *wrong =
        seconds == NULL ? NULL : parse_rate(seconds, &bench->budget_s);
    if (wrong == NULL && !(bench->budget_s > 0 && bench->budget_s <= longest_s))
        wrong = "is not above 0 and up to 60";
    if (wrong != NULL)
        usage_error(bench->command, "--seconds '%s' %s", seconds, wrong);
    return wrong == NULL;
}

/* ---- the contenders --------------------------------------------------------
 */

static bool is_gpu_name(const char *name)
{
    return strncmp(name, "cuda.", 5) == 0 || strncmp(name, "vulkan.", 7) == 0;
}

/* A context that has but one expert to ask; "adaptive" may ask all, and has
 * its GPUs open, as a program does after a while. */
static bool add_contender(struct bench *bench, const char *name)
{
    const bool is_adaptive = strcmp(name, "adaptive") == 0;
    const bool is_library = strncmp(name, "blas.", 5) == 0;
    const takt_ctx_options options = {
        .policy = is_adaptive ? TAKT_POLICY_ADAPTIVE : TAKT_POLICY_FIXED,
        .expert = is_adaptive ? NULL : name,
        .blas = is_library || is_adaptive ? NULL : "",
        .gpu = is_adaptive || is_gpu_name(name) ? NULL : "",
        /* What a loop of one expert takes is nothing to route by. */
        .store = is_adaptive ? NULL : "",
        .telemetry = ""};
    struct contender *contender = &bench->contender[bench->contender_count];

    if (bench->contender_count == most_contenders)
        return true;
    const takt_status status = takt_ctx_create(&options, &contender->ctx);
    if (status != TAKT_OK) {
        usage_error(bench->command, "expert '%s': %s", name,
                    takt_status_text(status));
        return false;
    }
    if (is_adaptive)
        takt_ctx_open_gpus(contender->ctx);
    snprintf(contender->name, sizeof contender->name, "%s", name);
    bench->contender_count++;
    return true;
}

/* The names separated by |, as choices are. */
static void join_experts(const takt_ctx *ctx, char *out, size_t size)
{
    size_t used = (size_t)snprintf(out, size, "adaptive");
    const char *name;

    for (size_t i = 0; (name = takt_ctx_expert(ctx, i, NULL)) != NULL; i++)
        if (used < size)
            used += (size_t)snprintf(out + used, size - used, "|%s", name);
}

static bool add_named(struct bench *bench, const char *choice, const char *list)
{
    char words[longest_list], *rest = words, *word, near[TAKT_EXPERT_NAME_MAX];

    if (!copy_list(bench, "experts", list, words))
        return false;
    while ((word = next_word(&rest)) != NULL) {
        size_t index;
        if (find_choice(word, choice, &index)) {
            if (!add_contender(bench, word))
                return false;
            continue;
        }
        if (nearest_choice(word, choice, near, sizeof near) != NULL)
            usage_error(bench->command, "no expert '%s'; did you mean '%s'?",
                        word, near);
        else
            usage_error(bench->command, "no expert '%s'; there are %s", word,
                        choice);
        return false;
    }
    return true;
}

static bool read_experts(const struct invocation *invocation,
                         struct bench *bench)
{
    const char *list = option_value(invocation, "experts");
    const bool names_gpu = list != NULL && (strstr(list, "cuda.") != NULL ||
                                            strstr(list, "vulkan.") != NULL);
    const takt_ctx_options options = {.gpu = names_gpu ? all_gpus() : NULL,
                                      .telemetry = ""};
    char choice[longest_list];
    takt_ctx *ctx;
    const char *name;
    bool is_right = true;

    const takt_status status = takt_ctx_create(&options, &ctx);
    if (status != TAKT_OK) {
        usage_error(bench->command, "this machine: %s",
                    takt_status_text(status));
        return false;
    }
    if (list != NULL) {
        join_experts(ctx, choice, sizeof choice);
        is_right = add_named(bench, choice, list);
    } else {
        takt_ctx_open_gpus(ctx);
        for (size_t i = 0;
             is_right && (name = takt_ctx_expert(ctx, i, NULL)) != NULL; i++)
            if (!is_gpu_name(name) || is_worthy_gpu(ctx, name))
                is_right = add_contender(bench, name);
        is_right = is_right && add_contender(bench, "adaptive");
    }
    takt_ctx_destroy(ctx);
    return is_right;
}

bool read_question(const struct invocation *invocation, struct bench *bench)
{
    return read_options(invocation, bench) && read_ops(invocation, bench) &&
           read_experts(invocation, bench);
}
