/* SPDX-License-Identifier: MIT */
/*
 * test_state.c - the state file: ours, the other tool's, damaged ones, ones
 * that cannot be written, and two who want it at once.
 */
#include "project/state.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "project/lock.h"
#include "support/tap.h"

static char folder[] = "/tmp/takt-state-XXXXXX";
static char path[256];
static takt_diag diag;

static const char *in_folder(const char *name)
{
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void put(const char *name, const char *text)
{
    FILE *file = fopen(in_folder(name), "w");
    REQUIRE(file != NULL);
    fputs(text, file);
    fclose(file);
}

static char content[1 << 16];

static const char *get(const char *name)
{
    FILE *file = fopen(in_folder(name), "r");
    if (file == NULL)
        return NULL;
    content[fread(content, 1, sizeof content - 1, file)] = '\0';
    fclose(file);
    return content;
}

static void clear(void)
{
    static const char *const names[] = {
        ".takt-state.json",           ".batuta-state.json",
        ".takt-state.json.damaged",   ".takt-state.json.damaged-2",
        ".batuta-state.json.damaged", ".takt-state.lock"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(in_folder(names[i]));
}

static void begin(struct takt_pipeline *line, enum takt_phase phase)
{
    REQUIRE(takt__pipeline_step(
        line,
        &(struct takt_phase_event){.kind = TAKT_STEP_BEGIN,
                                   .phase = phase,
                                   .now = "2026-11-15T10:00:00Z"},
        NULL));
}

/* ---- JSON -----------------------------------------------------------------
 */

static void json_is_read_strictly(void)
{
    static const char *const right[] = {"null",
                                        " [ ] ",
                                        "{}",
                                        "-0.5e+10",
                                        "\"\\u00e4\\ud83d\\ude00\\n\"",
                                        "[1, [2, {\"a\": true, \"a\": false}]]",
                                        "\"\xf0\x9f\x98\x80\""};
    static const char *const wrong[] = {"",
                                        " ",
                                        "nul",
                                        "01",
                                        "1.",
                                        ".5",
                                        "+1",
                                        "1e",
                                        "[1,]",
                                        "[1 2]",
                                        "{,}",
                                        "{\"a\"}",
                                        "{\"a\":}",
                                        "{a:1}",
                                        "{'a':1}",
                                        "\"",
                                        "\"\\\"",
                                        "\"\\x\"",
                                        "\"\\u12\"",
                                        "\"\\ud800\"",
                                        "\"\\ud800\\u0041\"",
                                        "\"\\udc00\"",
                                        "\"\\u0000\"",
                                        "\"a\nb\"",
                                        "\"\xc3\"",
                                        "\"\xff\"",
                                        "\"\xed\xa0\x80\"",
                                        "\"\xc0\x80\"",
                                        "[",
                                        "{",
                                        "[[",
                                        "null null",
                                        "// c\n1",
                                        "NaN",
                                        "tru\0e"};
    struct takt_json_document document;
    struct takt_json_trouble trouble;

    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        TAP_CHECK(
            takt__json_read(right[i], strlen(right[i]), &document, &trouble),
            "%s: %s", right[i], trouble.what);
        takt__json_free(&document);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        TAP_CHECK(
            !takt__json_read(wrong[i], strlen(wrong[i]), &document, &trouble),
            "%s was read", wrong[i]);
}

static void json_says_where(void)
{
    struct takt_json_document document;
    struct takt_json_trouble trouble;

    EXPECT(!takt__json_read("{\n  \"a\": 1,\n  \"b\" 2}", 20, &document,
                            &trouble));
    EXPECT_INT(trouble.line, 3);
    EXPECT_INT(trouble.column, 7);
    EXPECT_STR(trouble.what, "a colon is missing");
}

static void json_is_not_deeper_than_it_may(void)
{
    struct takt_json_document document;
    struct takt_json_trouble trouble;
    static char deep[200000];

    memset(deep, '[', sizeof deep);
    EXPECT(!takt__json_read(deep, sizeof deep, &document, &trouble));
    EXPECT_STR(trouble.what, "more than 64 levels");
    for (int i = 0; i < 64; i++)
        deep[64 + i] = ']';
    EXPECT(takt__json_read(deep, 128, &document, &trouble));
    takt__json_free(&document);
}

/* ---- our own --------------------------------------------------------------
 */

static void a_new_project_has_not_started(void)
{
    struct takt_state state;

    clear();
    EXPECT_INT(takt__state_load(folder, &state, &diag), TAKT_OK);
    EXPECT_INT(takt__pipeline_next(&state.pipeline), TAKT_PHASE_ANALYSIS);
    EXPECT(!state.is_theirs);
    EXPECT(get(".takt-state.json") == NULL);
    takt__state_free(&state);
}

static void what_is_saved_is_loaded(void)
{
    struct takt_state state, again;

    clear();
    REQUIRE(takt__state_load(folder, &state, &diag) == TAKT_OK);
    begin(&state.pipeline, TAKT_PHASE_ANALYSIS);
    strcpy(state.pipeline.phase[TAKT_PHASE_BUILD].error,
           "quote \" \\ \n \xc3\xa4");
    for (int i = 0; i < TAKT_PHASE_STATUSES - 1; i++)
        if (i > 0)
            state.pipeline.phase[i].status = (enum takt_phase_status)(i + 1);
    EXPECT_INT(takt__state_save(&state, &diag), TAKT_OK);
    EXPECT_INT(takt__state_load(folder, &again, &diag), TAKT_OK);
    EXPECT(memcmp(&again.pipeline, &state.pipeline, sizeof again.pipeline) ==
           0);
    EXPECT_INT(again.pipeline.current, TAKT_PHASE_ANALYSIS);
    takt__state_free(&again);
    takt__state_free(&state);
}

static void what_others_wrote_stays(void)
{
    struct takt_state state;

    clear();
    put(".takt-state.json",
        "{\"note\": 1.50e1, \"version\": 1, \"current_phase\": null, "
        "\"phases\": {\"Analysis\": {\"status\": \"Completed\", "
        "\"by\": [\"\\u0041\", {\"x\": null}]}, \"Magic\": {}}, \"z\": []}");
    REQUIRE(takt__state_load(folder, &state, &diag) == TAKT_OK);
    EXPECT_INT(state.pipeline.phase[0].status, TAKT_COMPLETED);
    begin(&state.pipeline, TAKT_PHASE_ANALYSIS);
    REQUIRE(takt__state_save(&state, &diag) == TAKT_OK);
    const char *text = get(".takt-state.json");
    EXPECT(strstr(text, "\"note\": 1.50e1") != NULL);
    EXPECT(strstr(text, "\"\\u0041\"") != NULL);
    EXPECT(strstr(text, "\"Magic\": {}") != NULL);
    EXPECT(strstr(text, "\"z\": []") != NULL);
    EXPECT(strstr(text, "InProgress") != NULL);
    takt__state_free(&state);
}

static void a_later_version_is_left_alone(void)
{
    struct takt_state state;

    clear();
    put(".takt-state.json", "{\"version\": 2, \"phases\": {}}");
    EXPECT_INT(takt__state_load(folder, &state, &diag), TAKT_ENOTSUP);
    takt__state_free(&state);
}

/* ---- the other tool's -----------------------------------------------------
 */

static const char theirs[] =
    "{\n  \"current_phase\": \"Transpilation\",\n  \"phases\": {\n"
    "    \"Deployment\": {\"phase\": \"Deployment\", \"status\": "
    "\"NotStarted\", \"started_at\": null, \"completed_at\": null, \"error\": "
    "null},\n"
    "    \"Analysis\": {\"phase\": \"Analysis\", \"status\": \"Completed\", "
    "\"started_at\": \"2025-11-19T14:21:32.866130494Z\", \"completed_at\": "
    "\"2025-11-19T14:21:33.001Z\", \"error\": null, \"duration\": 0.13},\n"
    "    \"Transpilation\": {\"phase\": \"Transpilation\", \"status\": "
    "\"Completed\", \"started_at\": null, \"completed_at\": null, \"error\": "
    "null},\n"
    "    \"Optimization\": {\"phase\": \"Optimization\", \"status\": "
    "\"Failed\", \"started_at\": null, \"completed_at\": null, \"error\": "
    "\"no\"},\n"
    "    \"Validation\": {\"phase\": \"Validation\", \"status\": "
    "\"NotStarted\", \"started_at\": null, \"completed_at\": null, \"error\": "
    "null}\n  },\n  \"file_hashes\": {\"a.py\": \"ff\"}\n}\n";

static void theirs_is_read_and_keeps_its_form(void)
{
    struct takt_state state;

    clear();
    put(".batuta-state.json", theirs);
    REQUIRE(takt__state_load(folder, &state, &diag) == TAKT_OK);
    EXPECT(state.is_theirs);
    EXPECT_INT(state.pipeline.current, TAKT_PHASE_TRANSPILATION);
    EXPECT_STR(state.pipeline.phase[0].started_at,
               "2025-11-19T14:21:32.866130494Z");
    EXPECT_STR(state.pipeline.phase[2].error, "no");
    begin(&state.pipeline, TAKT_PHASE_OPTIMIZATION);
    state.pipeline.phase[TAKT_PHASE_OPTIMIZATION].status = TAKT_COMPLETED;
    state.pipeline.phase[TAKT_PHASE_VALIDATION].status = TAKT_STALE;
    state.pipeline.phase[TAKT_PHASE_BUILD].status = TAKT_FAILED;
    state.pipeline.phase[TAKT_PHASE_TRANSPILATION].status = TAKT_NOT_NEEDED;
    REQUIRE(takt__state_save(&state, &diag) == TAKT_OK);
    takt__state_free(&state);
    const char *text = get(".batuta-state.json");
    EXPECT(strstr(text, "Stale") == NULL && strstr(text, "NotNeeded") == NULL);
    EXPECT(strstr(text, "\"Build\"") == NULL);
    EXPECT(strstr(text, "\"version\"") == NULL);
    EXPECT(strstr(text, "\"duration\": 0.13") != NULL);
    EXPECT(strstr(text, "\"a.py\": \"ff\"") != NULL);
    EXPECT(strstr(text, "\"current_phase\": \"Optimization\"") != NULL);
    EXPECT(get(".takt-state.json") == NULL);
    REQUIRE(takt__state_load(folder, &state, &diag) == TAKT_OK);
    EXPECT_INT(state.pipeline.phase[TAKT_PHASE_TRANSPILATION].status,
               TAKT_COMPLETED);
    EXPECT_INT(state.pipeline.phase[TAKT_PHASE_VALIDATION].status,
               TAKT_NOT_STARTED);
    EXPECT_INT(state.pipeline.phase[TAKT_PHASE_BUILD].status, TAKT_FAILED);
    takt__state_free(&state);
}

static void a_list_of_phases_will_do(void)
{
    struct takt_state state;

    clear();
    put(".batuta-state.json",
        "{\"current_phase\": null, \"phases\": [{\"phase\": \"Analysis\", "
        "\"status\": \"Completed\"}]}");
    REQUIRE(takt__state_load(folder, &state, &diag) == TAKT_OK);
    EXPECT_INT(state.pipeline.phase[0].status, TAKT_COMPLETED);
    state.pipeline.phase[TAKT_PHASE_BUILD].status = TAKT_FAILED;
    REQUIRE(takt__state_save(&state, &diag) == TAKT_OK);
    takt__state_free(&state);
    REQUIRE(takt__state_load(folder, &state, &diag) == TAKT_OK);
    EXPECT_INT(state.pipeline.phase[TAKT_PHASE_BUILD].status, TAKT_FAILED);
    EXPECT(strstr(get(".batuta-state.json"), "\"Deployment\"") != NULL);
    takt__state_free(&state);
}

/* ---- trouble --------------------------------------------------------------
 */

static void damage_is_found_and_kept_aside(void)
{
    static const char *const damaged[] = {
        "",
        "{",
        "[]",
        "null",
        "{\"version\": 1}",
        "{\"phases\": {}}",
        "{\"version\": 0, \"phases\": {}}",
        "{\"version\": \"1\", \"phases\": {}}",
        "{\"version\": 1, \"phases\": 5}",
        "{\"version\": 1, \"phases\": {\"Analysis\": 5}}",
        "{\"version\": 1, \"phases\": {\"Analysis\": {}}}",
        "{\"version\": 1, \"phases\": {\"Analysis\": {\"status\": \"Odd\"}}}",
        "{\"version\": 1, \"phases\": {\"Analysis\": {\"status\": 1}}}",
        "{\"version\": 1, \"phases\": {\"Analysis\": {\"status\": "
        "\"Completed\", \"error\": []}}}",
        "{\"version\": 1, \"phases\": {\"Analysis\": {\"status\": "
        "\"Completed\", \"status\": \"Failed\"}}}",
        "{\"version\": 1, \"phases\": {}, \"phases\": {}}",
        "{\"version\": 1, \"version\": 1, \"phases\": {}}",
        "{\"version\": 1, \"phases\": [{\"phase\": \"Build\", \"status\": "
        "\"Failed\"}, {\"phase\": \"Build\", \"status\": \"Completed\"}]}",
        "{\"version\": 1, \"current_phase\": \"Odd\", \"phases\": {}}",
        "{\"version\": 1, \"current_phase\": 3, \"phases\": {}}"};
    struct takt_state state;

    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        clear();
        put(".takt-state.json", damaged[i]);
        TAP_CHECK(takt__state_load(folder, &state, &diag) == TAKT_ECORRUPT,
                  "%s was read", damaged[i]);
        EXPECT_INT(takt__pipeline_next(&state.pipeline), TAKT_PHASE_ANALYSIS);
        EXPECT_INT(takt__state_set_aside(folder, &state, &diag), TAKT_OK);
        EXPECT_STR(get(".takt-state.json.damaged"), damaged[i]);
        EXPECT(get(".takt-state.json") == NULL);
        EXPECT(strstr(diag.text, ".damaged") != NULL);
        EXPECT_INT(takt__state_save(&state, &diag), TAKT_OK);
        takt__state_free(&state);
    }
}

static void older_damage_is_not_written_over(void)
{
    struct takt_state state;

    clear();
    put(".takt-state.json.damaged", "older");
    put(".takt-state.json", "newer");
    REQUIRE(takt__state_load(folder, &state, &diag) == TAKT_ECORRUPT);
    EXPECT_INT(takt__state_set_aside(folder, &state, &diag), TAKT_OK);
    EXPECT_STR(get(".takt-state.json.damaged"), "older");
    EXPECT_STR(get(".takt-state.json.damaged-2"), "newer");
    takt__state_free(&state);
}

static void what_cannot_be_read_is_not_damaged(void)
{
    struct takt_state state;

    clear();
    REQUIRE(mkdir(in_folder(".takt-state.json"), 0700) == 0);
    EXPECT_INT(takt__state_load(folder, &state, &diag), TAKT_EIO);
    takt__state_free(&state);
    rmdir(in_folder(".takt-state.json"));
}

/* Messages are cut to their room, which may be within a character. */
static void what_is_no_utf8_does_not_damage_it(void)
{
    struct takt_state state;
    struct takt_phase_event failed = {.kind = TAKT_STEP_FAIL};

    clear();
    REQUIRE(takt__state_load(folder, &state, &diag) == TAKT_OK);
    begin(&state.pipeline, TAKT_PHASE_ANALYSIS);
    failed.text = "'f\xc3\xa4\xe2\x82\x1b \xf0\x9f\x98";
    REQUIRE(takt__pipeline_step(&state.pipeline, &failed, NULL));
    EXPECT_INT(takt__state_save(&state, &diag), TAKT_OK);
    takt__state_free(&state);
    EXPECT_INT(takt__state_load(folder, &state, &diag), TAKT_OK);
    EXPECT_STR(state.pipeline.phase[TAKT_PHASE_ANALYSIS].error,
               "'f\xc3\xa4??\x1b ???");
    takt__state_free(&state);
}

static void a_failed_save_leaves_the_old_file(void)
{
    struct takt_state state;

    clear();
    REQUIRE(takt__state_load(folder, &state, &diag) == TAKT_OK);
    REQUIRE(takt__state_save(&state, &diag) == TAKT_OK);
    char before[4096];
    snprintf(before, sizeof before, "%.4000s", get(".takt-state.json"));
    free(state.path);
    state.path = strdup("/nowhere/at/all/.takt-state.json");
    EXPECT_INT(takt__state_save(&state, &diag), TAKT_EIO);
    EXPECT_STR(get(".takt-state.json"), before);
    takt__state_free(&state);
}

/* ---- two at once ----------------------------------------------------------
 */

static void the_lock_lets_one_in(void)
{
    struct takt_lock first, second;
    char pid[32];

    clear();
    EXPECT(!takt__lock_is_taken(folder));
    REQUIRE(takt__lock_take(folder, &first, &diag) == TAKT_OK);
    EXPECT(takt__lock_is_taken(folder));
    EXPECT_INT(takt__lock_take(folder, &second, &diag), TAKT_EEXIST);
    snprintf(pid, sizeof pid, "%ld", (long)getpid());
    EXPECT(strstr(diag.text, pid) != NULL);
    takt__lock_give(&second); /* nothing to give */
    takt__lock_give(&first);
    EXPECT(!takt__lock_is_taken(folder));
    EXPECT(get(".takt-state.lock") == NULL);
    EXPECT_INT(takt__lock_take(folder, &second, &diag), TAKT_OK);
    takt__lock_give(&second);
}

static void nobody_waits_for_a_pipe_of_that_name(void)
{
    struct takt_lock lock;

    clear();
    REQUIRE(mkfifo(in_folder(".takt-state.lock"), 0600) == 0);
    EXPECT(!takt__lock_is_taken(folder));
    EXPECT_INT(takt__lock_take(folder, &lock, &diag), TAKT_OK);
    EXPECT(takt__lock_is_taken(folder));
    takt__lock_give(&lock);
}

static void a_process_that_dies_gives_it_back(void)
{
    struct takt_lock lock;
    int status;

    clear();
    fflush(stdout);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0)
        _exit(takt__lock_take(folder, &lock, &diag) == TAKT_OK ? 0 : 1);
    REQUIRE(waitpid(child, &status, 0) == child);
    EXPECT_INT(status, 0);
    EXPECT_INT(takt__lock_take(folder, &lock, &diag), TAKT_OK);
    takt__lock_give(&lock);
}

int main(void)
{
    REQUIRE(mkdtemp(folder) != NULL);
    RUN(json_is_read_strictly);
    RUN(json_says_where);
    RUN(json_is_not_deeper_than_it_may);
    RUN(a_new_project_has_not_started);
    RUN(what_is_saved_is_loaded);
    RUN(what_others_wrote_stays);
    RUN(a_later_version_is_left_alone);
    RUN(theirs_is_read_and_keeps_its_form);
    RUN(a_list_of_phases_will_do);
    RUN(damage_is_found_and_kept_aside);
    RUN(older_damage_is_not_written_over);
    RUN(what_cannot_be_read_is_not_damaged);
    RUN(what_is_no_utf8_does_not_damage_it);
    RUN(a_failed_save_leaves_the_old_file);
    RUN(the_lock_lets_one_in);
    RUN(nobody_waits_for_a_pipe_of_that_name);
    RUN(a_process_that_dies_gives_it_back);
    clear();
    rmdir(folder);
    return tap_done();
}
