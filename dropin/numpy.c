/* SPDX-License-Identifier: MIT */
/* numpy.c - finds the ufuncs, and puts our functions into them. */
#include "numpy.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "array_memory.h"
#include "loop_entries.h"
#include "loop_product.h"
#include "mode.h"
#include "numpy_dot.h"
#include "numpy_linalg.h"
#include "python.h"
#include "stats_write.h"

/* Whether an attribute of an object is that text. */
static bool is_text(takt_object *at, const char *attribute, const char *text)
{
    takt_object *value = takt__python.PyObject_GetAttrString(at, attribute);
    const char *found =
        value == NULL ? NULL : takt__python.PyUnicode_AsUTF8(value);
    const bool is_same = found != NULL && strcmp(found, text) == 0;

    if (value != NULL)
        takt__python.Py_DecRef(value);
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
typedef int replace_loop(takt_object *ufunc, takt_inner_loop *loop,
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

static void replace(replace_loop *put, takt_object *ufunc, const char *name,
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

static void replace_product(replace_loop *put, takt_object *ufunc,
                            const char *name, const char *signature)
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
static bool is_repeated(takt_object *list, ptrdiff_t at, const char *signature)
{
    for (ptrdiff_t i = 0; i < at; i++) {
        const char *before =
            takt__python.PyUnicode_AsUTF8(takt__python.PyList_GetItem(list, i));
        if (before != NULL && strcmp(before, signature) == 0)
            return true;
    }
    return false;
}

typedef void replace_one(replace_loop *put, takt_object *ufunc,
                         const char *name, const char *signature);

static void replace_all(replace_loop *put, takt_object *ufunc, const char *name,
                        replace_one *replace_it)
{
    takt_object *list = takt__python.PyObject_GetAttrString(ufunc, "types");
    const ptrdiff_t count = list == NULL ? 0 : takt__python.PyList_Size(list);

    for (ptrdiff_t i = 0; i < count; i++) {
        const char *signature =
            takt__python.PyUnicode_AsUTF8(takt__python.PyList_GetItem(list, i));
        if (signature != NULL && !is_repeated(list, i, signature))
            replace_it(put, ufunc, name, signature);
    }
    if (list != NULL)
        takt__python.Py_DecRef(list);
}

/* Functions of whole matrices have a signature. */
static bool is_elementwise(takt_object *ufunc)
{
    takt_object *signature =
        takt__python.PyObject_GetAttrString(ufunc, "signature");

    if (signature != NULL)
        takt__python.Py_DecRef(signature);
    return signature == takt__python.none;
}

/* An alias has another name of its own. */
static void replace_ufunc(replace_loop *put, takt_object *ufunc,
                          const char *name)
{
    if (!is_text(ufunc, "__name__", name))
        return;
    if (is_elementwise(ufunc))
        replace_all(put, ufunc, name, replace);
    else if (is_text(ufunc, "signature", "(n?,k),(k,m?)->(n?,m?)"))
        replace_all(put, ufunc, name, replace_product);
}

/* NumPy's functions for other modules in C. */
static void **find_table(takt_object *umath, const char *name)
{
    takt_object *capsule = takt__python.PyDict_GetItemString(umath, name);

    return capsule == NULL ? NULL
                           : takt__python.PyCapsule_GetPointer(capsule, NULL);
}

static replace_loop *find_replace(takt_object *umath)
{
    void **table = find_table(umath, "_UFUNC_API");
    replace_loop *found = NULL;

    if (table != NULL)
        memcpy(&found, &table[replace_loop_at], sizeof found);
    return found;
}

/* PyArray_GetNDArrayCFeatureVersion(): which functions the table has. */
static unsigned feature_version(void *const *table)
{
    enum { feature_version_at = 211 };
    unsigned (*ask)(void) = NULL;

    memcpy(&ask, &table[feature_version_at], sizeof ask);
    return ask == NULL ? 0 : ask();
}

/* PyDataMem_DefaultHandler: a capsule. NumPy has it since 1.22; the tables of
 * earlier versions end before it. */
static void install_memory(takt_object *umath)
{
    enum { default_handler_at = 306, numpy_1_22 = 0xf };
    void **table = find_table(umath, "_ARRAY_API");
    takt_object *const *capsule =
        table == NULL || feature_version(table) < numpy_1_22
            ? NULL
            : table[default_handler_at];
    struct takt_array_handler *handler =
        capsule == NULL || *capsule == NULL
            ? NULL
            : takt__python.PyCapsule_GetPointer(*capsule, "mem_handler");

    if (handler != NULL)
        takt__array_memory_install(handler);
}

/* Names and values of NumPy's module in C. */
static takt_object *find_umath(void)
{
    takt_object *modules = takt__python.PyImport_GetModuleDict();
    takt_object *umath = takt__python.PyDict_GetItemString(
        modules, "numpy._core._multiarray_umath");

    if (umath == NULL)
        umath = takt__python.PyDict_GetItemString(
            modules, "numpy.core._multiarray_umath");
    return umath == NULL ? NULL : takt__python.PyModule_GetDict(umath);
}

static bool install(takt_object *umath)
{
    replace_loop *put = find_replace(umath);
    takt_object *add = takt__python.PyDict_GetItemString(umath, "add");
    takt_object *ufunc_type =
        add == NULL ? NULL : takt__python.PyObject_Type(add);
    takt_object *key, *value;
    ptrdiff_t at = 0;

    if (put == NULL || ufunc_type == NULL)
        return false;
    while (takt__python.PyDict_Next(umath, &at, &key, &value)) {
        const char *name = takt__python.PyUnicode_AsUTF8(key);
        if (name != NULL &&
            takt__python.PyObject_IsInstance(value, ufunc_type) == 1)
            replace_ufunc(put, value, name);
    }
    takt__python.Py_DecRef(ufunc_type);
    return loop_count > 0;
}

/* ---- noticing ------------------------------------------------------------ */

static _Atomic bool is_installed;

/* NumPy's tables are changed while no other thread runs Python. */
static bool has_lock(void)
{
    if (strstr(takt__python.Py_GetVersion(), "free-threading") == NULL)
        return true;
    takt__stats_trouble("NumPy is left alone: this Python has no global lock");
    return false;
}

/* NumPy's names, if it is there and can be changed. */
static takt_object *find_numpy(void)
{
    takt_object *umath = takt__python_open() ? find_umath() : NULL;

    return umath != NULL && has_lock() ? umath : NULL;
}

const struct takt_baseline *
takt__numpy_install(const struct takt_baseline *library)
{
    static const struct takt_baseline *used; /* Python's lock is held */
    takt_object *umath;

    if (atomic_load(&is_installed))
        return used;
    if ((umath = find_numpy()) == NULL)
        return NULL;
    used = library;
    takt__loops_open(library);
    atomic_store(&is_installed, install(umath));
    if (atomic_load(&is_installed)) {
        takt__dot_install(umath);
        takt__linalg_install(find_table(umath, "_UFUNC_API"), library);
    }
    takt__python.PyErr_Clear();
    return atomic_load(&is_installed) ? used : NULL;
}

/* In the main thread, with Python's lock. */
static int call_back(void *library)
{
    takt_object *umath;

    if (atomic_load(&is_installed) || (umath = find_numpy()) == NULL)
        return 0;
    (void)takt__numpy_install(library);
    install_memory(umath);
    takt__python.PyErr_Clear();
    return 0;
}

void takt__numpy_notice(const struct takt_baseline *baseline)
{
    int (*add_call)(int (*call)(void *), void *argument);

    if (baseline == NULL || atomic_load(&is_installed) ||
        !takt__mode_has(TAKT_MODE_NUMPY) ||
        !takt__python_find("Py_AddPendingCall", &add_call, sizeof add_call))
        return;
    (void)add_call(call_back, (void *)(uintptr_t)baseline);
}
