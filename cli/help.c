/* SPDX-License-Identifier: MIT */
/* help.c - help, man pages and shell completion from the tables of commands. */
#include <ctype.h>
#include <string.h>

#include <takt/op.h>
#include <takt/version.h>

#include "command.h"

enum { width = 78 };

/* Prints words from a column on, broken at `width`; a newline in the text
 * starts a new line. */
static void print_wrapped(FILE *stream, const char *text, size_t indent)
{
    size_t column = indent;

    for (const char *at = text; *at != '\0';) {
        if (*at == '\n') {
            fputc(*at++, stream);
            column = indent;
            continue;
        }
        const size_t length = strcspn(at, " \n");
        if (column > indent && column + 1 + length > width) {
            fprintf(stream, "\n%*s", (int)indent, "");
            column = indent;
        }
        column += (size_t)fprintf(stream, "%s%.*s", column > indent ? " " : "",
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

/* Between an option and its value. */
static const char *blank_before(const struct option *option)
{
    return option->value != NULL && !has_optional_value(option) ? " " : "";
}

static void print_options(FILE *stream, const struct command *command)
{
    fputs("\noptions:\n", stream);
    for (const struct option *o = command->options; o->name != NULL; o++) {
        char left[64], right[512];
        snprintf(left, sizeof left, "--%s%s%s", o->name, blank_before(o),
                 o->value != NULL ? o->value : "");
        snprintf(right, sizeof right, "%s%s%s", o->help,
                 o->choice != NULL ? "; one of " : "",
                 o->choice != NULL ? o->choice : "");
        fprintf(stream, "  %-23s ", left);
        print_wrapped(stream, right, 26);
    }
    fprintf(stream, "  %-23s %s\n", "--help", "print this");
}

void print_help(FILE *stream, const struct command *command)
{
    fprintf(stream, "usage: takt %s [OPTIONS]%s%s\n\n", command->name,
            command->operands[0] ? " " : "", command->operands);
    print_wrapped(stream, command->description, 0);
    print_options(stream, command);
    fputs("\nexamples:\n", stream);
    for (size_t i = 0; command->examples[i] != NULL; i++)
        fprintf(stream, "  %s\n", command->examples[i]);
}

/* ---- man pages ---- */

/* Roff reads - as a hyphen, \ as its own, and . or ' first on a line as a
 * request. `separator` stands for a newline, or several. */
static void print_roff_lines(FILE *stream, const char *text,
                             const char *separator)
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
        else if (*at != '\n')
            fputc(*at, stream);
        else if (at[1] != '\n')
            fputs(separator, stream);
    }
}

static void print_roff(FILE *stream, const char *text)
{
    print_roff_lines(stream, text, "\n");
}

static void print_title(FILE *stream, const char *name)
{
    fputs(".TH ", stream);
    for (const char *at = name; *at != '\0'; at++)
        fputc(toupper((unsigned char)*at), stream);
    fprintf(stream, " 1 \"\" \"takt %s\" \"Takt manual\"\n",
            TAKT_VERSION_STRING);
}

static void print_man_options(FILE *stream, const struct command *command)
{
    fputs(".SH OPTIONS\n", stream);
    for (const struct option *o = command->options; o->name != NULL; o++) {
        fputs(".TP\n.B \\-\\-", stream);
        print_roff(stream, o->name);
        if (o->value != NULL)
            fprintf(stream, "%s\\fI%s\\fR", blank_before(o), o->value);
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
    print_roff_lines(stream, command->description, "\n.PP\n");
    fputc('\n', stream);
    print_man_options(stream, command);
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
          "on several threads, a BLAS library or a GPU.\n.PP\n"
          ".B takt doctor\nsays what was found here,\n.B takt tune\n"
          "measures it,\n.B takt run \\-\\- \\fICOMMAND\\fR\n"
          "runs a program with its operations routed;\n"
          ".BR takt\\-tutorial (7)\nleads through all of it.\n"
          ".SH COMMANDS\n",
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
    fputs(".SH SEE ALSO\n.BR takt\\-tutorial (7),\n.BR takt.h (3)\n", stream);
}

void print_man(FILE *stream, const struct command *command)
{
    if (command == NULL)
        print_main_page(stream);
    else
        print_command_page(stream, command);
}

/* ---- shell completion ---- */

/* Whether an operand of the command is an op. */
static bool takes_ops(const struct command *command)
{
    return command->actions != NULL ||
           strstr(command->operands, "OP]") != NULL ||
           strstr(command->operands, "OP...") != NULL;
}

static void print_ops(FILE *stream, const struct command *command)
{
    (void)command;
    for (size_t i = 0; i < takt_op_count(); i++)
        fprintf(stream, "%s%s", i > 0 ? " " : "", takt_op_at(i)->name);
}

static void print_command_names(FILE *stream)
{
    for (size_t i = 0; commands[i] != NULL; i++)
        fprintf(stream, "%s%s", i > 0 ? " " : "", commands[i]->name);
}

/* "low|high" as "low high". */
static void print_choice(FILE *stream, const char *choice)
{
    for (const char *at = choice; *at != '\0'; at++)
        fputc(*at == '|' ? ' ' : *at, stream);
}

static void print_actions(FILE *stream, const struct command *command)
{
    print_choice(stream, command->actions);
}

static void print_bash_values(FILE *stream)
{
    fputs("    case \"$command $previous\" in\n", stream);
    for (size_t i = 0; commands[i] != NULL; i++)
        for (const struct option *o = commands[i]->options; o->name; o++) {
            if (o->value == NULL || has_optional_value(o))
                continue;
            fprintf(stream, "    '%s --%s') ", commands[i]->name, o->name);
            if (strcmp(o->value, "DIR") == 0)
                fputs("COMPREPLY=($(compgen -d -- \"$word\")); ", stream);
            else if (strcmp(o->value, "FILE") == 0)
                fputs("COMPREPLY=($(compgen -f -- \"$word\")); ", stream);
            else if (o->choice != NULL) {
                fputs("COMPREPLY=($(compgen -W '", stream);
                print_choice(stream, o->choice);
                fputs("' -- \"$word\")); ", stream);
            }
            fputs("return ;;\n", stream);
        }
    fputs("    esac\n", stream);
}

static void print_bash_words(FILE *stream)
{
    fputs("    case \"$command\" in\n", stream);
    for (size_t i = 0; commands[i] != NULL; i++) {
        fprintf(stream, "    %s) words='--help", commands[i]->name);
        for (const struct option *o = commands[i]->options; o->name; o++)
            fprintf(stream, " --%s", o->name);
        if (commands[i]->actions != NULL) {
            fputc(' ', stream);
            print_choice(stream, commands[i]->actions);
        }
        if (takes_ops(commands[i])) {
            fputc(' ', stream);
            print_ops(stream, commands[i]);
        }
        if (strcmp(commands[i]->name, "help") == 0) {
            fputc(' ', stream);
            print_command_names(stream);
        }
        fputs("' ;;\n", stream);
    }
    fputs("    *) words='", stream);
    print_command_names(stream);
    fputs(" --help --version' ;;\n    esac\n", stream);
}

void print_bash_completion(FILE *stream)
{
    fputs("# bash completion for takt; made by 'takt completion bash'\n"
          "_takt()\n{\n"
          "    local word=${COMP_WORDS[COMP_CWORD]}\n"
          "    local previous=${COMP_WORDS[COMP_CWORD-1]}\n"
          "    local command= words=\n"
          "    [ \"$COMP_CWORD\" -gt 1 ] && command=${COMP_WORDS[1]}\n",
          stream);
    print_bash_values(stream);
    print_bash_words(stream);
    fputs("    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n}\n"
          "complete -F _takt takt\n",
          stream);
}

/* zsh runs bash's completions through its own emulation. */
void print_zsh_completion(FILE *stream)
{
    fputs("#compdef takt\n"
          "autoload -U +X bashcompinit && bashcompinit\n",
          stream);
    print_bash_completion(stream);
}

static void print_fish_quoted(FILE *stream, const char *text)
{
    fputc('\'', stream);
    for (const char *at = text; *at != '\0'; at++) {
        if (*at == '\'' || *at == '\\')
            fputc('\\', stream);
        fputc(*at, stream);
    }
    fputc('\'', stream);
}

static void print_fish_options(FILE *stream, const struct command *command)
{
    for (const struct option *o = command->options; o->name != NULL; o++) {
        fprintf(stream,
                "complete -c takt -n '__fish_seen_subcommand_from %s' -l %s",
                command->name, o->name);
        if (o->value != NULL && !has_optional_value(o))
            fputs(strcmp(o->value, "DIR") == 0 || strcmp(o->value, "FILE") == 0
                      ? " -r -F"
                      : " -x",
                  stream);
        if (o->choice != NULL) {
            fputs(" -a '", stream);
            print_choice(stream, o->choice);
            fputc('\'', stream);
        }
        fputs(" -d ", stream);
        print_fish_quoted(stream, o->help);
        fputc('\n', stream);
    }
}

static void print_fish_words(FILE *stream, const struct command *command,
                             void (*print)(FILE *, const struct command *))
{
    fprintf(stream, "complete -c takt -n '__fish_seen_subcommand_from %s' -a '",
            command->name);
    print(stream, command);
    fputs("'\n", stream);
}

void print_fish_completion(FILE *stream)
{
    fputs("# fish completion for takt; made by 'takt completion fish'\n"
          "complete -c takt -f\n",
          stream);
    for (size_t i = 0; commands[i] != NULL; i++) {
        fprintf(stream, "complete -c takt -n __fish_use_subcommand -a %s -d ",
                commands[i]->name);
        print_fish_quoted(stream, commands[i]->summary);
        fputc('\n', stream);
        print_fish_options(stream, commands[i]);
        if (commands[i]->actions != NULL)
            print_fish_words(stream, commands[i], print_actions);
        if (takes_ops(commands[i]))
            print_fish_words(stream, commands[i], print_ops);
    }
}
