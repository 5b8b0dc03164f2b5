/* SPDX-License-Identifier: MIT */
/*
 * corpus.c - reads the marks in labelled code and compares.
 */
#include "corpus.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "languages.h"

enum { MARKS = 8 }; /* on a line */

struct mark {
    const char *name;
    takt_shape shape;  /* rank 0: whatever */
    const char *dtype; /* NULL: whatever */
    bool is_test, is_found;
};

struct page {
    const char *path;
    const struct takt_found *found;
    bool *is_used; /* of each finding */
    struct corpus_score *score;
    FILE *complaints;
};

double corpus_precision(const struct corpus_score *score)
{
    const unsigned all = score->found + score->wrong;

    return all == 0 ? 0 : (double)score->found / all;
}

double corpus_recall(const struct corpus_score *score)
{
    return score->positives == 0 ? 0 : (double)score->found / score->positives;
}

char *corpus_read(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;

    if (file == NULL || fseek(file, 0, SEEK_END) != 0)
        goto out;
    const long end = ftell(file);
    if (end < 0)
        goto out;
    rewind(file);
    text = malloc((size_t)end + 1);
    if (text != NULL) {
        *size = fread(text, 1, (size_t)end, file);
        text[*size] = 0;
    }
out:
    if (file != NULL)
        fclose(file);
    return text;
}

static bool read_shape(const char *word, takt_shape *out)
{
    char *end = (char *)(uintptr_t)word;

    out->rank = 0;
    while (*word >= '0' && *word <= '9' && out->rank < TAKT_SHAPE_MAX_RANK) {
        out->dim[out->rank++] = strtoul(word, &end, 10);
        word = *end == 'x' ? end + 1 : end;
    }
    return out->rank > 0 && *end == 0;
}

static void read_word(const char *word, struct mark *mark, unsigned *count)
{
    const takt_op *op = takt_op_find(word);
    struct mark *last = &mark[*count > 0 ? *count - 1 : 0];

    const char *own = strcmp(word, "product") == 0 ? "product"
                      : strcmp(word, "fused") == 0 ? "fused"
                                                   : NULL;
    if ((op != NULL || own != NULL) && *count < MARKS)
        mark[(*count)++] = (struct mark){.name = op != NULL ? op->name : own};
    else if (strcmp(word, "test") == 0)
        last->is_test = true;
    else if (strcmp(word, "f32") == 0 || strcmp(word, "f64") == 0)
        last->dtype = word[1] == '3' ? "f32" : "f64";
    else if (!read_shape(word, &last->shape))
        printf("# what does the mark \"%s\" mean?\n", word);
}

/* The marks at the end of a line; *is_negative: it is marked to have none. */
static unsigned read_marks(const char *line, size_t size, struct mark *mark,
                           bool *is_negative)
{
    char text[512], *rest = NULL;
    const size_t from = size < sizeof text ? 0 : size - sizeof text + 1;
    unsigned count = 0;

    snprintf(text, sizeof text, "%.*s", (int)(size - from), line + from);
    char *at = strstr(text, "//~"), *other = strstr(text, "#~");
    *is_negative = false;
    if (at == NULL && other == NULL)
        return 0;
    at = at != NULL ? at + 3 : other + 2;
    if (*at == '!') {
        *is_negative = true;
        return 0;
    }
    for (char *word = strtok_r(at, " \t\r*/", &rest); word != NULL;
         word = strtok_r(NULL, " \t\r*/", &rest))
        read_word(word, mark, &count);
    return count;
}

static bool is_as_marked(const struct mark *mark,
                         const struct takt_finding *finding)
{
    const takt_shape *shape = &finding->size.shape;

    if (mark->is_test != finding->is_test)
        return false;
    if (mark->dtype != NULL &&
        (!finding->is_dtype_known ||
         strcmp(mark->dtype, takt_dtype_name(finding->dtype)) != 0))
        return false;
    for (unsigned i = 0; i < mark->shape.rank; i++)
        if (i >= shape->rank || shape->dim[i] != mark->shape.dim[i])
            return false;
    return true;
}

