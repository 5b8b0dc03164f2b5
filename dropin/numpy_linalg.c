/* SPDX-License-Identifier: MIT */
/* numpy_linalg.c - finds numpy.linalg's functions, and replaces their loops. */
#include "numpy_linalg.h"

#include <string.h>

#include "linalg.h"
#include "python.h"

/* ---- entries ------------------------------------------------------------- */

#define EACH_DIGIT(use_, a_)                                                \
    use_(a_##0) use_(a_##1) use_(a_##2) use_(a_##3) use_(a_##4) use_(a_##5) \
        use_(a_##6) use_(a_##7) use_(a_##8) use_(a_##9) use_(a_##a)         \
            use_(a_##b) use_(a_##c) use_(a_##d) use_(a_##e) use_(a_##f)
#define ALL(use_) EACH_DIGIT(use_, 0) EACH_DIGIT(use_, 1) EACH_DIGIT(use_, 2)

#define DEFINE(number_)                                                        \
    static void linalg_##number_(char **args, const ptrdiff_t *dimensions,     \
                                 const ptrdiff_t *steps, void *data)           \
    {                                                                          \
        takt__linalg_run(&takt__linalgs[0x##number_], args, dimensions, steps, \
                         data);                                                \
    }
ALL(DEFINE)

#define NAME(number_) linalg_##number_,
static takt_inner_loop *const entry[TAKT_LINALGS] = {ALL(NAME)};

/* ---- replacing ----------------------------------------------------------- */

/* PyUFunc_ReplaceLoopBySignature(): returns 0 if there is such a loop. */
typedef int replace_loop(takt_object *ufunc, takt_inner_loop *loop,
                         const int *signature, takt_inner_loop **old);
enum { replace_loop_at = 30 };

/* By NumPy's numbers of types: all operands are of one. */
static void replace(replace_loop *put, takt_object *ufunc,
                    const struct takt_linalg_function *function,
                    takt_dtype dtype)
{
    static unsigned count;
    const int number = dtype == TAKT_F64 ? 12 : 11;
    const int signature[] = {number, number, number, number};
    struct takt_linalg *made = &takt__linalgs[count];

    if (count == TAKT_LINALGS || function->operands > 4)
        return;
    *made = (struct takt_linalg){.read = function->read,
                                 .routine = function->routine,
                                 .dtype = dtype,
                                 .job = function->job,
                                 .uplo = function->uplo};
    if (put(ufunc, entry[count], signature, &made->own) == 0)
        count++;
}

void takt__linalg_install(void **ufunc_api, const struct takt_baseline *library)
{
    takt_object *module = takt__python.PyDict_GetItemString(
        takt__python.PyImport_GetModuleDict(), "numpy.linalg._umath_linalg");
    replace_loop *put;

    if (ufunc_api == NULL || module == NULL)
        return;
    memcpy(&put, &ufunc_api[replace_loop_at], sizeof put);
    takt_object *names = takt__python.PyModule_GetDict(module);
    takt__linalg_open(library);
    for (unsigned i = 0; takt__linalg_function(i) != NULL; i++) {
        const struct takt_linalg_function *function = takt__linalg_function(i);
        takt_object *ufunc =
            takt__python.PyDict_GetItemString(names, function->name);
        for (int dtype = 0; ufunc != NULL && dtype < 2; dtype++)
            replace(put, ufunc, function, (takt_dtype)dtype);
    }
}
