/* SPDX-License-Identifier: MIT */
/*
 * test_toml.c - what is TOML, what is not and where it stops being it, and that
 * every value is found where it is written.
 */
#include "project/toml.h"

#include "project/toml_json.h"
#include "support/tap.h"

static void expect_json(const char *text, const char *want)
{
    struct takt_toml_error error;
    struct takt_toml *toml;
    char *json = NULL;
    size_t length;

    if (takt__toml_parse(text, strlen(text), &toml, &error) != TAKT_OK) {
        TAP_CHECK(false, "%s: %zu:%zu: %s", text, error.line, error.column,
                  error.why);
        return;
    }
    FILE *out = open_memstream(&json, &length);
    REQUIRE(out != NULL);
    print_toml_value(out, takt__toml_root(toml), text);
    fclose(out);
    EXPECT_STR(json, want);
    free(json);
    takt__toml_destroy(toml);
}

static void expect_error(const char *text, size_t length, size_t line,
                         size_t column, const char *why)
{
    struct takt_toml_error error = {0};
    struct takt_toml *toml;

    EXPECT_INT(takt__toml_parse(text, length, &toml, &error), TAKT_ECORRUPT);
    EXPECT(toml == NULL);
    TAP_CHECK(error.line == line && error.column == column &&
                  strstr(error.why, why) != NULL,
              "%s: %zu:%zu: %s", text, error.line, error.column, error.why);
}

static void keys_are_bare_quoted_and_dotted(void)
{
    expect_json("", "{}");
    expect_json("a=1", "{\"a\":1}");
    expect_json("1234 = 1\n-_- = 2", "{\"1234\":1,\"-_-\":2}");
    expect_json("3.14 = 1", "{\"3\":{\"14\":1}}");
    expect_json("\"\" = 1\n'x y' . \"\\u00e9\" . c = 2\n",
                "{\"\":1,\"x y\":{\"é\":{\"c\":2}}}");
}

static void strings_have_four_forms(void)
{
    expect_json("a = \"x\\ty\\u00E9\\U0001F600\\\"\\\\\"",
                "{\"a\":\"x\\u0009yé😀\\u0022\\u005c\"}");
    expect_json("a = 'C:\\x\"'", "{\"a\":\"C:\\u005cx\\u0022\"}");
    expect_json("a = \"\"\"\nx\ny\"\"\"", "{\"a\":\"x\\u000ay\"}");
    expect_json("a = \"\"\"x\\\n   \n  y\"\"\"", "{\"a\":\"xy\"}");
    expect_json("a = \"\"\"x\\  \t\r\n\r\n y\"\"\"", "{\"a\":\"xy\"}");
    expect_json("a = \"\"\"\r\nx\r\ny\"\"\"", "{\"a\":\"x\\u000ay\"}");
    expect_json("a = \"\"\"\"x\"\" \"\"\"\"\"",
                "{\"a\":\"\\u0022x\\u0022\\u0022 \\u0022\\u0022\"}");
    expect_json("a = '''\n\\x''y'''''", "{\"a\":\"\\u005cx''y''\"}");
    expect_json("a = \"\"\nb = ''\nc = \"\"\"\"\"\"\nd = ''''''",
                "{\"a\":\"\",\"b\":\"\",\"c\":\"\",\"d\":\"\"}");
    expect_json("a = \"\\u0000\\e\\x41\"", "{\"a\":\"\\u0000\\u001bA\"}");
}

static void numbers_have_many_forms(void)
{
    expect_json("a=[0, +1, -17, 1_000, 0xDEAD_beef, 0o755, 0b1_1]",
                "{\"a\":[0,1,-17,1000,3735928559,493,3]}");
    expect_json("a=[9223372036854775807, -9223372036854775808]",
                "{\"a\":[9223372036854775807,-9223372036854775808]}");
    expect_json("a=[1.0, -0.01, 5e+22, 1_0.0_1, 6.626e-34, inf, -nan]",
                "{\"a\":[{\"raw\":\"1.0\"},{\"raw\":\"-0.01\"},{\"raw\":"
                "\"5e+22\"},{\"raw\":\"1_0.0_1\"},{\"raw\":\"6.626e-34\"},{"
                "\"raw\":\"inf\"},{\"raw\":\"-nan\"}]}");
    expect_json("a=true#x\nb=false", "{\"a\":true,\"b\":false}");
}

