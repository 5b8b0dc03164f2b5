/* SPDX-License-Identifier: MIT */
/* slots.c - from the table of kernels to pointers that a call can follow. */
#include "expert/slots.h"

#include <string.h>

static void put(struct takt_slots *slots, const struct takt_kernel *kernel,
                enum takt_op_id op)
{
    const unsigned dtype = kernel->dtype;

    switch (kernel->kind) {
#define PUT(kind_, slot_)                 \
    case TAKT_KERNEL_KIND_##kind_:        \
        slots->slot_ = kernel->run.kind_; \
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

void takt__slots_fill(struct takt_slots slots[TAKT_KERNEL_ISAS], unsigned isas,
                      const struct takt_gemm_caches *caches)
{
    size_t count;
    const struct takt_kernel *table = takt__kernel_table(&count);

    memset(slots, 0, TAKT_KERNEL_ISAS * sizeof slots[0]);
    for (size_t i = 0; i < count; i++)
        if ((isas >> table[i].isa & 1) != 0)
            put(&slots[table[i].isa], &table[i],
                takt__op_id(takt_op_find(table[i].op)));
    for (int isa = 0; isa < TAKT_KERNEL_ISAS; isa++)
        for (int dtype = 0; dtype < TAKT_DTYPES; dtype++)
            if (slots[isa].gemm[dtype] != NULL)
                slots[isa].gemm[dtype]->tune(caches, &slots[isa].blocks[dtype]);
}
