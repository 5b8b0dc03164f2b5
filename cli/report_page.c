/* SPDX-License-Identifier: MIT */
/* report_page.c - the page of `takt report`, and its data. */
#include <stdlib.h>
#include <string.h>

#include "context.h"
#include "history.h"
#include "report.h"
#include "text/utf8.h"

/* The files of web/ lie in the program as text. TAKT_WEB_DIR is the folder. */
#define ASSET(name, file)                                       \
    __asm__(".pushsection .rodata\n"                            \
            ".hidden " #name "\n.globl " #name "\n" #name ":\n" \
            ".incbin \"" TAKT_WEB_DIR "/" file "\"\n.byte 0\n"  \
            ".popsection\n");                                   \
    extern const char name[]

ASSET(takt__page_style, "page.css");
ASSET(takt__page_script, "page.js");
ASSET(takt__page_body, "page.html");

void print_html(FILE *stream, const char *text)
{
    while (*text != '\0') {
        bool is_whole;
        const size_t length = takt__utf8_take(text, (size_t)-1, &is_whole);
        if (!is_whole)
            fputs("\xEF\xBF\xBD", stream);
        else if (*text == '<')
            fputs("&lt;", stream);
        else if (*text == '&')
            fputs("&amp;", stream);
        else if (*text == '"')
            fputs("&quot;", stream);
        else
            fwrite(text, 1, length, stream);
        text += length;
    }
}

/* ---- data ---- */

/* Another command's JSON, as the value of a member. */
static void print_value(struct json *json, const char *key, const char *text,
                        size_t length)
{
    while (length > 0 && strchr(" \t\r\n", text[length - 1]) != NULL)
        length--;
    json_raw(json, key, text, length);
}

/* Takes what was written into the JSON. False: no memory. */
static bool text_end(struct takt_memory_file *text, struct json *json,
                     const char *key)
{
    const bool is_whole = takt__memory_file_close(text);

    if (is_whole)
        print_value(json, key, text->text, text->length);
    free(text->text);
    return is_whole;
}

static bool print_machine(struct json *json, const struct report *report)
{
    struct takt_memory_file text;

    if (!takt__memory_file_open(&text))
        return false;
    print_machine_json(text.stream, report->ctx, report->is_live);
    return text_end(&text, json, "machine");
}

static bool print_memories(struct json *json, const struct report *report,
                           const struct memories *memories)
{
    struct takt_memory_file text;

    if (memories->is_short || !takt__memory_file_open(&text))
        return false;
    print_list(text.stream, memories, true);
    if (!text_end(&text, json, "history") || !takt__memory_file_open(&text))
        return false;
    print_gain(text.stream, report->ctx, memories, true);
    return text_end(&text, json, "gain");
}

static bool print_learning(struct json *json, const struct report *report)
{
    takt_learning learning = {.size = sizeof learning};
    struct memories memories;

    if (takt_ctx_learning(report->ctx, &learning) != TAKT_OK)
        return false;
    json_print(json, "learning:{store:%s own_records:%g other_records:%g}",
               report->is_anonymous ? NULL : known_text(learning.store),
               learning.own_records, learning.other_records);
    if (!report->is_anonymous)
        define_programs(report->ctx, report->store);
    read_memories(report->ctx, &memories);
    const bool is_whole = print_memories(json, report, &memories);
    free_memories(&memories);
    return is_whole;
}

/* The folders of a path are the user's: its last part is enough. */
static const char *base_name(const char *path)
{
    const char *slash = path != NULL ? strrchr(path, '/') : NULL;

    return slash != NULL ? slash + 1 : path;
}

static bool print_context(struct json *json, const struct report *report)
{
    takt_gpu_device gpu = {.size = sizeof gpu};

    if (!print_machine(json, report) || !print_learning(json, report))
        return false;
    json_open(json, "curves", '[');
    const bool is_whole = print_curves_json(json, report->ctx,
                                            find_usable_gpu(report->ctx, &gpu));
    json_close(json, ']');
    return is_whole;
}

bool print_report_json(FILE *stream, const struct report *report)
{
    struct json json = json_begin(stream);

    json_print(&json, "{schema:1 version:%s", takt_version());
    if (report->ctx != NULL && !print_context(&json, report))
        return false;
    json_open(&json, "inputs", '[');
    for (size_t i = 0; i < report->input_count; i++) {
        const struct report_input *input = &report->input[i];
        json_print(&json, "{kind:%s name:%s", input->kind,
                   report->is_anonymous ? NULL : base_name(input->path));
        print_value(&json, "data", input->text, input->length);
        json_close(&json, '}');
    }
    json_print(&json, "]}\n");
    return true;
}

