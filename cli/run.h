/* SPDX-License-Identifier: MIT */
/*
 * run.h - `takt run`: a program with its BLAS routed, and the report.
 *
 *     run_program.c    which file is run, and whether it can be
 *     run_preload.c    the library that is loaded into it
 *     run_threads.c    how many threads its own libraries start
 *     run_child.c      running it, as if takt were not there
 *     run_tally.c      the file that its processes count in, and its sums
 *     run_loops.c      its NumPy loops and calls of LAPACK
 *     run_report.c     the report; run_report_json.c for programs
 *
 * run_compare.h has what `--compare` does.
 */
#pragma once

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "command.h"
#include "dropin/stats.h"

/* ---- run_program.c, run_preload.c: for `takt trace` and others, too ---- */

enum { reason_size = 512 };

/* Finds a program as execvp() does; false: there is none. */
bool find_program(const char *name, char *out, size_t size);

/* Whether the program has to be run as it is; says why in `reason`, as the end
 * of a sentence about it: "is linked statically". What cannot be found out is
 * left to the kernel and the loader. */
bool must_leave_alone(const char *program, char reason[reason_size]);

/* Whether the program, or what runs it, is linked with libtakt. */
bool contains_takt(const char *program);

/* Whether a library has what libtakt-blas.so has. */
bool is_preload_library(const char *path);

/* The path of a library that is installed or was built with takt, to be freed;
 * NULL: it is not there. */
char *find_beside_takt(const char *name);

/* The path of libtakt-blas.so, to be freed; NULL: `reason` says what is wrong.
 */
char *find_preload_library(char reason[reason_size]);

/* The value of LD_PRELOAD with our library in front, to be freed. On failure
 * says what is wrong in one line and returns NULL. */
char *preload_value(void);

/* AddressSanitizer ends a program into which another library was loaded before
 * its own, unless this variable tells it not to look. The value of it, to be
 * freed. On failure says so in one line and returns NULL. */
#define ADDRESS_SANITIZER_VARIABLE "ASAN_OPTIONS"
char *address_sanitizer_value(void);

/* ---- run_program.c ---- */

/* What the kernel would do with an open file. */
enum file_kind { FILE_OTHER, FILE_ELF, FILE_SCRIPT };

struct elf_facts {
    unsigned class, data, machine;
    char interpreter[PATH_MAX]; /* "": it has none */
};

struct script_facts {
    char interpreter[256], argument[256];
};

/* Fills in what belongs to the kind. */
enum file_kind read_file_kind(int fd, struct elf_facts *elf,
                              struct script_facts *script);

/* Whether a file is a program or library for the kind of machine that takt is
 * for; true too where that is not known. */
bool is_of_this_machine(const char *path);

/* The program that `env` would run for that argument; false: none. */
bool find_env_program(const char *argument, char *out, size_t size);

/* A variable of the program's environment. */
struct variable {
    const char *name;
    char *value; /* owned; NULL: it is removed */
};

enum { most_variables = 20 };

struct launch {
    char *const *program;
    struct variable variable[most_variables];
    size_t variable_count;
    /* Standard input, output and error, of a process group of its own; NULL:
     * those of takt, in its group. */
    const int *streams;
};

/* ---- run_threads.c ---- */

/* Where a cgroup grants less CPU time than there are processors, the libraries
 * of the program start no more threads than that is worth, unless the user said
 * how many. False: no memory. */
bool limit_library_threads(struct launch *launch);

/* ---- run_child.c ---- */

/* How a program ended. */
struct ending {
    int status; /* as waitpid() has it */
    double wall_s;
};

/* Signals as they were, for the program. */
struct signals {
    sigset_t mask;
    struct sigaction child;
};

/* Starts the program. Returns 0, or what is wrong. */
int start_program(const struct launch *launch, const struct signals *before,
                  pid_t *out);

/* Says that a program cannot be run. Returns the exit status for that. */
int refuse_program(const char *program, int wrong);

/* All but those that a process sends itself by a mistake of its own. */
void choose_signals(sigset_t *out);

/* Lets a held signal do what it does to a process. */
void suffer_signal(int number);

/* Becomes the program. Returns the exit status of takt when it cannot. */
int become_program(const struct launch *launch);

/* From now on signals wait for watch_program(). */
void hold_signals(struct signals *before);

/* Runs the program and passes signals on until it has ended. False: it could
 * not be run; says so, and *code is the exit status of takt. */
bool watch_program(const struct launch *launch, const struct signals *before,
                   struct ending *out, int *code);

/* Ends as the program did if a signal ended it, else returns its status. */
int end_alike(const struct ending *ending);

/* ---- run_tally.c: the file ---- */

struct stats_file {
    int fd;
    char path[PATH_MAX];
};

/* On failure says what is wrong in one line and returns false. */
bool stats_make(struct stats_file *out);

/* A copy of what was counted, to be freed; NULL: it is damaged, or there is no
 * memory. */
struct takt_stats *stats_read(int fd);

void stats_remove(struct stats_file *file);

/* A text as a program wrote it, of any bytes; NULL: there is none. */
const char *stats_text(const struct takt_stats_text *text);

/* ---- run_tally.c: its sums ---- */

