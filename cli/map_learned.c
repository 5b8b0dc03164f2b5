/* SPDX-License-Identifier: MIT */
/* map_learned.c - the fastest expert for each size, by the model. */
#include <math.h>
#include <string.h>

#include "map.h"
#include "route.h"

/* ---- asking ---- */

static void compare(struct map_point *point, const takt_estimate *all,
                    size_t count)
{
    if (count > 1 && !all[1].is_asleep) {
        memcpy(point->next, all[1].expert, sizeof point->next);
        point->next_speedup = total_s(&all[1]) / point->seconds;
    }
    for (size_t i = 0; i < count; i++)
        if (strcmp(all[i].expert, point->moe) == 0)
            point->moe_speedup = total_s(&all[i]) / point->seconds;
}

static bool find_point(takt_ctx *ctx, takt_request request,
                       struct map_point *out)
{
    takt_estimate all[most_estimates] = {{.size = sizeof all[0]}};
    takt_decision moe = {.size = sizeof moe};
    size_t count;

    if (takt_explain(ctx, &request, all, most_estimates, &count) != TAKT_OK ||
        count == 0)
        return false;
    request.policy = TAKT_POLICY_MOE;
    if (takt_select(ctx, &request, &moe) == TAKT_OK)
        memcpy(out->moe, moe.expert, sizeof out->moe);
    memcpy(out->expert, all[0].expert, sizeof out->expert);
    out->seconds = total_s(&all[0]);
    out->samples = all[0].samples;
    compare(out, all, count);
    return true;
}

bool find_map_row(takt_ctx *ctx, const takt_op *op, takt_dtype dtype,
                  const struct takt_family *family, unsigned situation,
                  struct map_row *out)
{
    *out = (struct map_row){
        .op = op, .dtype = dtype, .family = family, .situation = situation};
    for (unsigned step = family->low; step <= family->high; step++) {
        takt_request request = takt__family_request(family, op, dtype, step);
        request.situation = situation;
        out->point[out->count] = (struct map_point){.step = step};
        out->count += find_point(ctx, request, &out->point[out->count]);
    }
    return out->count > 0;
}

/* ---- ranges ---- */

static void close_range(const struct map_row *row, struct range *range)
{
    const double count = (double)(range->last - range->first + 1);
    double next = 0, moe = 0;
    bool has_next = true, has_moe = true;

    for (size_t i = range->first; i <= range->last; i++) {
        const struct map_point *point = &row->point[i];
        range->measured += point->samples > 0;
        has_next = has_next && point->next_speedup > 0;
        has_moe = has_moe && point->moe_speedup > 0;
        next += has_next ? log(point->next_speedup) : 0;
        moe += has_moe ? log(point->moe_speedup) : 0;
    }
    range->next_speedup = has_next ? exp(next / count) : 0;
    range->moe_speedup = has_moe ? exp(moe / count) : 0;
}

size_t find_ranges(const struct map_row *row,
                   struct range out[TAKT_FAMILY_STEPS])
{
    size_t count = 0;

    for (size_t i = 0; i < row->count; i++)
        if (count > 0 &&
            strcmp(row->point[i].expert, row->point[i - 1].expert) == 0)
            out[count - 1].last = i;
        else
            out[count++] = (struct range){.first = i, .last = i};
    for (size_t i = 0; i < count; i++)
        close_range(row, &out[i]);
    return count;
}

void name_pattern(const struct takt_family *family, char *out, size_t size)
{
    size_t used = 0;

    for (unsigned i = 0; i < family->rank && used < size; i++) {
        const unsigned times = family->dim[i].times;
        char side[16];
        if (times == 0)
            snprintf(side, sizeof side, "%u", family->dim[i].fixed);
        else if (times == 1)
            snprintf(side, sizeof side, "n");
        else
            snprintf(side, sizeof side, "%un", times);
        used += (size_t)snprintf(out + used, size - used, "%s%s",
                                 i > 0 ? "x" : "", side);
    }
}

struct phrase name_range(const struct map_row *row, const struct range *range)
{
    char first[64], last[64];

    format_short(takt__step_side(row->point[range->first].step), first,
                 sizeof first);
    format_short(takt__step_side(row->point[range->last].step), last,
                 sizeof last);
    return range->first == range->last ? phrase("%s", first)
                                       : phrase("%s .. %s", first, last);
}

/* ---- text ---- */

/* A letter per expert, in the order of their appearance; beyond z it is ?. */
static char letter_of(struct legend *legend, const char *expert)
{
    size_t i = 0;

    while (i < legend->count && strcmp(legend->expert[i], expert) != 0)
        i++;
    if (i == legend->count && i < most_letters)
        snprintf(legend->expert[legend->count++], TAKT_EXPERT_NAME_MAX, "%s",
                 expert);
    return i < most_letters ? (char)('a' + i) : '?';
}

