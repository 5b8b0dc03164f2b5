/* SPDX-License-Identifier: MIT */
/* test_op.c - the catalogue, its names, shapes and work. */
#include "takt/op.h"

#include <math.h>
#include <stdint.h>

#include "op/user_ops.h"
#include "support/tap.h"

static takt_shape shape1(size_t n)
{
    return (takt_shape){.rank = 1, .dim = {n}};
}

static takt_work work_of(const char *op, takt_dtype dtype, takt_shape shape)
{
    takt_work work;
    REQUIRE(takt_op_work(takt_op_find(op), dtype, &shape, &work) == TAKT_OK);
    return work;
}

static void every_op_is_found_by_its_name(void)
{
    EXPECT_INT(takt_op_count(), 56);
    for (size_t i = 0; i < takt_op_count(); i++) {
        const takt_op *op = takt_op_at(i);
        EXPECT(takt_op_find(op->name) == op);
        EXPECT(op->summary[0] != '\0' && op->shape[0] != '\0');
        EXPECT(op->rank_min >= 1 && op->rank_min <= op->rank_max);
        EXPECT(op->rank_max <= TAKT_SHAPE_MAX_RANK);
        EXPECT((op->dtypes & 1u << TAKT_F32) != 0);
        EXPECT_INT(op->is_user, 0);
    }
    EXPECT(takt_op_at(takt_op_count()) == NULL);
}

static void no_name_or_alias_occurs_twice(void)
{
    const char *names[256];
    size_t count = 0;

    for (size_t i = 0; i < takt_op_count(); i++)
        names[count++] = takt_op_at(i)->name;
    for (size_t i = 0; takt_op_alias_at(i, NULL) != NULL; i++)
        names[count++] = takt_op_alias_at(i, NULL);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++)
            TAP_CHECK(strcmp(names[i], names[j]) != 0, "%s twice", names[i]);
}

static void aliases_find_their_op(void)
{
    const takt_op *op = NULL;

    for (size_t i = 0; takt_op_alias_at(i, &op) != NULL; i++)
        EXPECT(takt_op_find(takt_op_alias_at(i, NULL)) == op);
    EXPECT_STR(takt_op_find("matrix_multiply")->name, "matmul");
    EXPECT_STR(takt_op_find("vector_add")->name, "add");
    EXPECT_STR(takt_op_find("dot_product")->name, "dot");
    EXPECT_STR(takt_op_find("convolution")->name, "conv2d");
}

static void names_match_in_any_case(void)
{
    EXPECT_STR(takt_op_find("MatMul")->name, "matmul");
    EXPECT_STR(takt_op_find("DOT_PRODUCT")->name, "dot");
    EXPECT(takt_op_find("mat mul") == NULL);
    EXPECT(takt_op_find("") == NULL);
    EXPECT(takt_op_find(NULL) == NULL);
}

static void a_mistyped_name_finds_the_one_meant(void)
{
    EXPECT_STR(takt_op_nearest("matmull"), "matmul");
    EXPECT_STR(takt_op_nearest("mtamul"), "matmul");
    EXPECT_STR(takt_op_nearest("sofmax"), "softmax");
    EXPECT_STR(takt_op_nearest("matrix_multipy"), "matrix_multiply");
    EXPECT_STR(takt_op_nearest("zzzzzzz"), NULL);
    EXPECT_STR(takt_op_nearest(NULL), NULL);
}

