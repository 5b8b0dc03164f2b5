/* SPDX-License-Identifier: MIT */
/*
 * own.h - what the methods of a device keep, and its context around them.
 */
#ifndef TAKT_CUDA_OWN_H
#define TAKT_CUDA_OWN_H

#include "cuda/inside.h"

/* An event of the driver; what takt_mark.point points to. */
struct takt_cuda_point {
    void *event;
    bool is_timed;
    struct takt_cuda_point *next_free, *next;
};

/* Host memory that was reserved, not pinned where it was. */
struct takt_cuda_reserved {
    void *host;
    struct takt_cuda_reserved *next;
};

struct takt_cuda_own {
    struct takt_cuda cuda;           /* first: takt_device.self is both */
    struct takt_cuda_point *free[2]; /* marks that are not in use; timed: [1] */
    struct takt_cuda_point *points;  /* all of them */
    struct takt_cuda_reserved *reserved;
};

/* Makes the context of a device current in this thread, above the program's
 * own, which leave() brings back. NULL: there is none that could be used. */
struct takt_cuda_own *takt__cuda_enter(const struct takt_device *device);
void takt__cuda_leave(const struct takt_cuda_own *own);

/* As takt__cuda_status(), in the words of struct takt_driver: what needed
 * memory and got none was refused. */
takt_status takt__cuda_refusal(int result);

/* Fills in what is known of a device. Never fails: what the driver does not say
 * is left unknown. */
void takt__cuda_describe(const struct takt_cuda *cuda,
                         struct takt_device_facts *out);

/* The compute capability, as 75 for 7.5; 0: not known. */
int takt__cuda_capability(const struct takt_cuda *cuda);

/* The methods for marks. */
takt_status takt__cuda_mark(struct takt_device *device, enum takt_queue queue,
                            bool is_timed, struct takt_mark *mark);
void takt__cuda_drop(struct takt_device *device, struct takt_mark *mark);
takt_status takt__cuda_follow(struct takt_device *device, enum takt_queue queue,
                              const struct takt_mark *mark);
takt_status takt__cuda_wait(struct takt_device *device,
                            const struct takt_mark *mark);
bool takt__cuda_is_past(struct takt_device *device,
                        const struct takt_mark *mark);
double takt__cuda_between_s(struct takt_device *device,
                            const struct takt_mark *from,
                            const struct takt_mark *to);

#endif