/* JSON inside of a page: no text in it may end the element that it is in. */
static void print_embedded(FILE *stream, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (text[i] == '<')
            fputs("\\u003c", stream);
        else
            fputc(text[i], stream);
}

/* ---- maps ---- */

static void print_one_map(FILE *stream, const struct map_question *question,
                          bool is_first)
{
    const bool is_on_gpu = question->situation & TAKT_SITUATION_ON_GPU;

    fprintf(
        stream,
        "<div class=\"map-view\" data-dtype=\"%s\" data-situation=\"%s\" "
        "data-resident=\"%s\"%s>\n<div class=\"wide\">",
        takt_dtype_name(question->dtype),
        situation_name(question->situation & ~(unsigned)TAKT_SITUATION_ON_GPU),
        is_on_gpu ? "gpu" : "host", is_first ? "" : " hidden");
    draw_map(stream, question);
    fputs("</div>\n<details><summary>The same as a table</summary>"
          "<div class=\"wide\">\n",
          stream);
    print_map_table(stream, question);
    fputs("</div></details></div>\n", stream);
}

static void print_maps(FILE *stream, const struct report *report)
{
    static const unsigned situations[] = {
        0, TAKT_SITUATION_REPEAT, TAKT_SITUATION_ASLEEP, TAKT_SITUATION_ON_GPU};
    takt_gpu_device gpu = {.size = sizeof gpu};
    const size_t count = find_usable_gpu(report->ctx, &gpu) ? 4 : 3;

    for (int dtype = TAKT_F32; dtype <= TAKT_F64; dtype++)
        for (size_t i = 0; i < count; i++)
            print_one_map(stream,
                          &(struct map_question){.ctx = report->ctx,
                                                 .dtype = (takt_dtype)dtype,
                                                 .situation = situations[i]},
                          dtype == TAKT_F32 && i == 0);
}

/* ---- the page ---- */

/* Maps are pictures of ours, and stand where the body has this mark. */
static void print_body(FILE *stream, const struct report *report)
{
    static const char mark[] = "<!-- maps -->";
    const char *at = strstr(takt__page_body, mark);
    const char *rest = at != NULL ? at + sizeof mark - 1 : "";

    fwrite(takt__page_body, 1, strlen(takt__page_body) - strlen(rest), stream);
    if (report->ctx != NULL)
        print_maps(stream, report);
    fputs(rest, stream);
}

/* The data, as text of the page. False: no memory. */
static bool print_data(FILE *stream, const struct report *report)
{
    struct takt_memory_file data;

    if (!takt__memory_file_open(&data))
        return false;
    bool is_whole = print_report_json(data.stream, report);
    is_whole = takt__memory_file_close(&data) && is_whole;
    if (is_whole)
        print_embedded(stream, data.text, data.length);
    free(data.text);
    return is_whole;
}

bool print_page(FILE *stream, const struct report *report)
{
    fputs("<!doctype html>\n<html lang=\"en\">\n<head>\n"
          "<meta charset=\"utf-8\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\""
          "default-src 'none'; style-src 'unsafe-inline'; "
          "script-src 'unsafe-inline'; img-src data:\">\n"
          "<meta name=\"viewport\" "
          "content=\"width=device-width, initial-scale=1\">\n"
          "<title>Takt report</title>\n<style>\n",
          stream);
    fputs(takt__page_style, stream);
    fputs("</style>\n</head>\n<body>\n", stream);
    print_body(stream, report);
    fputs("<script type=\"application/json\" id=\"data\">", stream);
    if (!print_data(stream, report))
        return false;
    fputs("</script>\n<script>\n", stream);
    fputs(takt__page_script, stream);
    fputs("</script>\n</body>\n</html>\n", stream);
    return true;
}

bool page_end(struct takt_memory_file *text, const char *kind, FILE *out)
{
    struct report report = {.input_count = 1};
    bool is_whole = takt__memory_file_close(text);

    if (is_whole) {
        report.input[0] = (struct report_input){
            .kind = kind, .text = text->text, .length = text->length};
        is_whole = print_page(out, &report);
    }
    free(text->text);
    return is_whole;
}
