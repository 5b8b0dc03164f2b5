/* SPDX-License-Identifier: MIT */
/*
 * project.c - the table of declarations, and the choice among them: of several
 * with one name, the one in a file that is linked to, and of these the nearest.
 */
#include "project.h"

#include "text/region.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_BYTES = 64 << 20,   /* of all declarations together */
    MOST_DECLARATIONS = 600, /* for one file */
    MOST_ALIASES = 512,      /* names of one declaration */
    MOST_NAMES = 4096,       /* that are known, in one file */
    MOST_VISIBLE = 1024,     /* files that it links to, directly or not */
    NUMERIC_STEPS = 3,
    SHORT =
        100, /* a declaration that counts in any case: constants, counters */
    FIRST_SLOTS = 1024, /* a power of two */
    NONE = 0            /* entries, files and texts count from 1 */
};

struct text_of {
    const char *at;
    uint32_t size, file;
    bool is_numeric; /* has floating-point numbers, or a name of what has */
};

struct entry {
    struct takt_text name;
    uint32_t next; /* of the same name */
    uint32_t text;
};

struct outlined {
    const char *path;
    uint32_t next; /* with the same last part of its path */
    uint32_t first_link, links;
};

struct link {
    struct takt_text path;
    uint32_t file;
};

/* Arrays that grow; item 0 is not used. */
struct list {
    void *item;
    uint32_t count, room;
};

struct slots {
    uint32_t *slot; /* the first item of a name */
    uint32_t count, room;
};

struct takt_project {
    struct takt_region region;
    size_t bytes;
    unsigned names; /* of the last declaration ... */
    size_t name_at; /* ... and where the last of them is */
    struct family {
        struct list text, entry, file, link;
        struct slots by_name, by_base;
    } family[TAKT_SCAN_LANGUAGES], *now;
};

struct takt_project *takt__project_open(void)
{
    return calloc(1, sizeof(struct takt_project));
}

void takt__project_close(struct takt_project *project)
{
    if (project == NULL)
        return;
    for (int i = 0; i < TAKT_SCAN_LANGUAGES; i++) {
        struct family *of = &project->family[i];
        free(of->text.item);
        free(of->entry.item);
        free(of->file.item);
        free(of->link.item);
        free(of->by_name.slot);
        free(of->by_base.slot);
    }
    takt__region_free(&project->region);
    free(project);
}

/* ---- lists and slots ----------------------------------------------------- */

/* A new item, zeroed; NULL: no memory. */
static void *add(struct takt_project *project, struct list *list, size_t size)
{
    if (list->count + 1 >= list->room) {
        const uint32_t room = list->room * 2 + 64;
        void *item = realloc(list->item, room * size);
        if (item == NULL || project->bytes > MOST_BYTES)
            return list->item = item != NULL ? item : list->item, NULL;
        project->bytes += (room - list->room) * size;
        list->item = item;
        list->room = room;
    }
    list->count++;
    return memset((char *)list->item + list->count * size, 0, size);
}

static size_t hash_of(struct takt_text text)
{
    uint64_t hash = 14695981039346656037u;

    for (size_t i = 0; i < text.size; i++)
        hash = (hash ^ (unsigned char)text.at[i]) * 1099511628211u;
    return (size_t)(hash ^ (hash >> 29));
}

static bool is_same(struct takt_text a, struct takt_text b)
{
    return a.size == b.size && memcmp(a.at, b.at, a.size) == 0;
}

static struct takt_text last_part(struct takt_text path)
{
    while (path.size > 0) {
        const char *slash = memchr(path.at, '/', path.size);
        if (slash == NULL)
            break;
        path.size -= (size_t)(slash + 1 - path.at);
        path.at = slash + 1;
    }
    return path;
}

static struct takt_text text_from(const char *string)
{
    return (struct takt_text){string, strlen(string)};
}

static struct takt_text key_of(const struct family *of,
                               const struct slots *slots, uint32_t item)
{
    if (slots == &of->by_name)
        return ((struct entry *)of->entry.item)[item].name;
    return last_part(text_from(((struct outlined *)of->file.item)[item].path));
}

