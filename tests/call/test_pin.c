/* SPDX-License-Identifier: MIT */
/*
 * test_pin.c - a pin file is followed exactly, gives the same bits in every
 * run, and is refused when it is not whole.
 */
#define _GNU_SOURCE /* mkdtemp() */
#include "call/pin.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

#include "call/ctx.h"
#include "hw/files.h"
#include "support/random.h"
#include "support/tap.h"
#include "support/tolerance.h"
#include "takt/takt.h"

enum { longest = 70000 };

static char folder[96];
static float *a, *b;

static const char *path_of(const char *name)
{
    static char path[160];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void save(const char *name, const char *text, size_t length)
{
    FILE *file = fopen(path_of(name), "wb");

    REQUIRE(file != NULL && fwrite(text, 1, length, file) == length);
    fclose(file);
}

static char *load(const char *name, size_t *length)
{
    static char text[1 << 20];
    FILE *file = fopen(path_of(name), "rb");

    REQUIRE(file != NULL);
    *length = fread(text, 1, sizeof text - 1, file);
    text[*length] = '\0';
    fclose(file);
    return text;
}

static takt_ctx *learning_ctx(void)
{
    takt_ctx *ctx;
    REQUIRE(takt_ctx_create(
                &(takt_ctx_options){.store = "", .blas = "", .threads = 2},
                &ctx) == TAKT_OK);
    return ctx;
}

static takt_status pinned_ctx(const char *name, takt_ctx **out)
{
    return takt_ctx_create(&(takt_ctx_options){.policy = TAKT_POLICY_PINNED,
                                               .pin = path_of(name),
                                               .store = "",
                                               .blas = "",
                                               .threads = 2},
                           out);
}

/* ---- a program -----------------------------------------------------------
 */

static takt_call call_number(int i, float *out)
{
    static const char *const ops[] = {"add", "exp", "sum", "dot", "tanh"};
    const size_t n = 300 + (size_t)(i * 7919 % (longest - 300));
    const size_t side = 8 + (size_t)(i * 31 % 90);
    takt_call call = {.in = {a, b}, .out = out, .alpha = 1};

    if (i % 4 == 3) {
        call.op = takt_op_find(i % 8 == 3 ? "matmul" : "softmax");
        call.shape = (takt_shape){i % 8 == 3 ? 3 : 2, {side, side, side}};
    } else {
        call.op = takt_op_find(ops[i % 5]);
        call.shape = (takt_shape){1, {n}};
    }
    return call;
}

static int calls(void)
{
    return is_sanitized ? 200 : 800;
}

static uint64_t hash(uint64_t h, const float *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        h = (h ^ bits) * UINT64_C(0x100000001b3);
    }
    return h;
}

/* All bits of all results. */
static uint64_t run_program(takt_ctx *ctx)
{
    uint64_t bits = UINT64_C(0xcbf29ce484222325);
    float *out = calloc(longest, sizeof *out);
    takt_decision decision = {.size = sizeof decision};

    REQUIRE(out != NULL);
    for (int i = 0; i < calls(); i++) {
        const takt_call call = call_number(i, out);
        EXPECT_INT(takt_run(ctx, &call, &decision), TAKT_OK);
        if (ctx->decider.policy == TAKT_POLICY_PINNED)
            EXPECT_INT(decision.reason, TAKT_REASON_PINNED);
        bits = hash(bits, out, longest);
    }
    free(out);
    return bits;
}

static void write_learned(const char *name)
{
    takt_ctx *ctx = learning_ctx();
    takt_diag diag;

    run_program(ctx);
    EXPECT_INT(takt_ctx_write_pin(ctx, path_of(name), &diag), TAKT_OK);
    EXPECT_STR(diag.text, "");
    takt_ctx_destroy(ctx);
}

/* ---- obeying -------------------------------------------------------------
 */

/* What the text says about a call; NULL: nothing. */
static const char *pinned_expert(const char *text, const takt_call *call)
{
    static char expert[TAKT_EXPERT_NAME_MAX];
    char start[128];
    takt_work work;
    enum takt_op_id op;
    unsigned user_op;
    takt_dtype dtype;
    char layout[TAKT_LAYOUT_NAME];

    REQUIRE(takt_op_work(call->op, call->dtype, &call->shape, &work) ==
            TAKT_OK);
    const struct takt_key key =
        takt__key_of(call->op, call->dtype, &call->shape, call->flags, &work);
    takt__series_name(key.series, &op, &user_op, &dtype, layout);
    snprintf(start, sizeof start, "\n%s %s %s %u ", call->op->name,
             takt_dtype_name(call->dtype), layout[0] ? layout : "-",
             key.bucket);
    const char *at = strstr(text, start);
    if (at == NULL || sscanf(at + strlen(start), "%31s", expert) != 1)
        return NULL;
    return expert;
}

