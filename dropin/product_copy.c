/* SPDX-License-Identifier: MIT */
/* product_copy.c - one loop for each type. */
#include "product_copy.h"

#include <stdbool.h>

#include "half.h"

enum takt_sum takt__sum_of(enum takt_number number)
{
    return number == TAKT_NUMBER_HALF ? TAKT_SUM_F32
           : number == TAKT_NUMBER_64 ? TAKT_SUM_U64
                                      : TAKT_SUM_U32;
}

static uint32_t number_of_bool(uint8_t value)
{
    return value != 0;
}

static uint8_t bool_of_number(uint32_t value, int *raised)
{
    (void)raised;
    return value != 0;
}

#define AS_IT_IS(value_) value_
#define CUT(value_, raised_) (value_)

/* Numbers that lie together get a loop that the compiler can make vectors of.
 */
#define DEFINE_COPY(name_, type_, sum_, make_)                              \
    static void copy_##name_(size_t count, const char *from,                \
                             ptrdiff_t from_step, void *at, size_t to_step) \
    {                                                                       \
        const bool is_dense = from_step == sizeof(type_) && to_step == 1;   \
        sum_ *to = at;                                                      \
                                                                            \
        for (size_t i = 0; is_dense && i < count; i++) {                    \
            type_ value;                                                    \
            memcpy(&value, from + i * sizeof value, sizeof value);          \
            to[i] = make_(value);                                           \
        }                                                                   \
        for (size_t i = 0; !is_dense && i < count; i++) {                   \
            type_ value;                                                    \
            memcpy(&value, from, sizeof value);                             \
            to[i * to_step] = make_(value);                                 \
            from += from_step;                                              \
        }                                                                   \
    }

#define DEFINE_STORE(name_, type_, sum_, make_)                      \
    static int store_##name_(size_t count, const void *at, char *to, \
                             ptrdiff_t to_step)                      \
    {                                                                \
        const sum_ *sums = at;                                       \
        int raised = 0;                                              \
                                                                     \
        for (size_t i = 0; i < count; i++) {                         \
            const type_ value = (type_)make_(sums[i], &raised);      \
            memcpy(to, &value, sizeof value);                        \
            to += to_step;                                           \
        }                                                            \
        return raised;                                               \
    }

#define DEFINE(name_, type_, sum_, copy_make_, store_make_) \
    DEFINE_COPY(name_, type_, sum_, copy_make_)             \
    DEFINE_STORE(name_, type_, sum_, store_make_)
DEFINE(truth, uint8_t, uint32_t, number_of_bool, bool_of_number)
DEFINE(8, uint8_t, uint32_t, AS_IT_IS, CUT)
DEFINE(16, uint16_t, uint32_t, AS_IT_IS, CUT)
DEFINE(32, uint32_t, uint32_t, AS_IT_IS, CUT)
DEFINE(64, uint64_t, uint64_t, AS_IT_IS, CUT)
DEFINE(half, uint16_t, float, takt__float_of_half, takt__half_of_float)

static const struct {
    void (*copy)(size_t count, const char *from, ptrdiff_t from_step, void *to,
                 size_t to_step);
    int (*store)(size_t count, const void *sums, char *to, ptrdiff_t to_step);
} numbers[] = {
    [TAKT_NUMBER_BOOL] = {copy_truth, store_truth},
    [TAKT_NUMBER_8] = {copy_8, store_8},
    [TAKT_NUMBER_16] = {copy_16, store_16},
    [TAKT_NUMBER_32] = {copy_32, store_32},
    [TAKT_NUMBER_64] = {copy_64, store_64},
    [TAKT_NUMBER_HALF] = {copy_half, store_half},
};

void takt__product_copy(enum takt_number number, size_t count, const char *from,
                        ptrdiff_t from_step, void *to, size_t to_step)
{
    numbers[number].copy(count, from, from_step, to, to_step);
}

int takt__product_store(enum takt_number number, size_t count, const void *sums,
                        char *to, ptrdiff_t to_step)
{
    return numbers[number].store(count, sums, to, to_step);
}
