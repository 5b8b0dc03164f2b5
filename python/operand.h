/* SPDX-License-Identifier: MIT */
/*
 * operand.h - arrays that a caller passes: NumPy's, anything with the buffer
 * protocol, and tensors on the host through DLPack.
 */
#pragma once

#include "python.h"

enum { MOST_DIMENSIONS = TAKT_SHAPE_MAX_RANK, MOST_NUMPY_DIMENSIONS = 64 };

struct array_operand {
    char *data;
    int rank;
    takt_dtype dtype;
    bool is_writable;
    const Py_ssize_t *shape;
    const Py_ssize_t *strides; /* in bytes; NULL: without gaps */
    struct array_hold {
        enum { BORROWED, BUFFER, TENSOR } source;
        Py_buffer buffer;
        void *tensor;
        void (*drop)(void *tensor);
    } hold; /* on its memory */
    /* Copies, of all but buffers: reading the next operand may run code of the
     * program's, which may give an array another shape or type in place. */
    struct {
        Py_ssize_t shape[MOST_NUMPY_DIMENSIONS], strides[MOST_NUMPY_DIMENSIONS];
    } own;
};

/* Reads what `object` is, an argument of that name. The object outlives the
 * operand. False: an exception is set, and there is nothing to release. */
bool operand_read(struct array_operand *operand, PyObject *object,
                  const char *function, const char *name);
void operand_release(struct array_operand *operand);

/* What keeps the memory of the operand, of `object`, beyond the call. */
PyObject *operand_owner(struct array_operand *operand, PyObject *object);

bool operand_has_shape(const struct array_operand *operand, int rank,
                       const Py_ssize_t *shape);

/* Whether its elements lie one after the other, rows first. */
bool operand_is_dense(const struct array_operand *operand);

/* All of its elements; -1: there are more than fit. */
Py_ssize_t count_elements(int rank, const Py_ssize_t *shape);
Py_ssize_t operand_count(const struct array_operand *operand);

/* The bytes from its first to its last one. */
void operand_extent(const struct array_operand *operand, const char **first,
                    const char **end);

/* "(2, 3)" */
struct shape_words {
    char text[128];
};
struct shape_words shape_text(int rank, const Py_ssize_t *shape);
