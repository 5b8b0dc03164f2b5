/* SPDX-License-Identifier: MIT */
/* slots.c - from the table of kernels to pointers that a call can follow. */
#include "expert/slots.h"

#include <string.h>

static void place(struct takt_slots *slots, const struct takt_kernel *kernel,
                  enum takt_op_id op)
{
    switch (kernel->kind) {
    case TAKT_KERNEL_KIND_map:
        slots->map[kernel->dtype][op] = kernel->run.map;
        break;
    case TAKT_KERNEL_KIND_stream_map:
        slots->stream_map[kernel->dtype][op] = kernel->run.stream_map;
        break;
    case TAKT_KERNEL_KIND_stream_transpose:
        slots->stream_transpose[kernel->dtype] = kernel->run.stream_transpose;
        break;
    case TAKT_KERNEL_KIND_transpose:
        slots->transpose[kernel->dtype] = kernel->run.transpose;
        break;
    case TAKT_KERNEL_KIND_reduce:
        slots->reduce[kernel->dtype][op] = kernel->run.reduce;
        break;
    case TAKT_KERNEL_KIND_rows:
        slots->rows[op] = kernel->run.rows;
        break;
    case TAKT_KERNEL_KIND_gemm:
        slots->gemm[kernel->dtype] = kernel->run.gemm;
        break;
    case TAKT_KERNEL_KIND_layers:
        slots->layers = kernel->run.layers;
        break;
    }
}

void takt__slots_fill(struct takt_slots slots[TAKT_KERNEL_ISAS], unsigned isas,
                      const struct takt_gemm_caches *caches)
{
    size_t count;
    const struct takt_kernel *table = takt__kernel_table(&count);

    memset(slots, 0, TAKT_KERNEL_ISAS * sizeof slots[0]);
    for (size_t i = 0; i < count; i++)
        if ((isas >> table[i].isa & 1) != 0)
            place(&slots[table[i].isa], &table[i],
                  takt__op_id(takt_op_find(table[i].op)));
    for (int isa = 0; isa < TAKT_KERNEL_ISAS; isa++)
        for (int dtype = 0; dtype < TAKT_DTYPES; dtype++)
            if (slots[isa].gemm[dtype] != NULL)
                slots[isa].gemm[dtype]->tune(caches, &slots[isa].blocks[dtype]);
}
