/* SPDX-License-Identifier: MIT */
/* ask.c - reads files of a source, and notes what several parts find. */
#include "hw/ask.h"

#include "hw/text.h"

bool takt__probe_file(struct takt_probe *probe, const char *path, char *buf,
                      size_t cap)
{
    const struct takt_hw_source *source = probe->source;
    buf[0] = '\0';
    const size_t length = source->file(source->self, path, buf, cap);
    probe->has_failed |= length == TAKT_HW_FAILED;
    return length > 0 && length != TAKT_HW_FAILED;
}

void takt__probe_list(struct takt_probe *probe, const char *folder, char *buf,
                      size_t cap)
{
    const struct takt_hw_source *source = probe->source;
    buf[0] = '\0';
    probe->has_failed |=
        source->list(source->self, folder, buf, cap) == TAKT_HW_FAILED;
}

bool takt__probe_number(struct takt_probe *probe, const char *path,
                        unsigned base, uint64_t *out)
{
    char text[64];
    const char *at = text;

    return takt__probe_file(probe, path, text, sizeof text) &&
           takt__text_number(&at, base, out);
}

char *takt__probe_text(struct takt_probe *probe, const char *path)
{
    takt__probe_file(probe, path, probe->text, TAKT_PROBE_TEXT);
    return probe->text;
}

void takt__cache_note(takt_machine *machine, uint64_t level, uint64_t bytes)
{
    size_t *size[] = {&machine->l1d_bytes, &machine->l2_bytes,
                      &machine->l3_bytes};

    if (level < 1 || level > 3 || bytes > SIZE_MAX)
        return;
    if (*size[level - 1] < bytes)
        *size[level - 1] = (size_t)bytes;
}
