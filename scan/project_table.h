/* SPDX-License-Identifier: MIT */
/*
 * project_table.h - the table of declarations: between project.c, which fills
 * it, and project_view.c, which chooses from it.
 */
#pragma once

#include "project.h"
#include "text/region.h"

enum { TAKT_PROJECT_NONE = 0 }; /* entries, files and texts count from 1 */

struct project_text {
    const char *at;
    uint32_t size, file;
    bool is_numeric; /* has floating-point numbers, or a name of what has */
};

struct project_entry {
    struct takt_text name;
    uint32_t next; /* of the same name */
    uint32_t text;
};

struct project_file {
    const char *path;
    uint32_t next; /* with the same last part of its path */
    uint32_t first_link, links;
};

struct project_link {
    struct takt_text path;
    uint32_t file;
};

/* Arrays that grow; item 0 is not used. */
struct project_list {
    void *item;
    size_t room;
    uint32_t count;
};

struct project_slots {
    uint32_t *slot; /* the first item of a name */
    uint32_t count, room;
};

struct takt_project {
    struct takt_region region;
    size_t bytes;
    unsigned names; /* of the last declaration ... */
    size_t name_at; /* ... and where the last of them is */
    struct project_family {
        struct project_list text, entry, file, link;
        struct project_slots by_name, by_base;
    } family[TAKT_SCAN_LANGUAGES], *now;
};

/* The first entry of a name; and the nearest file whose path ends so. */
uint32_t takt__project_first(const struct project_family *of,
                             struct takt_text name);
uint32_t takt__project_file(const struct project_family *of,
                            struct takt_text path, const char *from);
/* Whether that is what an #include names. */
bool takt__project_is_at(const char *path, struct takt_text end);
/* How many folders two paths begin with, both. */
unsigned takt__project_common(const char *a, const char *b);
/* The next word from *at on; empty: there is none. */
struct takt_text takt__project_word(const char **at, const char *end);
