/* SPDX-License-Identifier: MIT */
/* report_map.c - which expert is the fastest at which size: a picture, and the
 * table behind it. */
#include <math.h>
#include <string.h>

#include "context.h"
#include "report.h"

/* In pixels; a cell is one step, half an octave. */
enum {
    label_width = 132,
    longest_label = 18, /* characters; else the shape is left out */
    cell_width = 12,
    row_height = 17,
    legend_height = 40,
    ruler_height = legend_height + 24
};

static const char style[] =
    "<style>"
    "svg.map{--ink:#1c2733;--faint:#5a6775;--rule:#dfe5ea;--scalar:#d5dade;"
    "--simd:#9cc9f5;--team:#5f9fe8;--library:#f5b971;--gpu:#8fd3a5;"
    "--other:#d3b3ea;font:11px system-ui,sans-serif}"
    "@media screen and "
    "(prefers-color-scheme:dark){svg.map{--ink:#f2f6fa;--faint:#a9b6c3;"
    "--rule:#2b3642;--scalar:#56616c;--simd:#2b6196;--team:#1c4fa0;"
    "--library:#8a5310;--gpu:#23703f;--other:#6c3f8f}}"
    "svg.map text{fill:var(--ink)}svg.map .n{fill:var(--faint)}"
    "svg.map .rule{stroke:var(--rule)}"
    "svg.map .scalar{fill:var(--scalar)}svg.map .simd{fill:var(--simd)}"
    "svg.map .team{fill:var(--team)}svg.map .library{fill:var(--library)}"
    "svg.map .gpu{fill:var(--gpu)}svg.map .other{fill:var(--other)}"
    "</style>\n";

static const struct {
    const char *class, *text;
} legend[] = {{"scalar", "scalar code"},
              {"simd", "SIMD, one thread"},
              {"team", "SIMD, several threads"},
              {"library", "BLAS library"},
              {"gpu", "GPU"},
              {"other", "other"}};
enum { legend_count = sizeof legend / sizeof legend[0] };

static const char *class_of(const char *expert)
{
    if (strcmp(expert, "scalar") == 0)
        return "scalar";
    if (strncmp(expert, "simd.", 5) == 0)
        return expert_threads(expert) > 1 ? "team" : "simd";
    if (strncmp(expert, "blas.", 5) == 0)
        return "library";
    return strncmp(expert, "cuda.", 5) == 0 ||
                   strncmp(expert, "vulkan.", 7) == 0
               ? "gpu"
               : "other";
}

static size_t legend_of(const char *expert)
{
    size_t i = 0;

    while (strcmp(legend[i].class, class_of(expert)) != 0)
        i++;
    return i;
}

/* The first family of the next op that is asked about and can be. */
static bool next_row(const struct map_question *question, size_t *op,
                     struct map_row *out)
{
    while (*op < takt_op_count()) {
        const takt_op *at = takt_op_at((*op)++);
        const struct takt_family *family = takt__family_at(at, 0);
        if (family != NULL && (at->dtypes >> question->dtype & 1) != 0 &&
            (question->is_asked == NULL ||
             question->is_asked(question->self, at)) &&
            find_map_row(question->ctx, at, question->dtype, family,
                         question->situation, out))
            return true;
    }
    return false;
}

/* ---- the picture ---- */

/* The steps that some op has. */
struct map_frame {
    unsigned low, high;
    size_t rows;
};

static struct map_frame frame_of(const struct map_question *question)
{
    struct map_frame frame = {.low = TAKT_FAMILY_STEPS};

    for (size_t i = 0; i < takt_op_count(); i++) {
        const takt_op *op = takt_op_at(i);
        const struct takt_family *family = takt__family_at(op, 0);
        if (family == NULL || (op->dtypes >> question->dtype & 1) == 0 ||
            (question->is_asked != NULL &&
             !question->is_asked(question->self, op)))
            continue;
        frame.low = family->low < frame.low ? family->low : frame.low;
        frame.high = family->high > frame.high ? family->high : frame.high;
        frame.rows++;
    }
    return frame;
}

static unsigned x_of(const struct map_frame *frame, unsigned step)
{
    return label_width + (step - frame->low) * cell_width;
}

static unsigned width_of(const struct map_frame *frame)
{
    return x_of(frame, frame->high + 1) + 8;
}

/* A label for every second octave, and a line down. */
static void draw_ruler(FILE *stream, const struct map_frame *frame)
{
    const size_t bottom = ruler_height + frame->rows * row_height;

    for (unsigned step = frame->low; step <= frame->high; step++) {
        const size_t side = takt__step_side(step);
        char text[64];
        if (step % 4 != 0 || (side & (side - 1)) != 0 || step + 2 > frame->high)
            continue;
        format_short(side, text, sizeof text);
        fprintf(stream,
                "<line class=\"rule\" x1=\"%u\" x2=\"%u\" y1=\"%u\" "
                "y2=\"%zu\"/><text class=\"n\" x=\"%u\" y=\"%u\">%s</text>\n",
                x_of(frame, step), x_of(frame, step), ruler_height - 6, bottom,
                x_of(frame, step) + 2, ruler_height - 10, text);
    }
    fprintf(stream, "<text class=\"n\" x=\"4\" y=\"%u\">size n</text>\n",
            ruler_height - 10);
}

