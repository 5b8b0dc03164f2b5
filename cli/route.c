/* SPDX-License-Identifier: MIT */
/* route.c - from words to a takt_request, and from a takt_decision to text. */
#include "route.h"

#include <string.h>

#include "base/name.h"

static bool read_rate(const struct invocation *invocation, const char *name,
                      double *out)
{
    return read_rate_option(invocation, name, 0, NULL, out);
}

static bool read_cost(const struct invocation *invocation, takt_cost_model *out)
{
    takt_cost_model wanted = takt_cost_model_default();

    *out = wanted;
    if (!read_rate(invocation, "pcie-bandwidth", &wanted.pcie_bandwidth) ||
        !read_rate(invocation, "gpu-flops", &wanted.gpu_flops) ||
        !read_rate(invocation, "dispatch-ratio", &wanted.dispatch_ratio))
        return false;
    if (takt_cost_model_set(out, wanted.pcie_bandwidth, wanted.gpu_flops,
                            wanted.dispatch_ratio) == TAKT_OK)
        return true;
    return reject(invocation->command, "%s must be greater than 0",
                  wanted.pcie_bandwidth > 0 ? "--gpu-flops"
                                            : "--pcie-bandwidth");
}

static bool read_work(const struct invocation *invocation, struct route *route)
{
    const bool bytes = option_given(invocation, "bytes");

    if (bytes != option_given(invocation, "flops"))
        return reject(invocation->command, "--bytes and --flops go together");
    if (!read_rate(invocation, "bytes", &route->work.bytes) ||
        !read_rate(invocation, "flops", &route->work.flops))
        return false;
    route->request.work = bytes ? &route->work : NULL;
    return true;
}

static bool open_ctx(const struct invocation *invocation,
                     const struct route_wish *asked, struct route *route)
{
    const struct context_wish wish = {
        .recording = option_value(invocation, "machine"),
        .store = option_value(invocation, "db"),
        .cost = &route->cost,
        .objective =
            asked->asks_all ? NULL : option_value(invocation, "objective"),
        .obeys_pin = asked->obeys_pin,
        .opens_gpus = asked->opens_gpus || option_given(invocation, "resident"),
    };

    route->is_recorded = wish.recording != NULL;
    return open_context(invocation->command, &wish, &route->ctx);
}

/* Operands are on the GPU if there is one. */
static void read_resident(const struct invocation *invocation,
                          struct route *route)
{
    takt_gpu_device gpu = {.size = sizeof gpu};

    if (option_choice(invocation, "resident") == 0)
        return;
    route->lacks_gpu = !find_usable_gpu(route->ctx, &gpu);
    if (route->lacks_gpu)
        return;
    route->request.situation |= TAKT_SITUATION_ON_GPU;
    memcpy(route->home, gpu.expert, sizeof route->home);
}

/* A name that is not in the catalogue is the user's own op if it does not look
 * like a mistyped one and the question can be answered without knowing more. */
static bool read_user_op(const struct invocation *invocation,
                         struct route *route, bool answerable)
{
    const takt_op_spec spec = {.name = route->name,
                               .complexity = route->request.complexity};
    const char *near = takt_op_nearest(route->name);

    if (near != NULL && !route->has_complexity)
        return reject(invocation->command, "no op '%s'; did you mean '%s'?",
                      route->name, near);
    if (!answerable && !route->has_complexity && route->request.work == NULL)
        return reject(invocation->command,
                      "no op '%s'; for an op of your own, add --complexity",
                      route->name);
    const takt_status status =
        takt_ctx_define_op(route->ctx, &spec, &route->request.op);
    return status == TAKT_OK || reject(invocation->command, "op '%s': %s",
                                       route->name, takt_status_text(status));
}

static bool read_op(const struct invocation *invocation, const char *name,
                    struct route *route, bool answerable)
{
    if (name[0] == '\0' || strlen(name) >= sizeof route->name)
        return reject(invocation->command, "op '%.64s' is %s", name,
                      name[0] == '\0' ? "empty" : "too long");
    for (size_t i = 0; i <= strlen(name); i++)
        route->name[i] = takt__lower(name[i]);
    route->request.name = route->name;
    route->request.op = takt_op_find(name);
    if (route->request.op == NULL)
        return read_user_op(invocation, route, answerable);

    route->has_complexity = true;
    return has_dtype(invocation->command, route->request.op,
                     route->request.dtype);
}

static bool read_shape(const struct invocation *invocation, const char *text,
                       struct route *route)
{
    takt_request *request = &route->request;
    const char *wrong = parse_shape(text, &request->shape);

    if (wrong != NULL)
        return reject(invocation->command, "size '%s' %s", text, wrong);
    return request->op == NULL ||
           takt_op_check_shape(request->op, &request->shape) == TAKT_OK ||
           shape_error(invocation->command, request->op, text);
}

