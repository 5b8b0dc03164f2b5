/* SPDX-License-Identifier: MIT */
/*
 * map_chart.c - all ops at a glance: a mark for each octave of n.
 *
 * Vectors and the other shapes have a ruler each, because their n differ. Ops
 * stand in as many columns as 80 characters have room for.
 */
#include <string.h>

#include "clean.h"
#include "context.h"
#include "map.h"

enum { line_width = 80, most_charted = 96, most_octaves = 32 };

/* One op: a mark for each octave from the first of its section. */
struct charted {
    const char *name;
    char mark[most_octaves + 1];
    bool is_sure[most_octaves]; /* at least a tenth faster than the next */
};

struct chart_part {
    const char *title;
    struct charted op[most_charted];
    size_t count;
    unsigned low, high; /* octaves */
    size_t name_width;
};

/* '.' scalar, '1' to '9' SIMD on so many threads, '*' on more, B a library, G a
 * GPU. */
static char mark_of(const char *expert)
{
    const unsigned threads = expert_threads(expert);

    if (strcmp(expert, "scalar") == 0)
        return '.';
    if (strncmp(expert, "simd.", 5) == 0)
        return threads <= 9 ? (char)('0' + threads) : '*';
    if (strncmp(expert, "blas.", 5) == 0)
        return 'B';
    return strncmp(expert, "cuda.", 5) == 0 ||
                   strncmp(expert, "vulkan.", 7) == 0
               ? 'G'
               : '?';
}

/* A background and a foreground of 256 colours; paler where it is close. */
static const char *colour_of(char mark, bool is_sure)
{
    switch (mark) {
    case '.':
        return is_sure ? "48;5;250;38;5;16" : "48;5;254;38;5;16";
    case '1':
        return is_sure ? "48;5;117;38;5;16" : "48;5;153;38;5;16";
    case 'B':
        return is_sure ? "48;5;215;38;5;16" : "48;5;223;38;5;16";
    case 'G':
        return is_sure ? "48;5;114;38;5;16" : "48;5;157;38;5;16";
    case '?':
        return is_sure ? "48;5;183;38;5;16" : "48;5;225;38;5;16";
    default:
        return is_sure ? "48;5;33;38;5;16" : "48;5;75;38;5;16";
    }
}

static bool is_vector(const struct takt_family *family)
{
    return family->rank == 1 && family->dim[0].times == 1;
}

/* The part's first octave moves down to `octave`. */
static void make_room(struct chart_part *part, unsigned octave)
{
    const unsigned by = part->low - octave;

    for (size_t i = 0; i < part->count; i++) {
        struct charted *op = &part->op[i];
        memmove(op->mark + by, op->mark, most_octaves - by);
        memset(op->mark, ' ', by);
        memmove(op->is_sure + by, op->is_sure,
                (most_octaves - by) * sizeof op->is_sure[0]);
    }
    part->low = octave;
}

static void add_row(struct chart_part *part, const struct map_row *row)
{
    if (part->count == most_charted || row->count == 0)
        return;
    const unsigned first = row->point[0].step / 2;
    if (part->count == 0)
        part->low = part->high = first;
    if (first < part->low)
        make_room(part, first);
    struct charted *op = &part->op[part->count++];
    *op = (struct charted){.name = row->op->name};
    memset(op->mark, ' ', most_octaves);
    for (size_t i = 0; i < row->count; i++) {
        const struct map_point *point = &row->point[i];
        const unsigned octave = point->step / 2;
        if (point->step % 2 != 0 || octave - part->low >= most_octaves)
            continue;
        op->mark[octave - part->low] = mark_of(point->expert);
        op->is_sure[octave - part->low] = point->next_speedup > 1.1;
        part->high = octave > part->high ? octave : part->high;
    }
    const size_t width = strlen(op->name);
    part->name_width = width > part->name_width ? width : part->name_width;
}

/* ---- printing ---- */

static size_t octaves_of(const struct chart_part *part)
{
    const size_t all = part->high - part->low + 1;

    return all < most_octaves ? all : most_octaves;
}

/* Width of an op: name, blank, marks, two blanks. */
static size_t columns_of(const struct chart_part *part)
{
    const size_t one = part->name_width + 1 + octaves_of(part) + 2;
    const size_t columns = (line_width + 2) / one;

    return columns > 0 ? columns : 1;
}

/* "256 4K  64K 1M": a number every fourth octave. */
static void print_ruler(const struct chart_part *part)
{
    static const char units[] = {'\0', 'K', 'M', 'G'};
    char line[most_octaves + 8] = "";
    const size_t octaves = octaves_of(part);

    memset(line, ' ', octaves);
    for (unsigned i = 0; i < octaves; i++) {
        const unsigned octave = part->low + i;
        char text[16];
        if (octave % 4 != 0)
            continue;
        const int length =
            snprintf(text, sizeof text, "%u%c", 1U << octave % 10,
                     octave / 10 < 4 ? units[octave / 10] : '?');
        const size_t shown = strnlen(text, (size_t)length);
        if (i + shown <= octaves)
            memcpy(line + i, text, shown);
    }
    line[octaves] = '\0';
    for (size_t i = 0; i < columns_of(part) && i < part->count; i++)
        printf("%s%*s %s", i > 0 ? "  " : "", (int)part->name_width, "n", line);
    putchar('\n');
}

static void print_marks(const struct charted *op, size_t octaves,
                        bool has_colour)
{
    for (size_t i = 0; i < octaves; i++) {
        const bool is_shown = has_colour && op->mark[i] != ' ';
        if (is_shown)
            printf("\033[%sm", colour_of(op->mark[i], op->is_sure[i]));
        putchar(op->mark[i]);
        if (is_shown)
            fputs("\033[0m", stdout);
    }
}

static void print_part(const struct chart_part *part, bool has_colour)
{
    const size_t columns = columns_of(part);
    const size_t rows = (part->count + columns - 1) / columns;

    if (part->count == 0)
        return;
    printf("%s\n", part->title);
    print_ruler(part);
    for (size_t row = 0; row < rows; row++) {
        for (size_t i = row; i < part->count; i += rows) {
            printf("%s%-*s ", i > row ? "  " : "", (int)part->name_width,
                   part->op[i].name);
            print_marks(&part->op[i], octaves_of(part), has_colour);
        }
        putchar('\n');
    }
}

void print_chart(takt_ctx *ctx, takt_dtype dtype, unsigned situation)
{
    static struct chart_part vectors, others;
    const bool has_colour = wants_colour(stdout);
    struct map_row row;

    vectors = (struct chart_part){.title = "vectors of n elements"};
    others = (struct chart_part){.title = "matrices and images of side n"};
    for (size_t i = 0; i < takt_op_count(); i++) {
        const takt_op *op = takt_op_at(i);
        const struct takt_family *family = takt__family_at(op, 0);
        if (family != NULL && (op->dtypes >> dtype & 1) != 0 &&
            find_map_row(ctx, op, dtype, family, situation, &row))
            add_row(is_vector(family) ? &vectors : &others, &row);
    }
    printf(". scalar   1 SIMD, one thread   2-9 SIMD on so many threads   * on "
           "more\nB BLAS library   G GPU%s\n\n",
           has_colour ? "   pale: the next expert is about as fast" : "");
    print_part(&vectors, has_colour);
    print_part(&others, has_colour);
    puts("'takt map OP' has the sizes, names and margins; 'takt report' "
         "pictures.");
}
