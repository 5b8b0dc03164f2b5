/* SPDX-License-Identifier: MIT */
/* completion.c - shell completion, written from the tables of the commands. */
#include <string.h>

#include <takt/op.h>

#include "command.h"

/* Whether an operand of the command is an op. */
static bool takes_ops(const struct command *command)
{
    return command->actions != NULL ||
           strstr(command->operands, "OP]") != NULL ||
           strstr(command->operands, "OP...") != NULL;
}

static void print_ops(FILE *stream)
{
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

static void print_bash_values(FILE *stream)
{
    fputs("    case \"$command $previous\" in\n", stream);
    for (size_t i = 0; commands[i] != NULL; i++)
        for (const struct option *o = commands[i]->options; o->name; o++) {
            if (o->value == NULL)
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
            print_ops(stream);
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
        if (o->value != NULL)
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
        if (commands[i]->actions != NULL) {
            fprintf(stream,
                    "complete -c takt -n '__fish_seen_subcommand_from %s' "
                    "-a '",
                    commands[i]->name);
            print_choice(stream, commands[i]->actions);
            fputs("'\n", stream);
        }
        if (takes_ops(commands[i])) {
            fprintf(stream,
                    "complete -c takt -n '__fish_seen_subcommand_from %s' "
                    "-a '",
                    commands[i]->name);
            print_ops(stream);
            fputs("'\n", stream);
        }
    }
}