static void dates_and_times(void)
{
    static const char *const good[] = {"1979-05-27T07:32:00Z",
                                       "1979-05-27T00:32:00-07:00",
                                       "1979-05-27T00:32:00.99999",
                                       "1979-05-27 07:32:00z",
                                       "1979-05-27t07:32:00",
                                       "1979-05-27",
                                       "07:32:00",
                                       "00:32:00.999999",
                                       "2024-02-29",
                                       "2000-02-29",
                                       "1990-12-31T23:59:60Z",
                                       "07:32"};
    static const char *const bad[] = {"1979-13-01",    "1979-00-01",
                                      "1979-01-32",    "2023-02-29",
                                      "1900-02-29",    "1979-05-27T24:00:00",
                                      "07:60:00",      "07:32:61",
                                      "1979-05-27T07", "7:32:00",
                                      "1979-5-27",     "1979-05-27T07:32:00.",
                                      "07:32:00Z",     "1979-05-27T07:32:00+7"};
    char text[100], json[100];

    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        snprintf(text, sizeof text, "a = %s # x", good[i]);
        snprintf(json, sizeof json, "{\"a\":{\"raw\":\"%s\"}}", good[i]);
        expect_json(text, json);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        snprintf(text, sizeof text, "a = %s", bad[i]);
        expect_error(text, strlen(text), 1, 5, "");
    }
}

static void arrays_and_braces_hold_anything(void)
{
    expect_json("a = [ # x\n 1, [2], \"3\",\n\n {b=4}, ]\n",
                "{\"a\":[1,[2],\"3\",{\"b\":4}]}");
    expect_json("a = []\nb = [\n# x\n]\nc = {}",
                "{\"a\":[],\"b\":[],\"c\":{}}");
    expect_json("a = { b.c = 1, b.d = 2, \"e f\" = {} }",
                "{\"a\":{\"b\":{\"c\":1,\"d\":2},\"e f\":{}}}");
    /* As of 1.1. */
    expect_json("a = {\n b = 1, # x\n c = 2,\n}", "{\"a\":{\"b\":1,\"c\":2}}");
}

static void tables_are_opened_in_any_order(void)
{
    expect_json("[a.b.c]\nx=1\n[a]\ny=2\n[a.b]\nz=3\n",
                "{\"a\":{\"b\":{\"c\":{\"x\":1},\"z\":3},\"y\":2}}");
    expect_json("[ a . \"b\" ] # x\n[a.'c']\n", "{\"a\":{\"b\":{},\"c\":{}}}");
    expect_json("[[a]]\nx=1\n[a.b]\ny=2\n[[a]]\n[[a.c]]\n[[a.c]]\n[a.c.d]\n",
                "{\"a\":[{\"x\":1,\"b\":{\"y\":2}},{\"c\":[{},{\"d\":{}}]}]}");
    expect_json("a.b=1\n[a.c]\nd=2\n", "{\"a\":{\"b\":1,\"c\":{\"d\":2}}}");
    expect_json("[a]\nb.c.d=1\n[a.b.e]\nf=2\n",
                "{\"a\":{\"b\":{\"c\":{\"d\":1},\"e\":{\"f\":2}}}}");
    expect_json("[a.b.c]\n[a]\nb.x=1\n", "{\"a\":{\"b\":{\"c\":{},\"x\":1}}}");
}

static void lines_end_in_two_ways(void)
{
    expect_json("\xEF\xBB\xBF"
                "a=1\r\n\r\n# x\r\n[b]\r\nc=2\r\n",
                "{\"a\":1,\"b\":{\"c\":2}}");
}

