/* SPDX-License-Identifier: MIT */
/* config.c - the environment variables, in one place. */
#include "base/config.h"

#include <limits.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/environment.h"
#include "base/log.h"
#include "base/name.h"

#include "base/lock.h"

extern char **environ;

/* ---- the environment ----------------------------------------------------- */

/* Every variable of Takt, also those that other parts of it read. */
static const char *const known[] = {
    "TAKT_BLAS",
    "TAKT_CUBLAS",
    "TAKT_CUDA",
    "TAKT_CUSOLVER",
    "TAKT_DB",
    "TAKT_ENERGY",
    "TAKT_EXPERT",
    "TAKT_EXPLORE",
    "TAKT_FLEET",
    "TAKT_FLEET_EVERY",
    "TAKT_FLEET_TOOL",
    "TAKT_GPU",
    "TAKT_HOT_RATE",
    "TAKT_LOG",
    "TAKT_NVML",
    "TAKT_OBJECTIVE",
    "TAKT_OTEL",
    "TAKT_OTLP_FILE",
    "TAKT_OTLP_SHUTDOWN_MS",
    "TAKT_PIN",
    "TAKT_POLICY",
    "TAKT_RUN_STATS",
    "TAKT_RUN_EAGER",
    "TAKT_RUN_LIBRARY",
    "TAKT_RUN_PRELOAD",
    "TAKT_RUN_REUSE",
    "TAKT_THREADS",
    "TAKT_TRACE",
    "TAKT_TRACE_DEBUG",
    "TAKT_TRACE_RATE",
    "TAKT_TRACE_THRESHOLD_US",
    "TAKT_VULKAN",
    "TAKT_RUN_NUMPY",
    "TAKT_RUN_LAPACK",
    "TAKT_RUN_SAME_BITS",
    "TAKT_RUN_COUNT_LARGE",
};

static struct takt_environment variables;

/* Privileged programs must not follow their caller's settings. */
static const char *variable(const char *name)
{
    return getauxval(AT_SECURE) != 0 ? NULL
                                     : takt__environment_find(&variables, name);
}

static bool has_value(const char *name)
{
    const char *value = variable(name);
    return value != NULL && *value != '\0';
}

static bool has_word(const char *name, const char *word)
{
    const char *value = variable(name);
    return value != NULL && strcasecmp(value, word) == 0;
}

static void ignore(const char *name, const char *text, const char *expected)
{
    takt__log(TAKT_LOG_ERROR, "%s=%.200s is ignored: it is not %s", name, text,
              expected);
}

/* ---- values -------------------------------------------------------------- */

/* A whole number from 1 on; 0: not set. */
static unsigned read_count(const char *name)
{
    const char *text = variable(name);
    char *end;

    if (text == NULL || *text == '\0')
        return 0;
    const unsigned long value = strtoul(text, &end, 10);
    if (*text >= '0' && *text <= '9' && *end == '\0' && value > 0 &&
        value <= UINT_MAX)
        return (unsigned)value;
    ignore(name, text, "a whole number from 1 on");
    return 0;
}

/* strtod() with a point, whatever the program's language has in its place. */
static double read_plain(const char *text, char **end)
{
    const locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);

    if (plain == (locale_t)0)
        return strtod(text, end);
    const locale_t before = uselocale(plain);
    const double value = strtod(text, end);
    uselocale(before);
    freelocale(plain);
    return value;
}

/* A number from 0 to `most`; negative: not set. */
static double read_number(const char *name, double most, const char *expected)
{
    const char *text = variable(name);
    char *end;

    if (text == NULL || *text == '\0')
        return -1;
    const double value = read_plain(text, &end);
    if (*end == '\0' && value >= 0 && value <= most)
        return value;
    ignore(name, text, expected);
    return -1;
}

/* As the option has it: 0 is "not set", so none at all is negative. */
static double read_exploration(void)
{
    const double share =
        read_number("TAKT_EXPLORE", 1, "a share from 0 to 1, such as 0.02");
    return share < 0 ? 0 : share > 0 ? share : -1;
}

static double read_threshold_s(void)
{
    const double us = read_number("TAKT_TRACE_THRESHOLD_US", 1e12,
                                  "a number of microseconds from 0 on");
    return us < 0 ? -1 : us * 1e-6;
}

/* An hour, unless it is set. */
static double read_every_s(void)
{
    const double every_s =
        read_number("TAKT_FLEET_EVERY", 1e8, "a number of seconds from 0 on");
    return every_s < 0 ? 3600 : every_s;
}

