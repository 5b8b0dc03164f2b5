/* SPDX-License-Identifier: MIT */
/*
 * project.c - the table of declarations, and the choice among them: of several
 * with one name, the one in a file that is linked to, and of these the nearest.
 */
#include "memory.h"
#include "project_table.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_BYTES = 64 << 20, /* of all declarations together */
    MOST_ALIASES = 512,    /* names of one declaration */
    NUMERIC_STEPS = 3,
    FIRST_SLOTS = 1024 /* a power of two */
};

struct takt_project *takt__project_open(void)
{
    return takt__scan_zeros(1, sizeof(struct takt_project));
}

void takt__project_close(struct takt_project *project)
{
    for (int i = 0; i < TAKT_SCAN_LANGUAGES; i++) {
        struct project_family *of = &project->family[i];
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

/* A new item, zeroed; NULL: they are too many. */
static void *add(struct takt_project *project, struct project_list *list,
                 size_t size)
{
    const size_t room = list->room;

    if (project->bytes > MOST_BYTES)
        return NULL;
    takt__scan_grow(&list->item, &list->room, list->count + 2, size);
    project->bytes += (list->room - room) * size;
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

static struct takt_text key_of(const struct project_family *of,
                               const struct project_slots *slots, uint32_t item)
{
    if (slots == &of->by_name)
        return ((struct project_entry *)of->entry.item)[item].name;
    return last_part(
        text_from(((struct project_file *)of->file.item)[item].path));
}

static uint32_t *slot(const struct project_family *of,
                      const struct project_slots *slots, struct takt_text name)
{
    size_t i = hash_of(name) & (slots->room - 1);

    while (slots->slot[i] != TAKT_PROJECT_NONE &&
           !is_same(key_of(of, slots, slots->slot[i]), name))
        i = (i + 1) & (slots->room - 1);
    return &slots->slot[i];
}

static void grow(const struct project_family *of, struct project_slots *slots)
{
    const struct project_slots old = *slots;

    if (old.count * 2 < old.room)
        return;
    slots->room = old.room == 0 ? FIRST_SLOTS : old.room * 2;
    slots->slot = takt__scan_zeros(slots->room, sizeof *slots->slot);
    for (uint32_t i = 0; i < old.room; i++)
        if (old.slot[i] != TAKT_PROJECT_NONE)
            *slot(of, slots, key_of(of, slots, old.slot[i])) = old.slot[i];
    free(old.slot);
}

/* Puts an item before those of the same name. */
static void put(const struct project_family *of, struct project_slots *slots,
                uint32_t item, uint32_t *next)
{
    grow(of, slots);
    uint32_t *first = slot(of, slots, key_of(of, slots, item));
    slots->count += *first == TAKT_PROJECT_NONE;
    *next = *first;
    *first = item;
}

static uint32_t first_of(const struct project_family *of,
                         const struct project_slots *slots,
                         struct takt_text name)
{
    return slots->room == 0 ? TAKT_PROJECT_NONE : *slot(of, slots, name);
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
    struct project_family *of = project->now;
    const char *kept = copy(project, path);
    struct project_link *link =
        kept == NULL ? NULL : add(project, &of->link, sizeof *link);

    if (link == NULL)
        return;
    link->path = (struct takt_text){kept, path.size};
    ((struct project_file *)of->file.item)[of->file.count].links++;
}

void takt__project_add(struct takt_project *project,
                       const struct takt_language *language, const char *path,
                       const char *text, size_t size)
{
    struct project_family *of = &project->family[language->family];
    const char *kept = copy(project, text_from(path));
    struct project_file *file =
        kept == NULL ? NULL : add(project, &of->file, sizeof *file);

    if (file == NULL)
        return;
    file->path = kept;
    file->first_link = of->link.count + 1;
    put(of, &of->by_base, of->file.count, &file->next);
    project->now = of;
    if (language->links != NULL)
        language->links(text, size, add_link, project);
    language->outline(project, text, size);
    project->now = NULL;
}

void takt__project_declare(struct takt_project *project, struct takt_text text)
{
    struct project_family *of = project->now;
    const char *kept = copy(project, text);
    struct project_text *one =
        kept == NULL ? NULL : add(project, &of->text, sizeof *one);

    project->names = 0;
    project->name_at = 0;
    if (one != NULL)
        *one = (struct project_text){
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
    struct project_family *of = project->now;
    const struct project_text *text = of->text.item;

    if (of->text.count == 0 || name.size == 0 || project->names == MOST_ALIASES)
        return;
    text += of->text.count;
    /* They mostly come in the order of the text. */
    const char *found = find_in(text->at + project->name_at,
                                text->size - project->name_at, name);
    if (found == NULL)
        found = find_in(text->at, text->size, name);
    struct project_entry *entry = text->file != of->file.count || found == NULL
                                      ? NULL
                                      : add(project, &of->entry, sizeof *entry);
    if (entry == NULL)
        return;
    project->names++;
    project->name_at = (size_t)(found - text->at);
    entry->name = (struct takt_text){found, name.size};
    entry->text = of->text.count;
    put(of, &of->by_name, of->entry.count, &entry->next);
}

/* ---- which file ---------------------------------------------------------- */

unsigned takt__project_common(const char *a, const char *b)
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

bool takt__project_is_at(const char *path, struct takt_text end)
{
    return ends_with(path, without_dots(end));
}

/* The nearest file whose path ends so; the first one of several. */
uint32_t takt__project_file(const struct project_family *of,
                            struct takt_text path, const char *from)
{
    const struct project_file *file = of->file.item;
    uint32_t best = TAKT_PROJECT_NONE;
    unsigned most = 0;

    path = without_dots(path);
    for (uint32_t i = first_of(of, &of->by_base, last_part(path));
         i != TAKT_PROJECT_NONE; i = file[i].next) {
        const unsigned common = takt__project_common(file[i].path, from);
        if (!ends_with(file[i].path, path) ||
            (best != TAKT_PROJECT_NONE && common < most))
            continue;
        most = common;
        best = i; /* later ones in the list have earlier paths */
    }
    return best;
}

struct takt_text takt__project_word(const char **at, const char *end)
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

/* A template may be of them. */
static bool is_float_word(struct takt_text word)
{
    return takt__text_in(
        word, "float double f32 f64 Float template Real Scalar scalar");
}

/* One step: from names of what is numeric to what has these names. */
static void find_numeric(const struct project_family *of)
{
    struct project_text *text = of->text.item;
    const struct project_entry *entry = of->entry.item;

    for (uint32_t i = 1; i <= of->text.count; i++) {
        const char *at = text[i].at, *end = at + text[i].size;
        while (!text[i].is_numeric && at < end) {
            const struct takt_text word = takt__project_word(&at, end);
            const uint32_t one = word.size == 0 || is_float_word(word)
                                     ? TAKT_PROJECT_NONE
                                     : first_of(of, &of->by_name, word);
            text[i].is_numeric =
                is_float_word(word) ||
                (one != TAKT_PROJECT_NONE && text[entry[one].text].is_numeric);
        }
    }
}

void takt__project_finish(struct takt_project *project)
{
    for (int i = 0; i < TAKT_SCAN_LANGUAGES; i++) {
        const struct project_family *of = &project->family[i];
        const struct project_file *file = of->file.item;
        struct project_link *link = of->link.item;
        for (unsigned step = 0; step < NUMERIC_STEPS; step++)
            find_numeric(of);
        for (uint32_t k = 1; k <= of->file.count; k++)
            for (uint32_t n = 0; n < file[k].links; n++) {
                struct project_link *one = &link[file[k].first_link + n];
                one->file = takt__project_file(of, one->path, file[k].path);
            }
    }
}

uint32_t takt__project_first(const struct project_family *of,
                             struct takt_text name)
{
    return first_of(of, &of->by_name, name);
}
