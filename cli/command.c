/* SPDX-License-Identifier: MIT */
/*
 * command.c - reading a command line by the table of its command.
 *
 * Long options only, as --name VALUE or --name=VALUE, anywhere on the line;
 * "--" ends them. A word such as -5 is an operand: the command itself says
 * what is wrong with it.
 */
#include "command.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/name.h"
#include "clean.h"

const struct command *find_command(const char *name)
{
    for (size_t i = 0; commands[i] != NULL; i++)
        if (strcmp(name, commands[i]->name) == 0)
            return commands[i];
    return NULL;
}

static void print_error(const struct command *command, const char *format,
                        va_list values, bool is_usage)
{
    char line[2048];

    vsnprintf(line, sizeof line, format, values);
    fflush(stdout);
    fprintf(stderr, "takt %s: ", command->name);
    print_clean(stderr, line);
    if (is_usage)
        fprintf(stderr, " (see 'takt %s --help')", command->name);
    fputc('\n', stderr);
}

int usage_error(const struct command *command, const char *format, ...)
{
    va_list values;

    va_start(values, format);
    print_error(command, format, values, true);
    va_end(values);
    return EXIT_USAGE;
}

bool reject(const struct command *command, const char *format, ...)
{
    va_list values;

    va_start(values, format);
    print_error(command, format, values, true);
    va_end(values);
    return false;
}

int complain(const struct command *command, const char *format, ...)
{
    va_list values;

    va_start(values, format);
    print_error(command, format, values, false);
    va_end(values);
    return EXIT_FINDING;
}

bool copy_list(const struct command *command, const char *option,
               const char *text, char out[longest_list])
{
    if (strlen(text) >= longest_list)
        return reject(command, "--%s is longer than %d characters", option,
                      longest_list - 1);
    strcpy(out, text);
    return true;
}

static size_t option_index(const struct command *command, const char *name,
                           size_t length)
{
    size_t i = 0;

    while (command->options[i].name != NULL &&
           (strlen(command->options[i].name) != length ||
            memcmp(command->options[i].name, name, length) != 0))
        i++;
    return i;
}

const char *option_value(const struct invocation *invocation, const char *name)
{
    const size_t i = option_index(invocation->command, name, strlen(name));

    assert(invocation->command->options[i].name != NULL);
    return invocation->values[i];
}

bool option_given(const struct invocation *invocation, const char *name)
{
    return option_value(invocation, name) != NULL;
}

size_t option_choice(const struct invocation *invocation, const char *name)
{
    const size_t i = option_index(invocation->command, name, strlen(name));
    const char *word = invocation->values[i];
    size_t index = 0;

    if (word != NULL)
        find_choice(word, invocation->command->options[i].choice, &index);
    return index;
}

bool find_choice(const char *word, const char *choice, size_t *index)
{
    size_t i = 0;

    for (const char *at = choice;; at++, i++) {
        const size_t length = strcspn(at, "|");
        if (takt__name_equal_n(at, length, word)) {
            *index = i;
            return true;
        }
        at += length;
        if (*at == '\0')
            return false;
    }
}

bool is_nearer(const char *typed, const char *name, size_t *shortest)
{
    const size_t distance = takt__name_distance(typed, name);
    const bool is =
        distance < *shortest && takt__name_near(typed, name, distance);

    if (is)
        *shortest = distance;
    return is;
}

const char *nearest_choice(const char *typed, const char *choice, char *near,
                           size_t size)
{
    size_t shortest = (size_t)-1;
    const char *found = NULL;

    for (const char *at = choice;; at++) {
        char word[64] = "";
        const size_t length = strcspn(at, "|");
        if (length < sizeof word && length < size) {
            memcpy(word, at, length);
            if (is_nearer(typed, word, &shortest))
                found = memcpy(near, word, length + 1);
        }
        at += length;
        if (*at == '\0')
            return found;
    }
}

static bool unknown_option(const struct command *command, const char *word,
                           size_t length)
{
    size_t shortest = (size_t)-1;
    const char *near = NULL;
    char typed[64] = "";

    if (length < sizeof typed)
        memcpy(typed, word, length);
    for (size_t i = 0; command->options[i].name != NULL; i++)
        if (is_nearer(typed, command->options[i].name, &shortest))
            near = command->options[i].name;
    if (near != NULL)
        return reject(command, "no option --%s; did you mean --%s?", typed,
                      near);
    return reject(command, "no option --%.*s", (int)length, word);
}

static bool check_choice(const struct command *command,
                         const struct option *option, const char *value)
{
    char near[64];
    size_t index;

    if (option->choice == NULL || find_choice(value, option->choice, &index))
        return true;
    const char *meant =
        nearest_choice(value, option->choice, near, sizeof near);
    if (meant != NULL)
        return reject(command, "--%s '%s': did you mean '%s'?", option->name,
                      value, meant);
    return reject(command, "--%s '%s' is not one of %s", option->name, value,
                  option->choice);
}

bool has_optional_value(const struct option *option)
{
    return option->value != NULL && option->value[0] == '[';
}

static bool is_whole(const char *word)
{
    return word[0] != '\0' && word[strspn(word, "0123456789")] == '\0';
}

/* Whether an option without = takes the next word: always, or where it is
 * meant, as in --compare 5. */
