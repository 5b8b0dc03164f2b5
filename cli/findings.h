/* SPDX-License-Identifier: MIT */
/*
 * findings.h - what `takt optimize` found, kept until all of it is there: what
 * the code around each says, what profiles say, and which come first.
 */
#pragma once

#include "base/sha256.h"
#include "optimize.h"
#include "text/region.h"

/* ---- findings.c: keeping them ---- */

/* Why nothing is to be done about a finding. In the order of their lines. */
enum standing {
    STANDING_OPEN, /* something is */
    STANDING_LIBRARY,
    STANDING_VECTORISED,
    STANDING_SMALL,
    STANDING_REMAINDER,
    STANDING_FALLBACK,
    STANDING_DEVICE,
    STANDING_CALL,
    STANDING_IGNORED,
    STANDING_KNOWN,
    STANDINGS
};

/* How a profile has it. */
enum evidence { EVIDENCE_NONE, EVIDENCE_LINE, EVIDENCE_FUNCTION, EVIDENCE_OP };

struct kept_finding {
    struct takt_finding finding; /* strings live as long as the findings */
    enum standing standing;
    const char *reason;  /* STANDING_IGNORED: what the comment says */
    bool is_aside;       /* examples, benchmarks, vendored */
    bool is_kernel;      /* its function does little else */
    bool is_beside_simd; /* of SIMD code that people wrote */
    double score;        /* without a profile, the larger the better */

    enum evidence evidence;
    double share;         /* of the time of the profiles */
    unsigned sharers;     /* findings that this time was divided among */
    double calls;         /* 0: not known */
    uint64_t least, most; /* sizes that were seen; 0: not known */
};

struct findings {
    struct kept_finding *at;
    size_t count, room;
    struct takt_region region;
    bool is_memory_short;
};

/* A copy of it, or NULL: no memory. */
struct kept_finding *keep_finding(struct findings *findings,
                                  const struct takt_finding *finding);
void free_findings(struct findings *findings);

/* "run by a library already": of a line that counts them; "" for open ones. */
const char *standing_text(enum standing standing);
const char *standing_key(enum standing standing); /* of JSON: "library" */

static inline bool is_c(const struct takt_finding *finding) /* or C++ */
{
    return finding->language == TAKT_SCAN_C ||
           finding->language == TAKT_SCAN_CPP;
}

/* Whether it is listed when --all was not given. */
bool is_listed(const struct kept_finding *kept);

/* ---- finding_symbol.c: names of functions, as compilers and people write
 * them ---- */

enum { longest_symbol = 128 };
enum {
    rank_aside = 1000
}; /* what examples, tests and others' code score less */

/* The last part alone: "matmul" of "ns::matmul<float>(float const*)",
 * "model::matmul::h0123456789abcdef", "_ZN2ns6matmulEPf", "matmul.constprop.0"
 * and "Model.matmul". */
void plain_symbol(const char *symbol, char out[longest_symbol]);

/* Whether it is not the project's: a runtime's, libc's, libm's. */
bool is_foreign_symbol(const char *symbol);

/* ---- finding_notes.c: what the text of a file says about its findings ---- */

struct source_notes {
    struct search *search; /* for warnings */
    char *path;            /* of the file that is open; NULL: none */
    char *text;
    size_t size;
    size_t *line; /* offsets of lines; line[0] is that of line 1 */
    unsigned lines;
    bool has_simd; /* it, or a file beside it, by hand */
    struct ignored_lines {
        unsigned from, to;
        char reason[160];
    } * ignored;
    size_t ignored_count, ignored_room;
};

/* Marks a finding by what stands around it. Findings of one file follow each
 * other. */
void mark_by_text(struct source_notes *notes, struct findings *findings,
                  struct kept_finding *kept);
void free_notes(struct source_notes *notes);

/* ---- finding_comments.c ---- */

/* Calls `visit` with each comment, without its marks, and its first line; a
 * comment over several lines is visited line by line. `is_alone`: nothing but
 * blanks stands before it on its line. */
typedef void comment_visit(void *self, const char *text, size_t length,
                           unsigned line, bool is_alone);
void find_comments(enum takt_scan_language language, const char *text,
                   size_t size, comment_visit *visit, void *self);

/* ---- finding_standing.c: what runs it now ---- */

/* Marks what a library runs, what compilers vectorise and what is small, by the
 * pattern, the op and the sizes alone. */
void mark_by_kind(struct kept_finding *kept);

enum runs_now runs_now_of(const struct kept_finding *kept);

/* ---- finding_compiled.c ---- */

struct compile_database; /* compile.h */

/* Files with findings: on which the compiler reported, which have no command,
 * and which did not compile. */
struct compiled_summary {
    size_t asked, unknown, failed;
};

/* Marks what the compiler says that it vectorises, and unmarks what it does
 * not, in the files that the database has commands for. */
void mark_by_compiler(struct findings *findings, const char *folder,
                      struct compile_database *database,
                      struct compiled_summary *summary);

/* ---- finding_diff.c: --diff ---- */

struct changed_lines {
    struct changed_range *at; /* by path and line */
    size_t count, room;
    struct takt_region region;
    const char *path;                 /* of the file whose hunks are read */
    unsigned long old_left, new_left; /* lines of the hunk that is read */
    bool is_memory_short;
};

