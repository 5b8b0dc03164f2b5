/* SPDX-License-Identifier: MIT */
/*
 * test_key.c - buckets cover all work in order, every series has a name that
 * leads back to it, and calls land in the layout they should.
 */
#include "op/key.h"

#include "support/random.h"
#include "support/tap.h"
#include "takt/takt.h"

/* ---- buckets ----------------------------------------------------------------
 */

static void buckets_cover_all_work_in_order(void)
{
    uint64_t state = 1;

    EXPECT_INT(takt__bucket_of(0), 0);
    EXPECT_INT(takt__bucket_of(-1), 0);
    EXPECT_INT(takt__bucket_of(0.5), 0);
    EXPECT_INT(takt__bucket_of((double)NAN), 0);
    EXPECT_INT(takt__bucket_of((double)INFINITY), TAKT_BUCKETS - 1);
    EXPECT_INT(takt__bucket_of(1), 0);
    EXPECT_INT(takt__bucket_of(1.5), 1);
    EXPECT_INT(takt__bucket_of(2), 2);
    for (int i = 0; i < 100000; i++) {
        const double low = random_real(&state, -2, 20);
        const double high = low * (1 + random_unit(&state));
        EXPECT(takt__bucket_of(low) <= takt__bucket_of(high));
    }
}

static void a_bucket_is_half_an_octave(void)
{
    for (unsigned bucket = 0; bucket < TAKT_BUCKETS; bucket++) {
        const double low = ldexp(bucket % 2 == 0 ? 1 : 1.5, (int)bucket / 2);
        EXPECT_INT(takt__bucket_of(low), bucket);
        EXPECT_INT(takt__bucket_of(takt__bucket_work(bucket)), bucket);
        if (bucket > 0)
            EXPECT_INT(takt__bucket_of(nextafter(low, 0)), bucket - 1);
    }
}

/* ---- series ---------------------------------------------------------------
 */

static void every_series_is_found_by_its_name(void)
{
    unsigned seen = 0;

    for (unsigned series = 0; series < TAKT_SERIES_USER; series++) {
        enum takt_op_id op;
        unsigned user_op;
        takt_dtype dtype;
        char layout[TAKT_LAYOUT_NAME];
        takt__series_name(series, &op, &user_op, &dtype, layout);
        REQUIRE(op < TAKT_OP_COUNT);
        TAP_CHECK(takt__series_find(takt_op_at(op), dtype, layout) ==
                      (int)series,
                  "series %u is %s %s \"%s\"", series, takt_op_at(op)->name,
                  takt_dtype_name(dtype), layout);
        EXPECT(strcmp(layout, "-") != 0); /* which pin files write for "" */
        EXPECT(strchr(layout, ' ') == NULL);
        seen++;
    }
    EXPECT_INT(seen, TAKT_SERIES_USER);
}

/* With the round trip above: no two (op, dtype, layout) share a series. */
static void series_of_an_op_are_its_own(void)
{
    for (size_t i = 0; i < takt_op_count(); i++)
        for (int dtype = 0; dtype < 2; dtype++) {
            enum takt_op_id op;
            unsigned user_op;
            takt_dtype back;
            char layout[TAKT_LAYOUT_NAME];
            const takt_shape shape = {.rank = 1, .dim = {100}};
            const takt_work work = {400, 100};
            if (takt_op_at(i)->rank_min != 1)
                continue;
            const struct takt_key key = takt__key_of(
                takt_op_at(i), (takt_dtype)dtype, &shape, 0, &work);
            takt__series_name(key.series, &op, &user_op, &back, layout);
            EXPECT_INT(op, i);
            EXPECT_INT(back, dtype);
        }
}

static void names_that_are_not_layouts_find_nothing(void)
{
    const takt_op *matmul = takt_op_find("matmul");

    EXPECT_INT(takt__series_find(matmul, TAKT_F32, ""), -1);
    EXPECT_INT(takt__series_find(matmul, TAKT_F32, "nn"), -1);
    EXPECT_INT(takt__series_find(matmul, TAKT_F32, "nn.square "), -1);
    EXPECT_INT(takt__series_find(takt_op_find("add"), TAKT_F32, "nn"), -1);
}