static void decisions_are_those_of_the_file(void)
{
    takt_ctx *ctx;
    takt_decision decision = {.size = sizeof decision};
    float *out = calloc(longest, sizeof *out);
    size_t length;
    int others = 0;

    write_learned("learned");
    const char *text = load("learned", &length);
    REQUIRE(out != NULL && pinned_ctx("learned", &ctx) == TAKT_OK);
    for (int i = 0; i < calls(); i++) {
        const takt_call call = call_number(i, out);
        const takt_request request = {
            .policy = TAKT_POLICY_PINNED, .op = call.op, .shape = call.shape};
        const char *expert = pinned_expert(text, &call);
        TAP_CHECK(expert != NULL, "%s is not in the file", call.op->name);
        EXPECT_INT(takt_run(ctx, &call, &decision), TAKT_OK);
        EXPECT_STR(decision.expert, expert);
        EXPECT_INT(decision.reason, TAKT_REASON_PINNED);
        others += strcmp(expert, "scalar") != 0;
        EXPECT_INT(takt_select(ctx, &request, &decision), TAKT_OK);
        EXPECT_STR(decision.expert, expert);
    }
    EXPECT(others > 0);
    takt_ctx_destroy(ctx);
    free(out);
}

/* Against what anybody would choose, so that it can only be the file. */
static void even_a_foolish_file_is_obeyed(void)
{
    static const char text[] = "takt pin 1\n# by hand\nadd f32 - 33 scalar\n"
                               "matmul f32 nn.square 37 scalar\nend\n";
    takt_ctx *ctx;
    takt_decision decision = {.size = sizeof decision};
    float *out = calloc(longest, sizeof *out);
    takt_call call = {.op = takt_op_find("add"),
                      .shape = {1, {10000}}, /* 120000 bytes: bucket 33 */
                      .in = {a, b},
                      .out = out};

    save("foolish", text, sizeof text - 1);
    REQUIRE(out != NULL && pinned_ctx("foolish", &ctx) == TAKT_OK);
    EXPECT_INT(takt_run(ctx, &call, &decision), TAKT_OK);
    EXPECT_STR(decision.expert, "scalar");
    call.shape.dim[0] = 60000; /* another bucket: one thread of the best */
    EXPECT_INT(takt_run(ctx, &call, &decision), TAKT_OK);
    EXPECT(strncmp(decision.expert, "simd.", 5) == 0 ||
           strcmp(decision.expert, "scalar") == 0);
    EXPECT_INT(decision.reason, TAKT_REASON_PINNED);
    takt_ctx_destroy(ctx);
    free(out);
}

static _Atomic bool is_over;

static void *keep_busy(void *self)
{
    volatile double x = 1;

    (void)self;
    while (!atomic_load(&is_over))
        x = x * 0.5 + 1;
    return NULL;
}

static void two_runs_give_the_same_bits(void)
{
    uint64_t bits[3];
    pthread_t thread;

    write_learned("learned");
    for (int i = 0; i < 3; i++) {
        takt_ctx *ctx;
        REQUIRE(pinned_ctx("learned", &ctx) == TAKT_OK);
        if (i == 1)
            REQUIRE(pthread_create(&thread, NULL, keep_busy, NULL) == 0);
        bits[i] = run_program(ctx);
        if (i == 1) {
            atomic_store(&is_over, true);
            pthread_join(thread, NULL);
        }
        takt_ctx_destroy(ctx);
    }
    EXPECT(bits[0] == bits[1]);
    EXPECT(bits[0] == bits[2]);
}

static void a_pinned_context_learns_nothing(void)
{
    takt_ctx *ctx;
    takt_learning learning = {.size = sizeof learning};
    size_t before, after;

    write_learned("learned");
    REQUIRE(pinned_ctx("learned", &ctx) == TAKT_OK);
    load("learned", &before);
    run_program(ctx);
    EXPECT_INT(takt_ctx_learning(ctx, &learning), TAKT_OK);
    EXPECT_INT(learning.samples + learning.dropped, 0);
    EXPECT_INT(learning.is_exploring, 0);
    EXPECT_INT(takt_history_reset(ctx, NULL), TAKT_OK); /* nor does it forget */
    run_program(ctx);
    load("learned", &after);
    EXPECT_INT(after, before);
    takt_ctx_destroy(ctx);
}

/* ---- refusing ------------------------------------------------------------
 */