static void complexities_are_those_of_the_design(void)
{
    static const char *const low[] = {
        "add",   "sub",  "mul",   "div",  "scale",     "axpy",    "fma",
        "abs",   "neg",  "clamp", "sqrt", "exp",       "log",     "sigmoid",
        "tanh",  "relu", "gelu",  "copy", "transpose", "reshape", "exp2",
        "expm1", "log2", "log1p", "sin",  "cos"};
    static const char *const high[] = {"matmul", "batched_matmul", "conv2d",
                                       "pooling", "attention"};

    for (size_t i = 0; i < sizeof low / sizeof low[0]; i++)
        EXPECT_INT(takt_op_find(low[i])->complexity, TAKT_COMPLEXITY_LOW);
    for (size_t i = 0; i < sizeof high / sizeof high[0]; i++)
        EXPECT_INT(takt_op_find(high[i])->complexity, TAKT_COMPLEXITY_HIGH);
    EXPECT_INT(takt_op_find("gemv")->complexity, TAKT_COMPLEXITY_MEDIUM);
    EXPECT_INT(takt_op_find("softmax")->complexity, TAKT_COMPLEXITY_MEDIUM);
}

static void work_follows_the_shape(void)
{
    const takt_shape mnk = {.rank = 3, .dim = {2, 3, 5}};
    takt_work work = work_of("matmul", TAKT_F32, mnk);

    EXPECT_NEAR(work.bytes, (2 * 5 + 5 * 3 + 2 * 3) * 4, 0);
    EXPECT_NEAR(work.flops, 2 * 2 * 3 * 5, 0);
    work = work_of("matmul", TAKT_F64, mnk);
    EXPECT_NEAR(work.bytes, (2 * 5 + 5 * 3 + 2 * 3) * 8, 0);
    work = work_of("add", TAKT_F32, shape1(100));
    EXPECT_NEAR(work.bytes, 1200, 0);
    EXPECT_NEAR(work.flops, 100, 0);
    work = work_of("dot", TAKT_F64, shape1(100));
    EXPECT_NEAR(work.bytes, 1608, 0);
    EXPECT_NEAR(work.flops, 200, 0);
    work = work_of("reshape", TAKT_F32, shape1(100));
    EXPECT_NEAR(work.bytes + work.flops, 0, 0);
}

static void work_of_convolution_and_attention(void)
{
    /* 1 image of 3x5x5, 2 filters of 3x3x3, no padding: 2x3x3 out. */
    const takt_shape plain = {.rank = 7, .dim = {1, 3, 5, 5, 2, 3, 3}};
    /* The same with stride 2 and padding 1: also 2x3x3 out. */
    const takt_shape strided = {.rank = 9, .dim = {1, 3, 5, 5, 2, 3, 3, 2, 1}};
    const takt_shape heads = {.rank = 5, .dim = {1, 2, 4, 8, 16}};

    takt_work work = work_of("conv2d", TAKT_F32, plain);
    EXPECT_NEAR(work.flops, 2.0 * 2 * 9 * 27, 0);
    EXPECT_NEAR(work.bytes, (75 + 54 + 18) * 4, 0);
    work = work_of("conv2d", TAKT_F32, strided);
    EXPECT_NEAR(work.flops, 2.0 * 2 * 9 * 27, 0);
    work = work_of("attention", TAKT_F32, heads);
    EXPECT_NEAR(work.flops, 2 * 4 * 8 * (4.0 * 16 + 5), 0);
}

static void elements_are_those_of_the_largest_operand(void)
{
    const takt_shape mnk = {.rank = 3, .dim = {2, 3, 5}};
    const takt_shape wide = {.rank = 3, .dim = {100, 100, 1}};
    const takt_shape batch = {.rank = 4, .dim = {7, 2, 3, 5}};
    const takt_shape empty = {.rank = 3, .dim = {0, SIZE_MAX, SIZE_MAX}};
    const takt_shape count = shape1(10001);

    EXPECT_INT(takt_op_elements(takt_op_find("matmul"), &mnk), 15);
    EXPECT_INT(takt_op_elements(takt_op_find("matmul"), &wide), 10000);
    EXPECT_INT(takt_op_elements(takt_op_find("bmm"), &batch), 105);
    EXPECT_INT(takt_op_elements(takt_op_find("matmul"), &count), 10001);
    EXPECT(takt_op_elements(takt_op_find("matmul"), &empty) == SIZE_MAX);
}

