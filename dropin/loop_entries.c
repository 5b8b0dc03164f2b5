/* SPDX-License-Identifier: MIT */
/* loop_entries.c - 1,024 functions, and the compare that a short loop costs. */
#include "loop_entries.h"

#include "loop_product.h"

static inline void enter(struct takt_loop *loop, char **args,
                         const ptrdiff_t *dimensions, const ptrdiff_t *steps,
                         void *data)
{
    if (__builtin_expect(
            dimensions[0] <
                atomic_load_explicit(&loop->least, memory_order_relaxed),
            1))
        loop->own(args, dimensions, steps, data);
    else
        takt__loop_run(loop, args, dimensions, steps, data);
}

/* One for each number of three hexadecimal digits. */
#define EACH_DIGIT(use_, a_)                                                \
    use_(a_##0) use_(a_##1) use_(a_##2) use_(a_##3) use_(a_##4) use_(a_##5) \
        use_(a_##6) use_(a_##7) use_(a_##8) use_(a_##9) use_(a_##a)         \
            use_(a_##b) use_(a_##c) use_(a_##d) use_(a_##e) use_(a_##f)
#define DEFINE_16(a_) EACH_DIGIT(DEFINE, a_)
#define NAME_16(a_) EACH_DIGIT(NAME, a_)
#define EACH_NEXT(use_, a_)                                                 \
    use_(a_##0) use_(a_##1) use_(a_##2) use_(a_##3) use_(a_##4) use_(a_##5) \
        use_(a_##6) use_(a_##7) use_(a_##8) use_(a_##9) use_(a_##a)         \
            use_(a_##b) use_(a_##c) use_(a_##d) use_(a_##e) use_(a_##f)
#define ALL(use_) \
    EACH_NEXT(use_, 0) EACH_NEXT(use_, 1) EACH_NEXT(use_, 2) EACH_NEXT(use_, 3)

#define DEFINE(number_)                                                  \
    static void loop_##number_(char **args, const ptrdiff_t *dimensions, \
                               const ptrdiff_t *steps, void *data)       \
    {                                                                    \
        enter(&takt__loops[0x##number_], args, dimensions, steps, data); \
    }
ALL(DEFINE_16)

takt_inner_loop *takt__loop_entry(unsigned number)
{
#define NAME(number_) loop_##number_,
    static takt_inner_loop *const entry[TAKT_LOOPS] = {ALL(NAME_16)};
#undef NAME
    return entry[number];
}

/* ---- products ------------------------------------------------------------ */

static inline void enter_product(struct takt_loop_product *self, char **args,
                                 const ptrdiff_t *dimensions,
                                 const ptrdiff_t *steps, void *data)
{
    if (__builtin_expect(
            dimensions[1] * dimensions[2] * dimensions[3] <
                atomic_load_explicit(&self->loop.least, memory_order_relaxed),
            1))
        self->loop.own(args, dimensions, steps, data);
    else
        takt__loop_product(self, args, dimensions, steps, data);
}

#define DEFINE_PRODUCT(number_)                                             \
    static void product_##number_(char **args, const ptrdiff_t *dimensions, \
                                  const ptrdiff_t *steps, void *data)       \
    {                                                                       \
        enter_product(&takt__loop_products[0x##number_], args, dimensions,  \
                      steps, data);                                         \
    }
EACH_DIGIT(DEFINE_PRODUCT, )

takt_inner_loop *takt__loop_product_entry(unsigned number)
{
#define NAME_PRODUCT(number_) product_##number_,
    static takt_inner_loop *const entry[TAKT_LOOP_PRODUCTS] = {
        EACH_DIGIT(NAME_PRODUCT, )};
#undef NAME_PRODUCT
    return entry[number];
}
