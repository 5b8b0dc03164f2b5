/* SPDX-License-Identifier: MIT */
/* man.c - man pages, written from the tables of the commands. */
#include <ctype.h>
#include <string.h>

#include <takt/version.h>

#include "command.h"

/* Roff reads - as a hyphen, \ as its own, and . or ' first on a line as a
 * request. */
static void print_roff(FILE *stream, const char *text)
{
    bool line_start = true;

    for (const char *at = text; *at != '\0'; at++) {
        if (line_start && (*at == '.' || *at == '\''))
            fputs("\\&", stream);
        line_start = *at == '\n';
        if (*at == '-')
            fputs("\\-", stream);
        else if (*at == '\\')
            fputs("\\e", stream);
        else if (*at == '\n' && at[1] == '\n')
            fputs("\n.PP\n", stream), at++;
        else
            fputc(*at, stream);
    }
}

static void print_title(FILE *stream, const char *name)
{
    fputs(".TH ", stream);
    for (const char *at = name; *at != '\0'; at++)
        fputc(toupper((unsigned char)*at), stream);
    fprintf(stream, " 1 \"\" \"takt %s\" \"Takt manual\"\n",
            TAKT_VERSION_STRING);
}

static void print_options(FILE *stream, const struct command *command)
{
    fputs(".SH OPTIONS\n", stream);
    for (const struct option *o = command->options; o->name != NULL; o++) {
        fputs(".TP\n.B \\-\\-", stream);
        print_roff(stream, o->name);
        if (o->value != NULL)
            fprintf(stream, " \\fI%s\\fR", o->value);
        fputc('\n', stream);
        print_roff(stream, o->help);
        if (o->choice != NULL) {
            fputs(" (one of: ", stream);
            print_roff(stream, o->choice);
            fputc(')', stream);
        }
        fputs(".\n", stream);
    }
}

static void print_footer(FILE *stream)
{
    fputs(".SH EXIT STATUS\n0 on success, 1 for a finding or a refused phase, "
          "2 for wrong usage.\n",
          stream);
}

static void print_command_page(FILE *stream, const struct command *command)
{
    char name[64];

    snprintf(name, sizeof name, "takt-%s", command->name);
    print_title(stream, name);
    fprintf(stream, ".SH NAME\ntakt\\-%s \\- ", command->name);
    print_roff(stream, command->summary);
    fprintf(stream, "\n.SH SYNOPSIS\n.B takt %s\n[\\fIOPTIONS\\fR] ",
            command->name);
    print_roff(stream, command->operands);
    fputs("\n.SH DESCRIPTION\n", stream);
    print_roff(stream, command->description);
    fputc('\n', stream);
    print_options(stream, command);
    fputs(".SH EXAMPLES\n.nf\n", stream);
    for (size_t i = 0; command->examples[i] != NULL; i++) {
        print_roff(stream, command->examples[i]);
        fputc('\n', stream);
    }
    fputs(".fi\n", stream);
    print_footer(stream);
    fputs(".SH SEE ALSO\n.BR takt (1)\n", stream);
}

static void print_main_page(FILE *stream)
{
    print_title(stream, "takt");
    fputs(".SH NAME\ntakt \\- run numeric operations where they finish first\n"
          ".SH SYNOPSIS\n.B takt\n\\fICOMMAND\\fR [\\fIOPTIONS\\fR] ...\n"
          ".SH DESCRIPTION\nTakt routes each numeric operation to whichever "
          "processor of a machine finishes it first: scalar code, SIMD code "
          "or a GPU.\n.SH COMMANDS\n",
          stream);
    for (size_t i = 0; commands[i] != NULL; i++) {
        fprintf(stream, ".TP\n.BR takt\\-%s (1)\n", commands[i]->name);
        print_roff(stream, commands[i]->summary);
        fputs(".\n", stream);
    }
    fputs(".SH SIZES\nCounts may be written 64K, 2M, 1e6 (K, M, G and T are "
          "powers of 1000) or 4Ki (Ki, Mi, Gi and Ti, powers of 1024). "
          "Shapes are counts joined by x: 1024x512x256.\n",
          stream);
    print_footer(stream);
}

void print_man(FILE *stream, const struct command *command)
{
    if (command == NULL)
        print_main_page(stream);
    else
        print_command_page(stream, command);
}
