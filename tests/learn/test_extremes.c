/* SPDX-License-Identifier: MIT */
/*
 * test_extremes.c - records that are just within what a file may hold,
 * and far from anything that was ever measured. Whatever is asked afterwards
 * is answered with numbers.
 */
#include "op/key.h"
#include "store/scratch.h"
#include "support/random.h"
#include "takt/takt.h"

enum { rounds = 12, per_round = 400, most_estimates = 256 };

static takt_ctx *open_ctx(const char *store)
{
    takt_ctx *ctx;
    REQUIRE(takt_ctx_create(
                &(takt_ctx_options){
                    .store = store, .blas = "", .gpu = "", .threads = 2},
                &ctx) == TAKT_OK);
    return ctx;
}

static double pick(uint64_t *seed, double least, double most)
{
    const uint64_t kind = random_next(seed) % 4;
    const double range[] = {0, least, most,
                            least + (most - least) * random_unit(seed)};
    return range[kind];
}

static const char *pick_expert(const takt_ctx *ctx, uint64_t *seed)
{
    size_t count = 0;

    while (takt_ctx_expert(ctx, count, NULL) != NULL)
        count++;
    return takt_ctx_expert(ctx, (size_t)(random_next(seed) % count), NULL);
}

static struct takt_record random_record(const takt_ctx *ctx, uint64_t *seed)
{
    static const char *const ops[] = {"add", "sum", "matmul", "softmax"};
    struct takt_record record = {
        .dtype = (unsigned)(random_next(seed) % 2),
        .situation = (unsigned)(random_next(seed) % 8),
        .bin = (unsigned)(random_next(seed) % TAKT_BUCKETS),
        .epoch = (uint64_t)pick(seed, 0, (double)TAKT_RECORD_LATEST),
        .seq = (uint64_t)pick(seed, 0, (double)TAKT_RECORD_LATEST),
        .n = pick(seed, TAKT_RECORD_LEAST_N, TAKT_RECORD_MOST_N),
        .mean = pick(seed, -TAKT_RECORD_FARTHEST, TAKT_RECORD_FARTHEST),
        .first_s = pick(seed, 1e-300, TAKT_RECORD_MOST_S),
        .bytes = pick(seed, TAKT_RECORD_LEAST_WORK, TAKT_RECORD_MOST_WORK),
        .flops = pick(seed, TAKT_RECORD_LEAST_WORK, TAKT_RECORD_MOST_WORK),
        .calls = pick(seed, 1e-300, TAKT_RECORD_MOST_CALLS),
        .seconds = pick(seed, 1e-300, TAKT_RECORD_MOST_S),
    };
    record.m2 = pick(seed, 1e-300, TAKT_RECORD_MOST_SPREAD * (record.n + 1));
    const bool is_here = random_next(seed) % 3 != 0;
    snprintf(record.machine, sizeof record.machine, "%s",
             is_here                 ? takt_ctx_machine(ctx)->hw_fingerprint
             : random_next(seed) % 2 ? "m1"
                                     : "m2");
    strcpy(record.software, "elsewhere");
    snprintf(record.writer, sizeof record.writer, "%032x",
             (unsigned)(random_next(seed) % 3));
    strcpy(record.op, ops[random_next(seed) % 4]);
    snprintf(record.expert, sizeof record.expert, "%s", pick_expert(ctx, seed));
    return record;
}

static void import_round(const takt_ctx *ctx, const char *path, uint64_t *seed)
{
    char *text = malloc((per_round + 3) * TAKT_TEXT_LINE);
    takt_diag diag;

    REQUIRE(text != NULL);
    char *at = text + takt__text_print_head(text);
    for (int i = 0; i < per_round; i++) {
        const struct takt_record record = random_record(ctx, seed);
        REQUIRE(takt__record_is_sound(&record));
        at += takt__text_print(&record, at);
    }
    takt__text_print_end(per_round, at);
    const takt_status status =
        scratch_import(path, text, strlen(text), NULL, &diag);
    TAP_CHECK(status == TAKT_OK, "%s", diag.text);
    free(text);
}

static void expect_numbers(const takt_estimate *estimate, const char *op)
{
    const double all[] = {estimate->predicted_s, estimate->low_s,
                          estimate->high_s,      estimate->transfer_s,
                          estimate->samples,     estimate->first_s};

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        TAP_CHECK(isfinite(all[i]) && all[i] >= 0, "%s, %s: number %zu is %g",
                  op, estimate->expert, i, all[i]);
}

static void ask(takt_ctx *ctx, const char *op, takt_dtype dtype,
                takt_shape shape)
{
    for (unsigned situation = 0; situation < 4; situation++) {
        const takt_request request = {.op = takt_op_find(op),
                                      .dtype = dtype,
                                      .shape = shape,
                                      .situation = situation};
        takt_estimate all[most_estimates] = {{.size = sizeof all[0]}};
        takt_decision decision = {.size = sizeof decision};
        size_t count = 0;
        EXPECT_INT(takt_explain(ctx, &request, all, most_estimates, &count),
                   TAKT_OK);
        for (size_t i = 0; i < count; i++)
            expect_numbers(&all[i], op);
        EXPECT_INT(takt_select(ctx, &request, &decision), TAKT_OK);
        TAP_CHECK(isfinite(decision.predicted_s) &&
                      isfinite(decision.confidence),
                  "%s: %g, %g", op, decision.predicted_s, decision.confidence);
    }
}

