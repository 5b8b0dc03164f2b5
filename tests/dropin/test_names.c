/* SPDX-License-Identifier: MIT */
/*
 * test_names.c - every name that is interposed, with every kind of argument,
 * compared with what the baseline library makes of the same call.
 *
 * usage: test_names LIBTAKT_BLAS BASELINE [wide]
 *
 * libtakt-blas is opened before the baseline library, for all to see: so it
 * comes first wherever a name is looked for, as if it were preloaded. That
 * works with sanitizers too. A call that comes to the library as it was made
 * must give the same bits, any other one a result within the tolerance of the
 * routine. Whatever must not be read is NaN, and whatever must not be written
 * is compared. The environment says how calls are routed: TAKT_RUN_EAGER,
 * TAKT_EXPERT.
 */
#include <dlfcn.h>
#include <float.h>
#include <math.h>

#include "baseline_blas.h"
#include "blas_subject.h"
#include "support/tap.h"
#include "support/tolerance.h"

static void *interposer, *baseline;
static bool is_wide_library, is_eager, is_fixed;
static double worst_share; /* of what is allowed */

/* Functions of the baseline library. */
static const char *(*seen)(unsigned *count);
static const char *(*complaint)(void);
static void (*forget)(void);

/* ---- names --------------------------------------------------------------- */

struct name {
    enum takt_routine routine;
    enum takt_blas_type letter;
    bool is_c, is_wide;
    char text[48];
    baseline_function *function;
    unsigned routed;
};

static const struct {
    const char *pattern;
    bool is_c, is_wide;
} dialects[] = {{"%s_", false, false},
                {"%s_64_", false, true},
                {"scipy_%s_", false, false},
                {"scipy_%s_64_", false, true},
                {"cblas_%s", true, false},
                {"cblas_%s64_", true, true},
                {"cblas_%s_64", true, true},
                {"scipy_cblas_%s", true, false},
                {"scipy_cblas_%s64_", true, true}};

enum { dialect_count = sizeof dialects / sizeof *dialects };

static void *find(void *handle, const char *text)
{
    void *found = dlsym(handle, text);

    TAP_CHECK(found != NULL, "there is no %s", text);
    return found;
}

/* False: the baseline library has no such name. */
static bool find_name(enum takt_routine routine, enum takt_blas_type letter,
                      size_t dialect, struct name *out)
{
    char word[16];

    *out =
        (struct name){.routine = routine,
                      .letter = letter,
                      .is_c = dialects[dialect].is_c,
                      .is_wide = dialects[dialect].is_wide || is_wide_library};
    snprintf(word, sizeof word, "%s%c%s", routine == TAKT_IAMAX ? "i" : "",
             "sdcz"[letter], baseline_routine_name(routine));
    snprintf(out->text, sizeof out->text, dialects[dialect].pattern, word);
    if (dlsym(baseline, out->text) == NULL)
        return false;
    void *found = find(interposer, out->text);
    memcpy(&out->function, &found, sizeof found);
    return found != NULL;
}

/* ---- comparing ----------------------------------------------------------- */

static bool is_f64(const struct subject *s)
{
    return s->request.letter == TAKT_D || s->request.letter == TAKT_Z;
}

static double real_at(const struct subject *s, const char *image, size_t at)
{
    float narrow;
    double wide;

    memcpy(&wide, image + at * (is_f64(s) ? 8 : 0), sizeof wide);
    memcpy(&narrow, image + at * (is_f64(s) ? 0 : 4), sizeof narrow);
    return is_f64(s) ? wide : (double)narrow;
}

static void complain(const struct subject *s, const struct name *name,
                     const char *what, size_t at)
{
    char words[400];

    tap_failures++;
    baseline_describe(&s->request, words, sizeof words);
    printf("# %s: %s at %zu: %s\n", name->text, what, at, words);
}

/* How many roundings lie between two ways to the same element; see
 * test_triangular.c. */
static double roundings(const struct subject *s)
{
    const struct operand *a = &s->operand[0];
    const bool is_dense = s->request.routine <= TAKT_GEMV;
    double terms = (double)(a->rows > a->columns ? a->rows : a->columns);

    if (!is_dense)
        terms = (double)s->operand[1].columns;
    return 2 * terms + ceil(log2(terms + 1)) + 4;
}

/* What the same call gives when every number is taken without its sign. The
 * image of c is left with it. */
static double take_magnitudes(struct subject *s)
{
    struct baseline_request absolute = s->request;
    const size_t width = is_f64(s) ? 8 : 4;

    restore(s);
    for (size_t i = 0; i < 3; i++)
        for (size_t at = 0; at < s->operand[i].bytes / width; at++)
            s->operand[i].image[at * width + width - 1] &= 0x7F;
    absolute.alpha[0] = fabs(absolute.alpha[0]);
    absolute.beta[0] = fabs(absolute.beta[0]);
    baseline_perform(&absolute);
    return absolute.sum;
}

