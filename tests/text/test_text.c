/* SPDX-License-Identifier: MIT */
/* test_text.c - UTF-8, numbers, quoting for JSON, streams to memory, and memory
 * that is freed at once. */
#include "support/tap.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "text/decimal.h"
#include "text/json.h"
#include "text/memory_file.h"
#include "text/region.h"
#include "text/utf8.h"

static void every_character_is_read_as_it_was_written(void)
{
    for (uint32_t c = 1; c <= 0x10FFFF; c++) {
        char text[8] = "";
        uint32_t again = 0;
        const size_t length = takt__utf8_put(c, text);
        const bool is_half = c >= 0xD800 && c <= 0xDFFF;

        if (takt__utf8_read(text, &again) != (is_half ? 0 : length) ||
            (!is_half && again != c) ||
            takt__is_utf8(text, length) == is_half) {
            TAP_CHECK(false, "character %x", (unsigned)c);
            return;
        }
    }
}

/* What could have begun a character is one mistake, not several. */
static void broken_bytes_are_counted(void)
{
    static const struct {
        const char *text;
        size_t left, length;
        bool is_whole;
    } row[] = {{"a", 1, 1, true},
               {"\xC3\xA9", 2, 2, true},
               {"\xC3\xA9", 1, 1, false},
               {"\xE2\x82\xAC", 3, 3, true},
               {"\xE2\x82\xAC", 2, 2, false},
               {"\xE2\x82x", 3, 2, false},
               {"\xF0\x9F\x98\x80", 4, 4, true},
               {"\xF0\x9F\x98", SIZE_MAX, 3, false}, /* a NUL ends it */
               {"\xED\xA0\x80", 3, 1, false},
               {"\xC0\xAF", 2, 1, false},
               {"\xF5\x80\x80\x80", 4, 1, false},
               {"\x80", 1, 1, false}};

    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        bool is_whole = !row[i].is_whole;
        const size_t length =
            takt__utf8_take(row[i].text, row[i].left, &is_whole);
        TAP_CHECK(length == row[i].length && is_whole == row[i].is_whole,
                  "row %zu", i);
    }
}

static void controls_and_what_is_invisible_are_unsafe(void)
{
    static const uint32_t unsafe[] = {
        0,      '\n',   0x7f,   0x9b,   0xad,   0x34f,  0x115f,  0x180e, 0x200b,
        0x202e, 0x2066, 0x3164, 0xfe0f, 0xfeff, 0xffa0, 0x1bca0, 0xe0001};
    static const uint32_t safe[] = {' ', '~', 0xa0, 0xe9, 0x20ac, 0x1f600};

    for (size_t i = 0; i < sizeof unsafe / sizeof *unsafe; i++)
        TAP_CHECK(takt__is_unsafe(unsafe[i]), "%x", (unsigned)unsafe[i]);
    for (size_t i = 0; i < sizeof safe / sizeof *safe; i++)
        TAP_CHECK(!takt__is_unsafe(safe[i]), "%x", (unsigned)safe[i]);
}

static void any_bytes_become_json(void)
{
    struct takt_json_trouble trouble;
    struct takt_json_document document;
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    REQUIRE(stream != NULL);
    takt__json_quote(stream, "a\"\\\n\x1b\u202e\U000e0001\u20ac\xff\xe2\x82",
                     "\\ufffd");
    fclose(stream);
    EXPECT_STR(text, "\"a\\\"\\\\\\u000a\\u001b\\u202e\\udb40\\udc01\u20ac"
                     "\\ufffd\\ufffd\\ufffd\"");
    REQUIRE(takt__json_read(text, size, &document, &trouble));
    EXPECT_STR(document.root->text, "a\"\\\n\x1b\u202e\U000e0001\u20ac"
                                    "\ufffd\ufffd\ufffd");
    takt__json_free(&document);
    free(text);
}

static void a_region_has_what_was_put_into_it(void)
{
    enum { count = 3000 };
    static char *kept[count];
    struct takt_region region = {0};

    for (size_t i = 0; i < count; i++) {
        const size_t size = i % 97 == 0 ? 10000 : i % 50 + 1;
        kept[i] = takt__region_take(&region, size);
        REQUIRE(kept[i] != NULL);
        EXPECT((uintptr_t)kept[i] % _Alignof(max_align_t) == 0);
        EXPECT(kept[i][0] == 0 && kept[i][size - 1] == 0);
        memset(kept[i], (int)(i % 251) + 1, size);
    }
    for (size_t i = 0; i < count; i++)
        EXPECT((unsigned char)kept[i][0] == i % 251 + 1);
    EXPECT_STR(takt__region_copy(&region, "abc", 2), "ab");
    EXPECT(takt__region_take(&region, SIZE_MAX) == NULL);
    takt__region_free(&region);
    EXPECT(region.last == NULL);
}

