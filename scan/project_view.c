/* SPDX-License-Identifier: MIT */
/*
 * project_view.c - which declarations a file needs: those that it names, of the
 * files that it links to; of several with one name, those of the nearest file.
 */
#include "memory.h"
#include "outline.h"
#include "project_table.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_DECLARATIONS = 600, /* for one file */
    MOST_NAMES = 4096,       /* that are known, in one file */
    MOST_VISIBLE = 1024,     /* files that it links to, directly or not */
    SHORT =
        100, /* a declaration that counts in any case: constants, counters */
    LONG = 1024, /* one that comes after the others, if there is room */
    MOST_CRATES = 16
};

/* A folder of sources that belong together, crates/my-core/ of
 * crates/my-core/src/a.rs, and whether a text names it: my_core. */
struct crate {
    struct takt_text folder;
    bool is_named;
};

/* Files that can be seen from one, as a set and in the order of discovery. */
struct view {
    const struct project_family *of;
    const char *path;
    bool is_tree; /* what begins with the first `tree` of the path is seen, and
                     what it names; else what is linked */
    size_t tree;
    const char *text;
    size_t size;
    struct crate crate[MOST_CRATES];
    unsigned crates;
    uint32_t seen[MOST_VISIBLE];
    unsigned count;
    uint32_t set[MOST_VISIBLE * 2];
    uint32_t used[MOST_DECLARATIONS];
    unsigned uses, asks;
    uint32_t used_set[MOST_DECLARATIONS * 2];
    uint32_t asked[MOST_NAMES * 2]; /* the first entries of names */
};

/* The item's place in a set that is never full: empty, or it is there. */
static size_t in_set(const uint32_t *set, size_t room, uint32_t item)
{
    size_t i = item * UINT64_C(2654435761) % room;

    while (set[i] != TAKT_PROJECT_NONE && set[i] != item)
        i = (i + 1) % room;
    return i;
}

/* Whether it was not there before. */
static bool into_set(uint32_t *set, size_t room, uint32_t item)
{
    const size_t i = in_set(set, room, item);
    const bool is_new = set[i] == TAKT_PROJECT_NONE;

    set[i] = item;
    return is_new;
}

static void see(struct view *view, uint32_t file)
{
    if (file != TAKT_PROJECT_NONE && view->count < MOST_VISIBLE &&
        into_set(view->set, MOST_VISIBLE * 2, file))
        view->seen[view->count++] = file;
}

static void see_link(void *self, struct takt_text path)
{
    struct view *view = self;

    see(view, takt__project_file(view->of, path, view->path));
}

/* The folder around `src`, which has the tests and examples of it, too; 0: the
 * one that all of the project is in. */
static size_t tree_of(const char *path)
{
    static const char part[] = "src tests examples benches";
    const char *start = path;

    for (const char *at = path; *at != '\0'; at++) {
        if (*at != '/')
            continue;
        if (takt__text_in((struct takt_text){start, (size_t)(at - start)},
                          part))
            return (size_t)(start - path);
        start = at + 1;
    }
    return (size_t)(start - path);
}

/* Whether a text has the name of a folder, with _ for -. */
static bool is_named(struct takt_text folder, const char *text, size_t size)
{
    const char *end = text + size;

    for (const char *at = text;
         folder.size > 0 && (size_t)(end - at) >= folder.size &&
         (at = memchr(at, folder.at[0], (size_t)(end - at))) != NULL;
         at++) {
        size_t i = 0;
        while (i < folder.size && at + i < end &&
               (at[i] == folder.at[i] || (at[i] == '_' && folder.at[i] == '-')))
            i++;
        if (i == folder.size && end - at > (ptrdiff_t)i && at[i] == ':')
            return true;
    }
    return false;
}

/* use my_core::Grid: a file of another crate that this one refers to. */
static bool names_crate(struct view *view, const char *path)
{
    size_t size = tree_of(path);
    const char *start = path + (size > 0 ? size - 1 : 0);

    if (size == 0)
        return false;
    while (start > path && start[-1] != '/')
        start--;
    const struct takt_text folder = {start, (size_t)(path + size - 1 - start)};
    for (unsigned i = 0; i < view->crates; i++)
        if (view->crate[i].folder.size == folder.size &&
            memcmp(view->crate[i].folder.at, folder.at, folder.size) == 0)
            return view->crate[i].is_named;
    if (view->crates == MOST_CRATES)
        return false;
    struct crate *crate = &view->crate[view->crates++];
    *crate = (struct crate){folder, is_named(folder, view->text, view->size)};
    return crate->is_named;
}

static void see_links(struct view *view)
{
    const struct project_file *file = view->of->file.item;
    const struct project_link *link = view->of->link.item;

    for (unsigned i = 0; i < view->count; i++)
        for (uint32_t n = 0; n < file[view->seen[i]].links; n++)
            see(view, link[file[view->seen[i]].first_link + n].file);
}

/* grid-inl.h, grid_impl.hpp, grid.tpp: what a header includes at its end. */
static bool is_second_half(const char *path)
{
    static const char *const ends[] = {"-inl",  "_inl", "-impl", "_impl",
                                       ".impl", "Impl", NULL};
    const char *dot = strrchr(path, '.');

    if (dot == NULL)
        return false;
    for (const char *const *end = ends; *end != NULL; end++)
        if ((size_t)(dot - path) > strlen(*end) &&
            memcmp(dot - strlen(*end), *end, strlen(*end)) == 0)
            return true;
    return takt__word_in(dot, ".inl .ipp .tpp .tcc .txx .hxx .icc");
}