/* Capital where it was measured. */
static void draw_chart(const struct map_row *row, struct legend *legend,
                       char out[TAKT_FAMILY_STEPS + 1])
{
    for (size_t i = 0; i < row->count; i++) {
        const char letter = letter_of(legend, row->point[i].expert);
        out[i] = row->point[i].samples > 0 && letter != '?'
                     ? (char)(letter - 'a' + 'A')
                     : letter;
    }
    out[row->count] = '\0';
}

/* "3.4x", or "-" where there is nothing to compare with. */
static const char *speedup_text(double speedup, char out[16])
{
    if (speedup > 0)
        snprintf(out, 16, "%.*fx", speedup < 10 ? 2 : 0, speedup);
    else
        snprintf(out, 16, "-");
    return out;
}

static struct phrase how_known(const struct range *range)
{
    const size_t sizes = range->last - range->first + 1;

    if (range->measured > 0 && range->measured < sizes)
        return phrase("measured at %zu of %zu", range->measured, sizes);
    return phrase("%s", range->measured == 0 ? "expected" : "measured");
}

static bool is_on_gpu(const struct map_row *row)
{
    return (row->situation & TAKT_SITUATION_ON_GPU) != 0;
}

void print_map_row_text(const struct map_row *row, struct legend *legend)
{
    struct range range[TAKT_FAMILY_STEPS];
    const size_t count = find_ranges(row, range);
    char chart[TAKT_FAMILY_STEPS + 1], next[16], moe[16], pattern[64];

    draw_chart(row, legend, chart);
    name_pattern(row->family, pattern, sizeof pattern);
    if (is_on_gpu(row))
        printf("  operands on the GPU  %s\n", chart);
    else
        printf("%s%s%s %s  %s\n", row->op->name,
               row->family->layout[0] != '\0' ? " " : "", row->family->layout,
               pattern, chart);
    for (size_t i = 0; i < count; i++)
        printf("  %-20s %-16s %7s %7s   %s\n", name_range(row, &range[i]).at,
               row->point[range[i].first].expert,
               speedup_text(range[i].next_speedup, next),
               speedup_text(range[i].moe_speedup, moe),
               how_known(&range[i]).at);
}

void print_legend(const struct legend *legend)
{
    printf("\ncharts: a letter per half octave of n, capital where measured\n");
    for (size_t i = 0; i < legend->count; i++)
        printf("  %c %-17s%s", (char)('a' + i), legend->expert[i],
               i % 4 == 3 || i + 1 == legend->count ? "\n" : "");
    printf("next, moe: times as fast as the next best expert, and as what the "
           "moe\nthresholds run, is predicted to be\n");
}

/* ---- for programs ---- */

static takt_shape shape_at(const struct map_row *row, size_t point)
{
    return takt__family_shape(row->family, row->point[point].step);
}

void print_map_row_csv(const struct map_row *row)
{
    struct range range[TAKT_FAMILY_STEPS];
    const size_t count = find_ranges(row, range);

    for (size_t i = 0; i < count; i++) {
        const takt_shape from = shape_at(row, range[i].first);
        const takt_shape to = shape_at(row, range[i].last);
        printf("%s,%s,%s,%s,%s,%s,%s,%.4g,%.4g,%zu,%zu\n", row->op->name,
               takt_dtype_name(row->dtype), row->family->layout,
               situation_name(row->situation), shape_text(&from).at,
               shape_text(&to).at, row->point[range[i].first].expert,
               range[i].next_speedup, range[i].moe_speedup, range[i].measured,
               range[i].last - range[i].first + 1);
    }
}

void print_map_row_json(struct json *json, const struct map_row *row)
{
    struct range range[TAKT_FAMILY_STEPS];
    const size_t count = find_ranges(row, range);

    json_print(json, "{op:%s policy:%s dtype:%s layout:%s situation:%u",
               row->op->name, "adaptive", takt_dtype_name(row->dtype),
               row->family->layout, row->situation);
    if (row->is_told_apart)
        json_string(json, "resident", is_on_gpu(row) ? "gpu" : "host");
    json_print(json, "ranges:[");
    for (size_t i = 0; i < count; i++) {
        const struct map_point *point = &row->point[range[i].first];
        const takt_shape from = shape_at(row, range[i].first);
        const takt_shape to = shape_at(row, range[i].last);
        json_print(json,
                   "{from:%p to:%p expert:%s next:%s moe:%s "
                   "predicted_speedup_over_next:%g "
                   "predicted_speedup_over_moe:%g sizes:%zu measured:%zu}",
                   (const void *)&from, (const void *)&to, point->expert,
                   known_text(point->next), known_text(point->moe),
                   positive_number(range[i].next_speedup),
                   positive_number(range[i].moe_speedup),
                   range[i].last - range[i].first + 1, range[i].measured);
    }
    json_print(json, "]}");
}
