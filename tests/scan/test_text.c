/* SPDX-License-Identifier: MIT */
/*
 * test_text.c - the small things: numbers, snippets, UTF-8, and the filter.
 */
#include "support/tap.h"

#include "filter.h"
#include "place.h"
#include "text/utf8.h"

static void integers_are_read(void)
{
    static const struct {
        const char *text;
        long long value; /* -1: it is none */
    } row[] = {{"0", 0},         {"512", 512},
               {"1_000", 1000},  {"1'000", 1000},
               {"0x1F", 31},     {"0xffu8", 255},
               {"0b101", 5},     {"0o17", 15},
               {"017", 15},      {"512usize", 512},
               {"512_u32", 512}, {"512UL", 512},
               {"512ull", 512},  {"18446744073709551616", -1},
               {"5f32", -1},     {"1.5", -1},
               {"1e3", -1},      {"0x", -1},
               {"", -1},         {"n", -1},
               {"-1", -1},       {"12 ", -1}};

    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        const struct takt_text text = {row[i].text, strlen(row[i].text)};
        uint64_t value = 0;
        const bool is_one = takt__text_integer(text, &value);
        TAP_CHECK(is_one ? (long long)value == row[i].value : row[i].value < 0,
                  "%s is %lld", text.at, is_one ? (long long)value : -1);
    }
}

static void snippets_fit(void)
{
    char out[TAKT_SNIPPET], text[400];

    takt__snippet((struct takt_text){"  a.sum(\n  b)", 13}, out);
    EXPECT_STR(out, "a.sum(");
    takt__snippet((struct takt_text){"a\t+\x01\xFF b \r\nc", 10}, out);
    EXPECT_STR(out, "a + ? b");
    takt__snippet((struct takt_text){"", 0}, out);
    EXPECT_STR(out, "");
    for (size_t i = 0; i + 2 < sizeof text; i += 2)
        memcpy(text + i, "\xC3\xA9", 2);
    takt__snippet((struct takt_text){text, 398}, out);
    EXPECT_INT(strlen(out), TAKT_SNIPPET - 2); /* not half a character */
    EXPECT(takt__is_utf8(out, strlen(out)));
}

static void utf8_is_checked(void)
{
    static const struct {
        const char *text;
        bool is_valid;
    } row[] = {{"plain text, longer than eight", true},
               {"caf\xC3\xA9 and more text", true},
               {"\xE2\x82\xAC\xF0\x9F\x98\x80", true},
               {"\xF4\x8F\xBF\xBF", true},
               {"\xF4\x90\x80\x80", false}, /* beyond the last */
               {"\xED\xA0\x80", false},     /* half of a pair */
               {"\xC0\xAF", false},         /* longer than needed */
               {"\xE0\x9F\xBF", false},
               {"\xF0\x8F\xBF\xBF", false},
               {"\x80", false},
               {"12345678\xC3", false},
               {"\xE2\x82", false},
               {"\xFF", false}};

    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        TAP_CHECK(takt__is_utf8(row[i].text, strlen(row[i].text)) ==
                      row[i].is_valid,
                  "row %zu", i);
}

static bool passes(const char *const *words, const char *text)
{
    struct takt_filter filter;

    takt__filter_make(&filter, words);
    return takt__filter_passes(&filter, text, strlen(text));
}

static void the_filter_finds_words_wherever_they_are(void)
{
    static const char *const words[] = {"sum", "matmul", "np.dot", "x", NULL};
    static const char *const long_words[] = {"accumulate", "inner_product",
                                             NULL};
    static const char *const none[] = {NULL};
    char text[64];

    for (size_t size = 3; size < 40; size++)
        for (size_t at = 0; at + 3 <= size; at++) {
            memset(text, 's', size);
            text[size] = 0;
            EXPECT(!passes(words, text));
            memcpy(text + at, "sum", 3);
            EXPECT(passes(words, text));
        }
    EXPECT(passes(words, "a x b"));
    EXPECT(!passes(words, ""));
    EXPECT(!passes(words, "su"));
    EXPECT(passes(words, "np.dot"));
    EXPECT(!passes(words, "np.do matmu su m"));
    EXPECT(passes(long_words, "std::accumulate(a)"));
    EXPECT(!passes(long_words, "std::accumulat e(a) inner_produc"));
    EXPECT(!passes(none, "anything"));
    EXPECT(passes(NULL, "anything"));
}

int main(void)
{
    RUN(integers_are_read);
    RUN(snippets_fit);
    RUN(utf8_is_checked);
    RUN(the_filter_finds_words_wherever_they_are);
    return tap_done();
}