/* The words are OP SHAPE, or one of them. */
static bool read_operands(const struct invocation *invocation,
                          struct route *route, bool answerable)
{
    const char *const *words = invocation->operands;
    const size_t count = invocation->operand_count;
    const bool first_is_size = count == 1 && words[0][0] != '\0' &&
                               strchr("-+.0123456789", words[0][0]);

    if (count > 0 && !first_is_size &&
        !read_op(invocation, words[0], route, answerable))
        return false;
    if (first_is_size || count == 2) {
        if (!read_shape(invocation, words[count - 1], route))
            return false;
    } else if (route->request.work == NULL) {
        return reject(invocation->command, "needs a size, such as 50K or %s",
                      route->request.op ? route->request.op->shape : "1e6");
    }
    if (count > 0 && (route->request.op != NULL || route->has_complexity))
        return true;
    if (route->request.work != NULL || route->has_complexity)
        return true;
    return reject(invocation->command, "needs an op or --complexity");
}

static void read_words(const struct invocation *invocation, struct route *route)
{
    route->has_complexity = option_given(invocation, "complexity");
    if (route->has_complexity)
        route->request.complexity =
            (takt_complexity)option_choice(invocation, "complexity");
    route->request.dtype = (takt_dtype)option_choice(invocation, "dtype");
    route->request.situation = read_situation(invocation);
}

/* How many callers there are is a question of its own: what a context has seen
 * does not answer it. */
static bool read_callers(const struct invocation *invocation,
                         const struct route_wish *wish, struct route *route)
{
    const char *objective = option_value(invocation, "objective");
    size_t callers = 0;

    if (!read_count_option(invocation, "callers", 1000000,
                           "is not from 1 to 1000000", &callers))
        return false;
    route->request.callers = (double)callers;
    if (!wish->asks_all)
        route->request.objective = objective;
    if (callers > 0 && objective == NULL)
        return reject(invocation->command,
                      "--callers needs --objective throughput");
    return wish->asks_all || check_objective(invocation->command, objective);
}

/* What is expected of every expert; nothing, where the work is not known. */
static void ask_experts(struct route *route)
{
    route->estimate[0].size = sizeof route->estimate[0];
    if (takt_explain(route->ctx, &route->request, route->estimate,
                     most_estimates, &route->estimate_count) != TAKT_OK)
        route->estimate_count = 0;
}

bool route_open(const struct invocation *invocation,
                const struct route_wish *wish, struct route *out)
{
    *out = (struct route){.request.size = sizeof out->request};
    read_words(invocation, out);
    if (!read_callers(invocation, wish, out))
        return false;
    if (!read_cost(invocation, &out->cost) || !read_work(invocation, out) ||
        !open_ctx(invocation, wish, out))
        return false;
    read_resident(invocation, out);
    if (read_operands(invocation, out, wish->reads_name)) {
        if (out->request.op != NULL)
            ask_experts(out);
        return true;
    }
    route_close(out);
    return false;
}

void route_close(struct route *route)
{
    takt_ctx_destroy(route->ctx);
    route->ctx = NULL;
}

bool is_bare_count(const struct route *route)
{
    const takt_request *request = &route->request;

    return request->op != NULL && !request->op->is_user &&
           request->work == NULL && request->shape.rank < request->op->rank_min;
}

bool route_select(const struct invocation *invocation,
                  const struct route *route, takt_policy policy,
                  takt_decision *out)
{
    takt_request request = route->request;

    request.policy = policy;
    if ((policy == TAKT_POLICY_ADAPTIVE || policy == TAKT_POLICY_PINNED) &&
        is_bare_count(route))
        return shape_error(invocation->command, request.op,
                           invocation->operands[invocation->operand_count - 1]);
    const takt_status status = takt_select(route->ctx, &request, out);
    if (status == TAKT_OK)
        return true;
    if (status == TAKT_ESHAPE)
        return reject(invocation->command,
                      "the cost rule needs the shape %s of %s",
                      request.op->shape, request.op->name);
    if (policy == TAKT_POLICY_COST)
        return reject(invocation->command,
                      "the cost rule needs an op, or --bytes and --flops");
    return reject(invocation->command, "%s", takt_status_text(status));
}

/* What is expected of an expert; NULL: nothing. */
static const takt_estimate *route_estimate(const struct route *route,
                                           const char *expert)
{
    for (size_t i = 0; i < route->estimate_count; i++)
        if (strcmp(route->estimate[i].expert, expert) == 0)
            return &route->estimate[i];
    return NULL;
}

static const char *complexity_key(const struct route *route)
{
    static const char *const keys[] = {"low", "medium", "high"};
    const takt_op *op = route->request.op;

    if (!route->has_complexity)
        return NULL;
    return keys[op != NULL ? op->complexity : route->request.complexity];
}

