/* SPDX-License-Identifier: MIT */
/* report_page.c - the page of `takt report`, and its data. */
#include <stdlib.h>
#include <string.h>

#include "base/new_file.h"
#include "clean.h"
#include "context.h"
#include "machine_energy.h"
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
ASSET(takt__page_parts, "parts.js");
ASSET(takt__page_machine, "machine.js");
ASSET(takt__page_days, "days.js");
ASSET(takt__page_run, "run.js");
ASSET(takt__page_code, "code.js");
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

/* As `takt machine` has it: with all that drivers know of, also what is not
 * used, and why. */
static bool print_machine(struct json *json, const struct report *report)
{
    const takt_ctx_options options = {
        .gpu = all_gpus(), .store = "", .telemetry = ""};
    takt_ctx *ctx = NULL;
    struct takt_memory_file text;

    if (!takt__memory_file_open(&text))
        return false;
    if (report->is_live)
        takt_ctx_create(&options, &ctx);
    struct takt_energy_meter *energy =
        report->is_live ? open_energy(NULL) : NULL;
    print_machine_json(text.stream, ctx != NULL ? ctx : report->ctx,
                       report->is_live, energy);
    takt__meter_close(energy);
    takt_ctx_destroy(ctx);
    if (!takt__memory_file_close(&text))
        return false;
    const bool is_whole = !report->is_anonymous || hide_in("machine", &text);
    if (is_whole)
        print_value(json, "machine", text.text, text.length);
    free(text.text);
    return is_whole;
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
    json_open(json, "limits", '[');
    print_limits_json(json, report->ctx, memories);
    json_close(json, ']');
    print_gain(text.stream, report->ctx, memories, true);
    return text_end(&text, json, "gain");
}

/* What could not be read is left out, and the page says so. */
static void print_history_days(struct json *json, const struct report *report,
                               const char *store)
{
    struct days days;

    if (!read_days(report->ctx, store, &days))
        return;
    json_open(json, "days", '[');
    print_days_json(json, &days);
    json_close(json, ']');
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
        define_programs(report->ctx, learning.store);
    read_memories(report->ctx, &memories);
    const bool is_whole = print_memories(json, report, &memories);
    free_memories(&memories);
    print_history_days(json, report, learning.store);
    return is_whole;
}

/* The folders of a path are the user's: its last part is enough. */
static const char *base_name(const char *path)
{
    const char *slash = path != NULL ? strrchr(path, '/') : NULL;

    return slash != NULL ? slash + 1 : path;
}

/* Whether it matters where operands are. A recorded machine has no driver, but
 * the expert that it would have. */
static bool has_gpu(const struct report *report)
{
    takt_gpu_device gpu = {.size = sizeof gpu};
    takt_backend backend;

    if (report->is_live)
        return find_usable_gpu(report->ctx, &gpu);
    for (size_t i = 0; takt_ctx_expert(report->ctx, i, &backend) != NULL; i++)
        if (backend == TAKT_BACKEND_GPU)
            return true;
    return false;
}