static void huge_shapes_saturate(void)
{
    const size_t big = SIZE_MAX;
    const takt_shape mnk = {.rank = 3, .dim = {big, big, big}};
    const takt_shape batch = {.rank = 4, .dim = {big, big, big, big}};

    EXPECT(takt_op_elements(takt_op_find("matmul"), &mnk) == SIZE_MAX);
    EXPECT(takt_op_elements(takt_op_find("bmm"), &batch) == SIZE_MAX);
    EXPECT(work_of("matmul", TAKT_F64, mnk).flops > 1e57);
    EXPECT(isfinite(work_of("bmm", TAKT_F64, batch).flops));
}

static void shapes_that_do_not_fit_are_refused(void)
{
    static const struct {
        const char *op;
        takt_shape shape;
    } wrong[] = {
        {"add", {.rank = 0}},
        {"add", {.rank = 2, .dim = {2, 2}}},
        {"matmul", {.rank = 2, .dim = {2, 2}}},
        {"matmul", {.rank = 4, .dim = {2, 2, 2, 2}}},
        {"conv2d", {.rank = 7, .dim = {1, 3, 2, 2, 2, 3, 3}}},
        {"conv2d", {.rank = 8, .dim = {1, 3, 5, 5, 2, 3, 3, 0}}},
        {"conv2d", {.rank = 10, .dim = {1, 3, 5, 5, 2, 3, 3, 1, 0, 2}}},
        {"conv2d", {.rank = 9, .dim = {1, 3, 5, 5, 2, 3, 3, 1, SIZE_MAX}}},
        {"pooling", {.rank = 5, .dim = {1, 3, 5, 5, 0}}},
        {"pooling", {.rank = 5, .dim = {1, 3, 5, 5, 6}}},
        {"attention", {.rank = 4, .dim = {1, 2, 3, 4}}},
    };
    takt_work work;

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const takt_op *op = takt_op_find(wrong[i].op);
        TAP_CHECK(takt_op_check_shape(op, &wrong[i].shape) == TAKT_ESHAPE,
                  "row %zu fits %s", i, op->name);
        EXPECT_INT(takt_op_elements(op, &wrong[i].shape), 0);
        EXPECT_INT(takt_op_work(op, TAKT_F32, &wrong[i].shape, &work),
                   TAKT_ESHAPE);
    }
}

static void work_needs_more_than_a_count(void)
{
    const takt_shape count = shape1(100);
    takt_work work;

    EXPECT_INT(takt_op_check_shape(takt_op_find("matmul"), &count), TAKT_OK);
    EXPECT_INT(takt_op_work(takt_op_find("matmul"), TAKT_F32, &count, &work),
               TAKT_ESHAPE);
    EXPECT_INT(takt_op_work(takt_op_find("softmax"), TAKT_F32, &count, &work),
               TAKT_OK);
}

static takt_work twice(const takt_shape *shape, takt_dtype dtype, void *self)
{
    (void)dtype;
    return (takt_work){2.0 * (double)shape->dim[0], *(const double *)self};
}

static void user_ops_are_ops(void)
{
    struct takt_user_ops ops;
    double flops = 42;
    const takt_op_spec spec = {.name = "My_Kernel.v2",
                               .complexity = TAKT_COMPLEXITY_HIGH,
                               .work = twice,
                               .self = &flops};
    const takt_shape shape = {.rank = 2, .dim = {3, 4}};
    const takt_op *op;
    takt_work work;

    REQUIRE(takt__user_ops_init(&ops) == TAKT_OK);
    REQUIRE(takt__user_ops_define(&ops, &spec, &op) == TAKT_OK);
    EXPECT(takt__user_ops_find(&ops, "my_kernel.V2") == op);
    EXPECT_INT(op->is_user, 1);
    EXPECT_INT(op->complexity, TAKT_COMPLEXITY_HIGH);
    EXPECT_INT(takt_op_elements(op, &shape), 12);
    EXPECT_INT(takt_op_work(op, TAKT_F32, &shape, &work), TAKT_OK);
    EXPECT_NEAR(work.bytes, 6, 0);
    EXPECT_NEAR(work.flops, 42, 0);
    takt__user_ops_fini(&ops);
}