/* Has git list what changed in the folder since a revision. False: it could not
 * do so; what git said is on stderr. To be freed in any case. */
bool find_changed(struct changed_lines *changed, const char *folder,
                  const char *base);
bool is_changed(const struct changed_lines *changed,
                const struct takt_finding *finding);
void free_changed(struct changed_lines *changed);

/* ---- finding_baseline.c: --baseline, --write-baseline ---- */

/* The same for a finding when lines were added above it. */
void fingerprint(const struct takt_finding *finding, char hex[TAKT_SHA256_HEX]);

/* Marks the findings that a file lists. False: `error`. */
bool mark_by_baseline(struct findings *findings, const char *path, char *error,
                      size_t size);
bool write_baseline(const struct findings *findings, const char *path,
                    char *error, size_t size);

/* ---- finding_call_reader.c: calls in a text ---- */

/* Caller and callee are slots of their names; caller 0: outside of all. */
typedef void call_visit(void *self, uint32_t caller, uint32_t callee,
                        unsigned loops);
void read_calls(enum takt_scan_language language, const char *text, size_t size,
                call_visit *visit, void *self);

/* ---- finding_calls.c: how often functions are called ---- */

enum { fan_in_slots = 1 << 20 };

uint32_t call_slot(const char *name, size_t length);

/* The calls of all sources, by hashes of names. */
struct fan_in {
    _Atomic uint32_t *count; /* places that call it; NULL: no memory */
    pthread_mutex_t lock;    /* of what follows, while files are read */
    uint64_t *call;          /* caller, callee, loops around it, packed */
    size_t calls, room;
    unsigned char *heat; /* loops around all calls; NULL: not known */
};

void open_fan_in(struct fan_in *fan_in);
void free_fan_in(struct fan_in *fan_in);

/* Counts the calls in a file that is not aside; any number of threads may. */
void count_calls(struct fan_in *fan_in, const char *path,
                 enum takt_scan_language language, const char *text,
                 size_t size);

/* After the last file: in how many loops functions run, those of their callers
 * included. */
void follow_calls(struct fan_in *fan_in);

uint32_t calls_of(const struct fan_in *fan_in, const char *function);
/* 0 where nothing calls it in a loop. */
unsigned loops_of_calls(const struct fan_in *fan_in, const char *function);

/* ---- finding_rank.c: which come first ---- */

/* Examples, tests, benchmarks, documentation and vendored code. */
bool is_aside(const char *path);

/* Gives all of them their scores. */
void rank_findings(struct findings *findings, struct fan_in *fan_in);

/* The elements that an op visits: of sizes that are not known, as if they were
 * 256. *is_known: all of them are. */
double visits_of(const struct takt_finding *finding, bool *is_known);

/* Puts those first that take most time, then those that score highest, and
 * tells their indices; the caller frees it. NULL: no memory. */
size_t *order_findings(const struct findings *findings);

/* ---- findings.c: the sources of the project ---- */

/* All source files of the project, noted by any number of threads. */
struct source_paths {
    pthread_mutex_t lock;
    char **at;
    size_t count, room;
    bool is_memory_short;
};

void note_path(struct source_paths *paths, const char *path);
void free_paths(struct source_paths *paths);

/* ---- finding_hot.c: what takes time and is no finding ---- */

enum { hot_slots = 1 << 16 };

struct hot_code {
    struct hot_line *line; /* by a hash; NULL: none */
    size_t used;
    struct takt_region region;
    struct hot_place {
        const char *path; /* NULL: not known */
        const char *function;
        unsigned from, to; /* lines; 0: not known */
        double share;
    } at[most_top]; /* the hottest first */
    size_t count;
};

/* The slot of a line, by the address of its path; SIZE_MAX: there is no room or
 * no name of a function. */
size_t hot_line_at(struct hot_code *hot, const char *path, const char *function,
                   unsigned line);
/* Adds what each slot weighs of a total; the sum of them. */
double add_hot_weights(struct hot_code *hot, const double *weight,
                       double total);
/* After the last profile: joins lines that lie together. */
void settle_hot(struct hot_code *hot, size_t files);
void free_hot(struct hot_code *hot);

/* ---- finding_evidence.c: profiles ---- */

struct evidence_summary {
    struct hot_code hot;
    size_t files;
    char formats[128];            /* "perf script, gprof" */
    double found, own, elsewhere; /* shares of the time: in findings, in other
                                   * code of the project, in that of others */
};

/* Reads a profile, and adds what it says to the findings. False: `error`. */
bool read_evidence(struct findings *findings, const struct source_paths *paths,
                   const char *folder, const char *path,
                   struct evidence_summary *summary, char *error, size_t size);

/* ---- finding_routine.c ---- */

/* "matmul" for "sgemm", "exp" for NumPy's "exp f->f"; NULL: none. */
const char *op_of_routine(const char *routine, bool of_numpy);

/* ---- finding_evidence.c ---- */

/* After the last one: shares are means over the profiles. */
void finish_evidence(struct findings *findings,
                     struct evidence_summary *summary);
