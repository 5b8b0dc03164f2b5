/* SPDX-License-Identifier: MIT */
/* config.c - a table of keys, and what may stand behind each. */
#include "project/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/name.h"
#include "base/say.h"
#include "project/read_file.h"
#include "project/toml.h"

enum { MOST_BYTES = 1 << 20 };

static const char *const profile_names[TAKT_PROFILES] = {
    [TAKT_PROFILE_FAST] = "fast",
    [TAKT_PROFILE_BALANCED] = "balanced",
    [TAKT_PROFILE_AGGRESSIVE] = "aggressive"};

/* What is read, and where messages go. */
struct config_reading {
    const char *name, *text;
    struct takt_project_config *config;
    takt_config_warn *warn;
    void *self;
    takt_diag *diag;
};

/* Takes a value of the right kind; not TAKT_OK: the diagnosis says why. */
typedef takt_status take(const struct config_reading *reading,
                         const struct takt_toml_value *value, void *field);

static take take_profile, take_boolean, take_threshold, take_string;

struct key {
    const char *section, *key;
    unsigned given; /* a bit TAKT_GIVEN_... */
    enum takt_toml_kind kind;
    take *take;
    size_t field; /* its offset in the configuration */
};

#define FIELD(name) offsetof(struct takt_project_config, name)
static const struct key keys[] = {
    {"optimization", "profile", TAKT_GIVEN_PROFILE, TAKT_TOML_STRING,
     take_profile, FIELD(profile)},
    {"optimization", "enable_simd", TAKT_GIVEN_SIMD, TAKT_TOML_BOOLEAN,
     take_boolean, FIELD(enable_simd)},
    {"optimization", "enable_gpu", TAKT_GIVEN_GPU, TAKT_TOML_BOOLEAN,
     take_boolean, FIELD(enable_gpu)},
    {"optimization", "gpu_threshold", TAKT_GIVEN_GPU_THRESHOLD,
     TAKT_TOML_INTEGER, take_threshold, FIELD(gpu_threshold)},
    {"optimization", "use_moe_routing", TAKT_GIVEN_MOE, TAKT_TOML_BOOLEAN,
     take_boolean, FIELD(use_moe_routing)},
    {"transpilation", "output_dir", TAKT_GIVEN_OUTPUT_DIR, TAKT_TOML_STRING,
     take_string, FIELD(output_dir)},
    {"validation", "test_command", TAKT_GIVEN_TEST_COMMAND, TAKT_TOML_STRING,
     take_string, FIELD(test_command)},
    {"build", "command", TAKT_GIVEN_BUILD_COMMAND, TAKT_TOML_STRING,
     take_string, FIELD(build_command)}};
#undef FIELD
enum { KEYS = sizeof keys / sizeof keys[0] };

const char *takt__profile_name(enum takt_profile profile)
{
    return profile_names[profile];
}

bool takt__profile_parse(const char *name, enum takt_profile *out)
{
    for (int i = 0; i < TAKT_PROFILES; i++)
        if (takt__name_equal(name, profile_names[i])) {
            *out = (enum takt_profile)i;
            return true;
        }
    return false;
}

/* Says where a value is that should be something else. */
static takt_status refuse(const struct config_reading *reading,
                          const struct takt_toml_value *value, const char *what)
{
    struct takt_toml_error place;

    takt__toml_locate(reading->text, value->text.from, &place);
    return takt__say(reading->diag, TAKT_EINVAL, "%.300s:%zu:%zu: %s should %s",
                     reading->name, place.line, place.column, value->key, what);
}

static takt_status take_profile(const struct config_reading *reading,
                                const struct takt_toml_value *value,
                                void *field)
{
    /* A NUL inside would hide what is behind it. */
    if (strlen(value->string) == value->string_length &&
        takt__profile_parse(value->string, field))
        return TAKT_OK;
    return refuse(reading, value,
                  "be \"fast\", \"balanced\" or \"aggressive\"");
}

