/* SPDX-License-Identifier: MIT */
/* finding_routine.c - which op a routine of BLAS or a loop of NumPy is. */
#include <string.h>

#include "findings.h"

static const struct {
    const char *routine, *op;
} routines[] = {
    {"gemm", "matmul"},   {"gemv", "gemv"},        {"dot", "dot"},
    {"axpy", "axpy"},     {"scal", "scale"},       {"copy", "copy"},
    {"nrm2", "norm2"},    {"asum", "norm1"},       {"amax", "argmax"},
    {"add ", "add"},      {"subtract ", "sub"},    {"multiply ", "mul"},
    {"divide ", "div"},   {"true_divide ", "div"}, {"exp ", "exp"},
    {"log ", "log"},      {"tanh ", "tanh"},       {"sqrt ", "sqrt"},
    {"absolute ", "abs"}, {"sin ", "sin"},         {"cos ", "cos"},
    {"exp2 ", "exp2"},    {"log2 ", "log2"},       {"expm1 ", "expm1"},
    {"log1p ", "log1p"}};

const char *op_of_routine(const char *routine, bool of_numpy)
{
    for (size_t i = 0; i < sizeof routines / sizeof routines[0]; i++) {
        const char *name = routines[i].routine;
        const size_t length = strlen(name);
        const bool is_loop = name[length - 1] == ' '; /* its types follow */
        if (is_loop != of_numpy)
            continue;
        if (is_loop ? strncmp(routine, name, length) == 0
                    : strlen(routine) > length &&
                          strcmp(routine + strlen(routine) - length, name) == 0)
            return routines[i].op;
    }
    return NULL;
}