static void a_stream_to_memory_has_all_that_was_written(void)
{
    struct takt_memory_file file;

    REQUIRE(takt__memory_file_open(&file));
    EXPECT(takt__memory_file_close(&file));
    EXPECT_STR(file.text, "");
    free(file.text);
    REQUIRE(takt__memory_file_open(&file));
    for (unsigned i = 0; i < 10000; i++)
        fprintf(file.stream, "%07u ", i);
    REQUIRE(takt__memory_file_close(&file));
    EXPECT_INT(file.length, 80000);
    EXPECT_INT(strlen(file.text), 80000);
    EXPECT_STR(file.text + 79992, "0009999 ");
    free(file.text);
}

/* open_memstream() loses what it has no memory for, and says nothing. */
static void a_stream_that_lost_text_fails(void)
{
#ifndef __SANITIZE_ADDRESS__ /* which ends a program that asks for so much */
    struct takt_memory_file file;

    REQUIRE(takt__memory_file_open(&file));
    fputs("abc", file.stream);
    fflush(file.stream);
    file.length = PTRDIFF_MAX - 8192; /* more than there is */
    fputs("def", file.stream);
    EXPECT(fflush(file.stream) != 0 && ferror(file.stream) != 0);
    file.length = 3;
    fputs("ghi", file.stream);
    EXPECT(!takt__memory_file_close(&file));
    EXPECT(file.text == NULL);
#endif
}

/* ---- numbers ---- */

/* The fewest digits that the C library needs, 15 at least. */
static int digits_needed(double value)
{
    char text[64];

    for (int digits = 15; digits < 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            return digits;
    }
    return 17;
}

/* Those of a text, but for zeros in front. */
static int digits_of(const char *text)
{
    int count = 0;

    for (text += strspn(text, "-0."); *text != '\0' && *text != 'e'; text++)
        count += *text != '.';
    return count;
}

static bool is_written_well(double value)
{
    char text[TAKT_DECIMAL_ROOM + 1];

    text[takt__decimal_real(value, text)] = '\0';
    const double again = strtod(text, NULL);
    return memcmp(&again, &value, sizeof value) == 0 &&
           digits_of(text) <= digits_needed(value);
}

static void reals_read_back_as_they_were(void)
{
    static const double edge[] = {0,    -0.0,     5e-324, DBL_MIN,   DBL_MAX,
                                  1e15, 1e15 - 1, 1e-7,   9.999e-8,  1e22,
                                  1e23, 0.3,      -0.1,   1.0 / 3.0, 0x1p53};
    uint64_t state = 1;

    for (size_t i = 0; i < sizeof edge / sizeof *edge; i++)
        TAP_CHECK(is_written_well(edge[i]), "%.17g", edge[i]);
    for (int i = 0; i < 100000; i++) {
        state = state * 6364136223846793005 + 1442695040888963407;
        const uint64_t bits = state ^ state >> 29;
        const double decimal =
            (double)(bits % (uint64_t)1e15) / pow(10, (double)(bits >> 60));
        double value = decimal;
        if (i % 2 == 0)
            memcpy(&value, &bits, sizeof value);
        if (isfinite(value) && !is_written_well(value)) {
            TAP_CHECK(false, "%.17g", value);
            return;
        }
    }
}

static void numbers_are_written_plainly(void)
{
    static const struct {
        double value;
        const char *text;
    } row[] = {{0, "0"},
               {-2.5, "-2.5"},
               {0.0035, "0.0035"},
               {1e14, "100000000000000"},
               {6e6, "6000000"},
               {3574622 / 1e9, "0.003574622"},
               {1e-7, "0.0000001"},
               {1e-8, "1e-08"},
               {2.5e15, "2.5e+15"}};
    char text[TAKT_DECIMAL_ROOM + 1];

    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        text[takt__decimal_real(row[i].value, text)] = '\0';
        EXPECT_STR(text, row[i].text);
    }
    text[takt__decimal_count(UINT64_MAX, text)] = '\0';
    EXPECT_STR(text, "18446744073709551615");
    text[takt__decimal_count(0, text)] = '\0';
    EXPECT_STR(text, "0");
}

int main(void)
{
    RUN(reals_read_back_as_they_were);
    RUN(numbers_are_written_plainly);
    RUN(every_character_is_read_as_it_was_written);
    RUN(broken_bytes_are_counted);
    RUN(controls_and_what_is_invisible_are_unsafe);
    RUN(any_bytes_become_json);
    RUN(a_stream_to_memory_has_all_that_was_written);
    RUN(a_stream_that_lost_text_fails);
    RUN(a_region_has_what_was_put_into_it);
    return tap_done();
}
