/* SPDX-License-Identifier: MIT */
/*
 * setting.h - one thing that can be set: by an option, else by the form of a
 * variable for one signal, else by the form for all. Nothing else of the
 * exporter reads the environment.
 */
#pragma once

#include <takt/otlp.h>

#include "encode.h"

enum { TAKT_OTEL_NO_LIMIT_MS = 86400000 }; /* a day */

struct takt_otel_config;
struct takt_otel_target;

struct takt_otel_setting {
    const char *text; /* NULL: not set */
    char name[64];    /* of the variable that it comes from; of an option, "" */
    bool is_for_all;  /* it is not of this signal alone */
};

struct takt_otel_reader {
    const takt_otlp_options *options;
    bool has_options; /* export is asked for by options */
    bool has_file;    /* no target needs an address */
    struct takt_otel_config *out;
    enum takt_otel_signal signal; /* the one whose target is being read */
    struct takt_otel_target *target;
    takt_diag *diag;
    takt_status status; /* the first thing that went wrong */
};

/* Adds a sentence to what is said already, as far as there is room. */
void takt__otel_say(takt_diag *diag, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The environment; an empty variable is one that is not set: NULL. */
const char *takt__otel_variable(const char *name);

struct takt_otel_setting takt__otel_of_all(const char *option,
                                           const char *name);
/* OTEL_EXPORTER_OTLP_TRACES_`what`, then OTEL_EXPORTER_OTLP_`what`. */
struct takt_otel_setting takt__otel_of_signal(const char *option,
                                              enum takt_otel_signal signal,
                                              const char *what);

/* Says what is not understood. Of an option it is an error; a variable is done
 * without. */
void takt__otel_refuse(struct takt_otel_reader *reader,
                       const struct takt_otel_setting *setting,
                       const char *option, const char *instead);
void takt__otel_fail(struct takt_otel_reader *reader, takt_status status);

/* A copy; NULL of NULL, and when there is no memory, which is noted. */
char *takt__otel_copy(struct takt_otel_reader *reader, const char *text);

/* Which of two words a setting is, in any case; -1: not set, or refused. */
int takt__otel_choice(struct takt_otel_reader *reader,
                      const struct takt_otel_setting *setting,
                      const char *option, const char *const word[2],
                      const char *instead);
bool takt__otel_flag(struct takt_otel_reader *reader,
                     const struct takt_otel_setting *setting);
/* The option where it is not 0, else the variable where it is a number of at
 * least `least`, else the usual. */
unsigned takt__otel_number(struct takt_otel_reader *reader, unsigned option,
                           const char *variable, unsigned least,
                           unsigned usual);
/* The same of a time that is waited at most; 0 stands for a very long one. */
unsigned takt__otel_limit(struct takt_otel_reader *reader, unsigned option,
                          const struct takt_otel_setting *setting,
                          unsigned usual);
