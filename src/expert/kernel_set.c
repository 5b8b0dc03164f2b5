/* SPDX-License-Identifier: MIT */
/* kernel_set.c - from the table of kernels to pointers that a call can follow.
 */
#include "expert/kernel_set.h"

#include <string.h>

static void put(struct takt_kernel_set *kernel_set,
                const struct takt_kernel *kernel, enum takt_op_id op)
{
    const unsigned dtype = kernel->dtype;

    switch (kernel->kind) {
#define PUT(kind_, slot_)                      \
    case TAKT_KERNEL_KIND_##kind_:             \
        kernel_set->slot_ = kernel->run.kind_; \
        break;
        PUT(map, map[dtype][op])
        PUT(stream_map, stream_map[dtype][op])
        PUT(stream_transpose, stream_transpose[dtype])
        PUT(transpose, transpose[dtype])
        PUT(reduce, reduce[dtype][op])
        PUT(rows, rows[op])
        PUT(bias, bias[dtype][op])
        PUT(columns, columns[dtype][op])
        PUT(gemm, gemm[dtype])
        PUT(factor, factor[dtype])
        PUT(layers, layers)
#undef PUT
    }
}

void takt__kernel_sets_fill(struct takt_kernel_set kernel_set[TAKT_KERNEL_ISAS],
                            unsigned isas,
                            const struct takt_gemm_caches *caches)
{
    size_t count;
    const struct takt_kernel *table = takt__kernel_table(&count);

    memset(kernel_set, 0, TAKT_KERNEL_ISAS * sizeof kernel_set[0]);
    for (size_t i = 0; i < count; i++)
        if ((isas >> table[i].isa & 1) != 0)
            put(&kernel_set[table[i].isa], &table[i],
                takt__op_id(takt_op_find(table[i].op)));
    for (int isa = 0; isa < TAKT_KERNEL_ISAS; isa++)
        for (int dtype = 0; dtype < TAKT_DTYPES; dtype++)
            if (kernel_set[isa].gemm[dtype] != NULL)
                kernel_set[isa].gemm[dtype]->tune(
                    caches, &kernel_set[isa].blocks[dtype]);
}
