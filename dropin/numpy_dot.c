/* SPDX-License-Identifier: MIT */
/* numpy_dot.c - replaces the C functions of both methods. */
#include "numpy_dot.h"

#include <string.h>

#include "loop_product.h"

/* ---- what Python and NumPy have in memory ---------------------------------
 *
 * The layouts of their stable binary interfaces, in Python with a global lock
 * and NumPy 1.7 to 2.x.
 */

struct object_head {
    ptrdiff_t references;
    const void *type;
};

struct method_definition {
    const char *name;
    void *function;
    int flags;
    const char *text;
};

struct builtin_function {
    struct object_head head;
    struct method_definition *definition;
};

struct method_descriptor {
    struct object_head head;
    void *type, *name, *long_name;
    struct method_definition *definition;
};

struct numpy_type {
    struct object_head head;
    void *scalar;
    char kind, letter, order, flags;
    int number;
};

struct numpy_array {
    struct object_head head;
    char *data;
    int axes;
    const ptrdiff_t *length, *steps;
    void *base;
    const struct numpy_type *type;
};

/* How a function gets its arguments. */
enum { by_tuple = 0x03, by_vector = 0x82 };

typedef takt_object *tuple_function(takt_object *self, takt_object *args,
                                    takt_object *named);
typedef takt_object *vector_function(takt_object *self,
                                     takt_object *const *args, ptrdiff_t count,
                                     takt_object *named);

static struct {
    const void *array_type;
    takt_object *matmul;
    ptrdiff_t least; /* multiplications */
    tuple_function *tuple_dot;
    vector_function *vector_dot, *method_dot;
} own;

/* ---- which --------------------------------------------------------------- */

static const struct numpy_array *matrix_of(const takt_object *object)
{
    const struct numpy_array *array = (const struct numpy_array *)object;

    return array->head.type == own.array_type && array->axes == 2 ? array
                                                                  : NULL;
}

static bool is_routed(const takt_object *left, const takt_object *right)
{
    const struct numpy_array *a = matrix_of(left), *b = matrix_of(right);

    return a != NULL && b != NULL && a->type->number == b->type->number &&
           (a->type->order == '=' || a->type->order == '|') &&
           (b->type->order == '=' || b->type->order == '|') &&
           strchr("?bBhHiIlLqQ", a->type->letter) != NULL &&
           a->length[1] == b->length[0] &&
           a->length[0] * a->length[1] * b->length[1] >= own.least;
}

static takt_object *multiply(takt_object *a, takt_object *b)
{
    return takt__python.PyObject_CallFunctionObjArgs(own.matmul, a, b, NULL);
}

static takt_object *dot_by_tuple(takt_object *self, takt_object *args,
                                 takt_object *named)
{
    const bool is_named = named != NULL && takt__python.PyDict_Size(named) != 0;

    if (!is_named && takt__python.PyTuple_Size(args) == 2) {
        takt_object *a = takt__python.PyTuple_GetItem(args, 0);
        takt_object *b = takt__python.PyTuple_GetItem(args, 1);
        if (is_routed(a, b))
            return multiply(a, b);
    }
    return own.tuple_dot(self, args, named);
}

static takt_object *dot_by_vector(takt_object *self, takt_object *const *args,
                                  ptrdiff_t count, takt_object *named)
{
    return named == NULL && count == 2 && is_routed(args[0], args[1])
               ? multiply(args[0], args[1])
               : own.vector_dot(self, args, count, named);
}

static takt_object *dot_of_array(takt_object *self, takt_object *const *args,
                                 ptrdiff_t count, takt_object *named)
{
    return named == NULL && count == 1 && is_routed(self, args[0])
               ? multiply(self, args[0])
               : own.method_dot(self, args, count, named);
}

/* ---- installing ---------------------------------------------------------- */

/* Puts `function` there, and NumPy's where `old` points to. */
static void put(struct method_definition *definition, void *old,
                const void *function, size_t size)
{
    memcpy(old, &definition->function, size);
    memcpy(&definition->function, function, size);
}

static bool is_dot(const struct method_definition *definition, int flags)
{
    return strcmp(definition->name, "dot") == 0 && definition->flags == flags;
}

static const char *type_name(takt_object *object, takt_object **name)
{
    takt_object *type = takt__python.PyObject_Type(object);

    *name = takt__python.PyObject_GetAttrString(type, "__name__");
    takt__python.Py_DecRef(type);
    return *name == NULL ? NULL : takt__python.PyUnicode_AsUTF8(*name);
}

static bool is_a(takt_object *object, const char *type)
{
    takt_object *name;
    const char *found = object == NULL ? NULL : type_name(object, &name);
    const bool is_same = found != NULL && strcmp(found, type) == 0;

    if (object != NULL && name != NULL)
        takt__python.Py_DecRef(name);
    return is_same;
}

static void install_function(takt_object *dot)
{
    struct method_definition *definition =
        ((struct builtin_function *)dot)->definition;
    static tuple_function *const by_tuple_is = dot_by_tuple;
    static vector_function *const by_vector_is = dot_by_vector;

    if (is_dot(definition, by_tuple))
        put(definition, &own.tuple_dot, &by_tuple_is, sizeof by_tuple_is);
    else if (is_dot(definition, by_vector))
        put(definition, &own.vector_dot, &by_vector_is, sizeof by_vector_is);
}

static void install_method(takt_object *dot)
{
    struct method_definition *definition =
        ((struct method_descriptor *)dot)->definition;
    static vector_function *const method_is = dot_of_array;

    if (is_dot(definition, by_vector))
        put(definition, &own.method_dot, &method_is, sizeof method_is);
}

void takt__dot_install(takt_object *umath)
{
    takt_object *type = takt__python.PyDict_GetItemString(umath, "ndarray");
    takt_object *dot = takt__python.PyDict_GetItemString(umath, "dot");
    takt_object *method =
        type == NULL ? NULL : takt__python.PyObject_GetAttrString(type, "dot");

    own.array_type = type;
    own.matmul = takt__python.PyDict_GetItemString(umath, "matmul");
    own.least = takt__loop_product_least();
    if (type == NULL || own.matmul == NULL)
        return;
    if (is_a(dot, "builtin_function_or_method"))
        install_function(dot);
    if (is_a(method, "method_descriptor"))
        install_method(method);
    if (method != NULL)
        takt__python.Py_DecRef(method);
}