static bool read_flag(const char *name)
{
    bool is_on = false;

    if (has_value(name) && !takt__environment_switch(variable(name), &is_on))
        ignore(name, variable(name), "1 or 0, on or off");
    return is_on;
}

static void read_log_level(void)
{
    const char *text = variable("TAKT_LOG");
    takt_log_level level;

    if (text == NULL || *text == '\0')
        return;
    if (takt__log_level_find(text, &level))
        takt__log_default(level);
    else
        ignore("TAKT_LOG", text, "off, error, info or debug");
}

/* Whether anything sets up an export: else the exporter need not be loaded.
 * What exactly is asked for is for the exporter to find out. */
static bool is_export_asked(void)
{
    return !has_word("OTEL_SDK_DISABLED", "true") &&
           (has_value("OTEL_EXPORTER_OTLP_ENDPOINT") ||
            has_value("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") ||
            has_value("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT") ||
            has_word("OTEL_TRACES_EXPORTER", "otlp") ||
            has_word("OTEL_METRICS_EXPORTER", "otlp") ||
            has_value("TAKT_OTLP_FILE"));
}

/* ---- mistyped names ------------------------------------------------------ */

enum { prefix = 5 }; /* "TAKT_" */

static const char *nearest(const char *name)
{
    const char *near = NULL;
    size_t best = SIZE_MAX;

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const size_t distance = takt__name_distance(name, known[i] + prefix);
        if (distance < best) {
            best = distance;
            near = known[i];
        }
    }
    return near != NULL && takt__name_near(name, near + prefix, best) ? near
                                                                      : NULL;
}

/* A name that is close to one of ours, the common prefix left out, is a
 * mistake; any other may be the program's own. */
static void check_name(const char *entry)
{
    const int length = (int)strcspn(entry, "=");
    char name[64];

    if (snprintf(name, sizeof name, "%.*s", length, entry) >= (int)sizeof name)
        return;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(name, known[i]) == 0)
            return;
    const char *near = nearest(name + prefix);
    if (near != NULL)
        takt__log(TAKT_LOG_ERROR,
                  "%s is not a variable of Takt; did you mean "
                  "%s?",
                  name, near);
    else
        takt__log(TAKT_LOG_INFO, "%s is not a variable of Takt", name);
}

static void check_names(void)
{
    if (variables.left_out[0] != '\0')
        takt__log(TAKT_LOG_ERROR,
                  "%s is ignored: it is too long, or all variables together "
                  "are",
                  variables.left_out);
    for (const char *at = variables.text; *at != '\0'; at += strlen(at) + 1)
        if (strncmp(at, "TAKT_", prefix) == 0)
            check_name(at);
}

/* ---- all of it ----------------------------------------------------------- */

static struct takt_config config;

/* A file that can be run, by its whole path; a folder has that right, too. */
static bool is_program(const char *path)
{
    struct stat facts;

    return path[0] == '/' && stat(path, &facts) == 0 &&
           S_ISREG(facts.st_mode) && access(path, X_OK) == 0;
}

/* Another tool is not taken for one that was named. */
static void check_fleet_tool(void)
{
    const char *tool = config.fleet_tool;

    if (tool != NULL && tool[0] != '\0' && !is_program(tool)) {
        config.is_fleet_wrong = true;
        takt__log(TAKT_LOG_ERROR,
                  "TAKT_FLEET_TOOL=%.200s is not the absolute path of a "
                  "program: nothing is synced",
                  tool);
    }
}

/* As libpq tells them: settings, or an address. It may hold a password, and is
 * not shown. */
static void check_fleet(void)
{
    const char *fleet = config.fleet;

    if (fleet == NULL || fleet[0] == '\0' || strchr(fleet, '=') != NULL ||
        strncmp(fleet, "postgresql://", 13) == 0 ||
        strncmp(fleet, "postgres://", 11) == 0)
        return;
    config.is_fleet_wrong = true;
    takt__log(TAKT_LOG_ERROR, "TAKT_FLEET is no connection string, like "
                              "postgresql://db/takt: nothing is synced");
}