static takt_status open_text(const char *text, size_t length)
{
    takt_ctx *ctx;

    save("tried", text, length);
    const takt_status status = pinned_ctx("tried", &ctx);
    EXPECT_INT(ctx != NULL, status == TAKT_OK);
    takt_ctx_destroy(ctx);
    return status;
}

static void files_that_are_not_whole_are_refused(void)
{
    static const char *const texts[] = {
        "",
        "\n",
        "takt pin 1",
        "takt pin 1\n",
        "takt pin 2\nend\n",
        " takt pin 1\nend\n",
        "takt pin 1\nend",
        "takt pin 1\nend\nend\n",
        "takt pin 1\nend\n# after\n",
        "takt pin 1\r\nend\r\n",
        "takt pin 1\n \nend\n",
        "takt pin 1\nadd f32 - 33 scalar",
        "takt pin 1\nadd f32 - 33 scalar\n",
        "takt pin 1\nadd f32 - 33 scalar end\n",
        "takt pin 1\nadd f32 - 33 scalar \nend\n",
        "takt pin 1\n add f32 - 33 scalar\nend\n",
        "takt pin 1\nadd  f32 - 33 scalar\nend\n",
        "takt pin 1\nadd f32 33 scalar\nend\n",
        "takt pin 1\nadd f16 - 33 scalar\nend\n",
        "takt pin 1\nnone f32 - 33 scalar\nend\n",
        "takt pin 1\nadd f32 nn 33 scalar\nend\n",
        "takt pin 1\nmatmul f32 - 33 scalar\nend\n",
        "takt pin 1\nadd f32 - 96 scalar\nend\n",
        "takt pin 1\nadd f32 - -1 scalar\nend\n",
        "takt pin 1\nadd f32 - +1 scalar\nend\n",
        "takt pin 1\nadd f32 - 033 scalar\nend\n",
        "takt pin 1\nadd f32 - 4294967329 scalar\nend\n",
        "takt pin 1\nadd f32 - 3x scalar\nend\n",
        "takt pin 1\nadd f32 - 33 scalar\nadd f32 - 33 scalar\nend\n",
        "takt pin 1\nadd f32 - 33 0123456789012345678901234567890123\nend\n",
    };
    static const char nul[] = "takt pin 1\nadd f32 - 33 scalar\0x\nend\n";

    EXPECT_INT(open_text("takt pin 1\nend\n", 15), TAKT_OK);
    EXPECT_INT(open_text("takt pin 1\n\nend\n", 16), TAKT_OK);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        TAP_CHECK(open_text(texts[i], strlen(texts[i])) == TAKT_ECORRUPT,
                  "text %zu was taken", i);
    EXPECT_INT(open_text(nul, sizeof nul - 1), TAKT_ECORRUPT);
}

static void a_file_that_was_cut_off_is_refused(void)
{
    size_t length;

    write_learned("learned");
    const char *text = load("learned", &length);
    for (size_t cut = 1; cut < length; cut += 1 + length / 300)
        TAP_CHECK(open_text(text, cut) != TAKT_OK, "%zu of %zu bytes", cut,
                  length);
    EXPECT_INT(open_text(text, length), TAKT_OK);
}

static void what_this_machine_lacks_is_said(void)
{
    static const char text[] = "takt pin 1\nadd f32 - 33 cuda.0\nend\n";
    takt_ctx *ctx;

    EXPECT_INT(open_text(text, sizeof text - 1), TAKT_ENODEV);
    EXPECT_INT(pinned_ctx("missing", &ctx), TAKT_ENOENT);
    EXPECT_INT(takt_ctx_create(
                   &(takt_ctx_options){.policy = TAKT_POLICY_PINNED}, &ctx),
               TAKT_EINVAL);
    EXPECT(pinned_ctx(".", &ctx) != TAKT_OK);
    EXPECT(ctx == NULL);
}

static void take_message(void *self, takt_log_level level, const char *text)
{
    (void)level;
    if (strstr(text, ", line ") != NULL)
        snprintf(self, 256, "%s", text);
}

static void the_line_that_is_wrong_is_named(void)
{
    static const char strange[] = "takt pin 1\n# a\n\nadd f32 33 scalar\nend\n";
    static const char missing[] = "takt pin 1\nadd f32 - 33 cuda.0\nend\n";
    char said[256] = "";

    takt_log_set(TAKT_LOG_INFO, take_message, said);
    EXPECT_INT(open_text(strange, sizeof strange - 1), TAKT_ECORRUPT);
    EXPECT(strstr(said, "/tried, line 4: it is not understood") != NULL);
    EXPECT_INT(open_text(missing, sizeof missing - 1), TAKT_ENODEV);
    EXPECT(strstr(said, "/tried, line 2: this machine has no such") != NULL);
    takt_log_set(TAKT_LOG_ERROR, NULL, NULL);
}

