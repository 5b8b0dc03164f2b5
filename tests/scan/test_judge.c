/* SPDX-License-Identifier: MIT */
/*
 * test_judge.c - the same computation is the same op in every language, and
 * what is no op in one is none in the others.
 */
#include "support/tap.h"

#include "finder.h"
#include "languages.h"

struct saying {
    const char *op; /* NULL: none */
    enum takt_certainty certainty;
    const char *c, *rust, *python;
};

static const struct saying sayings[] = {
    {"matmul", TAKT_EXACT,
     "void f(const float *a, const float *b, float *c, int n) {\n"
     "for (int i = 0; i < n; i++) for (int k = 0; k < n; k++)\n"
     "for (int j = 0; j < n; j++) c[i * n + j] += a[i * n + k] * b[k * n + j];"
     "}",
     "fn f(a: &[f32], b: &[f32], c: &mut [f32], n: usize) {\n"
     "for i in 0..n { for k in 0..n { for j in 0..n {\n"
     "c[i * n + j] += a[i * n + k] * b[k * n + j]; } } } }",
     "for i in range(n):\n    for k in range(n):\n        for j in range(n):\n"
     "            c[i * n + j] += a[i * n + k] * b[k * n + j]\n"},
    {"gemv", TAKT_EXACT,
     "void f(const float *a, const float *x, float *y, int n) {\n"
     "for (int i = 0; i < n; i++) { float s = 0;\n"
     "for (int j = 0; j < n; j++) s += a[i * n + j] * x[j]; y[i] = s; } }",
     "fn f(a: &[f32], x: &[f32], y: &mut [f32], n: usize) {\n"
     "for i in 0..n { y[i] = a[i * n..(i + 1) * n].iter()\n"
     ".zip(x).map(|(a, x)| a * x).sum(); } }",
     "y = [sum(p * q for p, q in zip(row, x)) for row in a]\n"},
    {"dot", TAKT_EXACT,
     "float f(const float *a, const float *b, int n) { float s = 0;\n"
     "while (n--) s += *a++ * *b++; return s; }",
     "fn f(a: &[f32], b: &[f32]) -> f32 {\n"
     "a.iter().zip(b).fold(0.0, |s, (x, y)| s + x * y) }",
     "s = 0.0\nfor x, y in zip(a, b):\n    s += x * y\n"},
    {"axpy", TAKT_EXACT,
     "void f(float a, const float *x, float *y, int n) {\n"
     "for (int i = 0; i < n; i++) y[i] += a * x[i]; }",
     "fn f(a: f32, x: &[f32], y: &mut [f32]) {\n"
     "for (y, x) in y.iter_mut().zip(x) { *y += a * x; } }",
     "for i in range(len(x)):\n    y[i] += 2.5 * x[i]\n"},
    {"argmax", TAKT_EXACT,
     "int f(const float *a, int n) { int m = 0;\n"
     "for (int i = 1; i < n; i++) if (a[i] > a[m]) m = i; return m; }",
     "fn f(a: &[f32]) -> usize { let mut m = 0;\n"
     "for i in 1..a.len() { if a[i] > a[m] { m = i; } } m }",
     "m = 0\nfor i in range(len(a)):\n    if a[i] > a[m]:\n        m = i\n"},
    {"transpose", TAKT_EXACT,
     "void f(float a[8][8], float t[8][8]) {\n"
     "for (int i = 0; i < 8; i++) for (int j = 0; j < 8; j++)\n"
     "t[j][i] = a[i][j]; }",
     "fn f(a: &[Vec<f32>], t: &mut [Vec<f32>], n: usize) {\n"
     "for i in 0..n { for j in 0..n { t[j][i] = a[i][j]; } } }",
     "t = [[a[i][j] for i in range(m)] for j in range(n)]\n"},
    {"conv2d", TAKT_EXACT,
     "void f(const float *x, const float *w, float *y, int n) {\n"
     "for (int i = 0; i < n; i++) { float s = 0;\n"
     "for (int k = 0; k < 5; k++) s += x[i + k] * w[k]; y[i] = s; } }",
     "fn f(x: &[f32], w: &[f32], y: &mut [f32], n: usize) {\n"
     "for i in 0..n { let mut s = 0.0;\n"
     "for k in 0..5 { s += x[i + k] * w[k]; } y[i] = s; } }",
     "for i in range(n):\n    s = 0.0\n    for k in range(5):\n"
     "        s += x[i + k] * w[k]\n    y[i] = s\n"},
    /* What is kept of each round depends on the one before. */
    {NULL, TAKT_EXACT,
     "void f(const float *x, float *y, int n) { float s = 0;\n"
     "for (int i = 0; i < n; i++) { s += x[i]; y[i] = s; } }",
     "fn f(x: &[f32], y: &mut [f32]) { let mut s = 0.0;\n"
     "for i in 0..x.len() { s += x[i]; y[i] = s; } }",
     "s = 0.0\nfor i in range(len(x)):\n    s += x[i]\n    y[i] = s\n"},
    {NULL, TAKT_EXACT,
     "void f(float *x, int n) {\n"
     "for (int i = 1; i < n; i++) x[i] = x[i - 1] * 0.5f; }",
     "fn f(x: &mut [f32]) { for i in 1..x.len() { x[i] = x[i - 1] * 0.5; } }",
     "for i in range(1, n):\n    x[i] = x[i - 1] * 0.5\n"},
    /* Elements that do not lie side by side. */
    {NULL, TAKT_EXACT,
     "void f(const float *x, float *y, int n) {\n"
     "for (int i = 0; i < n; i++) y[i] = x[2 * i] * 0.5f; }",
     "fn f(x: &[f32], y: &mut [f32]) {\n"
     "for i in 0..y.len() { y[i] = x[2 * i] * 0.5; } }",
     "for i in range(n):\n    y[i] = x[2 * i] * 0.5\n"},
    /* Looked up. */
    {NULL, TAKT_EXACT,
     "float f(const float *x, const int *at, int n) { float s = 0;\n"
     "for (int i = 0; i < n; i++) s += x[at[i]]; return s; }",
     "fn f(x: &[f32], at: &[usize]) -> f32 { let mut s = 0.0;\n"
     "for i in 0..at.len() { s += x[at[i]]; } s }",
     "s = 0.0\nfor i in range(n):\n    s += x[at[i]]\n"},
};