static void what_is_wrong_is_found_where_it_is(void)
{
    static const struct {
        const char *text;
        size_t line, column;
        const char *why;
    } wrong[] = {
        {"a", 1, 2, "a '=' should be here"},
        {"= 1", 1, 1, "a key should be here"},
        {"a = ", 1, 5, "a value should be here"},
        {"a = 1 b = 2", 1, 7, "the line should end here"},
        {"a = 1\n\n  b = @\n", 3, 7, "no value"},
        {"a.\n= 1", 1, 3, "a key"},
        {"a..b = 1", 1, 3, "a key"},
        {"é = 1", 1, 1, "a key"},
        {"a = 1\na = 2", 2, 1, "twice: 'a'"},
        {"a.b = 1\na.b = 2", 2, 3, "twice: 'b'"},
        {"a = 1\na.b = 2", 2, 1, "no table, but a value: 'a'"},
        {"a = {}\na.b = 2", 2, 1, "complete already: 'a'"},
        {"a = {}\n[a.b]", 2, 2, "nothing can be added to this value: 'a'"},
        {"a = []\n[[a]]", 2, 3, "no array of tables: 'a'"},
        {"[a]\n[a]", 2, 2, "already: 'a'"},
        {"[[a]]\n[a]", 2, 2, "already: 'a'"},
        {"[a]\n[[a]]", 2, 3, "already"},
        {"a.b = 1\n[a]", 2, 2, "already: 'a'"},
        {"[a.b.c]\n[a]\nb.c.d = 1", 3, 3, "complete already: 'c'"},
        {"[a.b]\nx=1\n[a]\nb.y=1", 4, 1, "complete already: 'b'"},
        {"a = {b.c = 1, b = 2}", 1, 15, "twice: 'b'"},
        {"a = {b = {}, b.c = 2}", 1, 14, "complete already"},
        {"[a", 1, 3, "a ']' should be here"},
        {"[]", 1, 2, "a key"},
        {"[[a]", 1, 5, "a ']'"},
        {"[a]]", 1, 4, "the line should end"},
        {"[a] x = 1", 1, 5, "the line should end"},
        {"a = [1 2]", 1, 8, "a ',' or ']'"},
        {"a = [1,", 1, 8, "a value"},
        {"a = [1", 1, 5, "this array does not end"},
        {"a = [,]", 1, 6, "a value"},
        {"a = {b = 1", 1, 5, "this table does not end"},
        {"a = {b = 1 c = 2}", 1, 12, "a ',' or '}'"},
        {"a = {,}", 1, 6, "a key"},
        {"a = \"x", 1, 5, "does not end"},
        {"a = \"x\ny\"", 1, 5, "does not end"},
        {"a = '''x''", 1, 7, "does not end"},
        {"a = \"\\q\"", 1, 6, "no such escape"},
        {"a = \"\\u12\"", 1, 10, "hexadecimal digit"},
        {"a = \"\\uD800\"", 1, 8, "no such character"},
        {"a = \"\\U00110000\"", 1, 8, "no such character"},
        {"a = \"\\ \"", 1, 6, "no such escape"},
        {"\"\"\"a\"\"\" = 1", 1, 1, "three quotes"},
        {"a = 01", 1, 5, "no value"},
        {"a = +0x1", 1, 5, "no value"},
        {"a = 0x", 1, 5, "no number"},
        {"a = 0x_1", 1, 5, "no number"},
        {"a = 0b2", 1, 5, "no number"},
        {"a = 1__0", 1, 5, "no value"},
        {"a = _1", 1, 5, "no value"},
        {"a = 1_", 1, 5, "no value"},
        {"a = 1.", 1, 5, "no value"},
        {"a = .5", 1, 5, "no value"},
        {"a = 1.e5", 1, 5, "no value"},
        {"a = 1e", 1, 5, "no value"},
        {"a = 1.5.5", 1, 5, "no value"},
        {"a = ++1", 1, 5, "no value"},
        {"a = infinity", 1, 5, "no value"},
        {"a = inf2", 1, 5, "no value"},
        {"a = -nan1.5", 1, 5, "no value"},
        {"a = True", 1, 5, "no value"},
        {"a = truely", 1, 5, "no value"},
        {"a = 9223372036854775808", 1, 5, "too large"},
        {"a = -9223372036854775809", 1, 5, "too large"},
        {"a = 0x8000000000000000", 1, 5, "too large"},
        {"\xEF\xBB\xBF"
         "a",
         1, 2, "a '='"},
        {"a = \"é\" é", 1, 9, "the line should end"},
    };

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        expect_error(wrong[i].text, strlen(wrong[i].text), wrong[i].line,
                     wrong[i].column, wrong[i].why);
}

static void no_control_characters_and_only_utf_8(void)
{
    expect_error("a = '\0'", 7, 1, 6, "control");
    expect_error("a = '\x01'", 7, 1, 6, "control");
    expect_error("# \x7F", 3, 1, 3, "control");
    expect_error("a = 1\rb = 2", 11, 1, 6, "control");
    expect_error("a = 1\r", 6, 1, 6, "control");
    expect_error("# \xFF", 3, 1, 3, "UTF-8");
    expect_error("# \xC0\x80", 4, 1, 3, "UTF-8");         /* too long */
    expect_error("# \xE0\x80\x80", 5, 1, 3, "UTF-8");     /* too long */
    expect_error("# \xED\xA0\x80", 5, 1, 3, "UTF-8");     /* half a pair */
    expect_error("# \xF4\x90\x80\x80", 6, 1, 3, "UTF-8"); /* too large */
    expect_error("# \xE2\x82", 4, 1, 3, "UTF-8");         /* cut off */
    expect_error("\xEF\xBB", 2, 1, 1, "UTF-8");
}

