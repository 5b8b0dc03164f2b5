/* SPDX-License-Identifier: MIT */
/* line.c - lines as text, and which of them are shared. */
#include "fleet/line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "op/key.h"
#include <takt/machine.h>
#include <takt/op.h>

static const char link_op[] = "takt:link";

/* ---- the allow-list ------------------------------------------------------ */

static bool is_series(const struct takt_fleet_line *line)
{
    if (line->situation >= TAKT_SITUATIONS)
        return false;
    if (strcmp(line->op, link_op) == 0)
        return line->dtype == 0 && takt__link_find(line->layout) >= 0;
    const takt_op *op = takt_op_find(line->op);
    return op != NULL && strcmp(op->name, line->op) == 0 && line->dtype < 2 &&
           takt__series_find(op, (takt_dtype)line->dtype, line->layout) >= 0;
}

/* "", or "x" and a number from 2 on. */
static bool is_team(const char *text)
{
    return text[0] == '\0' ||
           (text[0] == 'x' && text[1] >= '1' && text[1] <= '9' &&
            strcmp(text, "x1") != 0 && strlen(text) <= 5 &&
            strspn(text + 1, "0123456789") == strlen(text) - 1);
}

/* What follows the names in that of an expert, if it is a number of threads;
 * else NULL. */
static const char *team_after(const char *expert, const char *prefix,
                              const char *name)
{
    const size_t first = strlen(prefix), second = strlen(name);

    if (strncmp(expert, prefix, first) != 0 ||
        strncmp(expert + first, name, second) != 0)
        return NULL;
    const char *team = expert + first + second;
    return is_team(team) ? team : NULL;
}

/* The same for any expert on processors. */
static const char *team_of(const char *expert)
{
    static const char *const libraries[] = {"openblas", "blis", "libxsmm",
                                            "blas"};
    const char *team = team_after(expert, "", "scalar");

    for (int isa = TAKT_ISA_SSE2; team == NULL && isa <= TAKT_ISA_NEON; isa++)
        team = team_after(expert, "simd.", takt_isa_name((takt_isa)isa));
    for (size_t i = 0;
         team == NULL && i < sizeof libraries / sizeof libraries[0]; i++)
        team = team_after(expert, "blas.", libraries[i]);
    return team;
}

static bool is_gpu(const char *expert)
{
    const char *number = strncmp(expert, "cuda.", 5) == 0     ? expert + 5
                         : strncmp(expert, "vulkan.", 7) == 0 ? expert + 7
                                                              : "";

    return number[0] != '\0' && strlen(number) <= 2 &&
           strspn(number, "0123456789") == strlen(number);
}

static bool is_device(const struct takt_fleet_line *line)
{
    const size_t digits = strspn(line->device, "0123456789abcdef");

    return line->device[digits] == '\0' &&
           (digits == 0 || (digits == 16 && is_gpu(line->expert)));
}

static bool is_shared(const struct takt_fleet_line *line)
{
    return is_series(line) &&
           (is_gpu(line->expert) || team_of(line->expert) != NULL) &&
           is_device(line);
}

/* ---- text ---------------------------------------------------------------- */

bool takt__fleet_line_of(const struct takt_record *record,
                         char out[TAKT_FLEET_LINE])
{
    struct takt_fleet_line line = {.dtype = record->dtype,
                                   .situation = record->situation};

    snprintf(line.op, sizeof line.op, "%s", record->op);
    snprintf(line.layout, sizeof line.layout, "%s", record->layout);
    snprintf(line.expert, sizeof line.expert, "%s", record->expert);
    snprintf(line.device, sizeof line.device, "%.16s", record->device);
    if (!is_shared(&line))
        return false;
    snprintf(out, TAKT_FLEET_LINE, "%s|%s|%u|%u|%s|%s", line.op, line.layout,
             line.dtype, line.situation, line.expert, line.device);
    return true;
}

/* The next field, up to `end`; false: there is none, or it is too long. */
static bool take(const char **text, char end, char *out, size_t size)
{
    const char *stop = strchr(*text, end);
    const size_t length = stop == NULL ? size : (size_t)(stop - *text);

    if (length >= size)
        return false;
    memcpy(out, *text, length);
    out[length] = '\0';
    *text = end == '\0' ? stop : stop + 1;
    return true;
}

static bool take_number(const char **text, unsigned *out)
{
    char digits[4];

    if (!take(text, '|', digits, sizeof digits) || digits[0] == '\0' ||
        strspn(digits, "0123456789") != strlen(digits))
        return false;
    *out = (unsigned)strtoul(digits, NULL, 10);
    return true;
}

bool takt__fleet_line_parse(const char *text, struct takt_fleet_line *out)
{
    return take(&text, '|', out->op, sizeof out->op) &&
           take(&text, '|', out->layout, sizeof out->layout) &&
           take_number(&text, &out->dtype) &&
           take_number(&text, &out->situation) &&
           take(&text, '|', out->expert, sizeof out->expert) &&
           take(&text, '\0', out->device, sizeof out->device) && is_shared(out);
}

unsigned takt__fleet_threads(const char *expert)
{
    const char *team = team_of(expert);

    return team == NULL || team[0] == '\0'
               ? 1
               : (unsigned)strtoul(team + 1, NULL, 10);
}
