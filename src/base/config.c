/* SPDX-License-Identifier: MIT */
/* config.c - the environment variables, in one place. */
#include "base/config.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

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

struct takt_config takt__config_read(void)
{
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
        .threads = read_count(getenv("TAKT_THREADS")),
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
    pthread_mutex_lock(&lent.lock);
    char **const before = environ;
    char **list = list_with(variable, before);
    if (list != NULL) {
        environ = list;
        act(self);
        if (environ == list)
            environ = before;
    }
    pthread_mutex_unlock(&lent.lock);
    return list != NULL;
}
