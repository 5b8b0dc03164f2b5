/* SPDX-License-Identifier: MIT */
/* history_rows.c - reading rows, and printing them. */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "context.h"
#include "history.h"
#include "number.h"
#include "tune/family.h"

/* ---- reading ---- */

static int keep(void *self, const takt_history_row *row)
{
    struct memories *memories = self;

    memories->is_short =
        !takt__grow(&memories->memory, &memories->room, memories->count + 1,
                    sizeof *memories->memory);
    if (memories->is_short)
        return 1;
    struct memory *memory = &memories->memory[memories->count++];
    memory->row = *row;
    snprintf(memory->layout, sizeof memory->layout, "%s", row->layout);
    snprintf(memory->expert, sizeof memory->expert, "%s", row->expert);
    return 0;
}

static int by_key(const void *a, const void *b)
{
    const struct memory *x = a, *y = b;
    const int by_layout = strcmp(x->layout, y->layout);

    if (x->row.op != y->row.op)
        return x->row.op < y->row.op ? -1 : 1;
    if (x->row.dtype != y->row.dtype)
        return x->row.dtype < y->row.dtype ? -1 : 1;
    if (by_layout != 0)
        return by_layout;
    if (x->row.situation != y->row.situation)
        return x->row.situation < y->row.situation ? -1 : 1;
    if (x->row.work_low != y->row.work_low)
        return x->row.work_low < y->row.work_low ? -1 : 1;
    return (x->row.mean_s > y->row.mean_s) - (x->row.mean_s < y->row.mean_s);
}

void read_memories(takt_ctx *ctx, struct memories *out)
{
    *out = (struct memories){0};
    if (takt_history_read(ctx, keep, out) != TAKT_OK)
        out->is_short = true;
    if (out->count > 0)
        qsort(out->memory, out->count, sizeof out->memory[0], by_key);
    for (size_t i = 0; i < out->count; i++) {
        out->memory[i].row.layout = out->memory[i].layout;
        out->memory[i].row.expert = out->memory[i].expert;
    }
}

void free_memories(struct memories *memories)
{
    free(memories->memory);
}

bool visit_lines(const char *store, void (*visit)(void *self, char *line),
                 void *self)
{
    char line[1024]; /* as long as one may be */
    FILE *text = store[0] != '\0' ? tmpfile() : NULL;

    if (text == NULL)
        return store[0] == '\0';
    const takt_status status = takt_store_export(store, fileno(text), NULL);
    rewind(text);
    while (status == TAKT_OK && fgets(line, sizeof line, text) != NULL)
        visit(self, line);
    fclose(text);
    return status == TAKT_OK || status == TAKT_ENOENT;
}

bool request_like(const takt_history_row *row, takt_request *out)
{
    const struct takt_family *family =
        takt__family_of_layout(row->op, row->layout);

    if (row->op->is_user || family == NULL)
        return false;
    *out = takt__family_request(
        family, row->op, row->dtype,
        takt__family_step_for(family, row->op, row->dtype, &row->work));
    out->situation = row->situation;
    out->work = &row->work;
    return true;
}

/* A first run that no other followed has been no sample. */
static bool is_measured(const takt_history_row *row)
{
    return row->samples > 0;
}

/* ---- the list ---- */

/* The sums of one op. */
struct total {
    const takt_op *op;
    size_t rows;
    double samples, calls, seconds;
};

static void print_total(struct json *json, const struct total *total)
{
    if (json != NULL) {
        json_print(json, "{op:%s rows:%zu samples:%g calls:%g seconds:%g}",
                   total->op->name, total->rows, total->samples, total->calls,
                   total->seconds);
        return;
    }
    printf("%-16s %8zu %10.0f %16s %12.4g\n", total->op->name, total->rows,
           total->samples, count_text((size_t)total->calls).at, total->seconds);
}

