/* SPDX-License-Identifier: MIT */
/* test_findings.c - names of functions, and comments, of all languages. */
#include "findings.h"

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

int main(void)
{
    RUN(symbols_have_one_plain_name);
    RUN(runtimes_are_foreign);
    RUN(comments_of_c);
    RUN(comments_of_rust);
    RUN(comments_of_python);
    return tap_done();
}
