/* SPDX-License-Identifier: MIT */
/*
 * test_corpus.c - how well labelled code is understood, language by language.
 *
 * Precision: of what is reported, the part that is right. Recall: of what is
 * there, the part that is reported.
 */
#include "support/tap.h"

#include "corpus.h"
#include "languages.h"

static void understand(enum takt_scan_language id, double least)
{
    const struct takt_language *language = takt__language(id);
    struct corpus_score score = {0};
    struct takt_patterns patterns;
    struct takt_scan_finder finder;
    takt_diag diag = {""};
    char folder[512];

    REQUIRE(language != NULL);
    if (takt__patterns_open(language, &patterns, &diag) != TAKT_OK) {
        TAP_CHECK(false, "%s", diag.text);
        return;
    }
    REQUIRE(takt__finder_open(&finder) == TAKT_OK);
    snprintf(folder, sizeof folder, "%s/tests/scan/corpus/%s", TAKT_SOURCE_DIR,
             takt__language_key(id));
    EXPECT(corpus_score_folder(&finder, &patterns, folder, &score, stdout));
    const double precision = corpus_precision(&score);
    const double recall = corpus_recall(&score);
    printf("# %s: precision %.3f, recall %.3f; %u positives, %u negatives, "
           "%u wrong, %u with other details, %u files\n",
           takt__scan_language_name(id), precision, recall, score.positives,
           score.negatives, score.wrong, score.differ, score.files);
    EXPECT(score.positives >= 60);
    EXPECT(score.negatives >= 60);
    EXPECT(precision >= 0.95);
    EXPECT(recall >= least);
    EXPECT(score.differ <= score.positives / 20);
    takt__finder_close(&finder);
    takt__patterns_close(&patterns);
}

static void c_is_understood(void)
{
    understand(TAKT_SCAN_C, 0.90);
}

static void cpp_is_understood(void)
{
    understand(TAKT_SCAN_CPP, 1);
}

static void python_is_understood(void)
{
    understand(TAKT_SCAN_PYTHON, 0.90);
}

static void rust_is_understood(void)
{
    understand(TAKT_SCAN_RUST, 0.90);
}

int main(void)
{
    RUN(c_is_understood);
    RUN(cpp_is_understood);
    RUN(python_is_understood);
    RUN(rust_is_understood);
    return tap_done();
}
