/* SPDX-License-Identifier: MIT */
/*
 * test_scan.c - files of every kind, and the same answer however many threads
 * look at them.
 */
#include "tree.h"

#define CORPUS TAKT_SOURCE_DIR "/tests/scan/corpus"

static const struct takt_scan_options plain = {.threads = 2};

static const char *const extension[TAKT_SCAN_LANGUAGES] = {"c", "cpp", "py",
                                                           "rs"};

static void kinds_of_files_are_told_apart(void)
{
    struct account account = {0};
    struct tree tree;

    tree_make(&tree);
    tree_text(&tree, "empty.c", "");
    tree_text(&tree, "open.c", "int x;\nint y;"); /* two lines */
    tree_text(&tree, "marked.c", "\xEF\xBB\xBFint x;\n");
    tree_bytes(&tree, "binary.c", "int x;\0\n", 8);
    tree_text(&tree, "latin.c", "/* caf\xE9 */ int x;\n");
    tree_text(&tree, "half.c", "int x; /* \xE2\x82");
    tree_text(&tree, "header.h", "int x;\n");
    tree_text(&tree, "plus.h", "namespace a { int x; }\n");
    REQUIRE(truncate(tree_path(&tree, "empty.c"), 0) == 0);
    tree_text(&tree, "sparse.c", "");
    REQUIRE(truncate(tree_path(&tree, "sparse.c"), 1 << 30) == 0);
    account_of(&account, tree.path, plain);
    EXPECT_INT(account.status, TAKT_OK);
    EXPECT_INT(account.report.of[TAKT_SCAN_C].files, 6);
    EXPECT_INT(account.report.of[TAKT_SCAN_CPP].files, 1);
    EXPECT_INT(account.report.of[TAKT_SCAN_C].lines, 6);
    EXPECT_INT(account.report.binary, 1);
    EXPECT_INT(account.report.too_large, 1);
    EXPECT_INT(account.report.not_utf8, 2);
    EXPECT_INT(account.warnings, 4);
    EXPECT(account_says(&account, "sparse.c is too large"));
    EXPECT(account_says(&account, "binary.c is binary"));
    EXPECT(account_says(&account, "latin.c is not valid UTF-8"));
    free(account.text);
    tree_remove(&tree);
}

static void the_largest_size_is_an_option(void)
{
    struct takt_scan_options options = plain;
    struct account account = {0};
    struct tree tree;

    tree_make(&tree);
    tree_text(&tree, "ten.py", "x = 123456");
    tree_text(&tree, "eleven.py", "x = 1234567");
    options.most_bytes = 10;
    account_of(&account, tree.path, options);
    EXPECT_INT(account_files(&account), 1);
    EXPECT_INT(account.report.too_large, 1);
    free(account.text);
    tree_remove(&tree);
}

/* Files that pretend to be endless. */
/* A tree of numbers alone would take a hundred times their size. */
static void tables_of_numbers_are_not_parsed(void)
{
    static const char head[] = "const float t[] = {";
    static const char loop[] =
        "};\nfloat f(const float *x, int n) { float s = 0;"
        " for (int i = 0; i < n; i++) s += x[i];"
        " return s; }\n";
    enum { numbers = 30000, each = 6 };
    const size_t size = sizeof head + numbers * each + sizeof loop;
    char *text = calloc(1, size);
    struct tree tree;

    REQUIRE(text != NULL);
    tree_make(&tree);
    for (int with_loop = 0; with_loop < 2; with_loop++) {
        struct account account = {0};
        strcpy(text, head);
        for (int i = 0; i < numbers; i++)
            memcpy(text + sizeof head - 1 + i * each, "1.25, ", each);
        strcpy(text + sizeof head - 1 + numbers * each,
               with_loop ? loop : "};\n");
        tree_text(&tree, "table.c", text);
        account_of(&account, tree.path, plain);
        EXPECT_INT(account.report.of[TAKT_SCAN_C].parsed, with_loop);
        EXPECT_INT(account.report.of[TAKT_SCAN_C].findings, with_loop);
        free(account.text);
    }
    free(text);
    tree_remove(&tree);
}

static void files_of_the_kernel_are_bounded(void)
{
    struct account account = {0};

    if (access("/proc/self/status", R_OK) != 0) {
        SKIP("no /proc");
        return;
    }
    account_of(&account, "/proc/self/fdinfo", plain);
    EXPECT_INT(account.status, TAKT_OK);
    free(account.text);
}

