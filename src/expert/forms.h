/* SPDX-License-Identifier: MIT */
/* forms.h - calls on Takt's own kernels, by form, on the threads of an expert.
 */
#ifndef TAKT_EXPERT_FORMS_H
#define TAKT_EXPERT_FORMS_H

#include "expert/expert.h"

/* Runs an admitted call of its form.
 * TAKT_ENOMEM: no working memory; nothing was touched. */
typedef takt_status takt_cpu_run(struct takt_experts *experts,
                                 const struct takt_expert *expert,
                                 const takt_call *call);

takt_cpu_run takt__cpu_map, takt__cpu_reduce, takt__cpu_rows,
    takt__cpu_transpose; /* cpu_vectors.c */
takt_cpu_run takt__cpu_gemv, takt__cpu_gemm,
    takt__cpu_batched; /* cpu_products.c */
takt_cpu_run takt__cpu_conv2d, takt__cpu_pooling,
    takt__cpu_attention; /* cpu_layers.c */

#endif