static void read_texts(void)
{
    config.policy = variable("TAKT_POLICY");
    config.expert = variable("TAKT_EXPERT");
    config.objective = variable("TAKT_OBJECTIVE");
    config.blas = variable("TAKT_BLAS");
    config.db = variable("TAKT_DB");
    config.pin = variable("TAKT_PIN");
    config.gpu = variable("TAKT_GPU");
    config.cuda = variable("TAKT_CUDA");
    config.cublas = variable("TAKT_CUBLAS");
    config.cusolver = variable("TAKT_CUSOLVER");
    config.vulkan = variable("TAKT_VULKAN");
    config.nvml = variable("TAKT_NVML");
    config.state_home = variable("XDG_STATE_HOME");
    config.home = variable("HOME");
    config.runtime_dir = variable("XDG_RUNTIME_DIR");
    config.trace = variable("TAKT_TRACE");
    config.otel = variable("TAKT_OTEL");
    config.fleet = variable("TAKT_FLEET");
    config.fleet_tool = variable("TAKT_FLEET_TOOL");
    check_fleet_tool();
    check_fleet();
    config.variables = config.is_privileged ? "" : variables.text;
    if (config.gpu != NULL && *config.gpu != '\0' &&
        strcmp(config.gpu, "all") != 0)
        ignore("TAKT_GPU", config.gpu, "all or empty");
}

static void read_all(void)
{
    takt__environment_read(&variables);
    read_log_level();
    config.is_privileged = getauxval(AT_SECURE) != 0;
    if (!config.is_privileged)
        check_names();
    read_texts();
    config.exploration = read_exploration();
    config.threads = read_count("TAKT_THREADS");
    config.is_export_asked = is_export_asked();
    config.trace_threshold_s = read_threshold_s();
    config.trace_rate =
        read_number("TAKT_TRACE_RATE", 1, "a share from 0 to 1");
    config.hot_rate =
        read_number("TAKT_HOT_RATE", HUGE_VAL, "a number of calls per second");
    config.is_tracing_all = read_flag("TAKT_TRACE_DEBUG");
    config.is_energy_asked = read_flag("TAKT_ENERGY");
    /* The library of `takt run` reads these. What is wrong is said here. */
    read_flag("TAKT_RUN_NUMPY");
    read_flag("TAKT_RUN_LAPACK");
    read_flag("TAKT_RUN_REUSE");
    read_flag("TAKT_RUN_SAME_BITS");
    read_flag("TAKT_RUN_COUNT_LARGE");
    if (!has_word("TAKT_RUN_EAGER", "last"))
        read_flag("TAKT_RUN_EAGER");
    config.shutdown_ms = read_count("TAKT_OTLP_SHUTDOWN_MS");
    config.fleet_every_s = read_every_s();
}

const struct takt_config *takt__config(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, read_all);
    return &config;
}

/* ---- lending ------------------------------------------------------------- */

static bool is_set(const char *variable)
{
    const size_t length = strcspn(variable, "=") + 1;

    for (char **at = environ; at != NULL && *at != NULL; at++)
        if (strncmp(*at, variable, length) == 0)
            return true;
    return false;
}

/* The list that was used last. Other threads may still read it, so it is never
 * freed; it is used again while the environment is unchanged. */
static struct {
    pthread_mutex_t lock;
    char **list;
    size_t count;
} lent = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* A list of the variable and of all that is in `before`. NULL: no memory. */
static char **list_with(const char *variable, char **before)
{
    size_t count = 0;

    while (before != NULL && before[count] != NULL)
        count++;
    if (lent.list != NULL && lent.count == count && lent.list[0] == variable &&
        (count == 0 ||
         memcmp(lent.list + 1, before, count * sizeof *before) == 0))
        return lent.list;
    char **list = malloc((count + 3) * sizeof *list);
    if (list == NULL)
        return NULL;
    memcpy(list, &variable, sizeof *list); /* environ is not const */
    if (count > 0)
        memcpy(list + 1, before, count * sizeof *list);
    list[count + 1] = NULL;
    list[count + 2] = (char *)lent.list; /* not lost, as far as anyone sees */
    lent.list = list;
    lent.count = count;
    return list;
}

/* A second list of the same strings takes the place of the first one for a
 * while. */
bool takt__config_lend(const char *variable, void (*act)(void *self),
                       void *self)
{
    if (is_set(variable)) {
        act(self);
        return true;
    }
    takt__lock(&lent.lock);
    char **const before = environ;
    char **list = list_with(variable, before);
    if (list != NULL) {
        environ = list;
        act(self);
        if (environ == list)
            environ = before;
    }
    takt__unlock(&lent.lock);
    return list != NULL;
}