static bool is_close(const struct subject *s, double got, double want,
                     double magnitude)
{
    const double eps = is_f64(s) ? DBL_EPSILON : (double)FLT_EPSILON;
    const double least = is_f64(s) ? DBL_MIN : (double)FLT_MIN;
    const double allowed = roundings(s) * eps * magnitude + least;

    if (isnan(want) || isnan(got))
        return isnan(want) && isnan(got);
    if (isinf(want) || isinf(got))
        return want == got;
    worst_share = fmax(worst_share, fabs(got - want) / allowed);
    return fabs(got - want) <= allowed;
}

/* Solutions are compared with the largest: the triangles are tame. */
static double largest(const struct subject *s, const char *image, size_t count)
{
    double most = 0;

    for (size_t at = 0; at < count; at++)
        if (isfinite(real_at(s, image, at)))
            most = fmax(most, fabs(real_at(s, image, at)));
    return most;
}

/* Of a call that did not come to the library as it was made. */
static void check_near(struct subject *s, const struct name *name,
                       const struct baseline_request *want,
                       const char *want_image)
{
    const struct operand *c = &s->operand[2];
    const size_t width = is_f64(s) ? 8 : 4, count = c->bytes / width;
    const double sum = s->request.sum;
    char *got = malloc(c->bytes);

    REQUIRE(got != NULL);
    memcpy(got, c->image, c->bytes);
    const double of_sum = take_magnitudes(s);
    const double most = largest(s, want_image, count);
    if (!is_close(s, sum, want->sum, of_sum))
        complain(s, name, "another sum", 0);
    for (size_t at = 0; at < count; at++) {
        const bool is_kept =
            memcmp(want_image + at * width, c->before + at * width, width) == 0;
        if (is_kept
                ? memcmp(got + at * width, c->before + at * width, width)
                : !is_close(s, real_at(s, got, at), real_at(s, want_image, at),
                            s->request.routine == TAKT_TRSM
                                ? 8 * most
                                : real_at(s, c->image, at))) {
            complain(s, name, is_kept ? "written" : "wrong", at);
            break;
        }
    }
    free(got);
}