/* `count` times the first, the middle, `count` times the last. */
static void nest(const struct tree *tree, const char *name, const char *head,
                 const char *open, const char *middle, const char *close,
                 size_t count)
{
    const size_t a = strlen(open), b = strlen(close);
    char *text = malloc(strlen(head) + (a + b) * count + strlen(middle) + 2);
    char *end = text;

    REQUIRE(text != NULL);
    end = stpcpy(end, head);
    for (size_t i = 0; i < count; i++)
        end = stpcpy(end, open);
    end = stpcpy(end, middle);
    for (size_t i = 0; i < count; i++)
        end = stpcpy(end, close);
    stpcpy(end, "\n");
    tree_text(tree, name, text);
    free(text);
}

/* The time of some parsers grows with the square of the depth, which the first
 * build has; stacks are larger where they are sanitized. */
#if defined(TAKT_TEST_EMULATED) || defined(__SANITIZE_THREAD__)
enum { NESTED = 100, BRACKETS = 2000, BLOCKS = 200 };
#elif defined(__SANITIZE_ADDRESS__)
enum { NESTED = 400, BRACKETS = 20000, BLOCKS = 1000 };
#else
enum { NESTED = 1000, BRACKETS = 20000, BLOCKS = 1500 };
#endif

/* Each word that a filter may wait for is in it. */
#define HEAD                                                             \
    "float *a; import numpy as np; for sum max map fold iter matmul [] " \
    "+= * float double f32 f64 .sum() @ zip\n"

static void brackets_may_be_endless(void)
{
    struct account account = {0};
    struct tree tree;

    tree_make(&tree);
    for (int l = 0; l < TAKT_SCAN_LANGUAGES; l++) {
        char name[32];
        snprintf(name, sizeof name, "round.%s", extension[l]);
        nest(&tree, name, HEAD "x = ", "(", "1", ")", BRACKETS);
        snprintf(name, sizeof name, "square.%s", extension[l]);
        nest(&tree, name, HEAD "x = ", "[", "1", "]", BRACKETS);
        snprintf(name, sizeof name, "open.%s", extension[l]);
        nest(&tree, name, HEAD, "{", "", "", BRACKETS);
    }
    account_of(&account, tree.path, plain);
    EXPECT_INT(account.status, TAKT_OK);
    EXPECT_INT(account_files(&account), 3 * TAKT_SCAN_LANGUAGES);
    printf("# %.1f s\n", account.report.seconds);
    free(account.text);
    tree_remove(&tree);
}

static void deep_nesting_ends_nothing(void)
{
    static const struct {
        const char *open, *middle, *close;
    } shape[] = {{"(", "1", ")"},
                 {"[", "1", "]"},
                 {"{", "", "}"},
                 {"a(", "1", ")"},
                 {"a[", "1", "]"},
                 {"-", "x", ""},
                 {"for (int i = 0; i < n; i++) ", "s += a[i];", ""},
                 {"for i in 0..n { ", "s += a[i];", "}"},
                 {"if x { ", "y", "} else"},
                 {"x.sum().map(|x| ", "y", ")"},
                 {"a.b().", "sum()", ""},
                 {"np.sum(", "a", ")"},
                 {"1 + ", "1", ""},
                 {"s += a[", "0", "];\n"},
                 {"std::vector<", "float", ">"},
                 {"&", "a", ""},
                 {"\"", "", "'"},
                 {"/*", "", ""},
                 {"#if 1\n", "", "#endif\n"},
                 {"lambda x: ", "x", ""},
                 {"|x| ", "x", ""}};
    struct account account = {0};
    struct tree tree;

    tree_make(&tree);
    for (int l = 0; l < TAKT_SCAN_LANGUAGES; l++)
        for (size_t i = 0; i < sizeof shape / sizeof *shape; i++) {
            char name[32];
            snprintf(name, sizeof name, "%zu.%s", i, extension[l]);
            nest(&tree, name, HEAD, shape[i].open, shape[i].middle,
                 shape[i].close, NESTED);
        }
    account_of(&account, tree.path, plain);
    EXPECT_INT(account.status, TAKT_OK);
    EXPECT_INT(account_files(&account),
               TAKT_SCAN_LANGUAGES * sizeof shape / sizeof *shape);
    printf("# %.1f s\n", account.report.seconds);
    free(account.text);
    tree_remove(&tree);
}