static uint32_t *slot(const struct family *of, const struct slots *slots,
                      struct takt_text name)
{
    size_t i = hash_of(name) & (slots->room - 1);

    while (slots->slot[i] != NONE &&
           !is_same(key_of(of, slots, slots->slot[i]), name))
        i = (i + 1) & (slots->room - 1);
    return &slots->slot[i];
}

static bool grow(const struct family *of, struct slots *slots)
{
    const struct slots old = *slots;

    if (old.count * 2 < old.room)
        return true;
    slots->room = old.room == 0 ? FIRST_SLOTS : old.room * 2;
    slots->slot = calloc(slots->room, sizeof *slots->slot);
    if (slots->slot == NULL) {
        *slots = old;
        return false;
    }
    for (uint32_t i = 0; i < old.room; i++)
        if (old.slot[i] != NONE)
            *slot(of, slots, key_of(of, slots, old.slot[i])) = old.slot[i];
    free(old.slot);
    return true;
}

/* Puts an item before those of the same name. */
static bool put(const struct family *of, struct slots *slots, uint32_t item,
                uint32_t *next)
{
    if (!grow(of, slots))
        return false;
    uint32_t *first = slot(of, slots, key_of(of, slots, item));
    slots->count += *first == NONE;
    *next = *first;
    *first = item;
    return true;
}

static uint32_t first_of(const struct family *of, const struct slots *slots,
                         struct takt_text name)
{
    return slots->room == 0 ? NONE : *slot(of, slots, name);
}

/* ---- filling it ---------------------------------------------------------- */

static const char *copy(struct takt_project *project, struct takt_text text)
{
    if (project->bytes + text.size > MOST_BYTES)
        return NULL;
    project->bytes += text.size + 1;
    return takt__region_copy(&project->region, text.at, text.size);
}

static void add_link(void *self, struct takt_text path)
{
    struct takt_project *project = self;
    struct family *of = project->now;
    const char *kept = copy(project, path);
    struct link *link =
        kept == NULL ? NULL : add(project, &of->link, sizeof *link);

    if (link == NULL)
        return;
    link->path = (struct takt_text){kept, path.size};
    ((struct outlined *)of->file.item)[of->file.count].links++;
}

void takt__project_add(struct takt_project *project,
                       const struct takt_language *language, const char *path,
                       const char *text, size_t size)
{
    struct family *of = &project->family[language->family];
    const char *kept = copy(project, text_from(path));
    struct outlined *file =
        kept == NULL ? NULL : add(project, &of->file, sizeof *file);

    if (file == NULL)
        return;
    file->path = kept;
    file->first_link = of->link.count + 1;
    if (!put(of, &of->by_base, of->file.count, &file->next)) {
        of->file.count--;
        return;
    }
    project->now = of;
    if (language->links != NULL)
        language->links(text, size, add_link, project);
    language->outline(project, text, size);
    project->now = NULL;
}

void takt__project_declare(struct takt_project *project, struct takt_text text)
{
    struct family *of = project->now;
    const char *kept = copy(project, text);
    struct text_of *one =
        kept == NULL ? NULL : add(project, &of->text, sizeof *one);

    project->names = 0;
    project->name_at = 0;
    if (one != NULL)
        *one = (struct text_of){
            .at = kept, .size = (uint32_t)text.size, .file = of->file.count};
}

static const char *find_in(const char *at, size_t size, struct takt_text word)
{
    for (; size >= word.size; at++, size--)
        if (memcmp(at, word.at, word.size) == 0)
            return at;
    return NULL;
}

void takt__project_name(struct takt_project *project, struct takt_text name)
{
    struct family *of = project->now;
    const struct text_of *text = of->text.item;

    if (of->text.count == 0 || name.size == 0 || project->names == MOST_ALIASES)
        return;
    text += of->text.count;
    /* They mostly come in the order of the text. */
    const char *found = find_in(text->at + project->name_at,
                                text->size - project->name_at, name);
    if (found == NULL)
        found = find_in(text->at, text->size, name);
    struct entry *entry = text->file != of->file.count || found == NULL
                              ? NULL
                              : add(project, &of->entry, sizeof *entry);
    if (entry == NULL)
        return;
    project->names++;
    project->name_at = (size_t)(found - text->at);
    entry->name = (struct takt_text){found, name.size};
    entry->text = of->text.count;
    if (!put(of, &of->by_name, of->entry.count, &entry->next))
        of->entry.count--;
}

