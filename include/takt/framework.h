/* SPDX-License-Identifier: MIT */
/*
 * takt/framework.h - where the operations of NumPy, scikit-learn and PyTorch
 * should run.
 *
 *     const takt_framework_op *op;
 *
 *     if (takt_framework_find("numpy.linalg.norm", &op) != TAKT_OK)
 *         return 1;
 *     puts(takt_backend_name(takt_framework_recommend(op, 200000)));
 *
 * Threads: everything here may be called from any thread.
 */
#ifndef TAKT_FRAMEWORK_H
#define TAKT_FRAMEWORK_H

#include <stddef.h>

#include <takt/backend.h>
#include <takt/export.h>
#include <takt/op.h>
#include <takt/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A framework. */
typedef enum takt_framework {
    TAKT_FRAMEWORK_NUMPY = 0,
    TAKT_FRAMEWORK_SKLEARN = 1,
    TAKT_FRAMEWORK_TORCH = 2
} takt_framework;

/* The name of a framework: "NumPy", "scikit-learn" or "PyTorch". */
TAKT_API const char *takt_framework_name(takt_framework framework);

/* One operation of a framework. Read only. Members of later versions come after
 * these. */
typedef struct takt_framework_op {
    takt_framework framework;
    const char *name;      /* such as "Add", "KMeans", "Linear" */
    const char *module;    /* the Python module it lives in */
    const char *functions; /* its names there, separated by spaces */
    takt_complexity complexity;
    const char *op;   /* the catalogue op it corresponds to, or NULL */
    const char *call; /* the libtakt call that replaces it, or NULL */
} takt_framework_op;

/* The operations of all frameworks, in the order of the table: 0 <= index <
 * count. NULL beyond. */
TAKT_API size_t takt_framework_op_count(void);
TAKT_API const takt_framework_op *takt_framework_op_at(size_t index);

/* Finds an operation by its dotted name: "numpy.add", "np.linalg.norm",
 * "sklearn.KMeans", "torch.nn.Linear", without regard to case. That is a
 * framework (or its common short name), then the name of a row or one of its
 * functions, modules between them optional.
 * TAKT_ENOENT: no such operation; *out is NULL. */
TAKT_API takt_status takt_framework_find(const char *dotted_name,
                                         const takt_framework_op **out);

/* Finds the dotted name nearest to a misspelt one. It is written to `out`, cut
 * to `size` bytes with its NUL. 0 and an empty string when none is near. */
TAKT_API int takt_framework_nearest(const char *dotted_name, char *out,
                                    size_t size);

/* Where an operation should run on so many elements, by the moe rule. */
TAKT_API takt_backend takt_framework_recommend(const takt_framework_op *op,
                                               size_t elements);

#ifdef __cplusplus
}
#endif

#endif
