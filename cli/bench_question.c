/* SPDX-License-Identifier: MIT */
/*
 * bench_question.c - from words to ops, sizes and experts.
 *
 * All that can be wrong with the question is found before anything is timed,
 * so that a long run does not end in a complaint.
 */
#include <stdio.h>
#include <string.h>

#include "bench_plan.h"
#include "context.h"
#include "number.h"
#include "tune/family.h"
#include "tune/operands.h"

static const char usual_ops[] = "add,sum,exp,softmax,gemv,matmul";

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

static bool has_room(const struct bench *bench, const takt_op *op,
                     const char *size, const takt_shape *shape)
{
    const double memory = (double)bench->machine->memory_bytes;
    takt_work work;

    if (takt_op_work(op, bench->dtype, shape, &work) == TAKT_OK &&
        (memory == 0 || 2 * work.bytes < memory))
        return true;
    return reject(bench->command, "%s of %s needs more memory than there is",
                  op->name, size);
}

/* The sizes that show most about an op. */
static const char *usual_sizes(const takt_op *op)
{
    static const char *const usual[][2] = {
        {"N", "256,8K,256K,8M"},
        {"ROWSxCOLS", "16x64,256x256,1024x1024"},
        {"MxN", "64x64,512x512,2048x2048"},
        {"NxN", "32x32,256x256,1024x1024"},
        {"NxNRHS", "32x1,256x1,1024x1"},
        {"MxNxNRHS", "64x32x1,512x256x1"},
        {"MxNxK", "16x16x16,64x64x64,256x256x256,512x512x512"},
        {"BxMxNxK", "256x8x8x8,64x64x64x64"},
        {"BxHxQxKxD", "1x8x64x64x64,1x8x256x256x64"},
    };

    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++)
        if (strcmp(op->shape, usual[i][0]) == 0)
            return usual[i][1];
    return strcmp(op->name, "pooling") == 0
               ? "1x64x112x112x3x2x1"
               : "1x16x28x28x16x3x3x1x1,1x64x56x56x64x3x3x1x1";
}

/* A size that does not fit is an error for ops that were named. */
static bool add_cell(struct bench *bench, const takt_op *op, const char *size,
                     bool is_named)
{
    takt_shape shape;
    const char *wrong = parse_shape(size, &shape);

    if (wrong != NULL)
        return reject(bench->command, "size '%s' %s", size, wrong);
    if (!takt__can_be_timed(op, &shape)) {
        if (is_named)
            usage_error(bench->command, "%s takes %s, not '%s'", op->name,
                        op->shape, size);
        return !is_named;
    }
    if (!has_room(bench, op, size, &shape))
        return false;
    if (bench->contest_count == most_contests)
        return reject(bench->command, "more than %d sizes", most_contests);
    bench->contest[bench->contest_count++] = (struct contest){op, shape};
    return true;
}

static bool add_op(struct bench *bench, const takt_op *op, const char *sizes,
                   bool is_named)
{
    char list[longest_list], *rest = list, *size;

    if (!copy_list(bench->command, "sizes",
                   sizes != NULL ? sizes : usual_sizes(op), list))
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
    if (takt__family_at(op, 0) != NULL)
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
    if (bench->contest_count == 0)
        usage_error(bench->command, "no size in --sizes fits any of %s",
                    usual_ops);
    return bench->contest_count > 0;
}

static bool read_options(const struct invocation *invocation,
                         struct bench *bench)
{
    bench->dtype = (takt_dtype)option_choice(invocation, "dtype");
    bench->budget_s = 0.3;
    return read_rate_option(invocation, "seconds", 60,
                            "is not above 0 and up to 60", &bench->budget_s);
}

/* ---- the contenders ---- */

/* "adaptive", or the expert of that number. */
static void add_contender(struct bench *bench, const char *name, size_t expert)
{
    struct contender *contender = &bench->contender[bench->contender_count];

    if (bench->contender_count == most_contenders)
        return;
    *contender = (struct contender){.expert = expert};
    snprintf(contender->name, sizeof contender->name, "%.*s",
             (int)sizeof contender->name - 1, name);
    contender->is_adaptive = strcmp(name, "adaptive") == 0;
    bench->contender_count++;
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

static bool add_named(struct bench *bench, const char *list)
{
    char words[longest_list], *rest = words, *word, near[TAKT_EXPERT_NAME_MAX];
    char choice[longest_list];

    join_experts(bench->ctx, choice, sizeof choice);
    if (!copy_list(bench->command, "experts", list, words))
        return false;
    while ((word = next_word(&rest)) != NULL) {
        size_t index;
        if (find_choice(word, choice, &index)) {
            add_contender(bench, word, index - 1); /* after adaptive */
            continue;
        }
        if (nearest_choice(word, choice, near, sizeof near) != NULL)
            return reject(bench->command, "no expert '%s'; did you mean '%s'?",
                          word, near);
        return reject(bench->command, "no expert '%s'; there are %s", word,
                      choice);
    }
    return true;
}

static void add_all(struct bench *bench)
{
    const char *name;
    takt_backend backend;

    for (size_t i = 0;
         (name = takt_ctx_expert(bench->ctx, i, &backend)) != NULL; i++)
        if (backend != TAKT_BACKEND_GPU || is_worthy_gpu(bench->ctx, name))
            add_contender(bench, name, i);
    add_contender(bench, "adaptive", 0);
}

/* What is timed is not learned from, but for what "adaptive" does; it has its
 * GPUs open, as a program does after a while. */
static bool read_experts(const struct invocation *invocation,
                         struct bench *bench)
{
    const char *list = option_value(invocation, "experts");
    const bool has_adaptive = list == NULL || strstr(list, "adaptive") != NULL;
    const bool names_gpu = list != NULL && (strstr(list, "cuda.") != NULL ||
                                            strstr(list, "vulkan.") != NULL);
    const takt_ctx_options options = {.gpu = names_gpu ? all_gpus() : NULL,
                                      .store = has_adaptive ? NULL : "",
                                      .telemetry = ""};
    const takt_status status = takt_ctx_create(&options, &bench->ctx);

    if (status != TAKT_OK)
        return reject(bench->command, "this machine: %s",
                      takt_status_text(status));
    if (has_adaptive)
        takt_ctx_open_gpus(bench->ctx);
    if (list != NULL)
        return add_named(bench, list);
    add_all(bench);
    return true;
}

bool read_question(const struct invocation *invocation, struct bench *bench)
{
    return read_options(invocation, bench) && read_ops(invocation, bench) &&
           read_experts(invocation, bench);
}
