/* SPDX-License-Identifier: MIT */
/*
 * cost.c - routing by what a transfer costs and what the device gains.
 *
 * Each side of the comparison is one correctly rounded division of values
 * that are exact below 2^53, so two sides that are equal as fractions are
 * equal here too, and the strict boundary is where arithmetic puts it.
 */
#include "takt/policy.h"

#include <math.h>
#include <stdbool.h>

takt_cost_model takt_cost_model_default(void)
{
    return (takt_cost_model){
        .pcie_bandwidth = 32e9,
        .gpu_flops = 20e12,
        .dispatch_ratio = 5,
    };
}

static bool is_rate(double value)
{
    return isfinite(value) && value > 0;
}

takt_status takt_cost_model_set(takt_cost_model *model, double pcie_bandwidth,
                                double gpu_flops, double dispatch_ratio)
{
    if (model == NULL || !is_rate(pcie_bandwidth) || !is_rate(gpu_flops) ||
        !isfinite(dispatch_ratio) || dispatch_ratio < 0)
        return TAKT_EINVAL;

    model->pcie_bandwidth = pcie_bandwidth;
    model->gpu_flops = gpu_flops;
    model->dispatch_ratio = dispatch_ratio;
    return TAKT_OK;
}

takt_backend takt_cost_select(const takt_cost_model *model, takt_work work)
{
    const takt_cost_model by =
        model != NULL ? *model : takt_cost_model_default();
    const double compute_s = work.flops / by.gpu_flops;
    const double repay_s = by.dispatch_ratio * work.bytes / by.pcie_bandwidth;

    return compute_s > repay_s ? TAKT_BACKEND_GPU : TAKT_BACKEND_SIMD;
}

takt_backend takt_cost_select_matmul(const takt_cost_model *model, size_t m,
                                     size_t n, size_t k)
{
    const double dm = (double)m, dn = (double)n, dk = (double)k;

    return takt_cost_select(
        model, (takt_work){.bytes = (dm * dk + dk * dn + dm * dn) * 4,
                           .flops = 2 * dm * dn * dk});
}

takt_backend takt_cost_select_vector(const takt_cost_model *model, size_t n,
                                     double ops_per_element)
{
    return takt_cost_select(model,
                            (takt_work){.bytes = 12 * (double)n,
                                        .flops = (double)n * ops_per_element});
}

takt_backend takt_cost_select_elementwise(size_t n)
{
    return n > 1000000 ? TAKT_BACKEND_SIMD : TAKT_BACKEND_SCALAR;
}