static void depth_is_limited(void)
{
    char text[1000] = "a = ";

    memset(text + 4, '[', 300);
    expect_error(text, 304, 1, 85, "nested too deeply");
    memset(text + 4, '[', 80);
    memset(text + 84, ']', 80);
    struct takt_toml_error error;
    struct takt_toml *toml;
    EXPECT_INT(takt__toml_parse(text, 164, &toml, &error), TAKT_OK);
    takt__toml_destroy(toml);
    for (size_t i = 0; i < 400; i++)
        memcpy(text + 2 * i, "a.", 2);
    expect_error(text, 800, 1, 161, "too many dots");
}

static void very_many_keys_are_no_trouble(void)
{
    const size_t size = 4 << 20;
    char *text = malloc(size);
    struct takt_toml_error error;
    struct takt_toml *toml;
    size_t length = 0;

    REQUIRE(text != NULL);
    for (int i = 0; i < 200000; i++)
        length +=
            (size_t)snprintf(text + length, size - length, "k%d = 1\n", i);
    EXPECT_INT(takt__toml_parse(text, length, &toml, &error), TAKT_OK);
    takt__toml_destroy(toml);
    length += (size_t)snprintf(text + length, size - length, "k77 = 1\n");
    expect_error(text, length, 200001, 1, "twice: 'k77'");
    free(text);
}

static void expect_span(const char *text, struct takt_toml_span span,
                        const char *want)
{
    char got[100];

    snprintf(got, sizeof got, "%.*s", (int)(span.to - span.from),
             text + span.from);
    EXPECT_STR(got, want);
}

static void values_know_where_they_are_written(void)
{
    static const char text[] = "a . \"b\".c = 0x1 # x\n"
                               "[ d.e ] # y\nf = { g = [1], h = '' }\n";
    struct takt_toml_error error;
    struct takt_toml *toml;

    REQUIRE(takt__toml_parse(text, strlen(text), &toml, &error) == TAKT_OK);
    const struct takt_toml_value *root = takt__toml_root(toml);
    const struct takt_toml_value *a = takt__toml_get(root, "a");
    const struct takt_toml_value *b = takt__toml_get(a, "b");
    const struct takt_toml_value *c = takt__toml_get(b, "c");
    const struct takt_toml_value *d = takt__toml_get(root, "d");
    const struct takt_toml_value *e = takt__toml_get(d, "e");
    const struct takt_toml_value *f = takt__toml_get(e, "f");
    EXPECT_INT(a->form, TAKT_TOML_DOTTED);
    expect_span(text, b->text, "a . \"b\".");
    expect_span(text, b->name, "\"b\"");
    expect_span(text, c->name, "c");
    expect_span(text, c->text, "0x1");
    EXPECT_INT(c->statement_from, 0);
    EXPECT_INT(a->end, c->text.to);
    EXPECT_INT(d->form, TAKT_TOML_IMPLIED);
    EXPECT_INT(e->form, TAKT_TOML_HEADER);
    expect_span(text, e->text, "[ d.e ]");
    EXPECT_INT(e->end, f->text.to);
    EXPECT_INT(f->form, TAKT_TOML_VALUE);
    expect_span(text, f->text, "{ g = [1], h = '' }");
    expect_span(text, takt__toml_get(f, "g")->text, "[1]");
    EXPECT_INT(f->end, takt__toml_get(f, "h")->text.to);
    EXPECT(takt__toml_get(c, "x") == NULL && takt__toml_get(NULL, "x") == NULL);
    takt__toml_destroy(toml);
}

int main(void)
{
    RUN(keys_are_bare_quoted_and_dotted);
    RUN(strings_have_four_forms);
    RUN(numbers_have_many_forms);
    RUN(dates_and_times);
    RUN(arrays_and_braces_hold_anything);
    RUN(tables_are_opened_in_any_order);
    RUN(lines_end_in_two_ways);
    RUN(what_is_wrong_is_found_where_it_is);
    RUN(no_control_characters_and_only_utf_8);
    RUN(depth_is_limited);
    RUN(very_many_keys_are_no_trouble);
    RUN(values_know_where_they_are_written);
    return tap_done();
}