/* What is known of some calls. */
struct run_row {
    unsigned routine, type;
    unsigned first_class, last_class;
    uint64_t calls[TAKT_DESTINATIONS], timed[TAKT_DESTINATIONS];
    double measured_s[TAKT_DESTINATIONS]; /* of those that were timed */
    double took_s;    /* all but `untimed`, of which nothing is known */
    bool is_estimate; /* took_s includes calls that were not timed */
    uint64_t untimed;
    double transfer_s, wait_s; /* of routed calls */
    uint64_t compared;
    double baseline_s, error_s, instead_s;
    uint64_t why[TAKT_WHYS];
    uint64_t judged;
    double gpu_s, own_s;
};

/* What is known of some loops of NumPy's, or of some calls of LAPACK: "whole"
 * is as without Takt, "split" otherwise (on fewer threads). */
struct loop_row {
    const char *name; /* borrowed from the statistics; NULL: damaged */
    unsigned first_class, last_class;
    uint64_t whole, split; /* calls */
    double took_s;
    uint64_t compared; /* of the split ones; what they would have taken whole,
                        * its standard error, and what they took */
    double whole_s, error_s, split_s;
};

/* What Takt changed in the whole program, by slices of time in which it was off
 * (dropin/effect.h). */
struct run_effect {
    uint64_t slices;
    double gain_s, baseline_s, error_s;
    double covered_s;                /* in the calls and loops that it is of */
    double lapack_s, lapack_error_s; /* what control calls say of those of
                                      * LAPACK among these */
};

struct run_tally {
    struct run_row *row; /* owned: those with calls */
    size_t count;
    struct run_row total;
    struct loop_row loops, lapack; /* all of them */
    struct run_effect effect;
    double opening_s; /* in opening libtakt */
    double threads;   /* that called at once, on average; at least 1 */
};

/* Where the wall time went. Where several threads called at once, each counts
 * for its share of the time. The parts add up to the wall time. */
struct run_parts {
    double baseline_s;
    double cpu_s, gpu_s; /* routed */
    double lapack_s;     /* without calls of BLAS by name */
    double loops_s;      /* NumPy's loops that are not short */
    double transfer_s, wait_s, opening_s, rest_s;
};

/* False: no memory. */
bool tally_stats(const struct takt_stats *stats, struct run_tally *out);
void tally_drop(struct run_tally *tally);

struct run_parts parts_of(const struct run_tally *tally, double wall_s);

/* Whether the effect on the whole program was measured for most of what Takt
 * did to it. */
bool is_effect_known(const struct run_tally *tally);

/* What the whole run gained in wall time, less the opening: by the effect on
 * the program if that is known, else by what its calls and loops gained. NAN:
 * not measured. And half of its 95% interval. */
double run_gain_s(const struct run_tally *tally);
double run_gain_error_s(const struct run_tally *tally);

/* Merges neighbouring rows of one routine whose calls were all passed through
 * to the baseline library. */
void tally_merge(struct run_tally *tally);

/* Adds what is known of other calls. */
void tally_add(struct run_row *sum, const struct run_row *row);

uint64_t all_calls(const struct run_row *row);

/* Calls that did not run in the baseline library. */
uint64_t calls_elsewhere(const struct run_row *row);

/* What routing gained (negative: lost) against what the baseline library took
 * for calls of the same kinds in the same run; and what all calls would have
 * taken without it. Of calls that nothing was measured for, it is what they
 * took. */
double gained_s(const struct run_row *row);
double without_s(const struct run_row *row);
double gained_share(const struct run_row *row); /* of without_s */

/* Calls outside of the baseline library. */
double routed_s(const struct run_row *row);

/* "dgemm", "idamax". */
const char *routine_name(unsigned routine, unsigned type, char out[16]);

/* ---- run_files.c ---- */

/* Each returns NULL, or what is wrong. */
const char *can_read(const char *path);
const char *can_load(const char *path); /* a library */
const char *can_store(const char *path);
const char *can_trace(const char *path);

/* The store that runs learn from and into: the one that is named, or the
 * user's own (NULL). */
void find_store(const char *named, char *out, size_t size);

bool is_socket(const char *path); /* "unix:..." */

/* ---- run_loops.c ---- */

enum loop_rows { loop_rows, lapack_rows };
struct loop_row sum_loops(const struct takt_stats *stats, enum loop_rows part);

/* Against what loops of the same kind took whole in the same run. */
double loops_gain_s(const struct loop_row *row);

struct json;
void print_loops_text(FILE *out, const struct takt_stats *stats,
                      enum loop_rows part);
void print_loops_json(struct json *json, const struct takt_stats *stats,
                      enum loop_rows part);

/* ---- run_report.c ---- */

struct run_report {
    char *const *program;
    struct ending ending;
    const char *left_alone; /* why it was run as it is; NULL: it was not */
    const struct takt_stats *stats; /* NULL: it was damaged */
    struct run_tally tally;
};

extern const char *const destination_keys[TAKT_DESTINATIONS];
extern const char *const why_keys[TAKT_WHYS];

void print_run_text(FILE *out, struct run_report *report);
void print_run_json(FILE *out, const struct run_report *report);