static void ops_of_the_user_come_after_the_catalogue(void)
{
    takt_ctx *ctx;
    const takt_op *first, *second;
    const takt_shape shape = {.rank = 1, .dim = {100}};
    const takt_work work = {400, 100};

    REQUIRE(takt_ctx_create(&(takt_ctx_options){.store = "", .blas = ""},
                            &ctx) == TAKT_OK);
    REQUIRE(takt_ctx_define_op(ctx, &(takt_op_spec){.name = "one"}, &first) ==
            TAKT_OK);
    REQUIRE(takt_ctx_define_op(ctx, &(takt_op_spec){.name = "two"}, &second) ==
            TAKT_OK);
    for (int dtype = 0; dtype < 2; dtype++)
        for (unsigned number = 0; number < 2; number++) {
            const takt_op *op = number == 0 ? first : second;
            enum takt_op_id id;
            unsigned user_op;
            takt_dtype back;
            char layout[TAKT_LAYOUT_NAME];
            const struct takt_key key =
                takt__key_of(op, (takt_dtype)dtype, &shape, 0, &work);
            EXPECT(key.series >= TAKT_SERIES_USER &&
                   key.series < TAKT_SERIES_LINKS);
            EXPECT_INT(takt__series_find(op, (takt_dtype)dtype, ""),
                       key.series);
            EXPECT_INT(takt__series_find(op, (takt_dtype)dtype, "nn"), -1);
            takt__series_name(key.series, &id, &user_op, &back, layout);
            EXPECT_INT(id, TAKT_OP_COUNT);
            EXPECT_INT(user_op, number);
            EXPECT_INT(back, dtype);
        }
    takt_ctx_destroy(ctx);
}

static void links_come_last_and_are_no_ops(void)
{
    static const char *const names[TAKT_LINKS] = {"in", "in.pinned", "out",
                                                  "out.pinned", "open"};

    for (unsigned i = 0; i < TAKT_LINKS; i++) {
        const unsigned series = TAKT_SERIES_LINKS + i;
        enum takt_op_id op;
        unsigned user_op;
        takt_dtype dtype;
        char layout[TAKT_LAYOUT_NAME];
        EXPECT_STR(takt__link_name(series), names[i]);
        EXPECT_INT(takt__link_find(names[i]), series);
        takt__series_name(series, &op, &user_op, &dtype, layout);
        EXPECT_INT(op, TAKT_OP_COUNT);
        EXPECT_INT(user_op, TAKT_MAX_USER_OPS); /* that nobody has */
        EXPECT_INT(dtype, TAKT_F32);
        EXPECT_STR(layout, names[i]);
    }
    EXPECT_INT(TAKT_SERIES_LINKS + TAKT_LINKS, TAKT_SERIES_COUNT);
    EXPECT(takt__link_name(TAKT_SERIES_LINKS - 1) == NULL);
    EXPECT(takt__link_name(TAKT_SERIES_COUNT) == NULL);
    EXPECT(takt__link_name(0) == NULL);
    EXPECT_INT(takt__link_find(""), -1);
    EXPECT_INT(takt__link_find("in.pinned "), -1);
}

/* ---- layouts -------------------------------------------------------------
 */

static const char *layout_of(const char *op, takt_shape shape, unsigned flags)
{
    static char layout[TAKT_LAYOUT_NAME];
    const takt_op *found = takt_op_find(op);
    takt_work work;
    enum takt_op_id id;
    unsigned user_op;
    takt_dtype dtype;

    REQUIRE(takt_op_work(found, TAKT_F32, &shape, &work) == TAKT_OK);
    takt__series_name(
        takt__key_of(found, TAKT_F32, &shape, flags, &work).series, &id,
        &user_op, &dtype, layout);
    EXPECT_STR(takt_op_at(id)->name, op);
    EXPECT_INT(dtype, TAKT_F32);
    return layout;
}

#define SHAPE(rank_, ...) ((takt_shape){.rank = (rank_), .dim = {__VA_ARGS__}})

