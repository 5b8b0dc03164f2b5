/* SPDX-License-Identifier: MIT */
/*
 * takt/op.h - operations: the catalogue, their shapes and their work.
 *
 * The catalogue is one constant list. An op of your own is described by a
 * takt_op_spec and defined in a context (takt/context.h); from then on it is
 * a takt_op like any other.
 *
 * Names match without regard to case, and an alias ("matrix_multiply") finds
 * the op it stands for ("matmul").
 *
 *     const takt_op *op = takt_op_find("matrix_multiply");
 *     const takt_shape shape = {.rank = 3, .dim = {512, 512, 512}};
 *     takt_work work;
 *
 *     if (op == NULL || takt_op_work(op, TAKT_F32, &shape, &work) != TAKT_OK)
 *         return 1;
 *     printf("%s of %s: %.0f operations\n", op->name, op->shape, work.flops);
 *
 * Threads: everything here may be called from any thread.
 */
#ifndef TAKT_OP_H
#define TAKT_OP_H

#include <stddef.h>
#include <stdint.h>

#include <takt/export.h>
#include <takt/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How the arithmetic of an op grows with its elements. Low, about one step per
 * element; Medium, a reduction or a few steps; High, many. */
typedef enum takt_complexity {
    TAKT_COMPLEXITY_LOW = 0,
    TAKT_COMPLEXITY_MEDIUM = 1,
    TAKT_COMPLEXITY_HIGH = 2
} takt_complexity;

/* The name of a complexity: "Low", "Medium" or "High". */
TAKT_API const char *takt_complexity_name(takt_complexity complexity);

/* The type of elements. */
typedef enum takt_dtype { TAKT_F32 = 0, TAKT_F64 = 1 } takt_dtype;

/* The name of an element type: "f32" or "f64". */
TAKT_API const char *takt_dtype_name(takt_dtype dtype);

/* The bytes of one element. */
TAKT_API size_t takt_dtype_size(takt_dtype dtype);

/* The sizes that a shape can have. */
#define TAKT_SHAPE_MAX_RANK 10

/* The sizes a call is made of, in the order of the op's `shape` text: n for
 * add, m x n x k for matmul. */
typedef struct takt_shape {
    unsigned rank; /* how many of dim[] are used */
    size_t dim[TAKT_SHAPE_MAX_RANK];
} takt_shape;

/* The least work of a call. Doubles never wrap around: 2mnk can exceed 64 bits
 * (docs/decisions/0003-work-in-doubles.md). */
typedef struct takt_work {
    double bytes; /* unique bytes read or written */
    double flops; /* floating-point operations */
} takt_work;

/* One row of the catalogue, or a user's op. Read only. Members of later
 * versions come after these. */
typedef struct takt_op {
    const char *name;
    const char *summary; /* one line: what it computes */
    const char *shape;   /* the meaning of each size, such as "MxNxK" */
    takt_complexity complexity;
    unsigned dtypes;   /* bit 1 << dtype is set for each dtype it has */
    unsigned inputs;   /* array operands it reads */
    unsigned rank_min; /* how many sizes it takes ... */
    unsigned rank_max; /* ... at most */
    int is_user;       /* 0: of the catalogue */
} takt_op;

/* The ops of the catalogue, in its order: 0 <= index < takt_op_count(). NULL
 * beyond. */
TAKT_API size_t takt_op_count(void);
TAKT_API const takt_op *takt_op_at(size_t index);

/* Finds an op of the catalogue by its name or alias. NULL: there is none. */
TAKT_API const takt_op *takt_op_find(const char *name);

/* The aliases of ops, in their order. NULL beyond the last. `op`, if not NULL,
 * gets the op that the alias stands for. */
TAKT_API const char *takt_op_alias_at(size_t index, const takt_op **op);

/* The name or alias nearest to a misspelt one; NULL when none is near. */
TAKT_API const char *takt_op_nearest(const char *name);

/* Whether a shape fits an op. A shape of rank 1 always fits: it is the number
 * of elements.
 * TAKT_ESHAPE: it does not. */
TAKT_API takt_status takt_op_check_shape(const takt_op *op,
                                         const takt_shape *shape);

/* The elements of the largest operand, which the static rules count. SIZE_MAX
 * when there are more. */
TAKT_API size_t takt_op_elements(const takt_op *op, const takt_shape *shape);

/* The work of one call: bytes and operations.
 * TAKT_ESHAPE: the sizes do not fit, or only the elements are given and the
 *   work of this op depends on more. */
TAKT_API takt_status takt_op_work(const takt_op *op, takt_dtype dtype,
                                  const takt_shape *shape, takt_work *out);

/* An op of the user's own. */
typedef struct takt_op_spec {
    size_t size;      /* sizeof(takt_op_spec): see takt/takt.h */
    const char *name; /* copied; letters, digits and . _ - : / up to 63 */
    takt_complexity complexity;
    /* Optional: the work of one call. Without it, `elements` times 12 bytes
     * and one operation are assumed. Must not block. */
    takt_work (*work)(const takt_shape *shape, takt_dtype dtype, void *self);
    void *self; /* passed to work(); borrowed for the life of the context */
} takt_op_spec;

#ifdef __cplusplus
}
#endif

#endif