static void compare_mark(struct page *page, unsigned line, struct mark *mark)
{
    page->score->positives++;
    for (size_t i = 0; i < page->found->count; i++) {
        const struct takt_finding *finding = &page->found->finding[i];
        if (page->is_used[i] || finding->line != line ||
            strcmp(finding->name, mark->name) != 0)
            continue;
        page->is_used[i] = true;
        page->score->found++;
        if (!is_as_marked(mark, finding)) {
            page->score->differ++;
            fprintf(page->complaints,
                    "%s:%u: %s is found, but not its size, type or place\n",
                    page->path, line, mark->name);
        }
        return;
    }
    fprintf(page->complaints, "%s:%u: %s is missed\n", page->path, line,
            mark->name);
}

static void compare_lines(struct page *page, const char *text, size_t size)
{
    const char *end = text + size;
    unsigned line = 0;

    while (text < end) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *stop = newline != NULL ? newline : end;
        struct mark mark[MARKS];
        bool is_negative;
        const unsigned count =
            read_marks(text, (size_t)(stop - text), mark, &is_negative);

        line++;
        page->score->negatives += is_negative;
        for (unsigned i = 0; i < count; i++)
            compare_mark(page, line, &mark[i]);
        text = newline != NULL ? newline + 1 : end;
    }
}

static void complain_of_wrong(struct page *page)
{
    for (size_t i = 0; i < page->found->count; i++) {
        const struct takt_finding *finding = &page->found->finding[i];
        if (page->is_used[i])
            continue;
        page->score->wrong++;
        fprintf(page->complaints, "%s:%u:%u: %s (%s) is wrong: %s\n",
                page->path, finding->line, finding->column, finding->name,
                finding->pattern, finding->snippet);
    }
}

/* A folder with labelled code. */
struct corpus {
    struct takt_scan_finder *finder;
    const struct takt_patterns *patterns;
    size_t root_size; /* of paths, the part that leads to the corpus */
    struct corpus_score *score;
    FILE *complaints;
};

static bool score_text(const struct corpus *corpus, const char *path,
                       const char *text, size_t size)
{
    const char *inner = path + corpus->root_size;
    struct takt_found found;

    if (takt__find(corpus->finder, corpus->patterns, inner, text, size,
                   &found) != TAKT_OK)
        return false;
    bool *used = calloc(found.count + 1, sizeof *used);
    if (used != NULL) {
        struct page page = {path, &found, used, corpus->score,
                            corpus->complaints};
        corpus->score->files++;
        corpus->score->partly += found.is_partly;
        compare_lines(&page, text, size);
        complain_of_wrong(&page);
    }
    takt__found_clear(&found);
    free(used);
    return used != NULL;
}

static bool score_file(const struct corpus *corpus, const char *path)
{
    const struct takt_language *language = takt__language_of(path);
    size_t size = 0;
    bool is_fine = true;

    if (language == NULL)
        return true;
    char *text = corpus_read(path, &size);
    if (text == NULL)
        return false;
    if (takt__language_in(language, path, text, size) ==
        corpus->patterns->language)
        is_fine = score_text(corpus, path, text, size);
    free(text);
    return is_fine;
}

static bool is_folder(const char *path)
{
    struct stat facts;

    return stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

static bool score_folder(const struct corpus *corpus, const char *folder)
{
    struct dirent **entry = NULL;
    const int count = scandir(folder, &entry, NULL, alphasort);
    bool is_fine = count >= 0;

    for (int i = 0; i < count; i++) {
        char path[1024];
        const char *name = entry[i]->d_name;

        snprintf(path, sizeof path, "%s/%s", folder, name);
        if (name[0] != '.')
            is_fine &= is_folder(path) ? score_folder(corpus, path)
                                       : score_file(corpus, path);
        free(entry[i]);
    }
    free(entry);
    return is_fine;
}

bool corpus_score_folder(struct takt_scan_finder *finder,
                         const struct takt_patterns *patterns,
                         const char *folder, struct corpus_score *score,
                         FILE *complaints)
{
    const struct corpus corpus = {finder, patterns, strlen(folder) + 1, score,
                                  complaints};

    return score_folder(&corpus, folder);
}