static bool print_context(struct json *json, const struct report *report)
{
    if (!print_machine(json, report) || !print_learning(json, report))
        return false;
    json_open(json, "curves", '[');
    const bool is_whole = print_curves_json(json, report->ctx, has_gpu(report));
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

/* JSON inside of a page: no text in it may end the element that it is in, and
 * blanks between values would be a tenth of the page. */
static void print_embedded(FILE *stream, const char *text, size_t length)
{
    bool is_string = false, is_escaped = false;

    for (size_t i = 0; i < length; i++) {
        is_string ^= text[i] == '"' && !is_escaped;
        is_escaped = text[i] == '\\' && !is_escaped;
        if (text[i] == '<')
            fputs("\\u003c", stream);
        else if (is_string || strchr(" \t\r\n", text[i]) == NULL)
            fputc(text[i], stream);
    }
}

/* ---- maps ---- */

static bool print_one_map(FILE *stream, const struct map_question *question,
                          bool is_first)
{
    const bool is_on_gpu = question->situation & TAKT_SITUATION_ON_GPU;
    struct takt_memory_file table;

    if (!takt__memory_file_open(&table))
        return false;
    fprintf(
        stream,
        "<div class=\"map-view\" data-dtype=\"%s\" data-situation=\"%s\" "
        "data-resident=\"%s\"%s>\n<div class=\"wide\">",
        takt_dtype_name(question->dtype),
        situation_name(question->situation & ~(unsigned)TAKT_SITUATION_ON_GPU),
        is_on_gpu ? "gpu" : "host", is_first ? "" : " hidden");
    draw_map(stream, table.stream, question);
    fputs("</div>\n<details><summary>The same as a table</summary>"
          "<div class=\"wide\">\n",
          stream);
    const bool is_whole = takt__memory_file_close(&table);
    if (is_whole)
        fwrite(table.text, 1, table.length, stream);
    free(table.text);
    fputs("</div></details></div>\n", stream);
    return is_whole;
}

static bool print_maps(FILE *stream, const struct report *report)
{
    static const unsigned situations[] = {
        0, TAKT_SITUATION_REPEAT, TAKT_SITUATION_ASLEEP, TAKT_SITUATION_ON_GPU};
    const size_t count = has_gpu(report) ? 4 : 3;
    bool is_whole = true;

    for (int dtype = TAKT_F32; dtype <= TAKT_F64; dtype++)
        for (size_t i = 0; i < count && is_whole; i++)
            is_whole = print_one_map(
                stream,
                &(struct map_question){.ctx = report->ctx,
                                       .dtype = (takt_dtype)dtype,
                                       .situation = situations[i]},
                dtype == TAKT_F32 && i == 0);
    return is_whole;
}

/* ---- the page ---- */

/* Maps are pictures of ours, and stand where the body has this mark. */
static bool print_body(FILE *stream, const struct report *report)
{
    static const char mark[] = "<!-- maps -->";
    const char *at = strstr(takt__page_body, mark);
    const char *rest = at != NULL ? at + sizeof mark - 1 : "";

    fwrite(takt__page_body, 1, strlen(takt__page_body) - strlen(rest), stream);
    if (report->ctx != NULL && !print_maps(stream, report))
        return false;
    fputs(rest, stream);
    return true;
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

static void print_script(FILE *stream)
{
    static const char *const files[] = {takt__page_parts, takt__page_machine,
                                        takt__page_days,  takt__page_run,
                                        takt__page_code,  takt__page_script};

    fputs("</script>\n<script>\n(() => {\n", stream);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        fputs(files[i], stream);
    fputs("})();\n</script>\n", stream);
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
    if (!print_body(stream, report))
        return false;
    fputs("<script type=\"application/json\" id=\"data\">", stream);
    if (!print_data(stream, report))
        return false;
    print_script(stream);
    fputs("</body>\n</html>\n", stream);
    return true;
}

static bool print_to_memory(const struct report *report, bool is_json,
                            struct takt_memory_file *out)
{
    if (!takt__memory_file_open(out))
        return false;
    const bool is_printed = is_json ? print_report_json(out->stream, report)
                                    : print_page(out->stream, report);
    return takt__memory_file_close(out) && is_printed;
}

unsigned page_flags(bool is_named)
{
    return is_named ? TAKT_NEW_FILE_STREAMS : TAKT_NEW_FILE_NO_LINKS;
}

/* Opened before the page is made, so that it is not made for nothing. */
int write_report(const struct command *command, const struct report *report,
                 bool is_json, const char *named, const char *usual)
{
    const char *path = named != NULL ? named : usual;
    struct takt_memory_file text = {0};
    struct takt_new_file file;
    takt_diag diag = {""};

    if (takt__new_file_open(path, page_flags(named != NULL), &file, &diag) !=
        TAKT_OK)
        return usage_error(command, "%s", diag.text);
    const bool is_whole = print_to_memory(report, is_json, &text);
    const bool is_written =
        is_whole &&
        takt__new_file_write(&file, text.text, text.length, &diag) == TAKT_OK &&
        takt__new_file_commit(&file, &diag) == TAKT_OK;
    takt__new_file_drop(&file);
    free(text.text);
    if (!is_written)
        return complain(command, "%s",
                        is_whole ? diag.text : takt_status_text(TAKT_ENOMEM));
    print_line(stderr, "takt %s: wrote %s", command->name, path);
    return EXIT_DONE;
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