static void ask_all(takt_ctx *ctx)
{
    for (unsigned bit = 0; bit < 32; bit += 3)
        for (int dtype = 0; dtype < 2; dtype++) {
            const takt_shape vector = {.rank = 1, .dim = {(size_t)1 << bit}};
            const size_t side = (size_t)1 << bit / 3;
            const takt_shape product = {.rank = 3, .dim = {side, side, side}};
            const takt_shape rows = {.rank = 2, .dim = {side, side}};
            ask(ctx, "add", (takt_dtype)dtype, vector);
            ask(ctx, "sum", (takt_dtype)dtype, vector);
            ask(ctx, "matmul", (takt_dtype)dtype, product);
            if (dtype == TAKT_F32)
                ask(ctx, "softmax", TAKT_F32, rows);
        }
}

static int check_row(void *self, const takt_history_row *row)
{
    TAP_CHECK(isfinite(row->mean_s) && isfinite(row->spread) &&
                  isfinite(row->samples) && isfinite(row->seconds) &&
                  isfinite(row->calls),
              "%s, %s: %g %g %g", row->op->name, row->expert, row->mean_s,
              row->spread, row->samples);
    ++*(size_t *)self;
    return 0;
}

static void extreme_records_leave_every_answer_a_number(void)
{
    takt_ctx *bare = open_ctx("");

    for (uint64_t seed = 1; seed <= rounds; seed++) {
        const char *path = scratch_path();
        uint64_t state = seed;
        size_t rows = 0;
        import_round(bare, path, &state);
        takt_ctx *ctx = open_ctx(path);
        ask_all(ctx);
        EXPECT_INT(takt_history_read(ctx, check_row, &rows), TAKT_OK);
        EXPECT(rows > 0);
        takt_ctx_destroy(ctx);
    }
    takt_ctx_destroy(bare);
}

/* What is measured after that is stored, and read back. */
static void learning_goes_on_beside_them(void)
{
    const char *path = scratch_path();
    takt_ctx *bare = open_ctx("");
    uint64_t state = 77;
    const takt_request request = {.op = takt_op_find("mul"),
                                  .shape = {.rank = 1, .dim = {100000}}};
    takt_history_row row = {.size = sizeof row};

    import_round(bare, path, &state);
    takt_ctx_destroy(bare);
    for (int i = 1; i <= 3; i++) {
        takt_ctx *ctx = open_ctx(path);
        EXPECT_INT(takt_record(ctx, &(takt_measurement){.request = &request,
                                                        .expert = "scalar",
                                                        .seconds = 1e-4}),
                   TAKT_OK);
        EXPECT_INT(takt_ctx_flush(ctx), TAKT_OK);
        EXPECT_INT(takt_history_best(ctx, &request, &row), TAKT_OK);
        EXPECT_NEAR(row.samples, i, 1e-6);
        takt_ctx_destroy(ctx);
    }
}

struct lookup {
    struct takt_record record;
    double samples; /* of all writers */
};

static void look_up(void *self, const struct takt_record *record)
{
    struct lookup *lookup = self;

    if (strcmp(record->op, "mul") != 0)
        return;
    lookup->record = *record;
    lookup->samples += record->n;
}

static struct lookup read_mul(const char *path)
{
    struct lookup lookup = {.samples = 0};
    struct takt_store *store = scratch_open(path);

    EXPECT_INT(takt__store_read(store, look_up, &lookup), TAKT_OK);
    takt__store_close(store);
    return lookup;
}

static void measure(takt_ctx *ctx)
{
    const takt_request request = {.op = takt_op_find("mul"),
                                  .shape = {.rank = 1, .dim = {100000}}};
    EXPECT_INT(takt_record(ctx, &(takt_measurement){.request = &request,
                                                    .expert = "scalar",
                                                    .seconds = 1e-4}),
               TAKT_OK);
}

/* A record under the name of a program that is running, later than anything it
 * will write. The program stores what it learns, under another name. */
static void a_program_outlives_a_record_in_its_name(void)
{
    const char *path = scratch_path();
    takt_ctx *ctx = open_ctx(path);
    char text[4 * TAKT_TEXT_LINE];

    measure(ctx);
    EXPECT_INT(takt_ctx_flush(ctx), TAKT_OK);
    struct takt_record record = read_mul(path).record;
    record.seq = record.epoch = TAKT_RECORD_LATEST;
    size_t length = takt__text_print_head(text);
    length += takt__text_print(&record, text + length);
    length += takt__text_print_end(1, text + length);
    EXPECT_INT(scratch_import(path, text, length, NULL, NULL), TAKT_OK);
    measure(ctx);
    EXPECT_INT(takt_ctx_flush(ctx), TAKT_EIO); /* and now it knows */
    EXPECT_INT(takt_ctx_flush(ctx), TAKT_OK);  /* the new name */
    measure(ctx);
    EXPECT_INT(takt_ctx_flush(ctx), TAKT_OK);
    const struct lookup lookup = read_mul(path);
    EXPECT(lookup.samples > record.n);
    takt_ctx_destroy(ctx);
}

int main(void)
{
    scratch_make();
    RUN(extreme_records_leave_every_answer_a_number);
    RUN(learning_goes_on_beside_them);
    RUN(a_program_outlives_a_record_in_its_name);
    return tap_done();
}
