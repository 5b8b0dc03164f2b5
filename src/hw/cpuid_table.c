/* SPDX-License-Identifier: MIT */
/* cpuid_table.c - CPUID answers to text and back. */
#include "hw/cpuid_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "hw/text.h"

static bool read_word(const char **at, uint32_t *out)
{
    uint64_t number;
    if (!takt__text_number(at, 16, &number) || number > UINT32_MAX)
        return false;
    *out = (uint32_t)number;
    return true;
}

static bool is_end(const char *at)
{
    while (*at == ' ' || *at == '\t' || *at == '\r')
        at++;
    return *at == '\0';
}

static bool parse_row(const char *line, struct takt_cpuid_table *out)
{
    if (out->count == TAKT_CPUID_ROWS)
        return false;

    struct takt_cpuid_row *row = &out->row[out->count];
    if (!read_word(&line, &row->leaf) || !read_word(&line, &row->subleaf) ||
        *line++ != ':')
        return false;
    for (size_t i = 0; i < 4; i++)
        if (!read_word(&line, &row->reg[i]))
            return false;
    out->count++;
    return is_end(line);
}

static bool parse_architecture(const char *name, struct takt_cpuid_table *out)
{
    takt__text_tidy(name, out->architecture, sizeof out->architecture);
    return out->architecture[0] != '\0' &&
           strchr(out->architecture, ' ') == NULL;
}

static bool parse_line(const char *line, struct takt_cpuid_table *out)
{
    if (line[0] == '#' || is_end(line))
        return true;
    if (strncmp(line, "arch ", 5) == 0)
        return parse_architecture(line + 5, out);
    if (strncmp(line, "xcr0 ", 5) == 0) {
        line += 5;
        return takt__text_number(&line, 16, &out->xcr0) && is_end(line);
    }
    return parse_row(line, out);
}

bool takt__cpuid_table_parse(char *text, struct takt_cpuid_table *out)
{
    memset(out, 0, sizeof *out);
    for (char *line; (line = takt__text_cut(&text, '\n')) != NULL;)
        if (!parse_line(line, out))
            return false;
    if (strcmp(out->architecture, "x86_64") == 0)
        return takt__cpuid_table_find(out, 0, 0) != NULL;
    return out->architecture[0] != '\0';
}

size_t takt__cpuid_table_print(const struct takt_cpuid_table *table,
                               char out[TAKT_CPUID_TEXT])
{
    int length =
        snprintf(out, TAKT_CPUID_TEXT, "arch %s\n", table->architecture);
    if (strcmp(table->architecture, "x86_64") == 0)
        length += snprintf(out + length, TAKT_CPUID_TEXT - (size_t)length,
                           "xcr0 %016" PRIx64 "\n", table->xcr0);
    for (size_t i = 0; i < table->count; i++) {
        const struct takt_cpuid_row *row = &table->row[i];
        length += snprintf(out + length, TAKT_CPUID_TEXT - (size_t)length,
                           "%08" PRIx32 " %08" PRIx32 ": %08" PRIx32
                           " %08" PRIx32 " %08" PRIx32 " %08" PRIx32 "\n",
                           row->leaf, row->subleaf, row->reg[0], row->reg[1],
                           row->reg[2], row->reg[3]);
    }
    return (size_t)length;
}

const struct takt_cpuid_row *
takt__cpuid_table_find(const struct takt_cpuid_table *table, uint32_t leaf,
                       uint32_t subleaf)
{
    for (size_t i = 0; i < table->count; i++)
        if (table->row[i].leaf == leaf && table->row[i].subleaf == subleaf)
            return &table->row[i];
    return NULL;
}
