/* SPDX-License-Identifier: MIT */
/*
 * blis.c - telling BLIS the number of threads per call.
 *
 * BLIS's expert interface takes an object that describes how to run. Its
 * layout changes between versions and we have no header, but BLIS fills one
 * from its global setting on request. So when the library is opened we set
 * each number of threads once, let BLIS fill the object, keep the bytes as a
 * photograph, and put the setting back. A call gets a copy of one of them.
 */
#include <stdlib.h>

#include "blas/library.h"

typedef int64_t dim; /* BLIS's own integer where pointers have 64 bits */

struct control {
    dim (*get)(void);
    void (*set)(dim threads);
    void (*fill)(void *photo);
};

static bool find_control(void *handle, struct control *control)
{
    return takt__symbol_find(handle, "bli_thread_get_num_threads",
                             &control->get) &&
           takt__symbol_find(handle, "bli_thread_set_num_threads",
                             &control->set) &&
           takt__symbol_find(handle, "bli_rntm_init_from_global",
                             &control->fill);
}

static bool has_wide_integers(void *handle)
{
    dim (*bits)(void);
    return takt__symbol_find(handle, "bli_info_get_int_type_size", &bits) &&
           bits() == 64;
}

/* The number can also be given loop by loop, as the environment's
 * BLIS_JC_NT and its like do; setting a total forgets those. */
struct ways {
    dim loop[5];
    void (*set)(dim jc, dim pc, dim ic, dim jr, dim ir);
};

static bool get_ways(void *handle, struct ways *ways)
{
    static const char *const names[] = {
        "bli_thread_get_jc_nt", "bli_thread_get_pc_nt", "bli_thread_get_ic_nt",
        "bli_thread_get_jr_nt", "bli_thread_get_ir_nt"};
    bool is_any_set = false;

    if (!takt__symbol_find(handle, "bli_thread_set_ways", &ways->set))
        return false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        dim (*get)(void);
        if (!takt__symbol_find(handle, names[i], &get))
            return false;
        ways->loop[i] = get();
        is_any_set = is_any_set || ways->loop[i] > 1;
    }
    return is_any_set;
}

bool takt__blis_open(struct takt_blas_library *library, unsigned threads)
{
    struct control control;
    struct ways ways;

    library->photos = calloc(threads, sizeof library->photos[0]);
    if (library->photos == NULL || !find_control(library->handle, &control) ||
        !has_wide_integers(library->handle)) {
        free(library->photos);
        library->photos = NULL;
        return false;
    }
    const bool has_ways = get_ways(library->handle, &ways);
    const dim before = control.get();
    for (unsigned i = 0; i < threads; i++) {
        control.set((dim)i + 1);
        control.fill(&library->photos[i]);
    }
    control.set(before);
    if (has_ways)
        ways.set(ways.loop[0], ways.loop[1], ways.loop[2], ways.loop[3],
                 ways.loop[4]);
    return true;
}

typedef void gemm(int trans_a, int trans_b, dim m, dim n, dim k,
                  const void *alpha, const void *a, dim a_row, dim a_col,
                  const void *b, dim b_row, dim b_col, const void *beta,
                  void *c, dim c_row, dim c_col, void *context, void *photo);

bool takt__blis_gemm(struct takt_blas_library *library,
                     const struct takt_blas_gemm *call)
{
    gemm *const run = (gemm *)library->gemm[call->dtype];
    const struct takt_blas_matrix a = call->a, b = call->b;
    /* The library may write into it. */
    struct takt_blis_photo photo = library->photos[call->threads - 1];

    run(0, 0, call->m, call->n, call->k, &call->alpha, a.at,
        a.is_transposed ? 1 : a.ld, a.is_transposed ? a.ld : 1, b.at,
        b.is_transposed ? 1 : b.ld, b.is_transposed ? b.ld : 1, &call->beta,
        call->c, call->ldc, 1, NULL, &photo);
    return true;
}
