/* SPDX-License-Identifier: MIT */
/* numpy.c - finds the ufuncs, and puts our functions into them. */
#include "numpy.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "array_memory.h"
#include "loop_entries.h"
#include "loop_product.h"
#include "mode.h"

/* ---- Python ---------------------------------------------------------------
 *
 * What is used of it, by the names of its stable interface. Objects are
 * pointers of which nothing else is known.
 */

typedef struct takt_python_object object;

/* clang-format off */
#define PYTHON_FUNCTIONS(use_)                                              \
    use_(object *, PyImport_GetModuleDict, (void))                          \
    use_(object *, PyModule_GetDict, (object *))                            \
    use_(object *, PyDict_GetItemString, (object *, const char *))          \
    use_(int, PyDict_Next, (object *, ptrdiff_t *, object **, object **))   \
    use_(object *, PyObject_Type, (object *))                               \
    use_(int, PyObject_IsInstance, (object *, object *))                    \
    use_(object *, PyObject_GetAttrString, (object *, const char *))        \
    use_(ptrdiff_t, PyList_Size, (object *))                                \
    use_(object *, PyList_GetItem, (object *, ptrdiff_t))                   \
    use_(const char *, PyUnicode_AsUTF8, (object *))                        \
    use_(void *, PyCapsule_GetPointer, (object *, const char *))            \
    use_(void, PyErr_Clear, (void))                                         \
    use_(void, Py_DecRef, (object *))
/* clang-format on */

static struct {
#define MEMBER(returns_, name_, parameters_) returns_(*name_) parameters_;
    PYTHON_FUNCTIONS(MEMBER)
#undef MEMBER
    object *none;
} python;

static bool find(const char *name, void *function, size_t size)
{
    void *found = dlsym(RTLD_DEFAULT, name);

    memcpy(function, &found, size);
    return found != NULL;
}

static bool find_python(void)
{
#define FIND(returns_, name_, parameters_) \
    &&find(#name_, &python.name_, sizeof python.name_)
    return find("_Py_NoneStruct", &python.none, sizeof python.none)
        PYTHON_FUNCTIONS(FIND);
#undef FIND
}

/* Whether an attribute of an object is that text. */
static bool is_text(object *at, const char *attribute, const char *text)
{
    object *value = python.PyObject_GetAttrString(at, attribute);
    const char *found = value == NULL ? NULL : python.PyUnicode_AsUTF8(value);
    const bool is_same = found != NULL && strcmp(found, text) == 0;

    if (value != NULL)
        python.Py_DecRef(value);
    return is_same;
}

/* ---- NumPy's types ------------------------------------------------------- */

/* Numbers, by the letters of NumPy: not long double, of which other threads'
 * exceptions would be lost, nor objects, which need Python. */
static const struct {
    char letter;
    unsigned char number, size;
} types[] = {{'?', 0, 1},  {'b', 1, 1},  {'B', 2, 1},   {'h', 3, 2},
             {'H', 4, 2},  {'i', 5, 4},  {'I', 6, 4},   {'l', 7, 8},
             {'L', 8, 8},  {'q', 9, 8},  {'Q', 10, 8},  {'f', 11, 4},
             {'d', 12, 8}, {'F', 14, 8}, {'D', 15, 16}, {'e', 23, 2}};

static int type_of(char letter)
{
    for (unsigned i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].letter == letter)
            return (int)i;
    return -1;
}

/* The integer power complains about negative exponents, which needs Python. */
static bool is_thread_safe(const char *ufunc, const char *signature)
{
    return strcmp(ufunc, "power") != 0 || strchr("efdFD", signature[0]) != NULL;
}

/* Reads "ff->f". False: it has a type that is not routed. */
static bool read_signature(const char *text, struct takt_loop_form *form,
                           int number[TAKT_LOOP_OPERANDS])
{
    *form = (struct takt_loop_form){0};
    for (; *text != '\0'; text++) {
        const int type = type_of(*text);
        if (strncmp(text, "->", 2) == 0) {
            form->inputs = form->operands;
            text++;
            continue;
        }
        if (type < 0 || form->operands == TAKT_LOOP_OPERANDS)
            return false;
        form->size[form->operands] = types[type].size;
        number[form->operands++] = types[type].number;
    }
    return form->inputs > 0 && form->operands > form->inputs;
}

