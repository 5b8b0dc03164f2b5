/* SPDX-License-Identifier: MIT */
/*
 * scrub.c - keeps needed lines, and renames control groups.
 *
 * A list of what is kept, not of what is dropped: a file of /proc that is not
 * in it is not recorded at all. Files of /sys that the probe reads hold
 * numbers and are kept whole.
 */
#include "hw/scrub.h"

#include <stdio.h>
#include <string.h>

#include "hw/cgroup.h"
#include "hw/text.h"

enum { most_keys = 8 };

struct rule {
    const char *path;            /* how the paths it is for begin */
    const char *keys[most_keys]; /* each kept once, but the first always */
};

static const struct rule rules[] = {
    {"/proc/self/status", {"Cpus_allowed_list"}},
    {"/proc/meminfo", {"MemTotal"}},
    {"/proc/driver/nvidia/gpus/", {"Model"}},
    {"/proc/cpuinfo",
     {"processor", "Features", "CPU implementer", "CPU variant", "CPU part",
      "CPU revision"}}};

struct scrub_writer {
    char *out;
    size_t cap;
    size_t length;
};

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static bool add_bytes(struct scrub_writer *to, const char *text, size_t length)
{
    if (length >= to->cap - to->length)
        return false;
    memcpy(to->out + to->length, text, length);
    to->length += length;
    to->out[to->length] = '\0';
    return true;
}

static bool add(struct scrub_writer *to, const char *text)
{
    return add_bytes(to, text, strlen(text));
}

/* A line is kept whole or not at all. */
static void end_line(struct scrub_writer *to, size_t start, bool is_whole)
{
    if (is_whole && add(to, "\n"))
        return;
    to->length = start;
    to->out[start] = '\0';
}

static bool is_usual_name(const char *name, size_t length)
{
    static const char *const usual[] = {
        "", "..", "sys", "fs", "cgroup", "unified", "cpu", "cpu,cpuacct"};

    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++)
        if (strlen(usual[i]) == length && memcmp(usual[i], name, length) == 0)
            return true;
    return false;
}

/* The number of a name, a new one if need be; false: there are too many. */
static bool number_name(struct takt_scrub *scrub, const char *name,
                        size_t length, size_t *out)
{
    if (length >= TAKT_SCRUB_NAME)
        return false;
    for (*out = 0; *out < scrub->count; ++*out)
        if (strlen(scrub->name[*out]) == length &&
            memcmp(scrub->name[*out], name, length) == 0)
            return true;
    if (scrub->count == TAKT_SCRUB_NAMES)
        return false;
    memcpy(scrub->name[scrub->count], name, length);
    scrub->name[scrub->count][length] = '\0';
    scrub->count++;
    return true;
}

static bool add_name(struct takt_scrub *scrub, struct scrub_writer *to,
                     const char *name, size_t length)
{
    char neutral[24];
    size_t number;

    if (is_usual_name(name, length))
        return add_bytes(to, name, length);
    if (!number_name(scrub, name, length, &number))
        return false;
    snprintf(neutral, sizeof neutral, "g%zu", number);
    return add(to, neutral);
}

static bool add_path(struct takt_scrub *scrub, struct scrub_writer *to,
                     const char *path)
{
    while (*path == '/') {
        const char *name = path + 1;
        const size_t length = strcspn(name, "/");
        if (!add(to, "/") || !add_name(scrub, to, name, length))
            return false;
        path = name + length;
    }
    return true;
}

static void scrub_group(struct takt_scrub *scrub, char *line,
                        struct scrub_writer *to)
{
    const size_t start = to->length;
    struct takt_group_line group;

    if (!takt__group_line_parse(line, &group))
        return;
    const bool is_v2 = takt__group_line_matches(&group, true);
    if (!is_v2 && !takt__group_line_matches(&group, false))
        return;
    end_line(to, start,
             add(to, is_v2 ? "0::" : "1:cpu:") &&
                 add_path(scrub, to, group.path));
}

static void scrub_mount(struct takt_scrub *scrub, char *line,
                        struct scrub_writer *to)
{
    const size_t start = to->length;
    struct takt_mount_line mount;

    if (!takt__mount_line_parse(line, &mount))
        return;
    const bool is_v2 = takt__mount_line_matches(&mount, true);
    if (!is_v2 && !takt__mount_line_matches(&mount, false))
        return;
    end_line(to, start,
             add(to, "1 0 0:1 ") && add_path(scrub, to, mount.root) &&
                 add(to, " ") && add_path(scrub, to, mount.point) &&
                 add(to, is_v2 ? " rw - cgroup2 cgroup2 rw"
                               : " rw - cgroup cgroup rw,cpu"));
}

static void keep_line(const struct rule *rule, char *line,
                      struct scrub_writer *to, unsigned *seen)
{
    for (unsigned i = 0; i < most_keys && rule->keys[i] != NULL; i++) {
        if (takt__text_value(line, rule->keys[i]) == NULL)
            continue;
        if (i == 0 || (*seen >> i & 1) == 0)
            end_line(to, to->length, add(to, line));
        *seen |= 1u << i;
        return;
    }
}

static void keep_lines(const struct rule *rule, char *text,
                       struct scrub_writer *to)
{
    unsigned seen = 0;

    for (char *line; (line = takt__text_cut(&text, '\n')) != NULL;)
        keep_line(rule, line, to, &seen);
}

static void
rename_lines(struct takt_scrub *scrub, char *text, struct scrub_writer *to,
             void (*each)(struct takt_scrub *, char *, struct scrub_writer *))
{
    for (char *line; (line = takt__text_cut(&text, '\n')) != NULL;)
        each(scrub, line, to);
}

static const struct rule *find_rule(const char *path)
{
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (starts_with(path, rules[i].path))
            return &rules[i];
    return NULL;
}

size_t takt__scrub_text(struct takt_scrub *scrub, const char *path, char *text,
                        char *out, size_t cap)
{
    struct scrub_writer to = {out, cap, 0};
    const struct rule *rule = find_rule(path);

    if (cap == 0)
        return 0;
    out[0] = '\0';
    if (strcmp(path, "/proc/self/cgroup") == 0)
        rename_lines(scrub, text, &to, scrub_group);
    else if (strcmp(path, "/proc/self/mountinfo") == 0)
        rename_lines(scrub, text, &to, scrub_mount);
    else if (rule != NULL)
        keep_lines(rule, text, &to);
    else if (!starts_with(path, "/proc/") ||
             starts_with(path, "/proc/sys/abi/"))
        add_bytes(&to, text, strnlen(text, cap - 1));
    return to.length;
}

/* The name on the machine; the same one when it was never renamed. */
static const char *original(const struct takt_scrub *scrub, const char *name,
                            size_t *length)
{
    uint64_t number;
    const char *at = name + 1;

    if (name[0] != 'g' || !takt__text_number(&at, 10, &number) ||
        at != name + *length || number >= scrub->count)
        return name;
    *length = strlen(scrub->name[number]);
    return scrub->name[number];
}

bool takt__scrub_restore(const struct takt_scrub *scrub, const char *path,
                         char *out, size_t cap)
{
    struct scrub_writer to = {out, cap, 0};

    if (cap == 0)
        return false;
    out[0] = '\0';
    while (*path == '/') {
        size_t length = strcspn(path + 1, "/");
        const char *next = path + 1 + length;
        const char *name = original(scrub, path + 1, &length);
        if (!add(&to, "/") || !add_bytes(&to, name, length))
            return false;
        path = next;
    }
    return true;
}
