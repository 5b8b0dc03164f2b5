/* SPDX-License-Identifier: MIT */
/*
 * optimize_imports.c - which frameworks a source file imports.
 *
 * Line by line: an import stands at the beginning of one, and not within a
 * comment or a string that goes over several.
 */
#include <string.h>

#include "optimize.h"

enum {
    in_c = 1 << TAKT_SCAN_C | 1 << TAKT_SCAN_CPP,
    in_python = 1 << TAKT_SCAN_PYTHON,
    in_rust = 1 << TAKT_SCAN_RUST
};

/* An import of `module`, or of what is below it. Several rows may stand for the
 * same framework; those follow each other. */
static const struct {
    const char *framework, *module;
    int languages;
} imports[] = {
    {"NumPy", "numpy", in_python},
    {"SciPy", "scipy", in_python},
    {"scikit-learn", "sklearn", in_python},
    {"PyTorch", "torch", in_python},
    {"PyTorch", "torch/torch.h", in_c},
    {"PyTorch", "tch", in_rust},
    {"TensorFlow", "tensorflow", in_python},
    {"JAX", "jax", in_python},
    {"CuPy", "cupy", in_python},
    {"Numba", "numba", in_python},
    {"pandas", "pandas", in_python},
    {"ndarray", "ndarray", in_rust},
    {"nalgebra", "nalgebra", in_rust},
    {"faer", "faer", in_rust},
    {"candle", "candle_core", in_rust},
    {"candle", "candle_nn", in_rust},
    {"burn", "burn", in_rust},
    {"Rayon", "rayon", in_rust},
    {"wgpu", "wgpu", in_rust},
    {"CUDA", "cudarc", in_rust},
    {"CUDA", "cuda_runtime.h", in_c},
    {"CUDA", "cuda.h", in_c},
    {"cuBLAS", "cublas_v2.h", in_c},
    {"BLAS", "cblas.h", in_c},
    {"BLAS", "cblas", in_rust},
    {"BLAS", "openblas/cblas.h", in_c},
    {"LAPACK", "lapacke.h", in_c},
    {"MKL", "mkl.h", in_c},
    {"Eigen", "Eigen", in_c},
    {"Armadillo", "armadillo", in_c},
    {"OpenCV", "opencv2", in_c},
    {"OpenCV", "cv2", in_python},
    {"OpenMP", "omp.h", in_c},
    {"OpenCL", "CL", in_c},
    {"Vulkan", "vulkan", in_c},
    {"FFTW", "fftw3.h", in_c},
    {"x86 intrinsics", "immintrin.h", in_c},
    {"Arm intrinsics", "arm_neon.h", in_c},
    {"Takt", "takt", in_c},
};

#define import_count (sizeof imports / sizeof imports[0])
_Static_assert(sizeof imports / sizeof imports[0] <= (size_t)most_frameworks,
               "there is room for all");

/* The first row of a framework stands for it. */
static bool is_first(size_t row)
{
    return row == 0 ||
           strcmp(imports[row].framework, imports[row - 1].framework) != 0;
}

const char *framework_at(size_t index)
{
    if (index >= import_count)
        return NULL;
    return is_first(index) ? imports[index].framework : "";
}

/* ---- one line ---- */

struct words {
    const char *at, *end;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static void skip_blanks(struct words *line)
{
    while (line->at < line->end && is_blank(*line->at))
        line->at++;
}

static bool accept(struct words *line, const char *word)
{
    const size_t length = strlen(word);

    if ((size_t)(line->end - line->at) < length ||
        memcmp(line->at, word, length) != 0)
        return false;
    line->at += length;
    return true;
}

/* A word that a blank follows. */
static bool accept_keyword(struct words *line, const char *word)
{
    const struct words before = *line;

    if (accept(line, word) && line->at < line->end && is_blank(*line->at)) {
        skip_blanks(line);
        return true;
    }
    *line = before;
    return false;
}

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '_';
}

/* Bits of the rows that the module at `line` belongs to. */
static uint64_t match_module(struct words line, unsigned language)
{
    uint64_t found = 0;

    for (size_t i = 0; i < import_count; i++) {
        struct words rest = line;
        if ((imports[i].languages >> language & 1) != 0 &&
            accept(&rest, imports[i].module) &&
            (rest.at == rest.end || !is_name(*rest.at)))
            found |= UINT64_C(1) << i;
    }
    return found;
}