/* ---- which file ---------------------------------------------------------- */

/* How many folders two paths begin with, both. */
static unsigned common_folders(const char *a, const char *b)
{
    unsigned count = 0;

    for (; *a == *b && *a != '\0'; a++, b++)
        count += *a == '/';
    return count;
}

static bool ends_with(const char *path, struct takt_text end)
{
    const size_t size = strlen(path);

    return size >= end.size &&
           memcmp(path + size - end.size, end.at, end.size) == 0 &&
           (size == end.size || path[size - end.size - 1] == '/');
}

/* "../a.h" and "./a.h" are looked for as "a.h". */
static struct takt_text without_dots(struct takt_text path)
{
    while (path.size > 2 && path.at[0] == '.') {
        const size_t dots = path.at[1] == '.' ? 3 : 2;
        if (path.size <= dots || path.at[dots - 1] != '/')
            break;
        path.at += dots;
        path.size -= dots;
    }
    return path;
}

/* The nearest file whose path ends so; the first one of several. */
static uint32_t file_named(const struct family *of, struct takt_text path,
                           const char *from)
{
    const struct outlined *file = of->file.item;
    uint32_t best = NONE;
    unsigned most = 0;

    path = without_dots(path);
    for (uint32_t i = first_of(of, &of->by_base, last_part(path)); i != NONE;
         i = file[i].next) {
        const unsigned common = common_folders(file[i].path, from);
        if (!ends_with(file[i].path, path) || (best != NONE && common < most))
            continue;
        most = common;
        best = i; /* later ones in the list have earlier paths */
    }
    return best;
}

/* The next word from *at on; empty: there is none. */
static struct takt_text next_word(const char **at, const char *end)
{
    struct takt_text word = {*at, 0};

    while (word.size == 0 && *at < end) {
        word.at = *at;
        while (*at < end && (isalnum((unsigned char)**at) || **at == '_'))
            (*at)++;
        word.size = (size_t)(*at - word.at);
        if (word.size == 0)
            (*at)++;
        else if (isdigit((unsigned char)*word.at))
            word.size = 0;
    }
    return word;
}

static bool is_float_word(struct takt_text word)
{
    return takt__text_is(word, "float") || takt__text_is(word, "double") ||
           takt__text_is(word, "f32") || takt__text_is(word, "f64");
}

/* One step: from names of what is numeric to what has these names. */
static void find_numeric(const struct family *of)
{
    struct text_of *text = of->text.item;
    const struct entry *entry = of->entry.item;

    for (uint32_t i = 1; i <= of->text.count; i++) {
        const char *at = text[i].at, *end = at + text[i].size;
        while (!text[i].is_numeric && at < end) {
            const struct takt_text word = next_word(&at, end);
            const uint32_t one = word.size == 0 || is_float_word(word)
                                     ? NONE
                                     : first_of(of, &of->by_name, word);
            text[i].is_numeric =
                is_float_word(word) ||
                (one != NONE && text[entry[one].text].is_numeric);
        }
    }
}

void takt__project_finish(struct takt_project *project)
{
    for (int i = 0; i < TAKT_SCAN_LANGUAGES; i++) {
        const struct family *of = &project->family[i];
        const struct outlined *file = of->file.item;
        struct link *link = of->link.item;
        for (unsigned step = 0; step < NUMERIC_STEPS; step++)
            find_numeric(of);
        for (uint32_t k = 1; k <= of->file.count; k++)
            for (uint32_t n = 0; n < file[k].links; n++) {
                struct link *one = &link[file[k].first_link + n];
                one->file = file_named(of, one->path, file[k].path);
            }
    }
}

/* ---- what a file needs --------------------------------------------------- */

/* Files that can be seen from one, as a set and in the order of discovery. */
struct view {
    const struct family *of;
    const char *path;
    size_t tree; /* of the path: what begins so is seen; 0: what is linked */
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