static bool is_same_sum(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

/* ---- calling ------------------------------------------------------------- */

static bool went_straight(const struct subject *s, const struct name *name)
{
    char words[400], line[512];
    unsigned count;

    baseline_describe(&s->request, words, sizeof words);
    snprintf(line, sizeof line, "%s: %s", name->text, words);
    return strcmp(seen(&count), line) == 0;
}

/* Whether Takt's own kernels run all of it where they are told to. */
static bool is_ours_alone(const struct name *name)
{
    return name->letter <= TAKT_D &&
           (name->routine == TAKT_GEMM || name->routine == TAKT_SYRK ||
            (name->routine >= TAKT_GEMV && name->routine != TAKT_GER &&
             name->routine != TAKT_IAMAX));
}

static void check_call(struct subject *s, struct name *name)
{
    struct operand *c = &s->operand[2];
    struct baseline_request want = s->request;
    char *want_image = malloc(c->bytes);
    unsigned count;

    REQUIRE(want_image != NULL);
    baseline_perform(&want);
    memcpy(want_image, c->image, c->bytes);
    restore(s);
    forget();
    baseline_call(name->function, name->is_wide, &s->request);
    seen(&count);
    name->routed += count == 0;
    for (size_t i = 0; i < 2; i++)
        if (memcmp(s->operand[i].image, s->operand[i].before,
                   s->operand[i].bytes) != 0)
            complain(s, name, "an operand was written", i);
    if (s->request.letter == TAKT_S)
        want.sum = (double)(float)want.sum;
    if (went_straight(s, name)) {
        if (memcmp(c->image, want_image, c->bytes) != 0 ||
            !is_same_sum(s->request.sum, want.sum) ||
            s->request.index != want.index)
            complain(s, name, "was passed through and has other bits", 0);
    } else if (!is_eager || name->letter > TAKT_D) {
        complain(s, name, "was not passed through", 0);
        printf("# came as %s\n", seen(&count));
    } else {
        check_near(s, name, &want, want_image);
    }
    free(want_image);
}

static void check_name(struct name *name)
{
    const unsigned cases = is_sanitized ? 20 : 80;
    struct subject s;

    for (unsigned i = 0; i < cases; i++) {
        s.is_simple = i == 0;
        choose(&s, name->routine, name->letter, name->is_c);
        make_operands(&s);
        check_call(&s, name);
        free_operands(&s);
    }
    if (is_fixed && is_ours_alone(name))
        TAP_CHECK(name->routed > 0, "%s is never routed", name->text);
}

/* ---- wrong arguments ----------------------------------------------------- */

static void check_wrong(struct subject *s, const struct name *name)
{
    const int wrong = baseline_wrong_argument(&s->request);
    char want[64];

    if (wrong == 0)
        return;
    forget();
    baseline_call(name->function, name->is_wide, &s->request);
    snprintf(want, sizeof want, "%s %d", name->text, wrong);
    if (strcmp(complaint(), want) != 0) {
        complain(s, name, "wrong argument", (size_t)wrong);
        printf("# the library was told \"%s\"\n", complaint());
    }
    if (!went_straight(s, name))
        complain(s, name, "came otherwise", (size_t)wrong);
    for (size_t i = 0; i < 3; i++)
        if (memcmp(s->operand[i].image, s->operand[i].before,
                   s->operand[i].bytes) != 0)
            complain(s, name, "written, with a wrong argument", (size_t)wrong);
    restore(s);
}

/* Each word becomes each value that any word has, and some that none has. */
static void check_wrong_words(struct subject *s, const struct name *name)
{
    static const int numbers[] = {0,   -1,  100, 101, 102, 103, 110,
                                  111, 112, 113, 114, 120, 121, 122,
                                  123, 130, 131, 132, 140, 141, 142};
    static const int letters[] = {'N', 'T', 'C', 'U', 'L', 'R', 'X',
                                  'n', 'u', 'l', 'r', ' ', '1', 'A'};
    int *const words[] = {&s->request.order,  &s->request.transa,
                          &s->request.transb, &s->request.side,
                          &s->request.uplo,   &s->request.diag};
    const size_t count = name->is_c ? sizeof numbers / sizeof *numbers
                                    : sizeof letters / sizeof *letters;

    for (size_t w = name->is_c ? 0 : 1; w < sizeof words / sizeof *words; w++) {
        const int kept = *words[w];
        for (size_t i = 0; i < count; i++) {
            *words[w] = name->is_c ? numbers[i] : letters[i];
            if (*words[0] != 0 || !name->is_c) /* 0 would mean Fortran */
                check_wrong(s, name);
        }
        *words[w] = kept;
    }
}

static void check_wrong_numbers(struct subject *s, const struct name *name)
{
    int64_t *const numbers[] = {&s->request.m,   &s->request.n,
                                &s->request.k,   &s->request.lda,
                                &s->request.ldb, &s->request.ldc};

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const int64_t kept = *numbers[i];
        for (int64_t number = -2; number <= kept; number++) {
            *numbers[i] = number;
            check_wrong(s, name);
        }
        *numbers[i] = kept;
    }
}

static void check_wrong_arguments(struct name *name)
{
    struct subject s;

    if (name->routine >= TAKT_AXPY) /* none is wrong */
        return;
    s.is_simple = false;
    choose(&s, name->routine, name->letter, name->is_c);
    s.request.m = 5;
    s.request.n = 7;
    s.request.k = 9;
    s.request.alpha[0] = s.request.beta[0] = 1;
    make_operands(&s);
    check_wrong_words(&s, name);
    check_wrong_numbers(&s, name);
    free_operands(&s);
}

/* ---- the tests ----------------------------------------------------------- */

static void for_each_name(void (*check)(struct name *name))
{
    unsigned names = 0;

    for (int routine = 0; routine < TAKT_ROUTINES; routine++)
        for (int letter = 0; letter < (routine <= TAKT_TRSM ? 4 : 2); letter++)
            for (size_t i = 0; i < dialect_count; i++) {
                struct name name;
                if (!find_name((enum takt_routine)routine,
                               (enum takt_blas_type)letter, i, &name))
                    continue;
                check(&name);
                names++;
            }
    EXPECT(names >= 40);
}

static void every_name_gives_what_the_library_gives(void)
{
    for_each_name(check_name);
}

static void wrong_arguments_are_the_librarys_to_complain_about(void)
{
    for_each_name(check_wrong_arguments);
}

int main(int count, char **argv)
{
    REQUIRE(count >= 3);
    interposer = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
    baseline = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
    if (interposer == NULL || baseline == NULL)
        printf("# %s\n", dlerror());
    REQUIRE(interposer != NULL && baseline != NULL);
    is_wide_library = count > 3;
    is_eager = getenv("TAKT_RUN_EAGER") != NULL;
    is_fixed = getenv("TAKT_EXPERT") != NULL;
    *(void **)&seen = find(baseline, "baseline_seen");
    *(void **)&complaint = find(baseline, "baseline_complaint");
    *(void **)&forget = find(baseline, "baseline_forget");
    RUN(every_name_gives_what_the_library_gives);
    RUN(wrong_arguments_are_the_librarys_to_complain_about);
    printf("# up to %.2f of what is allowed\n", worst_share);
    return tap_done();
}