static uint64_t match_python(struct words line)
{
    uint64_t found = 0;

    if (accept_keyword(&line, "from"))
        return match_module(line, TAKT_SCAN_PYTHON);
    if (!accept_keyword(&line, "import"))
        return 0;
    while (line.at < line.end) { /* import a.b as c, d */
        found |= match_module(line, TAKT_SCAN_PYTHON);
        const char *comma = memchr(line.at, ',', (size_t)(line.end - line.at));
        line.at = comma == NULL ? line.end : comma + 1;
        skip_blanks(&line);
    }
    return found;
}

static uint64_t match_rust(struct words line)
{
    accept_keyword(&line, "pub");
    if (accept_keyword(&line, "extern"))
        return accept_keyword(&line, "crate")
                   ? match_module(line, TAKT_SCAN_RUST)
                   : 0;
    if (!accept_keyword(&line, "use"))
        return 0;
    accept(&line, "::");
    return match_module(line, TAKT_SCAN_RUST);
}

static uint64_t match_c(struct words line, unsigned language)
{
    if (!accept(&line, "#"))
        return 0;
    skip_blanks(&line);
    if (!accept(&line, "include"))
        return 0;
    skip_blanks(&line);
    return accept(&line, "<") || accept(&line, "\"")
               ? match_module(line, language)
               : 0;
}

static uint64_t match_line(struct words line, unsigned language)
{
    skip_blanks(&line);
    if (language == TAKT_SCAN_PYTHON)
        return match_python(line);
    if (language == TAKT_SCAN_RUST)
        return match_rust(line);
    return match_c(line, language);
}

/* ---- a file ---- */

/* The end of a string that begins here and ends on its line; else here. */
static const char *skip_string(struct words line, bool is_python)
{
    const char mark = *line.at;

    /* Elsewhere '"' is a character; longer ones may be lifetimes of Rust. */
    if (mark == '\'' && !is_python && line.end - line.at > 4)
        line.end = line.at + 4;
    if (mark != '"' && mark != '\'')
        return line.at;
    for (const char *at = line.at + 1; at < line.end; at++) {
        if (*at == mark)
            return at;
        if (*at == '\\' && at + 1 < line.end)
            at++;
    }
    return line.at;
}

/* What a block that is open at the end of a line is ended by; NULL: none is. */
static const char *follow_blocks(struct words line, unsigned language,
                                 const char *open)
{
    const bool is_python = language == TAKT_SCAN_PYTHON;

    for (; line.at < line.end; line.at++) {
        struct words here = line;
        if (open != NULL) {
            if (accept(&here, open)) {
                line.at = here.at - 1;
                open = NULL;
            }
        } else if (is_python && *line.at == '#') {
            break;
        } else if (is_python &&
                   (accept(&here, "\"\"\"") || accept(&here, "'''"))) {
            open = *line.at == '"' ? "\"\"\"" : "'''";
            line.at = here.at - 1;
        } else if (!is_python && accept(&here, "//")) {
            break;
        } else if (!is_python && accept(&here, "/*")) {
            open = "*/";
            line.at = here.at - 1;
        } else {
            line.at = skip_string(line, is_python);
        }
    }
    return open;
}

void count_imports(struct analysis *analysis, enum takt_scan_language language,
                   const char *text, size_t size)
{
    const char *end = text + size, *open = NULL;
    const bool has_mark = size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0;
    uint64_t found = 0;

    for (const char *at = text + (has_mark ? 3 : 0); at < end;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        const struct words line = {at, stop == NULL ? end : stop};
        if (open == NULL)
            found |= match_line(line, language);
        open = follow_blocks(line, language, open);
        at = line.end + 1;
    }
    for (size_t i = 0, first = 0; i < import_count; i++) {
        if (is_first(i))
            first = i;
        if ((found >> i & 1) == 0)
            continue;
        __atomic_fetch_add(&analysis->framework_files[first], 1,
                           __ATOMIC_RELAXED);
        while (i + 1 < import_count && !is_first(i + 1))
            i++; /* a file counts once for a framework */
    }
}
