/* SPDX-License-Identifier: MIT */
/* config.c - the environment variables, in one place. */
#include "base/config.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/lock.h"

extern char **environ;

/* A wrong number is as good as none: a library has nobody to complain to. */
static unsigned read_count(const char *text)
{
    char *end;

    if (text == NULL || *text < '0' || *text > '9')
        return 0;
    const unsigned long value = strtoul(text, &end, 10);
    return *end == '\0' && value <= UINT_MAX ? (unsigned)value : 0;
}

/* A share between 0 and 1; none at all is said by a negative number, because
 * 0 stands for "not set". */
static double read_share(const char *text)
{
    char *end;

    if (text == NULL || *text == '\0')
        return 0;
    const double value = strtod(text, &end);
    if (*end != '\0' || !(value >= 0 && value <= 1))
        return 0;
    return value > 0 ? value : -1;
}

/* A number from 0 on; negative: it is none. */
static double read_number(const char *text)
{
    char *end;

    if (text == NULL || *text == '\0')
        return -1;
    const double value = strtod(text, &end);
    return *end == '\0' && value >= 0 ? value : -1;
}

static bool is_said(const char *text)
{
    return text != NULL && *text != '\0' && strcmp(text, "0") != 0;
}

static bool has_value(const char *variable)
{
    const char *value = getenv(variable);
    return value != NULL && *value != '\0';
}

static bool has_word(const char *variable, const char *word)
{
    const char *value = getenv(variable);
    return value != NULL && strcasecmp(value, word) == 0;
}

/* Whether anything asks for an export: else the exporter need not be loaded.
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

struct takt_config takt__config_read(void)
{
    const double threshold_us = read_number(getenv("TAKT_TRACE_THRESHOLD_US"));

    return (struct takt_config){
        .policy = getenv("TAKT_POLICY"),
        .expert = getenv("TAKT_EXPERT"),
        .blas = getenv("TAKT_BLAS"),
        .db = getenv("TAKT_DB"),
        .pin = getenv("TAKT_PIN"),
        .gpu = getenv("TAKT_GPU"),
        .cuda = getenv("TAKT_CUDA"),
        .cublas = getenv("TAKT_CUBLAS"),
        .vulkan = getenv("TAKT_VULKAN"),
        .exploration = read_share(getenv("TAKT_EXPLORE")),
        .state_home = getenv("XDG_STATE_HOME"),
        .home = getenv("HOME"),
        .runtime_dir = getenv("XDG_RUNTIME_DIR"),
        .threads = read_count(getenv("TAKT_THREADS")),
        .trace = getenv("TAKT_TRACE"),
        .otel = getenv("TAKT_OTEL"),
        .is_export_asked = is_export_asked(),
        .trace_threshold_s = threshold_us < 0 ? -1 : threshold_us * 1e-6,
        .trace_rate = read_number(getenv("TAKT_TRACE_RATE")),
        .hot_rate = read_number(getenv("TAKT_HOT_RATE")),
        .is_tracing_all = is_said(getenv("TAKT_TRACE_DEBUG")),
        .shutdown_ms = read_count(getenv("TAKT_OTLP_SHUTDOWN_MS")),
    };
}

static bool is_set(const char *variable)
{
    const size_t length = strcspn(variable, "=") + 1;

    for (char **at = environ; at != NULL && *at != NULL; at++)
        if (strncmp(*at, variable, length) == 0)
            return true;
    return false;
}

/* The list that was lent last: whoever read it may read it still, so it is
 * kept, and used again while the environment is what it was. */
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