static void blocks_of_python_may_be_deep(void)
{
    char *text = malloc((size_t)BLOCKS * (BLOCKS + 16)), *end = text;
    struct account account = {0};
    struct tree tree;

    REQUIRE(text != NULL);
    for (int i = 0; i < BLOCKS; i++)
        end += sprintf(end, "%*sfor x in a:\n", i, "");
    sprintf(end, "%*ss += x\n", BLOCKS, "");
    tree_make(&tree);
    tree_text(&tree, "deep.py", text);
    account_of(&account, tree.path, plain);
    EXPECT_INT(account.status, TAKT_OK);
    EXPECT_INT(account_files(&account), 1);
    free(text);
    free(account.text);
    tree_remove(&tree);
}

/* "a = b = a = b = ... = x": each of the names has the value at the end. */
static void chains_of_assignments_may_be_long(void)
{
    enum { NAMES = 1 << 17 };
    static const char pair[] = "a=b=", value[] = "sum(x)\n";
    const size_t size = NAMES / 2 * strlen(pair);
    char *text = malloc(size + sizeof value);
    struct account account = {0};
    struct tree tree;

    REQUIRE(text != NULL);
    for (size_t i = 0; i < size; i += strlen(pair))
        memcpy(text + i, pair, strlen(pair));
    strcpy(text + size, value);
    tree_make(&tree);
    tree_text(&tree, "chain.py", text);
    account_of(&account, tree.path, plain);
    EXPECT_INT(account.status, TAKT_OK);
    EXPECT_INT(account_files(&account), 1);
    EXPECT(account.report.seconds < 60);
    free(text);
    free(account.text);
    tree_remove(&tree);
}

static void threads_change_nothing(void)
{
    struct takt_scan_options options = {.threads = 1};
    struct account one = {0}, many = {0};

    account_of(&one, CORPUS, options);
    EXPECT_INT(one.status, TAKT_OK);
    EXPECT(one.findings > 0);
    for (unsigned threads = 2; threads <= 16; threads *= 8) {
        options.threads = threads;
        account_of(&many, CORPUS, options);
        EXPECT_STR(many.text, one.text);
        many.report.seconds = one.report.seconds;
        EXPECT(memcmp(&many.report, &one.report, sizeof one.report) == 0);
    }
    printf("# %u findings\n", one.findings);
    free(one.text);
    free(many.text);
}

/* Types, macros and classes of headers that a file includes, also by another
 * one; what it does not include it does not know. */
static void declarations_of_other_files_are_known(void)
{
    struct account account = {0};
    struct tree tree;

    tree_make(&tree);
    tree_text(&tree, "include/types.h",
              "#ifndef TYPES_H\n#define TYPES_H\n#define REAL double\n"
              "typedef REAL real; /* float { */\n#endif\n");
    tree_text(&tree, "include/work.h",
              "#include \"types.h\"\n"
              "typedef struct work { int n; real *x, *y; } work;\n");
    tree_text(&tree, "other/work.h", "typedef struct work { int n; } work;\n");
    tree_text(&tree, "src/seen.c",
              "#include \"../include/work.h\"\n"
              "void f(work *w) {\n"
              "for (int i = 0; i < w->n; i++) w->y[i] += w->x[i];\n}\n");
    tree_text(&tree, "src/unseen.c",
              "/* double */ void f(work *w) {\n"
              "for (int i = 0; i < w->n; i++) w->y[i] += w->x[i];\n}\n");
    tree_text(&tree, "cpp/vec.hpp",
              "#include <vector>\nnamespace a {\nclass Vec {\n"
              "  std::vector<float> held;\n public:\n"
              "  float total() const;\n};\n}\n");
    tree_text(&tree, "cpp/vec.cpp",
              "#include \"vec.hpp\"\nfloat a::Vec::total() const {\n"
              "float s = 0;\n"
              "for (auto i = 0u; i < held.size(); i++) s += held[i];\n"
              "return s;\n}\n");
    tree_text(&tree, "crate/src/state.rs",
              "pub struct State<'a> { pub held: &'a [f64] }\n");
    tree_text(&tree, "crate/src/lib.rs",
              "use crate::state::State;\nfn f(s: &State) -> f64 {\n"
              "s.held.iter().sum()\n}\n");
    account_of(&account, tree.path, plain);
    EXPECT_INT(account.findings, 3);
    EXPECT(strstr(account.text, "src/seen.c:3") != NULL);
    EXPECT(strstr(account.text, "cpp/vec.cpp:4") != NULL);
    EXPECT(strstr(account.text, "crate/src/lib.rs:3") != NULL);
    free(account.text);
    tree_remove(&tree);
}

