/* SPDX-License-Identifier: MIT */
/*
 * fuzz_toml.c - any bytes, read as TOML: refused with a place that is in the
 * text, or a tree whose places are in order; and read as a configuration.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "project/config.h"
#include "project/toml.h"

static void require(bool is_so)
{
    if (!is_so)
        abort();
}

static void check(const struct takt_toml_value *value, size_t length)
{
    require(value->text.from <= value->text.to && value->text.to <= length);
    require(value->name.from <= value->name.to && value->name.to <= length);
    require(value->statement_from <= value->name.from || value->key == NULL);
    require(value->end <= length);
    require(value->kind != TAKT_TOML_STRING ||
            value->string[value->string_length] == '\0');
    for (const struct takt_toml_value *one = value->first; one != NULL;
         one = one->next) {
        require(one->parent == value);
        require((one->key != NULL) == (value->kind == TAKT_TOML_TABLE));
        check(one, length);
    }
}

static void ignore(void *self, const char *line)
{
    (void)self;
    require(strlen(line) > 0 && strlen(line) < 512);
}

/* A value that is cut out of its text is the same value. */
static void check_alone(const struct takt_toml_value *value, const char *text)
{
    struct takt_toml_error error;
    struct takt_toml *toml;
    const size_t length = value->text.to - value->text.from;
    char *alone = malloc(length + 2);

    require(alone != NULL);
    memcpy(alone, "k=", 2);
    memcpy(alone + 2, text + value->text.from, length);
    require(takt__toml_parse(alone, length + 2, &toml, &error) == TAKT_OK);
    require(takt__toml_root(toml)->first->kind == value->kind);
    takt__toml_destroy(toml);
    free(alone);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    char *text = malloc(length + 1); /* exactly: no byte behind is read */
    struct takt_project_config config;
    struct takt_toml_error error;
    struct takt_toml *toml;
    takt_diag diag;

    require(text != NULL);
    if (length > 0)
        memcpy(text, bytes, length);
    char *cut = realloc(text, length > 0 ? length : 1);
    text = cut != NULL ? cut : text;
    const takt_status status = takt__toml_parse(text, length, &toml, &error);
    if (status == TAKT_OK) {
        const struct takt_toml_value *root = takt__toml_root(toml);
        check(root, length);
        if (root->first != NULL && root->first->form == TAKT_TOML_VALUE &&
            root->first->statement_from == root->first->name.from)
            check_alone(root->first, text);
        takt__toml_destroy(toml);
    } else {
        require(status == TAKT_ECORRUPT && toml == NULL);
        require(error.line >= 1 && error.line <= length + 1);
        require(error.column >= 1 && error.column <= length + 1);
        require(strlen(error.why) > 0);
    }
    const takt_status read = takt__config_parse("takt.toml", text, length,
                                                ignore, NULL, &config, &diag);
    require(read == TAKT_OK || read == TAKT_EINVAL || read == TAKT_ECORRUPT);
    require((read == TAKT_ECORRUPT) == (status == TAKT_ECORRUPT));
    require((read == TAKT_OK) == (diag.text[0] == '\0'));
    takt__config_fini(&config);
    free(text);
    return 0;
}