void route_print_json(struct json *json, const struct route *route,
                      takt_policy policy, const takt_decision *decision)
{
    const takt_estimate *estimate = route_estimate(route, decision->expert);
    const takt_op *op = route->request.op;

    json_print(
        json,
        "op:%s complexity:%s dtype:%s shape:%p elements:%zu bytes:%g "
        "flops:%g policy:%s backend:%s expert:%s reason:%s "
        "predicted_us:%g confidence:%g runner_up:%s situation:%s "
        "resident:%s",
        op ? op->name : NULL, complexity_key(route),
        takt_dtype_name(route->request.dtype),
        (const void *)&route->request.shape, decision->elements,
        known_number(decision->work.bytes), known_number(decision->work.flops),
        takt_policy_name(policy), takt_backend_key(decision->backend),
        decision->expert, takt_reason_name(decision->reason),
        known_number(decision->predicted_s * 1e6),
        known_number(decision->confidence), known_text(decision->runner_up),
        situation_name(route->request.situation),
        route->home[0] != '\0' ? "gpu" : "host");
    if (policy == TAKT_POLICY_ADAPTIVE)
        json_number(json, "samples",
                    known_number(estimate != NULL ? estimate->samples : -1));
}

static struct phrase moe_rule(const struct route *route,
                              const takt_decision *decision)
{
    const takt_op *op = route->request.op;
    const takt_complexity complexity =
        op != NULL ? op->complexity : route->request.complexity;
    const bool is_scalar = decision->backend == TAKT_BACKEND_SCALAR;
    const size_t limit = takt_moe_threshold(
        complexity, is_scalar ? TAKT_BACKEND_SIMD : decision->backend);

    return phrase("%s complexity, %s %s elements",
                  takt_complexity_name(complexity),
                  is_scalar ? "at most" : "more than", count_text(limit).at);
}

static struct phrase cost_rule(const struct route *route,
                               const takt_decision *decision)
{
    const takt_op *op = route->request.op;
    const takt_cost_model *cost = &route->cost;
    const bool is_by_elements =
        route->request.work == NULL && op != NULL && !op->is_user;

    if (is_by_elements && op->complexity == TAKT_COMPLEXITY_LOW)
        return phrase("element-wise, %s 1,000,000 elements",
                      decision->backend == TAKT_BACKEND_SIMD ? "more than"
                                                             : "at most");
    double bytes = decision->work.bytes;
    if (is_by_elements && op->complexity == TAKT_COMPLEXITY_MEDIUM)
        bytes = 12 * (double)decision->elements;
    return phrase("computing %.4g ms %s %g x moving %.4g ms",
                  decision->work.flops / cost->gpu_flops * 1e3,
                  decision->backend == TAKT_BACKEND_GPU ? ">" : "<=",
                  cost->dispatch_ratio, bytes / cost->pcie_bandwidth * 1e3);
}

double total_s(const takt_estimate *estimate)
{
    return estimate->predicted_s + estimate->transfer_s;
}

/* How it is known: by samples, or by what is expected of such a machine. */
static struct phrase how_known(const struct route *route,
                               const takt_decision *decision)
{
    const takt_estimate *estimate = route_estimate(route, decision->expert);
    const struct phrase sure =
        decision->confidence >= 0
            ? phrase(", %.0f%% sure", 100 * decision->confidence)
            : phrase("%s", "");

    if (decision->reason != TAKT_REASON_MODEL)
        return phrase("prior");
    if (estimate == NULL || estimate->samples <= 0)
        return phrase("by other sizes%s", sure.at);
    return phrase("measured, %.0f sample%s%s", estimate->samples,
                  estimate->samples > 1 ? "s" : "", sure.at);
}

/* Where the operands are, where that was asked. */
static struct phrase where_text(const struct route *route)
{
    if (route->home[0] != '\0')
        return phrase(", operands on %s", route->home);
    return phrase(
        "%s", route->lacks_gpu ? ", operands on the host: no usable GPU" : "");
}

static struct phrase adaptive_rule(const struct route *route,
                                   const takt_decision *decision)
{
    if (decision->predicted_s < 0)
        return phrase("no work known, so the best instruction set");
    return phrase("expected to take %s (%s%s%s%s)",
                  seconds_text(decision->predicted_s).at,
                  how_known(route, decision).at, where_text(route).at,
                  decision->runner_up[0] != '\0' ? ", next " : "",
                  decision->runner_up);
}

struct phrase route_rule(const struct route *route, takt_policy policy,
                         const takt_decision *decision)
{
    switch (policy) {
    case TAKT_POLICY_ADAPTIVE:
    case TAKT_POLICY_FIXED:
        break;
    case TAKT_POLICY_PINNED:
        return phrase("as the file of TAKT_PIN says");
    case TAKT_POLICY_MOE:
        return moe_rule(route, decision);
    case TAKT_POLICY_COST:
        return cost_rule(route, decision);
    case TAKT_POLICY_HEURISTIC:
        return phrase("by the name '%s' and its elements",
                      route->name[0] ? route->name : "(none)");
    }
    return adaptive_rule(route, decision);
}