static void products_differ_by_their_thin_sides(void)
{
    EXPECT_STR(layout_of("matmul", SHAPE(3, 100, 100, 100), 0), "nn.square");
    EXPECT_STR(layout_of("matmul", SHAPE(3, 1, 100, 100), 0), "nn.thin_m");
    EXPECT_STR(layout_of("matmul", SHAPE(3, 1000, 4, 1000), 0), "nn.thin_n");
    EXPECT_STR(layout_of("matmul", SHAPE(3, 1000, 1000, 4), 0), "nn.thin_k");
    EXPECT_STR(layout_of("matmul", SHAPE(3, 4, 4, 4000), 0), "nn.thin_mn");
    EXPECT_STR(layout_of("matmul", SHAPE(3, 100, 100, 100), TAKT_TRANS_A),
               "tn.square");
    EXPECT_STR(layout_of("matmul", SHAPE(3, 100, 100, 100), TAKT_TRANS_B),
               "nt.square");
    EXPECT_STR(
        layout_of("matmul", SHAPE(3, 1, 100, 100), TAKT_TRANS_A | TAKT_TRANS_B),
        "tt.thin_m");
    EXPECT_STR(layout_of("gemv", SHAPE(2, 100, 100), 0), "n");
    EXPECT_STR(layout_of("gemv", SHAPE(2, 10000, 10), 0), "n.narrow");
    EXPECT_STR(layout_of("gemv", SHAPE(2, 10, 10000), TAKT_TRANS_A), "t.flat");
}

static void rows_and_layers_differ_by_what_decides_them(void)
{
    EXPECT_STR(layout_of("softmax", SHAPE(2, 100, 100), 0), "");
    EXPECT_STR(layout_of("softmax", SHAPE(2, 100, 64), 0), "short");
    EXPECT_STR(layout_of("softmax", SHAPE(2, 4, 1000), 0), "few");
    EXPECT_STR(layout_of("transpose", SHAPE(2, 100, 100), 0), "");
    EXPECT_STR(layout_of("transpose", SHAPE(2, 10000, 3), 0), "narrow");
    EXPECT_STR(layout_of("transpose", SHAPE(2, 3, 10000), 0), "flat");
    EXPECT_STR(layout_of("conv2d", SHAPE(7, 1, 8, 56, 56, 8, 3, 3), 0), "");
    EXPECT_STR(layout_of("conv2d", SHAPE(7, 1, 8, 56, 56, 8, 1, 1), 0),
               "pointwise");
    EXPECT_STR(layout_of("conv2d", SHAPE(7, 1, 8, 14, 14, 8, 3, 3), 0),
               "small");
    EXPECT_STR(
        layout_of("conv2d", SHAPE(10, 1, 8, 56, 56, 8, 3, 3, 1, 1, 8), 0),
        "grouped");
}

static double factor_of(const char *name, takt_shape shape, unsigned threads)
{
    const takt_op *op = takt_op_find(name);
    takt_work work;

    REQUIRE(takt_op_work(op, TAKT_F64, &shape, &work) == TAKT_OK);
    const struct takt_key key = takt__key_of(op, TAKT_F64, &shape, 0, &work);
    return takt__serial_factor(takt__series_serial(key.series), &work, threads);
}

/* A factor of n means that n threads are as fast as one. */
static void factors_of_small_matrices_gain_little_by_threads(void)
{
    EXPECT(factor_of("matmul", SHAPE(3, 256, 256, 256), 16) <= 1);
    EXPECT(factor_of("qr", SHAPE(2, 768, 256), 1) <= 1);
    EXPECT(factor_of("qr", SHAPE(2, 768, 256), 16) > 12);
    EXPECT(factor_of("cholesky", SHAPE(2, 256, 256), 16) > 12);
    EXPECT(factor_of("solve", SHAPE(2, 256, 1), 16) > 12);
    EXPECT(factor_of("cholesky", SHAPE(2, 8192, 8192), 16) < 4);
    EXPECT(factor_of("solve", SHAPE(2, 0, 0), 16) <= 1);
}

int main(void)
{
    RUN(factors_of_small_matrices_gain_little_by_threads);
    RUN(buckets_cover_all_work_in_order);
    RUN(a_bucket_is_half_an_octave);
    RUN(every_series_is_found_by_its_name);
    RUN(series_of_an_op_are_its_own);
    RUN(names_that_are_not_layouts_find_nothing);
    RUN(ops_of_the_user_come_after_the_catalogue);
    RUN(links_come_last_and_are_no_ops);
    RUN(products_differ_by_their_thin_sides);
    RUN(rows_and_layers_differ_by_what_decides_them);
    return tap_done();
}