/* Its declarations stand in the header that includes it. */
static void see_includers(struct view *view)
{
    const struct project_file *file = view->of->file.item;
    const struct project_link *link = view->of->link.item;

    for (uint32_t k = 1; k <= view->of->file.count; k++)
        for (uint32_t n = 0; n < file[k].links; n++)
            if (takt__project_is_at(view->path,
                                    link[file[k].first_link + n].path))
                see(view, k);
}

static bool is_visible(struct view *view, uint32_t file)
{
    const struct project_file *of = view->of->file.item;

    if (view->is_tree)
        return (tree_of(of[file].path) == view->tree &&
                strncmp(of[file].path, view->path, view->tree) == 0) ||
               names_crate(view, of[file].path);
    return view->set[in_set(view->set, MOST_VISIBLE * 2, file)] !=
           TAKT_PROJECT_NONE;
}

/* Of the same name, the nearest file that is seen and has it. */
static uint32_t choose(struct view *view, uint32_t first)
{
    const struct project_entry *entry = view->of->entry.item;
    const struct project_text *text = view->of->text.item;
    const struct project_file *file = view->of->file.item;
    uint32_t best = TAKT_PROJECT_NONE;
    unsigned most = 0;

    for (uint32_t i = first; i != TAKT_PROJECT_NONE; i = entry[i].next) {
        const uint32_t in = text[entry[i].text].file;
        if (strcmp(file[in].path, view->path) == 0)
            return TAKT_PROJECT_NONE; /* it has it itself */
        const unsigned common = takt__project_common(file[in].path, view->path);
        if (!is_visible(view, in) ||
            (best != TAKT_PROJECT_NONE && common < most))
            continue;
        most = common;
        best = in;
    }
    return best;
}

static void need(struct view *view, struct takt_text name)
{
    const uint32_t first = takt__project_first(view->of, name);

    if (first == TAKT_PROJECT_NONE || view->asks == MOST_NAMES ||
        !into_set(view->asked, MOST_NAMES * 2, first))
        return;
    view->asks++;
    const uint32_t file = choose(view, first);
    const struct project_entry *entry = view->of->entry.item;
    const struct project_text *text = view->of->text.item;
    for (uint32_t i = file == TAKT_PROJECT_NONE ? TAKT_PROJECT_NONE : first;
         i != TAKT_PROJECT_NONE; i = entry[i].next)
        if (text[entry[i].text].file == file &&
            (text[entry[i].text].is_numeric ||
             text[entry[i].text].size <= SHORT) &&
            view->uses < MOST_DECLARATIONS &&
            into_set(view->used_set, MOST_DECLARATIONS * 2, entry[i].text))
            view->used[view->uses++] = entry[i].text;
}

static void need_words(struct view *view, const char *at, size_t size)
{
    const char *end = at + size;

    while (at < end) {
        const char *next = takt__outline_behind_literal(at, end);
        if (next == at && !takt__outline_is_word(*at))
            next++;
        if (next > at) {
            at = next;
            continue;
        }
        const struct takt_text word = takt__project_word(&at, end);
        if (word.size > 0)
            need(view, word);
    }
}

/* Declarations while they are put behind a text. */
struct writing {
    struct view *view;
    char *out;
    size_t size, room;
};

/* Those from *at on that are long or not, up to so many bytes. */
static void write_all(struct writing *to, unsigned *at, unsigned end,
                      bool is_long, size_t most)
{
    const struct project_text *all = to->view->of->text.item;

    for (; *at < end && *at < to->view->uses && to->size < most; ++*at) {
        const struct project_text *one = &all[to->view->used[*at]];
        if ((one->size > LONG) != is_long ||
            to->size + one->size + 1 > to->room)
            continue; /* others may fit */
        to->out[to->size++] = '\n';
        memcpy(to->out + to->size, one->at, one->size);
        to->size += one->size;
        need_words(to->view, one->at, one->size);
    }
}

size_t takt__project_declarations(const struct takt_project *project,
                                  const struct takt_language *language,
                                  const char *path, const char *text,
                                  size_t size, char *out, size_t room)
{
    struct view *view = takt__scan_zeros(1, sizeof *view);

    view->of = &project->family[language->family];
    view->path = path;
    view->text = text;
    view->size = size;
    view->is_tree = language->links == NULL;
    if (view->is_tree)
        view->tree = tree_of(path);
    else
        language->links(text, size, see_link, view);
    if (!view->is_tree && is_second_half(path))
        see_includers(view);
    see_links(view);
    need_words(view, text, size);
    const unsigned direct = view->uses;
    /* What the text names, and what that names; the short ones first, but not
     * so many that none of the long ones fits. */
    struct writing to = {view, out, 0, room};
    unsigned near = 0, far = direct;
    write_all(&to, &near, direct, false, room);
    write_all(&to, &far, MOST_DECLARATIONS, false, room / 2);
    near = 0;
    write_all(&to, &near, direct, true, room);
    unsigned late = direct;
    write_all(&to, &far, MOST_DECLARATIONS, false, room);
    write_all(&to, &late, MOST_DECLARATIONS, true, room);
    const size_t written = to.size;
    free(view);
    return written;
}
