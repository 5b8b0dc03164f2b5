/* SPDX-License-Identifier: MIT */
/* fleet_print.c - what was sent, what waits, and every line of it. */
#include "fleet.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "clean.h"
#include "context.h"

struct waiting {
    size_t lines, cells, bytes;
};

static struct waiting count_waiting(const struct takt_fleet_pages *pages)
{
    struct waiting out = {0, 0, 0};

    for (size_t i = 0; i < pages->count; i++) {
        const struct takt_fleet_page *page = &pages->page[i];
        out.lines += page->is_waiting;
        out.cells += page->is_waiting ? page->cells : 0;
        out.bytes += page->is_waiting ? page->length : 0;
    }
    return out;
}

/* ---- text ---- */

static double samples_of(const struct takt_fleet_page *page)
{
    static struct takt_fleet_cell cell[TAKT_FLEET_MOST_CELLS];
    size_t count;
    double samples = 0;

    if (takt__fleet_decode(page->bytes, page->length, cell, &count))
        for (size_t i = 0; i < count; i++)
            samples += (double)cell[i].n;
    return samples;
}

static void print_pages(const struct fleet_view *view)
{
    char facts[TAKT_FLEET_FACTS];

    takt__fleet_facts_print(&view->asking->member.facts, facts);
    printf("\nfacts of the machine:\n");
    print_clean_lines(stdout, facts);
    printf("\n%-16s %-12s %-5s %-14s %-18s %6s %10s\n", "op", "layout", "type",
           "situation", "expert", "sizes", "samples");
    for (size_t i = 0; i < view->pages->count; i++) {
        const struct takt_fleet_page *page = &view->pages->page[i];
        struct takt_fleet_line line;
        if (page->is_waiting && takt__fleet_line_parse(page->line, &line))
            printf("%-16s %-12s %-5s %-14s %-18s %6zu %10.0f\n", line.op,
                   line.layout, takt_dtype_name((takt_dtype)line.dtype),
                   situation_name(line.situation), line.expert, page->cells,
                   samples_of(page));
    }
}

static void print_text(const struct fleet_view *view,
                       const struct waiting *waiting, bool is_whole)
{
    const struct takt_fleet_state *state = view->state;
    const struct takt_fleet_pages *pages = view->pages;

    print_line(stdout, "store     %s", view->asking->store);
    print_line(stdout, "database  %s",
               view->asking->address != NULL ? "set"
                                             : "none: --server or TAKT_FLEET");
    print_line(stdout, "origin    %s",
               state->origin[0] != '\0' ? state->origin : "none yet");
    print_line(stdout,
               "shared    %zu lines, %zu cells; %zu records are never shared",
               pages->count, pages->cells, pages->withheld);
    print_line(stdout, "sent      %zu lines", pages->count - waiting->lines);
    print_line(stdout, "waiting   %zu lines, %zu cells, %zu bytes",
               waiting->lines, waiting->cells, waiting->bytes);
    if (state->received > 0)
        print_line(stdout,
                   "received  %" PRIu64 " cells, by up to %" PRIu64
                   " machines like this one",
                   state->received, state->machines);
    else
        print_line(stdout, "received  nothing");
    if (is_whole)
        print_pages(view);
}

/* ---- JSON ---- */

static void print_pages_json(struct json *json, const struct fleet_view *view)
{
    json_open(json, "would_send", '[');
    for (size_t i = 0; i < view->pages->count; i++) {
        const struct takt_fleet_page *page = &view->pages->page[i];
        if (page->is_waiting)
            json_print(json, "{line:%s cells:%zu samples:%g bytes:%zu}",
                       page->line, page->cells, samples_of(page), page->length);
    }
    json_close(json, ']');
}

void print_fleet_status(const struct fleet_view *view, bool is_whole)
{
    const struct waiting waiting = count_waiting(view->pages);
    struct json json = json_begin(stdout);

    if (!view->asking->is_json) {
        print_text(view, &waiting, is_whole);
        return;
    }
    json_print(&json,
               "{store:%s has_database:%d origin:%s lines:%zu cells:%zu "
               "withheld:%zu sent:%zu waiting:%zu waiting_bytes:%zu "
               "received:%ju machines:%ju",
               view->asking->store, view->asking->address != NULL,
               known_text(view->state->origin), view->pages->count,
               view->pages->cells, view->pages->withheld,
               view->pages->count - waiting.lines, waiting.lines, waiting.bytes,
               (uintmax_t)view->state->received,
               (uintmax_t)view->state->machines);
    if (is_whole)
        print_pages_json(&json, view);
    json_print(&json, "}\n");
}