static bool takes_next(const struct option *option, const char *next)
{
    return option->value != NULL &&
           (!has_optional_value(option) || (next != NULL && is_whole(next)));
}

const char *option_value_at(const struct invocation *invocation,
                            const char *name, size_t index)
{
    const struct command *command = invocation->command;

    for (char *const *word = invocation->words;
         *word != NULL && strcmp(*word, "--") != 0; word++) {
        if (strncmp(*word, "--", 2) != 0)
            continue;
        const size_t length = strcspn(*word + 2, "=");
        const struct option *option =
            &command->options[option_index(command, *word + 2, length)];
        const char *value =
            (*word)[2 + length] == '=' ? *word + 3 + length : NULL;
        if (value == NULL && option->name != NULL &&
            takes_next(option, word[1]) && word[1] != NULL)
            value = *++word;
        if (option->name != NULL && strcmp(option->name, name) == 0 &&
            index-- == 0)
            return value != NULL ? value : "";
    }
    return NULL;
}

/* Takes the option `word` of argv[*at] and its value, if it has one. */
static bool take_option(struct invocation *out, int argc, char **argv,
                        const char *word, int *at)
{
    const struct command *command = out->command;
    const size_t length = strcspn(word, "=");
    const size_t i = option_index(command, word, length);
    const struct option *option = &command->options[i];
    const char *value = word[length] == '=' ? word + length + 1 : NULL;

    if (option->name == NULL)
        return unknown_option(command, word, length);
    if (option->value == NULL && value != NULL)
        return reject(command, "--%s takes no value", option->name);
    if (value == NULL &&
        takes_next(option, *at + 1 < argc ? argv[*at + 1] : NULL)) {
        if (*at + 1 >= argc)
            return reject(command, "--%s needs %s", option->name,
                          option->value);
        value = argv[++*at];
    }
    out->values[i] = value == NULL ? "" : value;
    return value == NULL || check_choice(command, option, value);
}

static bool has_option(const struct command *command, const char *name)
{
    return command->options[option_index(command, name, strlen(name))].name !=
           NULL;
}

/* As a shell would read it. */
static void print_word(const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_./:=,@%+-";

    if (word[0] != '\0' && word[strspn(word, plain)] == '\0') {
        fprintf(stderr, " %s", word);
        return;
    }
    fputs(" '", stderr);
    for (const char *quote; (quote = strchr(word, '\'')) != NULL;
         word = quote + 1) {
        char part[8192];
        snprintf(part, sizeof part, "%.*s", (int)(quote - word), word);
        print_clean(stderr, part);
        fputs("'\\''", stderr);
    }
    print_clean(stderr, word);
    fputc('\'', stderr);
}

/* For a command that takes a program: says that it comes after --, and what the
 * whole line would be. Returns false. */
static bool suggest_program(const struct invocation *invocation)
{
    const char *name = invocation->command->name;

    fprintf(stderr,
            "takt %s: the command comes after --; did you mean: takt %s", name,
            name);
    for (char *const *word = invocation->words; *word != NULL; word++) {
        if (word == invocation->first_operand)
            fputs(" --", stderr);
        print_word(*word);
    }
    fputc('\n', stderr);
    return false;
}

/* What is printed has one form. */
static bool check_forms(const struct invocation *out)
{
    static const char *const forms[] = {"json", "csv", "svg", "html"};
    const char *given = NULL;

    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if (!has_option(out->command, forms[i]) || !option_given(out, forms[i]))
            continue;
        if (given != NULL)
            return reject(out->command, "--%s and --%s exclude each other",
                          given, forms[i]);
        given = forms[i];
    }
    return true;
}

static bool check_operands(const struct invocation *out)
{
    const struct command *command = out->command;

    if (out->operand_count < command->min_operands)
        return reject(command, "needs %s", command->operands);
    if (out->operand_count > command->max_operands && command->takes_program)
        return suggest_program(out);
    if (out->operand_count > command->max_operands)
        return reject(command, "'%s' is one word too many",
                      out->operands[command->max_operands]);
    return check_forms(out);
}

bool parse_invocation(const struct command *command, int argc, char **argv,
                      struct invocation *out)
{
    bool options_ended = false;

    *out = (struct invocation){.command = command, .words = argv};
    for (int i = 0; i < argc; i++) {
        if (!options_ended && strcmp(argv[i], "--") == 0) {
            options_ended = true;
            if (command->takes_program) {
                out->program = argv + i + 1;
                break;
            }
        } else if (!options_ended && strncmp(argv[i], "--", 2) == 0) {
            if (!take_option(out, argc, argv, argv[i] + 2, &i))
                return false;
        } else if (!options_ended && strcmp(argv[i], "-o") == 0 &&
                   has_option(command, "output")) {
            if (!take_option(out, argc, argv, "output", &i))
                return false;
        } else if (out->operand_count < max_operands) {
            if (out->first_operand == NULL)
                out->first_operand = argv + i;
            out->operands[out->operand_count++] = argv[i];
            if (command->takes_program && command->max_operands == 0)
                return check_operands(out); /* the rest is the program's */
        } else {
            return reject(command, "more than %d words", max_operands);
        }
    }
    return check_operands(out);
}
