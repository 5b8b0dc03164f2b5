/* SPDX-License-Identifier: MIT */
/* test_findings.c - names of functions, comments and calls, of all
 * languages. */
#include "findings.h"

#include <stdlib.h>
#include <time.h>

#include "support/tap.h"

static void expect_symbol(const char *symbol, const char *want)
{
    char out[longest_symbol];

    plain_symbol(symbol, out);
    TAP_CHECK(strcmp(out, want) == 0, "%s is %s, not %s", symbol, out, want);
}

static void symbols_have_one_plain_name(void)
{
    expect_symbol("matmul", "matmul");
    expect_symbol("matmul.constprop.0", "matmul");
    expect_symbol("matmul._omp_fn.2", "matmul");
    expect_symbol("ns::matmul<float>(float const*, int)", "matmul");
    expect_symbol("void ns::matmul(float*)", "matmul");
    expect_symbol("_ZN2ns6matmulEPf", "matmul");
    expect_symbol("_Z6matmulPfS_", "matmul");
    expect_symbol("_ZN5model6matmul17h0123456789abcdefE", "matmul");
    expect_symbol("model::matmul::h0123456789abcdef", "matmul");
    expect_symbol("model::matmul::{{closure}}", "matmul");
    expect_symbol("model::matmul::<f32>", "matmul");
    expect_symbol("<model::Net as model::Layer>::matmul", "matmul");
    expect_symbol("Model.matmul", "matmul");
    expect_symbol("", "");
    expect_symbol("_Z", "_Z");
    expect_symbol("_ZN999x", "_ZN999x");
    expect_symbol("::", ":");
}

static void runtimes_are_foreign(void)
{
    EXPECT(is_foreign_symbol("__expf_fma"));
    EXPECT(is_foreign_symbol("expf@plt"));
    EXPECT(is_foreign_symbol("core::slice::iter"));
    EXPECT(is_foreign_symbol("[libm.so.6]"));
    EXPECT(is_foreign_symbol(""));
    EXPECT(!is_foreign_symbol("matmul"));
    EXPECT(!is_foreign_symbol("expand"));
}

/* ---- comments ---- */

static char seen[512];

static void note(void *self, const char *text, size_t length, unsigned line,
                 bool is_alone)
{
    const size_t used = strlen(seen);

    (void)self;
    snprintf(seen + used, sizeof seen - used, "%u%s%.*s|", line,
             is_alone ? "=" : ":", (int)length, text);
}

static const char *comments(enum takt_scan_language language, const char *text)
{
    seen[0] = '\0';
    find_comments(language, text, strlen(text), note, NULL);
    return seen;
}

static void comments_of_c(void)
{
    EXPECT_STR(comments(TAKT_SCAN_C, "int a; // one\n  // two\n"),
               "1: one|2= two|");
    EXPECT_STR(comments(TAKT_SCAN_C, "/* a\n b */ x /* c */"),
               "1= a|2= b |2: c |");
    EXPECT_STR(comments(TAKT_SCAN_C, "\"// no\" '\"' \"\\\"// no\" // yes"),
               "1: yes|");
    EXPECT_STR(comments(TAKT_SCAN_C, "/* never closed\n"), "1= never closed|");
    EXPECT_STR(comments(TAKT_SCAN_C, "/*"), "");
    EXPECT_STR(comments(TAKT_SCAN_C, "//"), "1=|");
}

static void comments_of_rust(void)
{
    EXPECT_STR(comments(TAKT_SCAN_RUST, "fn f<'a>(x: &'a str) {} // yes"),
               "1: yes|");
    EXPECT_STR(comments(TAKT_SCAN_RUST, "r#\"// no \" // no\"# // yes"),
               "1: yes|");
    EXPECT_STR(comments(TAKT_SCAN_RUST, "'\"' // yes\n'\\'' // and"),
               "1: yes|2: and|");
    EXPECT_STR(comments(TAKT_SCAN_RUST, "/* a /* b */ c */ x"),
               "1= a /* b */ c |");
    EXPECT_STR(comments(TAKT_SCAN_RUST, "\"a\n// no\n\" // yes"), "3: yes|");
}

static void comments_of_python(void)
{
    EXPECT_STR(comments(TAKT_SCAN_PYTHON, "x = '# no' # yes\n# and\n"),
               "1: yes|2= and|");
    EXPECT_STR(comments(TAKT_SCAN_PYTHON, "\"\"\"\n# no\n\"\"\" # yes"),
               "3: yes|");
    EXPECT_STR(comments(TAKT_SCAN_PYTHON, "'''a' # no''' # yes"), "1: yes|");
    EXPECT_STR(comments(TAKT_SCAN_PYTHON, "'open # no\n# yes"), "2= yes|");
}