static void wrong_user_ops_are_refused(void)
{
    static const char *const wrong[] = {"", "a b", "tab\t", "\xc3\xa4", "a,b"};
    struct takt_user_ops ops;
    char longest[80];
    const takt_op *op;

    REQUIRE(takt__user_ops_init(&ops) == TAKT_OK);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        EXPECT_INT(
            takt__user_ops_define(&ops, &(takt_op_spec){.name = wrong[i]}, &op),
            TAKT_EINVAL);
    EXPECT_INT(takt__user_ops_define(&ops, &(takt_op_spec){0}, &op),
               TAKT_EINVAL);
    memset(longest, 'x', sizeof longest);
    longest[64] = '\0';
    EXPECT_INT(
        takt__user_ops_define(&ops, &(takt_op_spec){.name = longest}, &op),
        TAKT_EINVAL);
    longest[63] = '\0';
    EXPECT_INT(
        takt__user_ops_define(&ops, &(takt_op_spec){.name = longest}, &op),
        TAKT_OK);
    EXPECT_INT(
        takt__user_ops_define(&ops, &(takt_op_spec){.name = longest}, &op),
        TAKT_EEXIST);
    EXPECT(op == NULL);
    EXPECT_INT(
        takt__user_ops_define(&ops, &(takt_op_spec){.name = "Vector_Add"}, &op),
        TAKT_EEXIST);
    takt__user_ops_fini(&ops);
}

static void factors_are_counted(void)
{
    const takt_op *cholesky = takt_op_find("cholesky");
    const takt_shape oblong = {2, {3, 4}}, square = {2, {6, 6}};

    takt_work work = work_of("cholesky", TAKT_F64, square);
    EXPECT(fabs(work.flops - 72) < 1e-9); /* 216 / 3 */
    EXPECT(work.bytes == 2 * 36 * 8);
    EXPECT_INT(takt_op_check_shape(cholesky, &oblong), TAKT_ESHAPE);
    EXPECT_INT(takt_op_elements(cholesky, &square), 36);

    work = work_of("solve", TAKT_F32, (takt_shape){2, {6, 5}});
    EXPECT(fabs(work.flops - (144 + 360)) < 1e-9); /* 2 / 3 216, 2 36 5 */
    EXPECT(work.bytes == (36 + 30 + 30) * 4);

    const takt_shape wide = {3, {4, 5, 1}};
    EXPECT_INT(takt_op_check_shape(takt_op_find("lstsq"), &wide), TAKT_ESHAPE);
    work = work_of("qr", TAKT_F32, (takt_shape){2, {7, 3}});
    EXPECT(work.flops == 4 * 63);
    EXPECT(work.bytes == (21 + 30) * 4);
    work = work_of("lstsq", TAKT_F32, (takt_shape){3, {7, 3, 2}});
    EXPECT(work.flops == 2 * 63 + 4 * 42);
    EXPECT(work.bytes == (21 + 14 + 6) * 4);
}

int main(void)
{
    RUN(every_op_is_found_by_its_name);
    RUN(no_name_or_alias_occurs_twice);
    RUN(aliases_find_their_op);
    RUN(names_match_in_any_case);
    RUN(a_mistyped_name_finds_the_one_meant);
    RUN(complexities_are_those_of_the_design);
    RUN(work_follows_the_shape);
    RUN(work_of_convolution_and_attention);
    RUN(elements_are_those_of_the_largest_operand);
    RUN(huge_shapes_saturate);
    RUN(shapes_that_do_not_fit_are_refused);
    RUN(work_needs_more_than_a_count);
    RUN(user_ops_are_ops);
    RUN(wrong_user_ops_are_refused);
    RUN(factors_are_counted);
    return tap_done();
}