void print_list(FILE *stream, const struct memories *memories, bool is_json)
{
    struct json json = json_begin(stream);
    struct total total = {0};

    if (is_json)
        json_open(&json, NULL, '[');
    else
        printf("%-16s %8s %10s %16s %12s\n", "op", "rows", "samples", "calls",
               "seconds");
    for (size_t i = 0; i < memories->count; i++) {
        const takt_history_row *row = &memories->memory[i].row;
        if (total.op != row->op) {
            if (total.op != NULL)
                print_total(is_json ? &json : NULL, &total);
            total = (struct total){.op = row->op};
        }
        total.rows += is_measured(row);
        total.samples += row->samples;
        total.calls += row->calls;
        total.seconds += row->seconds;
    }
    if (total.op != NULL)
        print_total(is_json ? &json : NULL, &total);
    if (is_json)
        json_print(&json, "]\n");
}

/* ---- one op ---- */

/* A bucket counts bytes or operations: those that its typical call has. */
static bool is_about(const takt_history_row *row, const takt_work *work)
{
    const bool counts_bytes =
        row->work.bytes >= row->work_low && row->work.bytes < row->work_high;
    const double size = counts_bytes ? work->bytes : work->flops;

    return size >= row->work_low && size < row->work_high;
}

static void print_row_json(struct json *json, const takt_history_row *row)
{
    json_print(json,
               "{op:%s dtype:%s layout:%s situation:%s expert:%s backend:%s "
               "work_low:%g work_high:%g bytes:%g flops:%g samples:%g "
               "mean_us:%g spread:%g first_us:%g calls:%g seconds:%g "
               "p95_us:%g p99_us:%g p999_us:%g tail_samples:%g}",
               row->op->name, takt_dtype_name(row->dtype), row->layout,
               situation_name(row->situation), row->expert,
               takt_backend_key(row->backend), row->work_low, row->work_high,
               row->work.bytes, row->work.flops, row->samples,
               row->mean_s * 1e6, row->spread, row->first_s * 1e6, row->calls,
               row->seconds, positive_number(row->p95_s * 1e6),
               positive_number(row->p99_s * 1e6),
               positive_number(row->p999_s * 1e6), row->tail_samples);
}

static struct phrase name_size(const takt_history_row *row)
{
    takt_request request;

    return phrase("%s", request_like(row, &request)
                            ? short_shape(&request.shape).at
                            : amount_text(row->work.bytes, "B").at);
}

static void print_row_text(const takt_history_row *row)
{
    char first[24] = "-", p99[24] = "-";

    if (row->first_s > 0)
        snprintf(first, sizeof first, "%.4g", row->first_s * 1e6);
    if (row->p99_s > 0)
        snprintf(p99, sizeof p99, "%.4g", row->p99_s * 1e6);
    printf("%-3s %-10s %-12s %-17s %-16s %11.4g %6.1f%% %7.0f %9s %9s\n",
           takt_dtype_name(row->dtype), row->layout,
           situation_name(row->situation), name_size(row).at, row->expert,
           row->mean_s * 1e6, 100 * row->spread, row->samples, first, p99);
}

static void print_head(void)
{
    printf("%-3s %-10s %-12s %-17s %-16s %11s %7s %7s %9s %9s\n", "", "layout",
           "situation", "size about", "expert", "mean us", "spread", "samples",
           "first us", "p99 us");
}

void print_rows(const struct memories *memories, const takt_op *op,
                const takt_work *work, bool is_json)
{
    struct json json = json_begin(stdout);
    bool is_empty = true;

    if (is_json)
        json_open(&json, NULL, '[');
    for (size_t i = 0; i < memories->count; i++) {
        const takt_history_row *row = &memories->memory[i].row;
        if (row->op != op || !is_measured(row) ||
            (work != NULL && !is_about(row, work)))
            continue;
        if (!is_json && is_empty)
            print_head();
        is_empty = false;
        if (is_json)
            print_row_json(&json, row);
        else
            print_row_text(row);
    }
    if (is_json)
        json_print(&json, "]\n");
    else if (is_empty)
        printf("nothing yet of %s%s: programs that use Takt and 'takt tune' "
               "fill it\n",
               op->name, work != NULL ? " at this size" : "");
}
