/* SPDX-License-Identifier: MIT */
/* baseline_words.c - what the arguments of a call are, and which of them is
 * wrong.
 */
#include <stdio.h>
#include <string.h>

#include "baseline_request.h"

const char *baseline_arguments(enum takt_routine routine)
{
    static const char *const words[TAKT_ROUTINES] = {
        [TAKT_GEMM] = "tTmnkfaAbBFcC", [TAKT_SYMM] = "sumnfaAbBFcC",
        [TAKT_SYRK] = "utnkfaAFcC",    [TAKT_SYR2K] = "utnkfaAbBFcC",
        [TAKT_TRMM] = "sutdmnfaAcC",   [TAKT_TRSM] = "sutdmnfaAcC",
        [TAKT_GEMV] = "tmnfaAbBFcC",   [TAKT_GER] = "mnfaAbBcC",
        [TAKT_AXPY] = "nfbBcC",        [TAKT_DOT] = "nbBcC",
        [TAKT_SCAL] = "nfcC",          [TAKT_NRM2] = "nbB",
        [TAKT_ASUM] = "nbB",           [TAKT_IAMAX] = "nbB",
    };

    return words[routine];
}

const char *baseline_routine_name(enum takt_routine routine)
{
    static const char *const names[TAKT_ROUTINES] = {
        [TAKT_GEMM] = "gemm",   [TAKT_SYMM] = "symm", [TAKT_SYRK] = "syrk",
        [TAKT_SYR2K] = "syr2k", [TAKT_TRMM] = "trmm", [TAKT_TRSM] = "trsm",
        [TAKT_GEMV] = "gemv",   [TAKT_GER] = "ger",   [TAKT_AXPY] = "axpy",
        [TAKT_DOT] = "dot",     [TAKT_SCAL] = "scal", [TAKT_NRM2] = "nrm2",
        [TAKT_ASUM] = "asum",   [TAKT_IAMAX] = "amax"};

    return names[routine];
}

static int word_at(const struct baseline_request *r, char argument)
{
    switch (argument) {
    case 't':
        return r->transa;
    case 'T':
        return r->transb;
    case 's':
        return r->side;
    case 'u':
        return r->uplo;
    default:
        return r->diag;
    }
}

static bool is_word(char argument)
{
    return strchr("tTsud", argument) != NULL;
}

static bool is_pointer(char argument)
{
    return strchr("abc", argument) != NULL;
}

void baseline_describe(const struct baseline_request *r, char *text,
                       size_t size)
{
    size_t at = (size_t)snprintf(text, size, "%c%s %d", "sdcz"[r->letter],
                                 baseline_routine_name(r->routine), r -> order);

    for (const char *word = baseline_arguments(r->routine);
         *word != '\0' && at < size; word++) {
        const double *factor = *word == 'f' ? r->alpha : r->beta;
        const void *pointer = *word == 'a' ? r->a : *word == 'b' ? r->b : r->c;
        char *to = text + at;
        const size_t left = size - at;
        int length;
        if (is_word(*word))
            length = snprintf(to, left, " %d", word_at(r, *word));
        else if (is_pointer(*word))
            length = snprintf(to, left, " %p", pointer);
        else if (*word == 'f' || *word == 'F')
            length = snprintf(to, left, " %.17g,%.17g", factor[0],
                              r->letter > TAKT_D ? factor[1] : 0.0);
        else
            length = snprintf(to, left, " %lld",
                              (long long)baseline_number_at(r, *word));
        at += (size_t)length;
    }
}

/* ---- what is wrong ------------------------------------------------------- */

int baseline_letter_of(int number)
{
    static const struct {
        int number;
        char letter;
    } known[] = {{111, 'N'}, {112, 'T'}, {113, 'C'}, {121, 'U'}, {122, 'L'},
                 {131, 'N'}, {132, 'U'}, {141, 'L'}, {142, 'R'}};

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].number == number)
            return known[i].letter;
    return 0;
}

static bool is_right_word(const struct baseline_request *r, char argument)
{
    const int word = word_at(r, argument);

    if (r->order != 0)
        return argument == 's'   ? word == 141 || word == 142
               : argument == 'u' ? word == 121 || word == 122
               : argument == 'd' ? word == 131 || word == 132
                                 : word >= 111 && word <= 113;
    const char *const letters = argument == 's'   ? "LRlr"
                                : argument == 'u' ? "ULul"
                                : argument == 'd' ? "NUnu"
                                                  : "NTCntc";
    return word > 0 && strchr(letters, word) != NULL;
}

/* 'N' and the like, of either language. */
static int letter_at(const struct baseline_request *r, char argument)
{
    const int word = word_at(r, argument);

    if (r->order != 0)
        return baseline_letter_of(word);
    return word >= 'a' && word <= 'z' ? word - 'a' + 'A' : word;
}

/* The longest of 1 and a line of rows by columns. */
static int64_t line(const struct baseline_request *r, int64_t rows,
                    int64_t columns)
{
    const int64_t length = r->order == BASELINE_BY_ROWS ? columns : rows;

    return length > 1 ? length : 1;
}

static int64_t least_lda(const struct baseline_request *r)
{
    const bool is_plain = letter_at(r, 't') == 'N';
    const int64_t order = letter_at(r, 's') == 'L' ? r->m : r->n;

    switch (r->routine) {
    case TAKT_GEMM:
        return is_plain ? line(r, r->m, r->k) : line(r, r->k, r->m);
    case TAKT_SYRK:
    case TAKT_SYR2K:
        return is_plain ? line(r, r->n, r->k) : line(r, r->k, r->n);
    case TAKT_GEMV:
        return line(r, r->m, r->n);
    default:
        return line(r, order, order);
    }
}

static int64_t least_ldb(const struct baseline_request *r)
{
    if (r->routine == TAKT_SYR2K)
        return least_lda(r);
    if (r->routine == TAKT_SYMM)
        return line(r, r->m, r->n);
    return letter_at(r, 'T') == 'N' ? line(r, r->k, r->n) : line(r, r->n, r->k);
}

static int64_t least_ldc(const struct baseline_request *r)
{
    if (r->routine == TAKT_SYRK || r->routine == TAKT_SYR2K)
        return line(r, r->n, r->n);
    return line(r, r->m, r->n);
}

static bool is_right_step(const struct baseline_request *r, char argument)
{
    const int64_t step = baseline_number_at(r, argument);

    if (r->routine >= TAKT_AXPY)
        return true;
    if ((r->routine == TAKT_GER && argument != 'C') ||
        (r->routine == TAKT_GEMV && argument != 'A'))
        return step != 0;
    return step >= (argument == 'A'   ? least_lda(r)
                    : argument == 'B' ? least_ldb(r)
                                      : least_ldc(r));
}

static bool is_right(const struct baseline_request *r, char argument)
{
    if (is_word(argument))
        return is_right_word(r, argument);
    if (strchr("mnk", argument) != NULL)
        return baseline_number_at(r, argument) >= 0 || r->routine >= TAKT_AXPY;
    return strchr("ABC", argument) == NULL || is_right_step(r, argument);
}

int baseline_wrong_argument(const struct baseline_request *r)
{
    const char *const words = baseline_arguments(r->routine);
    const bool has_order = r->order != 0 && r->routine < TAKT_AXPY;

    if (has_order && r->order != BASELINE_BY_ROWS &&
        r->order != BASELINE_BY_COLUMNS)
        return 1;
    for (size_t i = 0; words[i] != '\0'; i++)
        if (!is_right(r, words[i]))
            return (int)i + 1 + has_order;
    return 0;
}