static takt_status take_boolean(const struct config_reading *reading,
                                const struct takt_toml_value *value,
                                void *field)
{
    (void)reading;
    *(bool *)field = value->truth;
    return TAKT_OK;
}

static takt_status take_threshold(const struct config_reading *reading,
                                  const struct takt_toml_value *value,
                                  void *field)
{
    if (value->integer < 1)
        return refuse(reading, value, "be at least 1");
    *(uint64_t *)field = (uint64_t)value->integer;
    return TAKT_OK;
}

static takt_status take_string(const struct config_reading *reading,
                               const struct takt_toml_value *value, void *field)
{
    if (value->string_length == 0)
        return refuse(reading, value, "not be empty");
    if (strlen(value->string) != value->string_length)
        return refuse(reading, value, "have no character 0");
    char *copy = strdup(value->string);
    if (copy == NULL)
        return takt__say(reading->diag, TAKT_ENOMEM, "no memory");
    *(char **)field = copy;
    return TAKT_OK;
}

static const char *article(enum takt_toml_kind kind)
{
    return kind == TAKT_TOML_INTEGER || kind == TAKT_TOML_ARRAY ? "an" : "a";
}

static takt_status take_key(const struct config_reading *reading,
                            const struct key *key,
                            const struct takt_toml_value *value)
{
    struct takt_toml_error place;

    if (value->kind != key->kind) {
        const struct takt_toml_span at =
            value->form == TAKT_TOML_VALUE ? value->text : value->name;
        takt__toml_locate(reading->text, at.from, &place);
        return takt__say(reading->diag, TAKT_EINVAL,
                         "%.300s:%zu:%zu: %s.%s should be %s %s, not %s %s",
                         reading->name, place.line, place.column, key->section,
                         key->key, article(key->kind),
                         takt__toml_kind_name(key->kind), article(value->kind),
                         takt__toml_kind_name(value->kind));
    }
    const takt_status status =
        key->take(reading, value, (char *)reading->config + key->field);
    if (status == TAKT_OK)
        reading->config->given |= key->given;
    return status;
}

/* The nearest name, of a section, or of a key in `section`.
 * NULL: none is near. */
static const char *nearest(const char *typed, const char *section)
{
    const char *found = NULL;
    size_t least = SIZE_MAX;

    for (int i = 0; i < KEYS; i++) {
        if (section != NULL && strcmp(keys[i].section, section) != 0)
            continue;
        const char *name = section != NULL ? keys[i].key : keys[i].section;
        const size_t distance = takt__name_distance(typed, name);
        if (distance < least && takt__name_near(typed, name, distance)) {
            least = distance;
            found = name;
        }
    }
    return found;
}

/* The section that a key belongs into, if it is not this one. */
static const struct key *elsewhere(const char *typed)
{
    for (int i = 0; i < KEYS; i++)
        if (strcmp(keys[i].key, typed) == 0)
            return &keys[i];
    return NULL;
}

/* A key that means nothing here; `section` is NULL at the top. Of another
 * tool's file only a near miss is worth a warning. */
static void warn_unknown(const struct config_reading *reading,
                         const struct takt_toml_value *value,
                         const char *section)
{
    const char *meant = nearest(value->key, section);
    const struct key *other = elsewhere(value->key);
    struct takt_toml_error place;
    char line[512];

    if (reading->warn == NULL || (reading->config->is_batuta && meant == NULL))
        return;
    takt__toml_locate(reading->text, value->name.from, &place);
    const int length =
        snprintf(line, sizeof line, "%.200s:%zu:%zu: '%s%s%.80s' is not known",
                 reading->name, place.line, place.column,
                 section ? section : "", section ? "." : "", value->key);
    if (length > 0 && (size_t)length < sizeof line && meant != NULL)
        snprintf(line + length, sizeof line - (size_t)length,
                 "; did you mean '%s'?", meant);
    else if (length > 0 && (size_t)length < sizeof line && other != NULL)
        snprintf(line + length, sizeof line - (size_t)length,
                 "; it belongs into [%s]", other->section);
    reading->warn(reading->self, line);
}

