/* SPDX-License-Identifier: MIT */
/* operand.c - reads arrays. */
#include "operand.h"

#include <stdio.h>
#include <string.h>

#include "numpy_array.h"

struct shape_words shape_text(int rank, const Py_ssize_t *shape)
{
    struct shape_words out = {"("};
    size_t at = 1;

    for (int i = 0; i < rank && at + 32 < sizeof out.text; i++)
        at += (size_t)snprintf(out.text + at, sizeof out.text - at, "%s%zd",
                               i > 0 ? ", " : "", shape[i]);
    snprintf(out.text + at, sizeof out.text - at, rank == 1 ? ",)" : ")");
    return out;
}

bool operand_has_shape(const struct array_operand *operand, int rank,
                       const Py_ssize_t *shape)
{
    if (operand->rank != rank)
        return false;
    for (int i = 0; i < rank; i++)
        if (operand->shape[i] != shape[i])
            return false;
    return true;
}

Py_ssize_t count_elements(int rank, const Py_ssize_t *shape)
{
    Py_ssize_t count = 1;

    for (int i = 0; i < rank; i++)
        if (__builtin_mul_overflow(count, shape[i], &count))
            return -1;
    return count;
}

Py_ssize_t operand_count(const struct array_operand *operand)
{
    return count_elements(operand->rank, operand->shape);
}

static Py_ssize_t size_of(takt_dtype dtype)
{
    return dtype == TAKT_F64 ? 8 : 4;
}

bool operand_is_dense(const struct array_operand *operand)
{
    Py_ssize_t step = size_of(operand->dtype);

    if (operand->strides == NULL)
        return true;
    for (int i = operand->rank - 1; i >= 0; i--) {
        if (operand->shape[i] != 1 && operand->strides[i] != step)
            return operand_count(operand) == 0;
        step *= operand->shape[i];
    }
    return true;
}

void operand_extent(const struct array_operand *operand, const char **first,
                    const char **end)
{
    Py_ssize_t low = 0, high = size_of(operand->dtype);

    if (operand->strides == NULL)
        high *= operand_count(operand);
    else
        for (int i = 0; i < operand->rank; i++) {
            const Py_ssize_t last =
                (operand->shape[i] - 1) * operand->strides[i];
            if (operand->shape[i] == 0)
                high = low = 0;
            else if (last < 0)
                low += last;
            else
                high += last;
        }
    *first = operand->data + low;
    *end = operand->data + high;
}

/* ---- the buffer protocol ------------------------------------------------- */

/* 'f' and 'd', in the order of bytes of this machine. */
static bool read_format(const char *format, takt_dtype *out)
{
    if (format == NULL)
        return false;
    if (format[0] == '@' || format[0] == '=' || format[0] == '<')
        format++;
    *out = format[0] == 'd' ? TAKT_F64 : TAKT_F32;
    return (format[0] == 'f' || format[0] == 'd') && format[1] == '\0';
}

static bool read_buffer(struct array_operand *operand, PyObject *object,
                        const char *function, const char *name)
{
    Py_buffer *buffer = &operand->hold.buffer;

    if (numpy_array_is_masked(object)) {
        PyErr_Format(PyExc_TypeError,
                     "takt.%s: %s has a mask, which would be lost: pass "
                     "%s.data or %s.filled(0)",
                     function, name, name, name);
        return false;
    }
    if (PyObject_GetBuffer(object, buffer, PyBUF_STRIDES | PyBUF_FORMAT) != 0)
        return false;
    operand->hold.source = BUFFER;
    operand->data = buffer->buf;
    operand->rank = buffer->ndim;
    operand->shape = buffer->shape;
    operand->strides = buffer->strides;
    operand->is_writable = !buffer->readonly;
    if (read_format(buffer->format, &operand->dtype))
        return true;
    PyErr_Format(PyExc_TypeError,
                 "takt.%s: %s has elements of format '%s'; Takt computes in "
                 "'f' (f32) and 'd' (f64)",
                 function, name, buffer->format != NULL ? buffer->format : "B");
    PyBuffer_Release(buffer);
    return false;
}

/* ---- DLPack --------------------------------------------------------------
 *
 * A capsule with a tensor, of the first version of DLPack or of a later one.
 * The code that takes the tensor out renames the capsule and drops the tensor.
 */

struct dl_tensor {
    void *data;
    int32_t device_type, device_id;
    int32_t rank;
    uint8_t code, bits;
    uint16_t lanes;
    int64_t *shape, *strides;
    uint64_t offset;
};

