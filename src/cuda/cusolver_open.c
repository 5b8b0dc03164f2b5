/* SPDX-License-Identifier: MIT */
/* cusolver_open.c - finds NVIDIA's LAPACK. */
#include <stdio.h>
#include <stdlib.h>

#include "base/config.h"
#include "base/library.h"
#include "base/log.h"
#include "cuda/cusolver_open.h"
#include "cuda/device_parts.h"
#include "gpu/at_exit.h"

enum { SUCCESS = 0 }; /* cusolverStatus_t */

static bool find_functions(void *library, struct takt_cusolver *solver)
{
#define FIND(member_, name_, ...)                         \
    &&takt__library_find(library, "cusolverDnS" #name_,   \
                         &solver->member_[TAKT_F32]) &&   \
        takt__library_find(library, "cusolverDnD" #name_, \
                           &solver->member_[TAKT_F64])
    return takt__library_find(library, "cusolverDnCreate", &solver->create) &&
           takt__library_find(library, "cusolverDnDestroy", &solver->destroy) &&
           takt__library_find(library, "cusolverDnSetStream",
                              &solver->set_stream)
               TAKT_CUSOLVER_FUNCTIONS(FIND);
#undef FIND
}

static void stop(struct takt_cusolver *solver)
{
    if (solver->handle != NULL)
        solver->destroy(solver->handle);
    free(solver);
}

/* A library that was loaded stays so: it leaves things behind. */
static bool open_file(struct takt_cuda *cuda, const char *file)
{
    void *library = takt__gpu_library_open(file);
    struct takt_cusolver *solver;

    if (library == NULL || (solver = calloc(1, sizeof *solver)) == NULL)
        return false;
    if (!find_functions(library, solver) ||
        solver->create(&solver->handle) != SUCCESS ||
        solver->set_stream(solver->handle, cuda->stream[TAKT_QUEUE_COMPUTE]) !=
            SUCCESS) {
        stop(solver);
        return false;
    }
    cuda->cusolver = solver;
    takt__gpu_watch_exit();
    return true;
}

/* What a library needs lies beside it; where the loader does not search there,
 * it is loaded first. cuBLAS is there already. */
static bool open_in(struct takt_cuda *cuda, const char *folder,
                    const char *file)
{
    static const char *const needs[] = {
        "libnvJitLink.so.13", "libnvJitLink.so.12", "libcusparse.so.12",
        "libcusparse.so.11"};
    char path[128];

    for (size_t i = 0; folder[0] != '\0' && i < sizeof needs / sizeof *needs;
         i++) {
        snprintf(path, sizeof path, "%s%s", folder, needs[i]);
        (void)takt__gpu_library_open(path);
    }
    snprintf(path, sizeof path, "%s%s", folder, file);
    return open_file(cuda, path);
}

static void open_any(struct takt_cuda *cuda)
{
    static const char *const files[] = {"libcusolver.so.12",
                                        "libcusolver.so.11"};
    static const char *const folders[] = {
        "", "/usr/local/cuda/lib64/",
        "/usr/local/cuda/targets/x86_64-linux/lib/"};

    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        for (size_t j = 0; j < sizeof folders / sizeof *folders; j++)
            if (open_in(cuda, folders[j], files[i]))
                return;
}

bool takt__cusolver_open(struct takt_device *device)
{
    struct takt_cuda *cuda = takt__cuda_enter(device);
    const char *asked = takt__config()->cusolver;

    if (cuda == NULL)
        return false;
    if (cuda->cusolver != NULL)
        ;
    else if (asked == NULL)
        open_any(cuda);
    else if (asked[0] != '\0' && !open_file(cuda, asked))
        takt__log(TAKT_LOG_ERROR, "TAKT_CUSOLVER=%.200s cannot be used", asked);
    takt__cuda_leave(cuda);
    return cuda->cusolver != NULL;
}

void takt__cusolver_close(struct takt_cuda *cuda)
{
    if (cuda->cusolver != NULL)
        stop(cuda->cusolver);
    cuda->cusolver = NULL;
}
