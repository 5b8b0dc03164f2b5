/* SPDX-License-Identifier: MIT */
/*
 * cgroup.c - how much CPU time control groups grant.
 *
 * A process is in one group of each hierarchy, and every group on the way to
 * the root may have a quota, so the smallest one counts. Machines with both
 * versions mounted exist; both are asked.
 */
#include "hw/cgroup.h"

#include <string.h>

#include "hw/ask.h"
#include "hw/files.h"
#include "hw/text.h"

enum { longest_path = 4096 };

struct hierarchy {
    bool is_v2;
    const char *usual_mount; /* when mountinfo says nothing */
    double (*quota)(struct takt_probe *probe, const char *folder);
};

bool takt__group_line_parse(char *line, struct takt_group_line *out)
{
    const char *id = takt__text_cut(&line, ':');
    const char *controllers = takt__text_cut(&line, ':');

    *out = (struct takt_group_line){controllers, line};
    return id != NULL && controllers != NULL && line[0] == '/';
}

static bool is_octal(const char *at)
{
    for (int i = 0; i < 3; i++)
        if (at[i] < '0' || at[i] > '7')
            return false;
    return at[0] < '4';
}

/* Blanks, tabs, newlines and backslashes come as \ooo. */
static void decode(char *text)
{
    char *to = text;

    while (*text != '\0') {
        if (text[0] == '\\' && is_octal(text + 1)) {
            *to++ = (char)((text[1] - '0') << 6 | (text[2] - '0') << 3 |
                           (text[3] - '0'));
            text += 4;
        } else {
            *to++ = *text++;
        }
    }
    *to = '\0';
}

bool takt__mount_line_parse(char *line, struct takt_mount_line *out)
{
    enum { root = 3, point = 4, fields = 5 };
    char *field[fields];

    memset(out, 0, sizeof *out);
    for (int i = 0; i < fields; i++) {
        field[i] = takt__text_cut(&line, ' ');
        if (field[i] == NULL)
            return false;
    }
    char *tail = strstr(line, " - ");
    if (tail == NULL)
        return false;
    tail += 3;
    out->type = takt__text_cut(&tail, ' ');
    const char *device = takt__text_cut(&tail, ' ');
    out->options = tail;
    decode(field[root]);
    decode(field[point]);
    out->root = field[root];
    out->point = field[point];
    return device != NULL && out->root[0] == '/' && out->point[0] == '/';
}

bool takt__group_line_matches(const struct takt_group_line *line, bool is_v2)
{
    if (is_v2)
        return line->controllers[0] == '\0';
    return takt__text_has_word(line->controllers, "cpu", ',');
}

bool takt__mount_line_matches(const struct takt_mount_line *line, bool is_v2)
{
    if (is_v2)
        return strcmp(line->type, "cgroup2") == 0;
    return strcmp(line->type, "cgroup") == 0 &&
           takt__text_has_word(line->options, "cpu", ',');
}

/* The limit over the period, in CPUs; 0: none. */
static double ratio(uint64_t limit_us, uint64_t period_us)
{
    return period_us == 0 ? 0.0 : (double)limit_us / (double)period_us;
}

/* cpu.max is "max 100000" or "250000 100000". */
static double quota_v2(struct takt_probe *probe, const char *folder)
{
    char path[longest_path];
    char text[64];
    uint64_t limit_us, period_us;

    if (!takt__path_join(folder, "/cpu.max", path, sizeof path) ||
        !takt__probe_file(probe, path, text, sizeof text))
        return 0.0;
    const char *at = text;
    if (!takt__text_number(&at, 10, &limit_us) ||
        !takt__text_number(&at, 10, &period_us))
        return 0.0;
    return ratio(limit_us, period_us);
}

/* Without a limit the quota is -1, which is no unsigned number. */
static double quota_v1(struct takt_probe *probe, const char *folder)
{
    char path[longest_path];
    uint64_t limit_us, period_us;

    if (!takt__path_join(folder, "/cpu.cfs_quota_us", path, sizeof path) ||
        !takt__probe_number(probe, path, 10, &limit_us) ||
        !takt__path_join(folder, "/cpu.cfs_period_us", path, sizeof path) ||
        !takt__probe_number(probe, path, 10, &period_us))
        return 0.0;
    return ratio(limit_us, period_us);
}

/* The root group is "". */
static bool find_group(struct takt_probe *probe, const struct hierarchy *in,
                       char *group)
{
    struct takt_group_line found;
    char *text = takt__probe_text(probe, "/proc/self/cgroup");

    for (char *line; (line = takt__text_cut(&text, '\n')) != NULL;) {
        if (!takt__group_line_parse(line, &found) ||
            !takt__group_line_matches(&found, in->is_v2))
            continue;
        const bool is_root = strcmp(found.path, "/") == 0;
        return takt__path_join(is_root ? "" : found.path, "", group,
                               longest_path);
    }
    return false;
}

/* What of `group` is left below `root`; NULL when it is not below it. Inside
 * a container the root of the mount may be the group itself. */
static const char *below(const char *root, const char *group)
{
    const size_t length = strcmp(root, "/") == 0 ? 0 : strlen(root);
    if (strncmp(root, group, length) != 0)
        return NULL;
    return group[length] == '/' || group[length] == '\0' ? group + length
                                                         : NULL;
}

/* Where the files of `group` are, and how much of that is the mount point.
 * A group above the mount (the path then has "..") is seen at the mount. */
static size_t locate(struct takt_probe *probe, const struct hierarchy *in,
                     const char *group, char *folder)
{
    struct takt_mount_line mount;
    char *text = takt__probe_text(probe, "/proc/self/mountinfo");
    const char *point = in->usual_mount;
    const char *rest = group;

    for (char *line; (line = takt__text_cut(&text, '\n')) != NULL;) {
        if (!takt__mount_line_parse(line, &mount) ||
            !takt__mount_line_matches(&mount, in->is_v2))
            continue;
        point = mount.point;
        rest = below(mount.root, group);
        if (rest != NULL)
            break;
    }
    if (rest == NULL || !takt__path_stays_below(group) ||
        !takt__path_join(point, rest, folder, longest_path))
        takt__path_join(point, "", folder, longest_path);
    return strlen(point);
}

/* The smaller one, where 0 means no limit. */
static double tighter(double a, double b)
{
    if (a <= 0.0 || b <= 0.0)
        return a > b ? a : b;
    return a < b ? a : b;
}

static double quota_in(struct takt_probe *probe, const struct hierarchy *in)
{
    char group[longest_path];
    char folder[longest_path];
    double quota = 0.0;

    if (!find_group(probe, in, group))
        return 0.0;
    const size_t mount = locate(probe, in, group, folder);
    for (;;) {
        quota = tighter(quota, in->quota(probe, folder));
        char *slash = strrchr(folder, '/');
        if (slash == NULL || (size_t)(slash - folder) < mount)
            return quota;
        *slash = '\0';
    }
}

void takt__quota_probe(struct takt_probe *probe)
{
    static const struct hierarchy hierarchies[] = {
        {true, "/sys/fs/cgroup", quota_v2},
        {false, "/sys/fs/cgroup/cpu", quota_v1}};

    for (size_t i = 0; i < 2; i++)
        probe->machine->quota_cpus = tighter(probe->machine->quota_cpus,
                                             quota_in(probe, &hierarchies[i]));
}
