/* SPDX-License-Identifier: MIT */
/* help.c - help for people at a terminal. */
#include "command.h"

#include <string.h>

enum { width = 78 };

/* Prints words, broken at `width`; a newline in the text starts a new line. */
static void print_wrapped(FILE *stream, const char *text)
{
    size_t column = 0;

    for (const char *at = text; *at != '\0';) {
        if (*at == '\n') {
            fputc(*at++, stream);
            column = 0;
            continue;
        }
        const size_t length = strcspn(at, " \n");
        if (column > 0 && column + 1 + length > width) {
            fputc('\n', stream);
            column = 0;
        }
        column += (size_t)fprintf(stream, "%s%.*s", column > 0 ? " " : "",
                                  (int)length, at);
        at += length;
        at += *at == ' ';
    }
    fputc('\n', stream);
}

void print_overview(FILE *stream)
{
    fputs("usage: takt COMMAND [OPTIONS] ...\n\n"
          "Takt runs each numeric operation on whichever processor of a "
          "machine\nfinishes it first.\n\n",
          stream);
    for (size_t i = 0; commands[i] != NULL; i++)
        fprintf(stream, "  %-12s %s\n", commands[i]->name,
                commands[i]->summary);
    fputs("\n'takt COMMAND --help' explains a command, with examples.\n"
          "Sizes may be written 64K, 2M, 1e6 or 4Ki; shapes 1024x512x256.\n"
          "Exit status: 0 success, 1 a finding, 2 wrong usage.\n",
          stream);
}

static void print_options(FILE *stream, const struct command *command)
{
    fputs("\noptions:\n", stream);
    for (const struct option *o = command->options; o->name != NULL; o++) {
        char left[64];
        snprintf(left, sizeof left, "--%s%s%s", o->name,
                 o->value != NULL ? " " : "", o->value != NULL ? o->value : "");
        fprintf(stream, "  %-24s %s\n", left, o->help);
    }
    fprintf(stream, "  %-24s %s\n", "--help", "print this");
}

void print_help(FILE *stream, const struct command *command)
{
    fprintf(stream, "usage: takt %s [OPTIONS]%s%s\n\n", command->name,
            command->operands[0] ? " " : "", command->operands);
    print_wrapped(stream, command->description);
    print_options(stream, command);
    fputs("\nexamples:\n", stream);
    for (size_t i = 0; command->examples[i] != NULL; i++)
        fprintf(stream, "  %s\n", command->examples[i]);
}