static void a_pipe_is_not_waited_for(void)
{
    takt_ctx *ctx;

    REQUIRE(mkfifo(path_of("pipe"), 0600) == 0);
    alarm(60); /* ends a program that waits */
    EXPECT_INT(pinned_ctx("pipe", &ctx), TAKT_ECORRUPT);
    alarm(0);
    EXPECT(ctx == NULL);
}

/* What has such a file beside it may be open here: to close it would drop the
 * locks that SQLite holds. */
static void a_store_is_not_opened_as_a_pin_file(void)
{
    takt_ctx *ctx = learning_ctx();

    REQUIRE(takt_ctx_write_pin(ctx, path_of("used"), NULL) == TAKT_OK);
    takt_ctx_destroy(ctx);
    REQUIRE(pinned_ctx("used", &ctx) == TAKT_OK);
    takt_ctx_destroy(ctx);
    save("used-writers", "", 0);
    EXPECT_INT(pinned_ctx("used", &ctx), TAKT_ECORRUPT);
    EXPECT(ctx == NULL);
}

/* ---- writing -------------------------------------------------------------
 */

static void a_failed_write_leaves_the_old_file(void)
{
    takt_ctx *ctx = learning_ctx();
    takt_diag diag;
    size_t length;
    char path[200];

    save("kept", "old", 3);
    snprintf(path, sizeof path, "%s/kept/below", folder);
    EXPECT_INT(takt_ctx_write_pin(ctx, path, &diag), TAKT_EIO);
    EXPECT(diag.text[0] != '\0');
    EXPECT_INT(takt_ctx_write_pin(ctx, path, NULL), TAKT_EIO);
    /* A folder in the way: the text is written, but cannot take its place. */
    snprintf(path, sizeof path, "%s/taken", folder);
    REQUIRE(mkdir(path, 0755) == 0);
    EXPECT_INT(takt_ctx_write_pin(ctx, path, &diag), TAKT_EIO);
    EXPECT_STR(load("kept", &length), "old");
    EXPECT_INT(takt_ctx_write_pin(ctx, path_of("kept"), &diag), TAKT_OK);
    EXPECT(strncmp(load("kept", &length), "takt pin 1\n", 11) == 0);
    REQUIRE(rmdir(path) == 0); /* nothing was left in it or beside it */
    takt_ctx_destroy(ctx);
}

static void what_is_written_again_is_the_same(void)
{
    takt_ctx *ctx = learning_ctx();
    size_t first, second;

    run_program(ctx);
    EXPECT_INT(takt_ctx_write_pin(ctx, path_of("first"), NULL), TAKT_OK);
    EXPECT_INT(takt_ctx_write_pin(ctx, path_of("second"), NULL), TAKT_OK);
    char *text = strdup(load("first", &first));
    REQUIRE(text != NULL);
    EXPECT_STR(load("second", &second), text);
    EXPECT_INT(second, first);
    free(text);
    takt_ctx_destroy(ctx);
}

int main(void)
{
    uint64_t state = 1;
    const char *parent = getenv("TMPDIR");

    snprintf(folder, sizeof folder, "%.64s/takt-pin-XXXXXX",
             parent != NULL ? parent : "/tmp");
    REQUIRE(mkdtemp(folder) != NULL);
    a = calloc(longest, sizeof *a);
    b = calloc(longest, sizeof *b);
    REQUIRE(a != NULL && b != NULL);
    for (int i = 0; i < longest; i++) {
        a[i] = (float)random_unit(&state) - 0.5F;
        b[i] = (float)random_unit(&state) - 0.5F;
    }
    RUN(decisions_are_those_of_the_file);
    RUN(even_a_foolish_file_is_obeyed);
    RUN(two_runs_give_the_same_bits);
    RUN(a_pinned_context_learns_nothing);
    RUN(files_that_are_not_whole_are_refused);
    RUN(a_file_that_was_cut_off_is_refused);
    RUN(what_this_machine_lacks_is_said);
    RUN(the_line_that_is_wrong_is_named);
    RUN(a_pipe_is_not_waited_for);
    RUN(a_store_is_not_opened_as_a_pin_file);
    RUN(a_failed_write_leaves_the_old_file);
    RUN(what_is_written_again_is_the_same);
    takt__folder_remove(folder);
    free(a);
    free(b);
    return tap_done();
}
