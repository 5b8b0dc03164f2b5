/* SPDX-License-Identifier: MIT */
/* gemm_limits.c - see gemm_limits.h. */
#include "gemm_limits.h"

#include <pthread.h>

#include "bench_limit.h"

#ifdef BENCH_XSMM
xsmm_kernel *libxsmm_smmdispatch(int m, int n, int k, const int *lda,
                                 const int *ldb, const int *ldc,
                                 const float *alpha, const float *beta,
                                 const int *flags, const int *prefetch);
xsmm_kernel *libxsmm_dmmdispatch(int m, int n, int k, const int *lda,
                                 const int *ldb, const int *ldc,
                                 const double *alpha, const double *beta,
                                 const int *flags, const int *prefetch);

/* Its matrices are columns side by side: operands are swapped. */
xsmm_kernel *xsmm_find(bool is_double, size_t m, size_t n, size_t k)
{
    const float zero_f32 = 0;
    const double zero_f64 = 0;
    const int flags = 0;

    if ((double)m * (double)n * (double)k > 256.0 * 256 * 256)
        return NULL; /* its kernels pack nothing: not meant for these */
    if (is_double)
        return libxsmm_dmmdispatch((int)n, (int)m, (int)k, NULL, NULL, NULL,
                                   NULL, &zero_f64, &flags, NULL);
    return libxsmm_smmdispatch((int)n, (int)m, (int)k, NULL, NULL, NULL, NULL,
                               &zero_f32, &flags, NULL);
}
#else
xsmm_kernel *xsmm_find(bool is_double, size_t m, size_t n, size_t k)
{
    (void)is_double, (void)m, (void)n, (void)k;
    return NULL;
}
#endif

struct loop {
    const takt_machine *machine;
    pthread_t thread;
    double rate;
};

static void *multiply_add(void *self)
{
    struct loop *loop = self;

    loop->rate = measure_flops(loop->machine);
    return NULL;
}

double measure_flops_together(const takt_machine *machine, unsigned threads)
{
    enum { most = 256 };
    static struct loop loops[most];
    unsigned count = 0;
    double rate = 0;

    for (; count < threads && count < most; count++) {
        loops[count].machine = machine;
        if (pthread_create(&loops[count].thread, NULL, multiply_add,
                           &loops[count]) != 0)
            break;
    }
    for (unsigned i = 0; i < count; i++) {
        pthread_join(loops[i].thread, NULL);
        rate += loops[i].rate;
    }
    return rate;
}
