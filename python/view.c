/* SPDX-License-Identifier: MIT */
/* view.c - an object with the buffer protocol. */
#include "view.h"

#include "numpy_array.h"

struct result_view {
    PyObject_HEAD;
    void *data;
    PyObject *owner; /* NULL: none, or the view itself */
    bool is_own, is_read_only, is_dense;
    takt_dtype dtype;
    int rank;
    Py_ssize_t count; /* of elements */
    Py_ssize_t exports;
    Py_ssize_t shape[MOST_DIMENSIONS], strides[MOST_DIMENSIONS];
};

static PyTypeObject *view_type;

static int get_buffer(PyObject *self, Py_buffer *out, int flags)
{
    struct result_view *view = (struct result_view *)self;
    static char formats[2][2] = {"f", "d"};
    const Py_ssize_t size = (Py_ssize_t)takt_dtype_size(view->dtype);

    out->obj = NULL;
    if (((flags & PyBUF_WRITABLE) != 0 && view->is_read_only) ||
        (!view->is_dense && (flags & PyBUF_STRIDES) != PyBUF_STRIDES)) {
        PyErr_SetString(PyExc_BufferError,
                        view->is_read_only
                            ? "an input of a call is read-only"
                            : "the elements have gaps between them");
        return -1;
    }
    *out = (Py_buffer){
        .buf = view->data,
        .obj = Py_NewRef(self),
        .len = view->count * size,
        .itemsize = size,
        .readonly = view->is_read_only,
        .ndim = view->rank,
        .format = (flags & PyBUF_FORMAT) != 0 ? formats[view->dtype] : NULL,
        .shape = (flags & PyBUF_ND) != 0 ? view->shape : NULL};
    if ((flags & PyBUF_STRIDES) == PyBUF_STRIDES)
        out->strides = view->strides;
    view->exports++;
    return 0;
}

static void release_buffer(PyObject *self, Py_buffer *buffer)
{
    (void)buffer;
    ((struct result_view *)self)->exports--;
}

static void drop(PyObject *self)
{
    struct result_view *view = (struct result_view *)self;
    PyTypeObject *type = Py_TYPE(self);

    Py_XDECREF(view->owner);
    if (view->is_own)
        PyMem_Free(view->data);
    PyObject_Free(self);
    Py_DECREF(type);
}

bool view_prepare(void)
{
    static PyType_Slot slots[] = {
        {Py_tp_dealloc, drop},
        {Py_bf_getbuffer, get_buffer},
        {Py_bf_releasebuffer, release_buffer},
        {Py_tp_doc, "Memory of a call, for memoryview() and NumPy."},
        {0, NULL}};
    static PyType_Spec spec = {.name = "takt._takt.Memory",
                               .basicsize = sizeof(struct result_view),
                               .flags = Py_TPFLAGS_DEFAULT |
                                        Py_TPFLAGS_DISALLOW_INSTANTIATION,
                               .slots = slots};

    if (view_type == NULL)
        view_type = (PyTypeObject *)PyType_FromSpec(&spec);
    return view_type != NULL;
}

static void set_strides(struct result_view *view, const Py_ssize_t *strides)
{
    Py_ssize_t step = (Py_ssize_t)takt_dtype_size(view->dtype);

    view->is_dense = true;
    for (int i = view->rank - 1; i >= 0; i--) {
        view->strides[i] = strides != NULL ? strides[i] : step;
        view->is_dense =
            view->is_dense && (view->strides[i] == step || view->shape[i] == 1);
        step *= view->shape[i];
    }
}

PyObject *view_of(const struct view_memory *memory)
{
    struct result_view *view;
    const Py_ssize_t count = count_elements(memory->rank, memory->shape);

    if (count < 0 || count > PY_SSIZE_T_MAX / 8)
        return PyErr_NoMemory();
    if (memory->rank > MOST_DIMENSIONS) {
        PyErr_Format(PyExc_ValueError,
                     "%d dimensions, of at most %d without NumPy", memory->rank,
                     (int)MOST_DIMENSIONS);
        return NULL;
    }
    view = PyObject_New(struct result_view, view_type);
    if (view == NULL)
        return NULL;
    view->data = memory->data;
    view->owner = Py_XNewRef(memory->owner);
    view->is_own = false;
    view->is_read_only = memory->is_read_only;
    view->dtype = memory->dtype;
    view->rank = memory->rank;
    view->exports = 0;
    view->count = count;
    for (int i = 0; i < memory->rank; i++)
        view->shape[i] = memory->shape[i];
    set_strides(view, memory->strides);
    return (PyObject *)view;
}

PyObject *view_new(takt_dtype dtype, int rank, const Py_ssize_t *shape,
                   void **data)
{
    PyObject *view = view_of(
        &(struct view_memory){.dtype = dtype, .rank = rank, .shape = shape});
    struct result_view *made = (struct result_view *)view;
    PyObject *shown;

    if (view == NULL)
        return NULL;
    made->is_own = true;
    made->data = PyMem_Malloc((size_t)made->count * takt_dtype_size(dtype) + 1);
    *data = made->data;
    shown =
        made->data != NULL ? PyMemoryView_FromObject(view) : PyErr_NoMemory();
    Py_DECREF(view);
    return shown;
}

PyObject *view_show(PyObject *view)
{
    PyObject *numpy, *shown;

    if (!numpy_is_there())
        return PyMemoryView_FromObject(view);
    numpy = PyImport_ImportModule("numpy");
    if (numpy == NULL)
        return NULL;
    shown = PyObject_CallMethod(numpy, "asarray", "O", view);
    Py_DECREF(numpy);
    return shown;
}

bool view_is_used(PyObject *view)
{
    return ((const struct result_view *)view)->exports > 0;
}