/* ---- replacing ----------------------------------------------------------- */

/* PyUFunc_ReplaceLoopBySignature(): returns 0 if there is such a loop. */
typedef int replace_loop(object *ufunc, takt_inner_loop *loop,
                         const int *signature, takt_inner_loop **old);
enum { replace_loop_at = 30 };

static unsigned loop_count, reduction_count;

/* NumPy reduces with the same loop: its first operand is the output. */
static struct takt_loop *make_reduction(const struct takt_loop *loop,
                                        const char *name, const char *signature)
{
    struct takt_loop *made = &takt__reductions[reduction_count];

    if (reduction_count == TAKT_REDUCTIONS || loop->form.inputs != 2 ||
        loop->form.operands != 3 || signature[0] != signature[1] ||
        signature[0] != signature[4])
        return NULL;
    made->reduces = takt__reduction_of(name, signature[0], loop->form.size[0]);
    if (made->reduces.size == 0)
        return NULL;
    made->own = loop->own;
    made->form = loop->form;
    snprintf(made->name, sizeof made->name, "%s.reduce %s", name, signature);
    atomic_store(&made->least, takt__loop_first_least());
    reduction_count++;
    return made;
}

static void replace(replace_loop *put, object *ufunc, const char *name,
                    const char *signature)
{
    struct takt_loop *loop = &takt__loops[loop_count];
    int number[TAKT_LOOP_OPERANDS];

    if (loop_count == TAKT_LOOPS ||
        !read_signature(signature, &loop->form, number) ||
        !is_thread_safe(name, signature))
        return;
    snprintf(loop->name, sizeof loop->name, "%s %s", name, signature);
    atomic_store(&loop->least, takt__loop_first_least());
    if (put(ufunc, takt__loop_entry(loop_count), number, &loop->own) != 0)
        return;
    loop->reduction = make_reduction(loop, name, signature);
    loop_count++;
}

/* Products that no BLAS takes, by the size of their type. */
static bool find_number(const char *signature, enum takt_number *number)
{
    static const enum takt_number by_size[] = {[1] = TAKT_NUMBER_8,
                                               [2] = TAKT_NUMBER_16,
                                               [4] = TAKT_NUMBER_32,
                                               [8] = TAKT_NUMBER_64};
    const char letter = signature[0];

    if (strchr("?bBhHiIlLqQe", letter) == NULL)
        return false;
    *number = letter == '?'   ? TAKT_NUMBER_BOOL
              : letter == 'e' ? TAKT_NUMBER_HALF
                              : by_size[types[type_of(letter)].size];
    return true;
}

static unsigned product_count;

static void replace_product(replace_loop *put, object *ufunc, const char *name,
                            const char *signature)
{
    struct takt_loop_product *product = &takt__loop_products[product_count];
    int number[TAKT_LOOP_OPERANDS];

    if (product_count == TAKT_LOOP_PRODUCTS ||
        !read_signature(signature, &product->loop.form, number) ||
        !find_number(signature, &product->number))
        return;
    snprintf(product->loop.name, sizeof product->loop.name, "%s %s", name,
             signature);
    atomic_store(&product->loop.least, takt__loop_product_least());
    if (put(ufunc, takt__loop_product_entry(product_count), number,
            &product->loop.own) == 0)
        product_count++;
}

/* A ufunc lists some signatures twice. Only the first is ever called. */
static bool is_repeated(object *list, ptrdiff_t at, const char *signature)
{
    for (ptrdiff_t i = 0; i < at; i++) {
        const char *before =
            python.PyUnicode_AsUTF8(python.PyList_GetItem(list, i));
        if (before != NULL && strcmp(before, signature) == 0)
            return true;
    }
    return false;
}

typedef void replace_one(replace_loop *put, object *ufunc, const char *name,
                         const char *signature);