/* ---- calls ---- */

/* In how many loops a function runs by what these sources call. */
static unsigned loops_of(enum takt_scan_language language, const char *text,
                         const char *function)
{
    struct fan_in fan_in;

    open_fan_in(&fan_in);
    count_calls(&fan_in, "src/a", language, text, strlen(text));
    follow_calls(&fan_in);
    const unsigned loops = loops_of_calls(&fan_in, function);
    free_fan_in(&fan_in);
    return loops;
}

static const char calls_in_c[] =
    "#define g(x) for (;;) h(x)\n"
    "static float h(float x) { return x; }\n"
    "void A::f(int n) : b(n), c(n) {\n"
    "  for (int i = 0; i < n; i++)\n"
    "    for (int j = 0; j < n; j++) if (i) two(i);\n"
    "  once(';', \"for(\"); /* for (;;) { */\n"
    "  while (n--) { one(n); if (n) { one(h(1)); } }\n"
    "  do one(n); while (last());\n"
    "  once(n);\n"
    "}\n"
    "public: int two(int i) { do { deep(i); } while (i); return 0; }\n";

static void calls_in_loops_of_c(void)
{
    EXPECT(loops_of(TAKT_SCAN_CPP, calls_in_c, "A::two") == 2);
    EXPECT(loops_of(TAKT_SCAN_CPP, calls_in_c, "once") == 0);
    EXPECT(loops_of(TAKT_SCAN_CPP, calls_in_c, "one") == 1);
    EXPECT(loops_of(TAKT_SCAN_CPP, calls_in_c, "h") == 1);
    EXPECT(loops_of(TAKT_SCAN_CPP, calls_in_c, "deep") == 2); /* inherited */
    EXPECT(loops_of(TAKT_SCAN_CPP, calls_in_c, "f") == 0);
}

static const char calls_in_rust[] =
    "impl<'a> Layer for Net<'a> {\n"
    "  fn forward<F: Fn(f64) -> f64>(&self, n: usize) {\n"
    "    for i in first(n)..n { self.one(i, '{', '\\''); }\n"
    "    once(n);\n"
    "    (0..n).map(|i| one(i)).for_each(|x| loop { two(x) });\n"
    "  }\n"
    "  fn two(&self, x: f64) { let y = \"{\"; deep(x); }\n"
    "}\n"
    "fn free(n: usize) { once(n) }\n";

static void calls_in_loops_of_rust(void)
{
    EXPECT(loops_of(TAKT_SCAN_RUST, calls_in_rust, "Net::one") == 1);
    EXPECT(loops_of(TAKT_SCAN_RUST, calls_in_rust, "two") == 2);
    EXPECT(loops_of(TAKT_SCAN_RUST, calls_in_rust, "deep") == 2);
    EXPECT(loops_of(TAKT_SCAN_RUST, calls_in_rust, "once") == 0);
    EXPECT(loops_of(TAKT_SCAN_RUST, calls_in_rust, "first") == 0);
}

static const char calls_in_python[] =
    "def forward(x,\n"
    "        y):\n"
    "    \"\"\"for x in y:\n        two(x)\"\"\"\n"
    "    for a in x:\n"
    "        one(a)  # for\n"
    "\n"
    "        while True:\n"
    "            two(a)\n"
    "    once(x)\n"
    "    return sum([one(z) for z in x])\n"
    "def two(a):\n"
    "    deep(a)\n"
    "for i in range(9):\n"
    "    top(i)\n";

static void calls_in_loops_of_python(void)
{
    EXPECT(loops_of(TAKT_SCAN_PYTHON, calls_in_python, "one") == 1);
    EXPECT(loops_of(TAKT_SCAN_PYTHON, calls_in_python, "two") == 2);
    EXPECT(loops_of(TAKT_SCAN_PYTHON, calls_in_python, "deep") == 2);
    EXPECT(loops_of(TAKT_SCAN_PYTHON, calls_in_python, "once") == 0);
    EXPECT(loops_of(TAKT_SCAN_PYTHON, calls_in_python, "top") == 1);
}