struct reader {
    struct takt_scan_finder finder;
    struct takt_patterns patterns;
};

static void find_in(enum takt_scan_language id, const char *path,
                    const char *text, struct takt_found *found)
{
    struct reader reader;
    takt_diag diag = {""};

    REQUIRE(takt__patterns_open(takt__language(id), &reader.patterns, &diag) ==
            TAKT_OK);
    REQUIRE(takt__finder_open(&reader.finder) == TAKT_OK);
    REQUIRE(takt__find(&reader.finder, &reader.patterns, path, text,
                       strlen(text), found) == TAKT_OK);
    takt__finder_close(&reader.finder);
    takt__patterns_close(&reader.patterns);
}

static void hear(enum takt_scan_language id, const char *path, const char *text,
                 const struct saying *saying, enum takt_certainty certainty)
{
    struct takt_found found;

    find_in(id, path, text, &found);
    if (saying->op == NULL)
        TAP_CHECK(found.count == 0, "%s: %s found in %s", path,
                  found.count > 0 ? found.finding[0].name : "", text);
    else if (found.count != 1 || strcmp(found.finding[0].name, saying->op) != 0)
        TAP_CHECK(false, "%s: no %s, or not only, in %s", path, saying->op,
                  text);
    else
        TAP_CHECK(found.finding[0].certainty == certainty,
                  "%s: %s is %s, in %s", path, saying->op,
                  takt__certainty_name(found.finding[0].certainty), text);
    takt__found_clear(&found);
}

static void all_languages_agree(void)
{
    for (size_t i = 0; i < sizeof sayings / sizeof *sayings; i++) {
        const struct saying *saying = &sayings[i];
        hear(TAKT_SCAN_C, "a.c", saying->c, saying, saying->certainty);
        hear(TAKT_SCAN_CPP, "a.cpp", saying->c, saying, saying->certainty);
        hear(TAKT_SCAN_RUST, "a.rs", saying->rust, saying, saying->certainty);
        hear(TAKT_SCAN_PYTHON, "a.py", saying->python, saying,
             TAKT_UNKNOWN_TYPE);
    }
}

static void what_does_more_contains_it(void)
{
    const struct saying scale = {.op = "scale"}, fused = {.op = "fused"},
                        dot = {.op = "dot"}, add = {.op = "add"};

    hear(TAKT_SCAN_C, "a.c",
         "float f(const float *a, const float *b, int n) { float s = 0;\n"
         "for (int i = 0; i < n; i++) s += 0.5f * a[i] * b[i]; return s; }",
         &dot, TAKT_CONTAINS);
    hear(TAKT_SCAN_C, "a.c",
         "void f(const float *a, float *b, float *c, int n) {\n"
         "for (int i = 0; i < n; i++) { b[i] += a[i]; c[i] = b[i]; } }",
         &add, TAKT_CONTAINS);

    hear(TAKT_SCAN_RUST, "a.rs",
         "fn f(a: &[f32], b: &[f32]) -> Vec<f32> {\n"
         "a.iter().zip(b).map(|(x, y)| (x + y) * 0.5).collect() }",
         &scale, TAKT_CONTAINS);
    hear(TAKT_SCAN_PYTHON, "a.py",
         "c = [(x + y) * 0.5 for x, y in zip(a, b)]\n", &scale, TAKT_CONTAINS);
    hear(TAKT_SCAN_C, "a.c",
         "void f(const float *a, const float *b, float *c, int n) {\n"
         "for (int i = 0; i < n; i++) c[i] = (a[i] + b[i]) * 0.5f * a[i]; }",
         &fused, TAKT_CONTAINS);
}

static void a_product_of_unknown_type_is_told(void)
{
    const struct saying product = {.op = "matmul"}, none = {.op = NULL};

    hear(TAKT_SCAN_CPP, "a.cpp",
         "#include \"float.h\"\nvoid f(M a, M b, M c, int n) {\n"
         "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)\n"
         "for (int k = 0; k < n; k++) c[i][j] += a[i][k] * b[k][j]; }",
         &product, TAKT_UNKNOWN_TYPE);
    hear(TAKT_SCAN_CPP, "a.cpp",
         "#include \"float.h\"\nM f(M a, int n) { M s = 0;\n"
         "for (int i = 0; i < n; i++) s += a[i]; return s; }",
         &none, TAKT_EXACT);
}

int main(void)
{
    RUN(all_languages_agree);
    RUN(what_does_more_contains_it);
    RUN(a_product_of_unknown_type_is_told);
    return tap_done();
}
