/* SPDX-License-Identifier: MIT */
/* blas_loops.c - see blas_loops.h. */
#include "blas_loops.h"

#include <dlfcn.h>
#include <string.h>

#include "bench.h"

static bool find(void *library, const char *name, void *out)
{
    void *symbol = dlsym(library, name);

    memcpy(out, &symbol, sizeof symbol);
    return symbol != NULL;
}

static bool open_one(const char *file, const char *set_threads,
                     struct blas *out)
{
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);

    return library != NULL && find(library, set_threads, &out->set_threads) &&
           find(library, "cblas_sgemm", &out->sgemm) &&
           find(library, "cblas_dgemm", &out->dgemm) &&
           find(library, "cblas_saxpy", &out->saxpy) &&
           find(library, "cblas_daxpy", &out->daxpy) &&
           find(library, "cblas_scopy", &out->scopy) &&
           find(library, "cblas_dcopy", &out->dcopy) &&
           find(library, "cblas_sdot", &out->sdot) &&
           find(library, "cblas_ddot", &out->ddot) &&
           find(library, "cblas_sasum", &out->sasum) &&
           find(library, "cblas_dasum", &out->dasum) &&
           find(library, "cblas_snrm2", &out->snrm2) &&
           find(library, "cblas_dnrm2", &out->dnrm2);
}

size_t blas_open(struct blas out[2])
{
    size_t count = 0;

    memset(out, 0, 2 * sizeof *out);
    out[count].name = "OpenBLAS";
    count +=
        open_one("libopenblas.so.0", "openblas_set_num_threads", &out[count]);
    out[count].name = "BLIS";
    count +=
        open_one("libblis.so.4", "bli_thread_set_num_threads", &out[count]);
    return count;
}

/* The functions that return a number; 0 for an op that has none. */
static double reduce(const struct blas *l, const struct blas_call *c)
{
    if (strcmp(c->op, "dot") == 0)
        return c->is_f64 ? l->ddot(c->n, c->a, 1, c->b, 1)
                         : (double)l->sdot(c->n, c->a, 1, c->b, 1);
    if (strcmp(c->op, "norm1") == 0)
        return c->is_f64 ? l->dasum(c->n, c->a, 1)
                         : (double)l->sasum(c->n, c->a, 1);
    if (strcmp(c->op, "norm2") == 0)
        return c->is_f64 ? l->dnrm2(c->n, c->a, 1)
                         : (double)l->snrm2(c->n, c->a, 1);
    return 0;
}

bool blas_run(const struct blas *l, const struct blas_call *c)
{
    if (strcmp(c->op, "axpy") == 0) {
        if (c->is_f64)
            l->daxpy(c->n, c->alpha, c->a, 1, c->out, 1);
        else
            l->saxpy(c->n, (float)c->alpha, c->a, 1, c->out, 1);
        return true;
    }
    if (strcmp(c->op, "copy") == 0) {
        if (c->is_f64)
            l->dcopy(c->n, c->a, 1, c->out, 1);
        else
            l->scopy(c->n, c->a, 1, c->out, 1);
        return true;
    }
    const double result = reduce(l, c);
    BENCH_USE(result);
    return result != 0;
}
