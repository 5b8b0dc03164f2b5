/* SPDX-License-Identifier: MIT */
/*
 * late.c - a program that loads Takt late, has its threads work, and lets go
 * of it while they are still awake.
 */
#define _POSIX_C_SOURCE 200809L /* nanosleep */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef int matmul(size_t m, size_t n, size_t k, const float *a, const float *b,
                   float *c);

int main(int argc, char **argv)
{
    enum { n = 256 };
    void *takt = dlopen(argc > 1 ? argv[1] : "libtakt.so", RTLD_NOW);
    void *symbol = takt != NULL ? dlsym(takt, "takt_matmul_f32") : NULL;
    float *a = calloc(3 * n * n, sizeof *a);

    if (symbol == NULL || a == NULL) {
        fprintf(stderr, "late: %s\n", dlerror());
        return 1;
    }
    a[0] = a[n * n] = 3;
    for (int i = 0; i < 20; i++)
        if (((matmul *)symbol)(n, n, n, a, a + n * n, a + 2 * n * n) != 0)
            return 1;
    dlclose(takt);
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    return a[2 * n * n] == 9 ? 0 : 1;
}
