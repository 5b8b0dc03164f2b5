/* SPDX-License-Identifier: MIT */
/* report_limits.c - the highest rates that were measured on a machine. */
#include <string.h>

#include "report.h"

/* Rates of one kind, and the measurement with the highest. */
struct highest {
    const char *what; /* "arithmetic", "cache", "large" */
    takt_dtype dtype; /* of arithmetic */
    bool is_gpu;
    double per_s; /* operations or bytes */
    const takt_history_row *row;
};

/* Operands that fit into a core's own cache, or into none but large ones that
 * cores share, if any. */
static bool is_of(const struct highest *limit, const takt_history_row *row,
                  const takt_machine *machine)
{
    enum { large_bytes = 32 << 20 };

    if (limit->is_gpu != (row->backend == TAKT_BACKEND_GPU))
        return false;
    if (strcmp(limit->what, "arithmetic") == 0)
        return row->dtype == limit->dtype && row->work.flops > 0;
    if (limit->is_gpu)
        return (row->situation & TAKT_SITUATION_ON_GPU) != 0;
    return strcmp(limit->what, "cache") == 0
               ? row->work.bytes <= (double)machine->l2_bytes
               : row->work.bytes >= large_bytes;
}

static void take_row(struct highest *limit, const takt_history_row *row)
{
    const bool is_arithmetic = strcmp(limit->what, "arithmetic") == 0;
    const double work = is_arithmetic ? row->work.flops : row->work.bytes;

    if (work > limit->per_s * row->mean_s) {
        limit->per_s = work / row->mean_s;
        limit->row = row;
    }
}

void print_limits_json(struct json *json, takt_ctx *ctx,
                       const struct memories *memories)
{
    struct highest all[] = {{"arithmetic", TAKT_F32, false, 0, NULL},
                            {"arithmetic", TAKT_F64, false, 0, NULL},
                            {"cache", TAKT_F32, false, 0, NULL},
                            {"large", TAKT_F32, false, 0, NULL},
                            {"arithmetic", TAKT_F32, true, 0, NULL},
                            {"arithmetic", TAKT_F64, true, 0, NULL},
                            {"large", TAKT_F32, true, 0, NULL}};
    const takt_machine *machine = takt_ctx_machine(ctx);

    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) {
        for (size_t i = 0; i < memories->count; i++) {
            const takt_history_row *row = &memories->memory[i].row;
            if (!row->op->is_user && row->samples >= 1 && row->mean_s > 0 &&
                is_of(&all[k], row, machine))
                take_row(&all[k], row);
        }
        const takt_history_row *row = all[k].row;
        if (row != NULL)
            json_print(json,
                       "{what:%s on:%s per_s:%g op:%s dtype:%s expert:%s "
                       "bytes:%g mean_s:%g samples:%g}",
                       all[k].what, all[k].is_gpu ? "gpu" : "cpu", all[k].per_s,
                       row->op->name, takt_dtype_name(row->dtype), row->expert,
                       row->work.bytes, row->mean_s, row->samples);
    }
}