static void replace_all(replace_loop *put, object *ufunc, const char *name,
                        replace_one *replace_it)
{
    object *list = python.PyObject_GetAttrString(ufunc, "types");
    const ptrdiff_t count = list == NULL ? 0 : python.PyList_Size(list);

    for (ptrdiff_t i = 0; i < count; i++) {
        const char *signature =
            python.PyUnicode_AsUTF8(python.PyList_GetItem(list, i));
        if (signature != NULL && !is_repeated(list, i, signature))
            replace_it(put, ufunc, name, signature);
    }
    if (list != NULL)
        python.Py_DecRef(list);
}

/* Functions of whole matrices have a signature. */
static bool is_elementwise(object *ufunc)
{
    object *signature = python.PyObject_GetAttrString(ufunc, "signature");

    if (signature != NULL)
        python.Py_DecRef(signature);
    return signature == python.none;
}

/* An alias has another name of its own. */
static void replace_ufunc(replace_loop *put, object *ufunc, const char *name)
{
    if (!is_text(ufunc, "__name__", name))
        return;
    if (is_elementwise(ufunc))
        replace_all(put, ufunc, name, replace);
    else if (is_text(ufunc, "signature", "(n?,k),(k,m?)->(n?,m?)"))
        replace_all(put, ufunc, name, replace_product);
}

/* NumPy's functions for other modules in C. */
static void **find_table(object *umath, const char *name)
{
    object *capsule = python.PyDict_GetItemString(umath, name);

    return capsule == NULL ? NULL : python.PyCapsule_GetPointer(capsule, NULL);
}

static replace_loop *find_replace(object *umath)
{
    void **table = find_table(umath, "_UFUNC_API");
    replace_loop *found = NULL;

    if (table != NULL)
        memcpy(&found, &table[replace_loop_at], sizeof found);
    return found;
}

/* PyDataMem_DefaultHandler: a capsule. */
static void install_memory(object *umath)
{
    enum { default_handler_at = 306 };
    void **table = find_table(umath, "_ARRAY_API");
    object *const *capsule = table == NULL ? NULL : table[default_handler_at];
    struct takt_array_handler *handler =
        capsule == NULL || *capsule == NULL
            ? NULL
            : python.PyCapsule_GetPointer(*capsule, "mem_handler");

    if (handler != NULL)
        takt__array_memory_install(handler);
}

/* Names and values of NumPy's module in C. */
static object *find_umath(void)
{
    object *modules = python.PyImport_GetModuleDict();
    object *umath =
        python.PyDict_GetItemString(modules, "numpy._core._multiarray_umath");

    if (umath == NULL)
        umath = python.PyDict_GetItemString(modules,
                                            "numpy.core._multiarray_umath");
    return umath == NULL ? NULL : python.PyModule_GetDict(umath);
}

static bool install(object *umath)
{
    replace_loop *put = find_replace(umath);
    object *add = python.PyDict_GetItemString(umath, "add");
    object *ufunc_type = add == NULL ? NULL : python.PyObject_Type(add);
    object *key, *value;
    ptrdiff_t at = 0;

    if (put == NULL || ufunc_type == NULL)
        return false;
    while (python.PyDict_Next(umath, &at, &key, &value)) {
        const char *name = python.PyUnicode_AsUTF8(key);
        if (name != NULL && python.PyObject_IsInstance(value, ufunc_type) == 1)
            replace_ufunc(put, value, name);
    }
    python.Py_DecRef(ufunc_type);
    return loop_count > 0;
}

/* ---- noticing ------------------------------------------------------------ */

static _Atomic bool is_installed;

/* In the main thread, with Python's lock. */
static int call_back(void *library)
{
    object *umath;

    if (atomic_load(&is_installed) || !find_python() ||
        (umath = find_umath()) == NULL)
        return 0;
    takt__loops_open(library);
    atomic_store(&is_installed, install(umath));
    install_memory(umath);
    python.PyErr_Clear();
    return 0;
}

void takt__numpy_look(const struct takt_baseline *baseline)
{
    int (*add_call)(int (*call)(void *), void *argument);

    if (baseline == NULL || atomic_load(&is_installed) || !takt__has_numpy() ||
        !find("Py_AddPendingCall", &add_call, sizeof add_call))
        return;
    (void)add_call(call_back, (void *)(uintptr_t)baseline);
}