/* The loop of a comprehension is around the calls before it in its line. */
static void comprehensions_stand_behind_their_calls(void)
{
    static const char text[] = "def f(y):\n"
                               "    a = [one(1), two(x) for x in three(y)]\n"
                               "    b = [four(1)]\n"
                               "    return [five(x) for x in y]\n";

    EXPECT(loops_of(TAKT_SCAN_PYTHON, text, "one") == 1);
    EXPECT(loops_of(TAKT_SCAN_PYTHON, text, "two") == 1);
    EXPECT(loops_of(TAKT_SCAN_PYTHON, text, "three") == 0);
    EXPECT(loops_of(TAKT_SCAN_PYTHON, text, "four") == 0);
    EXPECT(loops_of(TAKT_SCAN_PYTHON, text, "five") == 1);
}

/* A table that was written in one line: to look through the rest of it at each
 * call takes minutes. */
static void long_lines_take_no_longer(void)
{
    static const char call[] = "f(1),";
    const size_t calls = 1 << 18, size = calls * strlen(call);
    char *text = malloc(size + 1);
    struct fan_in fan_in;

    if (text == NULL) {
        EXPECT(text != NULL);
        return;
    }
    for (size_t i = 0; i < calls; i++)
        memcpy(text + 1 + i * strlen(call), call, strlen(call));
    text[0] = '[';
    open_fan_in(&fan_in);
    const clock_t start = clock();
    count_calls(&fan_in, "a", TAKT_SCAN_PYTHON, text, size + 1);
    EXPECT(calls_of(&fan_in, "f") == calls);
    EXPECT(clock() - start < 10 * CLOCKS_PER_SEC);
    free_fan_in(&fan_in);
    free(text);
}

/* Calls that call each other do not add up without an end. */
static void loops_of_calls_are_bounded(void)
{
    EXPECT(loops_of(TAKT_SCAN_C,
                    "void a(void) { for (;;) b(); }"
                    "void b(void) { for (;;) a(); }",
                    "a") == 2);
}

/* What is kept is called later, in loops as like as not. */
static void functions_are_kept_in_pointers(void)
{
    static const char text[] = "void f(struct space *s, int n) {\n"
                               "  s->distance = l2;\n  int *p = &other;\n"
                               "  n = 3;\n  s->size = n * count;\n}\n";

    EXPECT(loops_of(TAKT_SCAN_C, text, "l2") == 2);
    EXPECT(loops_of(TAKT_SCAN_C, text, "other") == 0);
    EXPECT(loops_of(TAKT_SCAN_C, text, "count") == 0);
}

/* Each beginning of each text, of a size that ends where it ends. */
static void texts_may_end_anywhere(void)
{
    static const char *const texts[] = {calls_in_c, calls_in_rust,
                                        calls_in_python};
    struct fan_in fan_in;

    open_fan_in(&fan_in);
    for (int language = 0; language < TAKT_SCAN_LANGUAGES; language++)
        for (size_t i = 0; i < 3; i++)
            for (size_t size = 0; size <= strlen(texts[i]); size++) {
                char *copy = malloc(size + 1);
                if (copy == NULL)
                    continue;
                /* From the end of the memory on, so that reading beyond it is
                 * seen. */
                memcpy(copy + 1, texts[i], size);
                count_calls(&fan_in, "a", (enum takt_scan_language)language,
                            copy + 1, size);
                free(copy);
            }
    EXPECT(fan_in.calls > 0);
    free_fan_in(&fan_in);
}

static void tests_and_examples_are_aside(void)
{
    EXPECT(is_aside("tests/a.c"));
    EXPECT(is_aside("src/unit_tests/a.c"));
    EXPECT(is_aside("src/test_a.c"));
    EXPECT(is_aside("src/matrixTest.cpp"));
    EXPECT(is_aside("third_party/x/a.c"));
    EXPECT(!is_aside("src/latest.c"));
    EXPECT(!is_aside("src/contest/attestation.c"));
}

int main(void)
{
    RUN(symbols_have_one_plain_name);
    RUN(runtimes_are_foreign);
    RUN(comments_of_c);
    RUN(comments_of_rust);
    RUN(comments_of_python);
    RUN(calls_in_loops_of_c);
    RUN(calls_in_loops_of_rust);
    RUN(calls_in_loops_of_python);
    RUN(comprehensions_stand_behind_their_calls);
    RUN(long_lines_take_no_longer);
    RUN(loops_of_calls_are_bounded);
    RUN(functions_are_kept_in_pointers);
    RUN(texts_may_end_anywhere);
    RUN(tests_and_examples_are_aside);
    return tap_done();
}
