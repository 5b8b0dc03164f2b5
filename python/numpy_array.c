/* SPDX-License-Identifier: MIT */
/* numpy_array.c - NumPy's arrays as they are. */
#include "numpy_array.h"

struct array_type {
    PyObject_HEAD;
    PyTypeObject *scalar;
    char kind, letter, byte_order, flags;
    int number;
};

struct array {
    PyObject_HEAD;
    char *data;
    int rank;
    Py_ssize_t *shape, *strides;
    PyObject *base;
    struct array_type *type;
    int flags;
};

enum { FLOAT = 11, DOUBLE = 12, WRITEABLE = 0x400 };

typedef PyObject *make_array(PyTypeObject *type, int rank,
                             const Py_ssize_t *shape, int number,
                             const Py_ssize_t *strides, void *data,
                             int item_size, int flags, PyObject *like);
enum { array_type_at = 2, make_array_at = 93 };

static struct {
    PyTypeObject *type; /* NULL: NumPy was not found yet */
    make_array *make;
    bool is_strange; /* it is not laid out as expected */
} numpy;

bool numpy_array_is(PyObject *object)
{
    return Py_TYPE(object) == numpy.type;
}

bool numpy_array_is_masked(PyObject *object)
{
    return numpy.type != NULL &&
           PyType_IsSubtype(Py_TYPE(object), numpy.type) != 0 &&
           PyObject_HasAttrString(object, "mask") != 0;
}

static bool is_same(const struct array *array, const Py_buffer *buffer)
{
    return array->data == buffer->buf && array->rank == 2 &&
           buffer->ndim == 2 && array->shape[0] == 2 && array->shape[1] == 3 &&
           array->strides[0] == buffer->strides[0] &&
           array->strides[1] == buffer->strides[1] &&
           array->type->number == DOUBLE && array->type->letter == 'd' &&
           array->type->byte_order == '=' && (array->flags & WRITEABLE) != 0;
}

/* Whether the layout of an array is the expected one. */
static bool check_layout(void)
{
    static const Py_ssize_t shape[] = {2, 3};
    PyObject *array = numpy_array_new(TAKT_F64, 2, shape);
    Py_buffer buffer;
    bool is_good = false;

    if (array != NULL &&
        PyObject_GetBuffer(array, &buffer, PyBUF_RECORDS) == 0) {
        is_good = is_same((const struct array *)array, &buffer);
        PyBuffer_Release(&buffer);
    }
    Py_XDECREF(array);
    return is_good;
}

static PyObject *find_module(void)
{
    static PyObject *numpy_name; /* without NumPy, every call asks for it */
    PyObject *modules = PyImport_GetModuleDict();
    PyObject *found;

    if (numpy_name == NULL)
        numpy_name = PyUnicode_InternFromString("numpy");
    if (numpy_name == NULL || PyDict_GetItem(modules, numpy_name) == NULL)
        return NULL;
    found = PyDict_GetItemString(modules, "numpy._core._multiarray_umath");
    return found != NULL
               ? found
               : PyDict_GetItemString(modules, "numpy.core._multiarray_umath");
}

static bool find_table(PyObject *module)
{
    PyObject *capsule = PyObject_GetAttrString(module, "_ARRAY_API");
    void **table = capsule == NULL ? NULL : PyCapsule_GetPointer(capsule, NULL);

    Py_XDECREF(capsule);
    if (table == NULL) /* it is being imported */
        return false;
    numpy.type = table[array_type_at];
    numpy.make = (make_array *)table[make_array_at];
    if (check_layout())
        return true;
    numpy.type = NULL;
    numpy.is_strange = true;
    return false;
}

bool numpy_is_there(void)
{
    if (__builtin_expect(numpy.type != NULL, 1))
        return true;
    PyObject *module = numpy.is_strange ? NULL : find_module();
    const bool is_found = module != NULL && find_table(module);
    if (module != NULL && !is_found)
        PyErr_Clear();
    return is_found;
}

bool numpy_array_read(struct array_operand *operand, PyObject *object,
                      const char *function, const char *name)
{
    const struct array *array = (const struct array *)object;
    const int number = array->type->number;

    if (array->rank > MOST_NUMPY_DIMENSIONS) {
        PyErr_Format(PyExc_ValueError, "takt.%s: %s has %d dimensions",
                     function, name, array->rank);
        return false;
    }
    operand->data = array->data;
    operand->rank = array->rank;
    for (int i = 0; i < array->rank; i++) {
        operand->own.shape[i] = array->shape[i];
        operand->own.strides[i] = array->strides[i];
    }
    operand->shape = operand->own.shape;
    operand->strides = operand->own.strides;
    operand->dtype = number == DOUBLE ? TAKT_F64 : TAKT_F32;
    operand->is_writable = (array->flags & WRITEABLE) != 0;
    if ((number == FLOAT || number == DOUBLE) && array->type->byte_order != '>')
        return true;
    PyErr_Format(PyExc_TypeError,
                 "takt.%s: %s has elements of type %S; Takt computes in "
                 "float32 and float64",
                 function, name, (PyObject *)array->type);
    return false;
}

PyObject *numpy_array_new(takt_dtype dtype, int rank, const Py_ssize_t *shape)
{
    return numpy.make(numpy.type, rank, shape,
                      dtype == TAKT_F64 ? DOUBLE : FLOAT, NULL, NULL, 0, 0,
                      NULL);
}