/* A class behind macros that say how it is linked, and the second half of a
 * header, which sees what the first half declares. */
static void classes_are_known_behind_macros(void)
{
    struct account account = {0};
    struct tree tree;

    tree_make(&tree);
    tree_text(&tree, "row.h",
              "#include <vector>\nLIB_BEGIN_NAMESPACE\n"
              "template <class T> class Row : public std::vector<T> {};\n"
              "class LIB_API Line : public Row<double> { public: Line(); };\n"
              "#define LIB_MAKE(T) T make(); \\\n\nLIB_BEGIN_NAMESPACE\n"
              "class LIB_API LIB_CHECKED Curve :\n"
              "  public Row<double> { public: Curve(); };\n"
              "LIB_END_NAMESPACE\n");
    tree_text(&tree, "b.cpp",
              "#include \"row.h\"\nLIB_MAKE(Curve)\n"
              "void f(Curve &x) {\n"
              "for (unsigned i = 0; i < x.size(); i++) x[i] *= 2;\n}\n");
    tree_text(&tree, "a.cpp",
              "#include \"row.h\"\nLIB_BEGIN_NAMESPACE\n"
              "LIB_API double f(const Line &x) {\ndouble s = 0;\n"
              "for (unsigned i = 0; i < x.size(); i++) s += x[i];\n"
              "return s;\n}\nLIB_END_NAMESPACE\n");
    tree_text(&tree, "plane.h",
              "template <typename T> class Plane final {\n public:\n"
              "  T &operator()(int i, int j);\n};\n"
              "#include \"detail/plane-inl.h\"\n");
    tree_text(&tree, "detail/plane-inl.h",
              "template <typename T> void g(Plane<T> &u, T s, int n) {\n"
              "for (int k = 0; k < n; k++) u(0, k) *= s;\n}\n");
    account_of(&account, tree.path, plain);
    EXPECT_INT(account.findings, 3);
    EXPECT(strstr(account.text, "a.cpp:5") != NULL);
    EXPECT(strstr(account.text, "b.cpp:4") != NULL);
    EXPECT(strstr(account.text, "detail/plane-inl.h:2") != NULL);
    free(account.text);
    tree_remove(&tree);
}

/* Methods and operators tell what a class of another file holds, also one that
 * it is made of; those that tell nothing are not carried along. */
static void methods_of_other_files_are_known(void)
{
    struct account account = {0};
    struct tree tree;

    tree_make(&tree);
    tree_text(&tree, "grid.h",
              "template <class T> class Grid {\n public:\n"
              "  T &operator()(int x, int y) { return held(x, y); }\n"
              "  T *row(int y);\n  int width() const;\n};\n"
              "class Image : public Grid<float> { public: int id(); };\n");
    tree_text(&tree, "cache.h",
              "class Cache {\n public:\n  struct Result {\n"
              "    std::array<float, 361> policy;\n    Result() {}\n  };\n"
              "  Cache();\n};\n");
    tree_text(&tree, "b.cpp",
              "#include \"cache.h\"\nvoid h(Cache::Result &r) {\n"
              "for (int i = 0; i < 361; i++) r.policy[i] *= 0.5f;\n}\n");
    tree_text(&tree, "buffer.h",
              "class Buffer {\n public:\n  const float *read() const;\n"
              "  float *write() { return text; }\n  int count() const;\n};\n");
    tree_text(&tree, "a.cpp",
              "#include \"grid.h\"\n#include \"buffer.h\"\n"
              "#include <cmath>\nvoid f(const Buffer &a, Buffer &b) {\n"
              "const auto in = a.read(); auto out = b.write();\n"
              "for (int i = 0; i < a.count(); i++) out[i] = exp(in[i]);\n}\n"
              "void g(Grid<double> &g, Image &m, int h) {\n"
              "for (int y = 0; y < h; y++)\n"
              " for (int x = 0; x < g.width(); x++) g(x, y) = exp(m(x, y));\n"
              "auto row = m.row(3);\n"
              "for (int x = 0; x < m.width(); x++) row[x] = tanh(row[x]);\n"
              "}\n");
    account_of(&account, tree.path, plain);
    EXPECT_INT(account.findings, 4);
    EXPECT(strstr(account.text, "b.cpp:3") != NULL);
    EXPECT(strstr(account.text, "a.cpp:6") != NULL);
    EXPECT(strstr(account.text, "a.cpp:9") != NULL);
    EXPECT(strstr(account.text, "a.cpp:12") != NULL);
    free(account.text);
    tree_remove(&tree);
}