/* From pale, where the next expert is as fast, to full at twice as fast. */
static double shade_of(const struct range *range)
{
    const double margin =
        range->next_speedup > 1 ? log2(range->next_speedup) : 0;

    return 0.4 + 0.6 * (margin < 1 ? margin : 1);
}

static void draw_range(FILE *stream, const struct map_frame *frame,
                       const struct map_row *row, const struct range *range,
                       size_t y)
{
    const char *expert = row->point[range->first].expert;
    const unsigned x = x_of(frame, row->point[range->first].step);
    const unsigned end = x_of(frame, row->point[range->last].step + 1);
    const char *dot = strchr(expert, '.');
    const char *label =
        dot != NULL && strncmp(expert, "simd.", 5) == 0 ? dot + 1 : expert;

    fprintf(stream,
            "<g><title>%s %s: %s; %.2f times as fast as the next; %s</title>"
            "<rect class=\"%s\" x=\"%u\" y=\"%zu\" width=\"%u\" "
            "height=\"%u\" fill-opacity=\"%.2f\"/>",
            row->op->name, name_range(row, range).at, expert,
            range->next_speedup, range->measured > 0 ? "measured" : "expected",
            class_of(expert), x, y + 1, end - x - 1, row_height - 2,
            shade_of(range));
    if (6 * strlen(label) + 6 < end - x) {
        fprintf(stream, "<text x=\"%u\" y=\"%zu\">", x + 3, y + 12);
        print_html(stream, label);
        fputs("</text>", stream);
    }
    fputs("</g>\n", stream);
}

/* It stands on top, and is drawn when all rows are known. */
static void draw_legend(FILE *stream, const bool is_used[legend_count])
{
    const unsigned y = 2;
    unsigned x = 4;

    for (size_t i = 0; i < legend_count; i++) {
        if (!is_used[i])
            continue;
        fprintf(stream,
                "<rect class=\"%s\" x=\"%u\" y=\"%u\" width=\"12\" "
                "height=\"12\"/><text x=\"%u\" y=\"%u\">%s</text>\n",
                legend[i].class, x, y, x + 16, y + 10, legend[i].text);
        x += 34 + 6 * (unsigned)strlen(legend[i].text);
    }
    fprintf(stream,
            "<text class=\"n\" x=\"4\" y=\"%u\">full colour: at least twice "
            "as fast as the next expert; pale: hardly faster</text>\n",
            y + 27);
}

/* ---- the table ---- */

static void print_speedup(FILE *stream, double speedup)
{
    if (speedup > 0)
        fprintf(stream, "<td>%.2f", speedup);
    else
        fputs("<td>-", stream);
}

static void print_table_row(FILE *stream, const struct map_row *row,
                            const struct range *range)
{
    fprintf(stream, "<tr><th scope=\"row\">%s<td>%s<td>", row->op->name,
            name_range(row, range).at);
    print_html(stream, row->point[range->first].expert);
    print_speedup(stream, range->next_speedup);
    print_speedup(stream, range->moe_speedup);
    fprintf(stream, "<td>%zu of %zu\n", range->measured,
            range->last - range->first + 1);
}

static void begin_table(FILE *stream)
{
    fputs("<table class=\"ranges\"><thead><tr><th scope=\"col\">op<th "
          "scope=\"col\">n"
          "<th scope=\"col\">expert<th scope=\"col\">times as fast as the "
          "next<th scope=\"col\">as the static rule (moe)"
          "<th scope=\"col\">sizes measured</thead><tbody>\n",
          stream);
}

/* ---- both ---- */

static void draw_name(FILE *stream, const struct map_row *row, size_t y)
{
    char pattern[64];

    name_pattern(row->family, pattern, sizeof pattern);
    fprintf(stream,
            "<text x=\"4\" y=\"%zu\">%s <tspan class=\"n\">%s</tspan>"
            "</text>\n",
            y + 12, row->op->name,
            strlen(row->op->name) + strlen(pattern) <= longest_label ? pattern
                                                                     : "");
}

void draw_map(FILE *stream, FILE *table, const struct map_question *question)
{
    const struct map_frame frame = frame_of(question);
    const size_t bottom = ruler_height + frame.rows * row_height;
    struct range range[TAKT_FAMILY_STEPS];
    struct map_row row;
    bool is_used[legend_count] = {false};
    size_t y = ruler_height;

    fprintf(stream,
            "<svg class=\"map\" xmlns=\"http://www.w3.org/2000/svg\" "
            "role=\"img\" viewBox=\"0 0 %u %zu\" width=\"%u\" height=\"%zu\">"
            "<title>The fastest expert by op and size, %s</title>\n%s",
            width_of(&frame), bottom + 8, width_of(&frame), bottom + 8,
            takt_dtype_name(question->dtype), style);
    draw_ruler(stream, &frame);
    if (table != NULL)
        begin_table(table);
    for (size_t op = 0; next_row(question, &op, &row); y += row_height) {
        const size_t count = find_ranges(&row, range);
        draw_name(stream, &row, y);
        for (size_t i = 0; i < count; i++) {
            draw_range(stream, &frame, &row, &range[i], y);
            is_used[legend_of(row.point[range[i].first].expert)] = true;
            if (table != NULL)
                print_table_row(table, &row, &range[i]);
        }
    }
    draw_legend(stream, is_used);
    fputs("</svg>\n", stream);
    if (table != NULL)
        fputs("</tbody></table>\n", table);
}