struct dl_managed {
    struct dl_tensor tensor;
    void *self;
    void (*drop)(void *managed);
};

struct dl_versioned {
    uint32_t major, minor;
    void *self;
    void (*drop)(void *managed);
    uint64_t flags;
    struct dl_tensor tensor;
};

enum { DL_CPU = 1, DL_CUDA = 2, DL_FLOAT = 2, DL_READ_ONLY = 1 };

static bool check_device(const struct dl_tensor *tensor, const char *function,
                         const char *name)
{
    if (tensor->device_type == DL_CPU)
        return true;
    PyErr_Format(PyExc_ValueError,
                 "takt.%s: %s is in the memory of %s %d, and Takt moves "
                 "operands to GPUs itself: pass it in host memory, as "
                 "%s.cpu() has it",
                 function, name,
                 tensor->device_type == DL_CUDA ? "CUDA device"
                                                : "DLPack device",
                 (int)tensor->device_id, name);
    return false;
}

/* DLPack counts strides in elements. False: one is out of bounds. */
static bool copy_sizes(struct array_operand *operand,
                       const struct dl_tensor *tensor)
{
    for (int i = 0; i < tensor->rank; i++) {
        if (tensor->shape == NULL || tensor->shape[i] < 0)
            return false;
        operand->own.shape[i] = (Py_ssize_t)tensor->shape[i];
        if (tensor->strides != NULL &&
            __builtin_mul_overflow(tensor->strides[i], size_of(operand->dtype),
                                   &operand->own.strides[i]))
            return false;
    }
    const Py_ssize_t count = operand_count(operand);
    return count == 0 || (count > 0 && tensor->data != NULL);
}

static bool describe(struct array_operand *operand,
                     const struct dl_tensor *tensor, const char *function,
                     const char *name)
{
    if (!check_device(tensor, function, name))
        return false;
    if (tensor->code != DL_FLOAT || tensor->lanes != 1 ||
        (tensor->bits != 32 && tensor->bits != 64)) {
        PyErr_Format(PyExc_TypeError,
                     "takt.%s: the elements of %s are neither f32 nor f64",
                     function, name);
        return false;
    }
    if (tensor->rank < 0 || tensor->rank > MOST_DIMENSIONS) {
        PyErr_Format(PyExc_ValueError, "takt.%s: %s has %d dimensions",
                     function, name, (int)tensor->rank);
        return false;
    }
    operand->data = (char *)tensor->data + tensor->offset;
    operand->rank = tensor->rank;
    operand->dtype = tensor->bits == 64 ? TAKT_F64 : TAKT_F32;
    operand->shape = operand->own.shape;
    operand->strides = tensor->strides == NULL ? NULL : operand->own.strides;
    if (copy_sizes(operand, tensor))
        return true;
    PyErr_Format(PyExc_ValueError,
                 "takt.%s: a size or a stride of %s makes no sense", function,
                 name);
    return false;
}

static bool read_capsule(struct array_operand *operand, PyObject *capsule,
                         const char *function, const char *name)
{
    static const char plain[] = "dltensor", versioned[] = "dltensor_versioned";
    const bool is_versioned = PyCapsule_IsValid(capsule, versioned) != 0;
    void *managed =
        PyCapsule_GetPointer(capsule, is_versioned ? versioned : plain);
    const struct dl_versioned *later = managed;
    const struct dl_managed *first = managed;

    if (managed == NULL)
        return false;
    if (is_versioned && later->major != 1) {
        PyErr_Format(PyExc_BufferError, "takt.%s: %s is of DLPack %u", function,
                     name, (unsigned)later->major);
        return false;
    }
    if (!describe(operand, is_versioned ? &later->tensor : &first->tensor,
                  function, name))
        return false;
    operand->hold.source = TENSOR;
    operand->hold.tensor = managed;
    operand->hold.drop = is_versioned ? later->drop : first->drop;
    operand->is_writable = !is_versioned || (later->flags & DL_READ_ONLY) == 0;
    return PyCapsule_SetName(capsule, is_versioned ? "used_dltensor_versioned"
                                                   : "used_dltensor") == 0;
}