/* Names in a file may hold a NUL. */
static bool has_name(const struct takt_toml_value *value, const char *name)
{
    return value->key_length == strlen(name) &&
           memcmp(value->key, name, value->key_length) == 0;
}

static bool is_section(const struct takt_toml_value *value)
{
    for (int i = 0; i < KEYS; i++)
        if (has_name(value, keys[i].section))
            return true;
    return false;
}

static takt_status read_section(const struct config_reading *reading,
                                const struct takt_toml_value *section)
{
    takt_status status = TAKT_OK;

    for (const struct takt_toml_value *value = section->first;
         value != NULL && status == TAKT_OK; value = value->next) {
        int i = 0;
        while (i < KEYS && !(has_name(section, keys[i].section) &&
                             has_name(value, keys[i].key)))
            i++;
        if (i < KEYS)
            status = take_key(reading, &keys[i], value);
        else
            warn_unknown(reading, value, section->key);
    }
    return status;
}

static takt_status read_root(const struct config_reading *reading,
                             const struct takt_toml_value *root)
{
    takt_status status = TAKT_OK;

    for (const struct takt_toml_value *value = root->first;
         value != NULL && status == TAKT_OK; value = value->next) {
        if (!is_section(value))
            warn_unknown(reading, value, NULL);
        else if (value->kind == TAKT_TOML_TABLE)
            status = read_section(reading, value);
        else
            status = refuse(reading, value, "be a table");
    }
    return status;
}

void takt__config_init(struct takt_project_config *config)
{
    *config = (struct takt_project_config){.profile = TAKT_PROFILE_BALANCED,
                                           .enable_simd = true,
                                           .gpu_threshold = 500};
}

void takt__config_fini(struct takt_project_config *config)
{
    free(config->path);
    free(config->output_dir);
    free(config->test_command);
    free(config->build_command);
    takt__config_init(config);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

takt_status takt__config_parse(const char *name, const char *text,
                               size_t length, takt_config_warn *warn,
                               void *self, struct takt_project_config *config,
                               takt_diag *diag)
{
    const struct config_reading reading = {name, text, config,
                                           warn, self, diag};
    struct takt_toml_error error;
    struct takt_toml *toml;

    takt__say(diag, TAKT_OK, "%s", "");
    takt__config_init(config);
    takt_status status = takt__toml_parse(text, length, &toml, &error);
    if (status != TAKT_OK)
        return takt__toml_say(diag, status, name, &error);
    config->is_batuta = strcmp(base_name(name), "batuta.toml") == 0;
    status = read_root(&reading, takt__toml_root(toml));
    takt__toml_destroy(toml);
    if (status != TAKT_OK)
        takt__config_fini(config);
    return status;
}

/* TAKT_ENOENT: there is no such file. */
static takt_status load_file(const char *folder, const char *name,
                             takt_config_warn *warn, void *self,
                             struct takt_project_config *config,
                             takt_diag *diag)
{
    char *path = takt__join_path(folder, name), *text = NULL;
    size_t length;

    if (path == NULL)
        return takt__say(diag, TAKT_ENOMEM, "no memory");
    takt_status status =
        takt__read_file(path, MOST_BYTES, &text, &length, diag);
    if (status == TAKT_OK)
        status =
            takt__config_parse(path, text, length, warn, self, config, diag);
    free(text);
    if (status == TAKT_OK)
        config->path = path;
    else
        free(path);
    return status;
}

takt_status takt__config_load(const char *folder, takt_config_warn *warn,
                              void *self, struct takt_project_config *config,
                              takt_diag *diag)
{
    takt__config_init(config);
    takt_status status =
        load_file(folder, "takt.toml", warn, self, config, diag);
    if (status == TAKT_ENOENT)
        status = load_file(folder, "batuta.toml", warn, self, config, diag);
    return status == TAKT_ENOENT ? TAKT_OK : status;
}
