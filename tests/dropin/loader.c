/* SPDX-License-Identifier: MIT */
/*
 * loader.c - programs that load modules that call BLAS. One build is linked to
 * no BLAS, another one to a library of its own.
 *
 * usage: loader WHAT [ARGUMENT...]
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef double plugin_function(int n, uint64_t *calls, int *mark);

static char **words; /* of the command line, from the program's name on */

static void *open_plugin(const char *path)
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    if (handle == NULL) {
        printf("%s\n", dlerror());
        exit(1);
    }
    return handle;
}

static plugin_function *work_of(void *handle)
{
    plugin_function *work;

    *(void **)&work = dlsym(handle, "plugin_work");
    return work;
}

static int use_plugin(void *handle)
{
    uint64_t calls;
    int mark;
    const double result = work_of(handle)(24, &calls, &mark);

    printf("library %d %.0f\n", mark, result);
    fflush(stdout);
    return (int)calls;
}

/* Each of them three times anew. */
static int loads(void)
{
    for (int round = 0; round < 3; round++)
        for (char **path = words + 2; *path != NULL; path++) {
            void *handle = open_plugin(*path);
            use_plugin(handle);
            dlclose(handle);
        }
    return 0;
}

/* All of them at once; how often the library of each was called. */
static int loads_several(void)
{
    void *handle[4];
    int count = 0;

    for (char **path = words + 2; *path != NULL && count < 4; path++)
        handle[count++] = open_plugin(*path);
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < count; i++)
            printf("%d calls\n", use_plugin(handle[i]));
    return 0;
}

static _Atomic bool is_over;

static void *keep_working(void *plugin)
{
    double (*work)(int n);

    *(void **)&work = dlsym(plugin, "plugin_quiet_work");
    while (!atomic_load(&is_over))
        work(24);
    return NULL;
}

/* The first plugin works in other threads while the second one is loaded. */
static int loads_among_threads(void)
{
    void *plugin = open_plugin(words[2]);
    pthread_t thread[2];

    alarm(60); /* ends what would wait for ever */
    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, keep_working, plugin);
    for (int round = 0; round < 20; round++) {
        void *other = open_plugin(words[3]);
        use_plugin(other);
        dlclose(other);
    }
    atomic_store(&is_over, true);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    return 0;
}

static int calls_by_name(void)
{
    double (*dot)(int64_t, const double *, int64_t, const double *, int64_t);
    const double x[1] = {3};

    printf("before\n");
    fflush(stdout);
    *(void **)&dot = dlsym(RTLD_DEFAULT, words[2]);
    if (dot == NULL)
        return 9;
    printf("%.0f\n", dot(1, x, 1, x, 1));
    return 0;
}

int main(int count, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(void);
    } programs[] = {{"loads", loads},
                    {"loads_several", loads_several},
                    {"loads_among_threads", loads_among_threads},
                    {"calls_by_name", calls_by_name}};

    words = argv;
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        if (count > 2 && strcmp(argv[1], programs[i].name) == 0)
            return programs[i].run();
    fprintf(stderr, "usage: loader WHAT ARGUMENT...\n");
    return 2;
}