/* object.__dlpack__(max_version=(1, 0)), or without it. */
static PyObject *ask_tensor(PyObject *method)
{
    PyObject *none = PyTuple_New(0);
    PyObject *words = Py_BuildValue("{s:(ii)}", "max_version", 1, 0);
    PyObject *capsule = NULL;

    if (none != NULL && words != NULL) {
        capsule = PyObject_Call(method, none, words);
        if (capsule == NULL && PyErr_ExceptionMatches(PyExc_TypeError)) {
            PyErr_Clear();
            capsule = PyObject_Call(method, none, NULL);
        }
    }
    Py_XDECREF(none);
    Py_XDECREF(words);
    return capsule;
}

static bool read_tensor(struct array_operand *operand, PyObject *object,
                        const char *function, const char *name)
{
    PyObject *method = PyObject_GetAttrString(object, "__dlpack__");

    if (method == NULL) {
        if (!PyErr_ExceptionMatches(PyExc_AttributeError))
            return false;
        PyErr_Format(PyExc_TypeError,
                     "takt.%s: %s is %R, which has neither the buffer "
                     "protocol nor __dlpack__",
                     function, name, (PyObject *)Py_TYPE(object));
        return false;
    }
    PyObject *capsule = ask_tensor(method);
    const bool is_read =
        capsule != NULL && read_capsule(operand, capsule, function, name);
    Py_DECREF(method);
    Py_XDECREF(capsule); /* drops the tensor, unless it was taken out */
    return is_read;
}

/* ---- all of them --------------------------------------------------------- */

/* Addresses and distances have to be those of whole elements. */
static bool is_aligned(const struct array_operand *operand)
{
    uintptr_t all = (uintptr_t)operand->data;

    for (int i = 0; operand->strides != NULL && i < operand->rank; i++)
        all |= (uintptr_t)operand->strides[i];
    return (all & (uintptr_t)(size_of(operand->dtype) - 1)) == 0;
}

bool operand_read(struct array_operand *operand, PyObject *object,
                  const char *function, const char *name)
{
    bool is_read;

    if (numpy_array_is(object)) {
        operand->hold.source = BORROWED;
        is_read = numpy_array_read(operand, object, function, name);
    } else if (PyObject_CheckBuffer(object)) {
        is_read = read_buffer(operand, object, function, name);
    } else {
        is_read = read_tensor(operand, object, function, name);
    }
    if (!is_read || is_aligned(operand) || operand_count(operand) == 0)
        return is_read;
    operand_release(operand);
    PyErr_Format(PyExc_ValueError,
                 "takt.%s: the elements of %s are not aligned: copy it",
                 function, name);
    return false;
}

static void let_go(struct array_hold *hold)
{
    if (hold->source == BUFFER)
        PyBuffer_Release(&hold->buffer);
    else if (hold->drop != NULL)
        hold->drop(hold->tensor);
}

/* The function that releases it may be written in Python, and must not find an
 * exception that is about to be raised. */
static void release_hold(struct array_hold *hold)
{
    PyObject *type, *value, *traceback;

    if (hold->source == BORROWED)
        return;
    if (!PyErr_Occurred()) {
        let_go(hold);
        return;
    }
    PyErr_Fetch(&type, &value, &traceback);
    let_go(hold);
    PyErr_Restore(type, value, traceback);
}

void operand_release(struct array_operand *operand)
{
    release_hold(&operand->hold);
}

/* ---- beyond the call ------------------------------------------------------
 *
 * The memory is not always its object's: __dlpack__() or __buffer__() may have
 * made it for this call. So what is kept is the hold on it.
 */

static void drop_kept(PyObject *capsule)
{
    struct array_hold *kept = PyCapsule_GetPointer(capsule, NULL);

    release_hold(kept);
    PyMem_Free(kept);
}

/* Sizes of a simple buffer are in the buffer itself. */
static void move_hold(struct array_hold *to, struct array_hold *from)
{
    *to = *from;
    if (from->source == BUFFER && from->buffer.shape == &from->buffer.len)
        to->buffer.shape = &to->buffer.len;
    if (from->source == BUFFER &&
        from->buffer.strides == &from->buffer.itemsize)
        to->buffer.strides = &to->buffer.itemsize;
    from->source = BORROWED;
}

PyObject *operand_owner(struct array_operand *operand, PyObject *object)
{
    if (operand->hold.source == BORROWED) /* NumPy's arrays keep their memory */
        return Py_NewRef(object);
    struct array_hold *kept = PyMem_Malloc(sizeof *kept);
    PyObject *capsule =
        kept == NULL ? PyErr_NoMemory() : PyCapsule_New(kept, NULL, drop_kept);
    if (capsule == NULL)
        PyMem_Free(kept);
    else
        move_hold(kept, &operand->hold);
    return capsule;
}