/* Of many declarations the short ones come first, and of a class only what it
 * holds: types that are long do not crowd out those that say what elements
 * are, nor do words in comments. */
static void long_declarations_leave_room(void)
{
    struct account account = {0};
    struct tree tree;
    char text[40000];
    size_t size = 0;

    tree_make(&tree);
    for (unsigned i = 0; i < 12; i++) {
        size += (size_t)snprintf(text + size, sizeof text - size,
                                 "class Solver%u {\n struct Step {\n", i);
        for (unsigned k = 0; k < 30; k++)
            size += (size_t)snprintf(text + size, sizeof text - size,
                                     "  virtual bool ask%u(double x, double y,"
                                     " int most = {}) const;\n",
                                     k);
        size += (size_t)snprintf(text + size, sizeof text - size,
                                 " };\n double table%u[%u];\n};\n", i, i + 1);
    }
    tree_text(&tree, "solvers.H", text);
    tree_text(&tree, "real.H",
              "typedef long double longReal;\ntypedef double shortReal;\n"
              "#if WIDE\ntypedef longReal number;\n#else\n"
              "typedef shortReal number;\n#endif\n"
              "class Numbers {\n public:\n"
              "  number &operator [] (int i);\n};\n");
    tree_text(
        &tree, "a.tcc",
        "#include \"solvers.H\"\n#include \"real.H\"\n"
        "void g(Solver0, Solver1, Solver2, Solver3, Solver4, Solver5,\n"
        "       Solver6, Solver7, Solver8, Solver9, Solver10, Solver11);\n"
        "void f(Numbers &y, const Numbers &x, int n) {\n"
        "for (int i = 0; i < n; i++) y[i] += x[i];\n}\n");
    account_of(&account, tree.path, plain);
    EXPECT_INT(account.findings, 1);
    EXPECT(strstr(account.text, "a.tcc:6") != NULL);
    free(account.text);
    tree_remove(&tree);
}

static void a_visitor_may_have_enough(void)
{
    struct takt_scan_options options = {.threads = 4};
    struct account account = {.most_findings = 3};

    account_of(&account, CORPUS, options);
    EXPECT_INT(account.status, TAKT_OK);
    EXPECT_INT(account.findings, 3);
    free(account.text);
}

static void findings_name_the_path_that_was_given(void)
{
    struct account account = {.most_findings = 1};

    account_of(&account, CORPUS "/", (struct takt_scan_options){.threads = 1});
    EXPECT(strncmp(account.text, CORPUS "/", strlen(CORPUS) + 1) == 0);
    EXPECT(strstr(account.text, "//") == NULL ||
           strstr(account.text, "//") > strchr(account.text, ':'));
    free(account.text);
}

int main(void)
{
    RUN(kinds_of_files_are_told_apart);
    RUN(the_largest_size_is_an_option);
    RUN(tables_of_numbers_are_not_parsed);
    RUN(files_of_the_kernel_are_bounded);
    RUN(brackets_may_be_endless);
    RUN(deep_nesting_ends_nothing);
    RUN(blocks_of_python_may_be_deep);
    RUN(chains_of_assignments_may_be_long);
    RUN(threads_change_nothing);
    RUN(declarations_of_other_files_are_known);
    RUN(methods_of_other_files_are_known);
    RUN(classes_are_known_behind_macros);
    RUN(long_declarations_leave_room);
    RUN(a_visitor_may_have_enough);
    RUN(findings_name_the_path_that_was_given);
    return tap_done();
}
