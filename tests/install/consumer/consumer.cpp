// SPDX-License-Identifier: MIT
// consumer.cpp - a stranger's C++ program built against an installed Takt.
#include <cstdio>
#include <memory>
#include <takt/takt.h>

int main()
{
    takt_ctx *raw = nullptr;
    if (takt_ctx_create(nullptr, &raw) != TAKT_OK)
        return 1;
    const std::unique_ptr<takt_ctx, void (*)(takt_ctx *)> ctx(raw,
                                                              takt_ctx_destroy);

    takt_request request{};
    request.policy = TAKT_POLICY_MOE;
    request.op = takt_op_find("sum");
    request.shape.rank = 1;
    request.shape.dim[0] = 50000;
    takt_decision decision{};
    decision.size = sizeof decision;
    if (takt_select(ctx.get(), &request, &decision) != TAKT_OK ||
        decision.backend != TAKT_BACKEND_SIMD)
        return 1;
    const double a[3] = {1, 2, 3};
    double sum = 0;
    if (takt_sum_f64(3, a, &sum) != TAKT_OK || sum != 6)
        return 1;
    std::printf("C++: %s, here %s\n", takt_backend_name(decision.backend),
                decision.expert);
    return 0;
}