    while (set[i] != NONE && set[i] != item)
        i = (i + 1) % room;
    return i;
}

/* Whether it was not there before. */
static bool into_set(uint32_t *set, size_t room, uint32_t item)
{
    const size_t i = in_set(set, room, item);
    const bool is_new = set[i] == NONE;

    set[i] = item;
    return is_new;
}

static void see(struct view *view, uint32_t file)
{
    if (file != NONE && view->count < MOST_VISIBLE &&
        into_set(view->set, MOST_VISIBLE * 2, file))
        view->seen[view->count++] = file;
}

static void see_link(void *self, struct takt_text path)
{
    struct view *view = self;

    see(view, file_named(view->of, path, view->path));
}

/* The folder around `src`, which has the tests and examples of it, too. */
static size_t tree_of(const char *path)
{
    static const char *const part[] = {"/src/", "/tests/", "/examples/",
                                       "/benches/"};
    size_t size = 0;

    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        const char *at = strstr(path, part[i]);
        if (at != NULL && (size == 0 || (size_t)(at - path) + 1 < size))
            size = (size_t)(at - path) + 1;
    }
    const char *slash = strrchr(path, '/');
    return size > 0 ? size : slash != NULL ? (size_t)(slash - path) + 1 : 0;
}

static void see_links(struct view *view)
{
    const struct outlined *file = view->of->file.item;
    const struct link *link = view->of->link.item;

    for (unsigned i = 0; i < view->count; i++)
        for (uint32_t n = 0; n < file[view->seen[i]].links; n++)
            see(view, link[file[view->seen[i]].first_link + n].file);
}

static bool is_visible(const struct view *view, uint32_t file)
{
    const struct outlined *of = view->of->file.item;

    if (view->tree > 0)
        return strncmp(of[file].path, view->path, view->tree) == 0;
    return view->set[in_set(view->set, MOST_VISIBLE * 2, file)] != NONE;
}

/* Of the same name, the nearest file that is seen and has it. */
static uint32_t choose(const struct view *view, uint32_t first)
{
    const struct entry *entry = view->of->entry.item;
    const struct text_of *text = view->of->text.item;
    const struct outlined *file = view->of->file.item;
    uint32_t best = NONE;
    unsigned most = 0;

    for (uint32_t i = first; i != NONE; i = entry[i].next) {
        const uint32_t in = text[entry[i].text].file;
        if (strcmp(file[in].path, view->path) == 0)
            return NONE; /* it has it itself */
        const unsigned common = common_folders(file[in].path, view->path);
        if (!is_visible(view, in) || (best != NONE && common < most))
            continue;
        most = common;
        best = in;
    }
    return best;
}

static void need(struct view *view, struct takt_text name)
{
    const uint32_t first = first_of(view->of, &view->of->by_name, name);

    if (first == NONE || view->asks == MOST_NAMES ||
        !into_set(view->asked, MOST_NAMES * 2, first))
        return;
    view->asks++;
    const uint32_t file = choose(view, first);
    const struct entry *entry = view->of->entry.item;
    const struct text_of *text = view->of->text.item;
    for (uint32_t i = file == NONE ? NONE : first; i != NONE; i = entry[i].next)
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
        const struct takt_text word = next_word(&at, end);
        if (word.size > 0)
            need(view, word);
    }
}

size_t takt__project_declarations(const struct takt_project *project,
                                  const struct takt_language *language,
                                  const char *path, const char *text,
                                  size_t size, char *out, size_t room)
{
    struct view *view = calloc(1, sizeof *view);
    size_t written = 0;

    if (view == NULL)
        return 0;
    view->of = &project->family[language->family];
    view->path = path;
    if (language->links == NULL)
        view->tree = tree_of(path);
    else
        language->links(text, size, see_link, view);
    see_links(view);
    need_words(view, text, size);
    const struct text_of *all = view->of->text.item;
    for (unsigned i = 0; i < view->uses; i++) {
        const struct text_of *one = &all[view->used[i]];
        if (written + one->size + 1 > room)
            break;
        out[written++] = '\n';
        memcpy(out + written, one->at, one->size);
        written += one->size;
        need_words(view, one->at, one->size);
    }
    free(view);
    return written;
}
