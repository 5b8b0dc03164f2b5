/* SPDX-License-Identifier: MIT */
/* test_text.c - UTF-8, quoting for JSON, streams to memory, and memory that is
 * freed at once. */
#include "support/tap.h"

#include <stdlib.h>
#include <string.h>

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
    static const uint32_t unsafe[] = {0,      '\n',   0x7f,   0x9b,   0xad,
                                      0x200b, 0x202e, 0x2066, 0xfeff, 0xe0001};
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

int main(void)
{
    RUN(every_character_is_read_as_it_was_written);
    RUN(broken_bytes_are_counted);
    RUN(controls_and_what_is_invisible_are_unsafe);
    RUN(any_bytes_become_json);
    RUN(a_stream_to_memory_has_all_that_was_written);
    RUN(a_stream_that_lost_text_fails);
    RUN(a_region_has_what_was_put_into_it);
    return tap_done();
}
