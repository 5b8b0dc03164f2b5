/* SPDX-License-Identifier: MIT */
/*
 * bench_scan.c - how fast source code is looked through.
 *
 * usage: bench_scan [PATH...]
 *
 * Of a tree that is given; or of one that is made from the labelled code of the
 * tests, in which one file in ten is whole. The others are made of those lines
 * of the same code that the filter does not pass; where they name declarations
 * of the whole ones (in Rust), they are parsed all the same. Reading is from
 * memory, as the second scan of a tree is. Also timed: the filter alone, on
 * what it has to read to its end.
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "examine.h"
#include "languages.h"

enum { files = 800, file_bytes = 32 * 1024, rounds = 3 };

static const char *const folder_of[TAKT_SCAN_LANGUAGES] = {
    [TAKT_SCAN_C] = "c",
    [TAKT_SCAN_CPP] = "cpp",
    [TAKT_SCAN_PYTHON] = "python",
    [TAKT_SCAN_RUST] = "rust",
};

/* The labelled code of a language, one file after the other. */
struct sample {
    char *text;
    size_t size;
};

static void add_file(struct sample *sample, const char *path)
{
    FILE *file = fopen(path, "rb");
    struct stat facts;

    if (file == NULL || fstat(fileno(file), &facts) != 0)
        exit(1);
    const size_t size = (size_t)facts.st_size;
    sample->text = realloc(sample->text, sample->size + size + 1);
    if (sample->text == NULL ||
        fread(sample->text + sample->size, 1, size, file) != size)
        exit(1);
    sample->size += size;
    fclose(file);
}

static struct sample sample_of(enum takt_scan_language id)
{
    struct sample sample = {NULL, 0};
    struct dirent **entry = NULL;
    char folder[512], path[1024];

    snprintf(folder, sizeof folder, "%s/tests/scan/corpus/%s", TAKT_SOURCE_DIR,
             folder_of[id]);
    const int count = scandir(folder, &entry, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, entry[i]->d_name);
        if (takt__language_of(entry[i]->d_name) == takt__language(id))
            add_file(&sample, path);
        free(entry[i]);
    }
    free(entry);
    if (sample.size == 0) {
        fprintf(stderr, "bench_scan: there is no code in %s\n", folder);
        exit(1);
    }
    return sample;
}

/* What is left of a sample when lines that the filter passes are taken out. */
static struct sample dull_part(const struct sample *from,
                               enum takt_scan_language id)
{
    struct sample dull = {malloc(from->size), 0};
    struct takt_filter filter;

    takt__filter_make(&filter, takt__language(id)->words);
    for (size_t at = 0, next; at < from->size && dull.text != NULL; at = next) {
        next = at;
        while (next < from->size && from->text[next++] != '\n')
            ;
        if (takt__filter_passes(&filter, from->text + at, next - at))
            continue;
        memcpy(dull.text + dull.size, from->text + at, next - at);
        dull.size += next - at;
    }
    if (dull.size == 0) {
        fprintf(stderr, "bench_scan: the filter passes every line\n");
        exit(1);
    }
    return dull;
}

static void write_file(const char *path, const struct sample *sample)
{
    FILE *file = fopen(path, "wb");

    if (file == NULL)
        exit(1);
    for (size_t i = 0; i < file_bytes; i++)
        putc(sample->text[i % sample->size], file);
    fclose(file);
}

static void make_tree(const char *root)
{
    struct sample whole[TAKT_SCAN_LANGUAGES], dull[TAKT_SCAN_LANGUAGES];
    char path[512];

    for (int i = 0; i < TAKT_SCAN_LANGUAGES; i++) {
        whole[i] = sample_of((enum takt_scan_language)i);
        dull[i] = dull_part(&whole[i], (enum takt_scan_language)i);
    }
    for (size_t i = 0; i < files; i++) {
        const size_t id = i / 10 % TAKT_SCAN_LANGUAGES;
        const struct takt_language *language =
            takt__language((enum takt_scan_language)id);
        snprintf(path, sizeof path, "%s/%zu", root, i / 100);
        mkdir(path, 0755);
        snprintf(path, sizeof path, "%s/%zu/%zu%s", root, i / 100, i,
                 language->extensions[0]);
        write_file(path, i % 10 == 0 ? &whole[id] : &dull[id]);
    }
    for (int i = 0; i < TAKT_SCAN_LANGUAGES; i++) {
        free(whole[i].text);
        free(dull[i].text);
    }
}

static double processor_seconds(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

/* The report of the fastest round; *processor: its seconds of all threads. */
static void scan(const char *path, unsigned threads,
                 struct takt_scan_report *best, double *processor)
{
    const struct takt_scan_options options = {
        .path = &path, .path_count = 1, .threads = threads};
    takt_diag diag;

    best->seconds = 1e9;
    for (int i = 0; i < rounds; i++) {
        struct takt_scan_report report;
        const double before = processor_seconds();
        if (takt__scan(&options, &report, &diag) != TAKT_OK) {
            fprintf(stderr, "bench_scan: %s\n", diag.text);
            exit(1);
        }
        if (report.seconds < best->seconds) {
            *best = report;
            *processor = processor_seconds() - before;
        }
    }
}

static void show(const char *path, unsigned threads, bool is_made)
{
    struct takt_scan_counts all = {0};
    struct takt_scan_report report;
    double processor = 0;

    scan(path, threads, &report, &processor);
    for (int i = 0; i < TAKT_SCAN_LANGUAGES; i++) {
        all.files += report.of[i].files;
        all.bytes += report.of[i].bytes;
        all.parsed += report.of[i].parsed;
        all.findings += report.of[i].findings;
    }
    const double megabytes = (double)all.bytes / 1e6;
    printf(
        "%2u threads: %6.1f MB/s, %5.1f MB per second of a processor  (%" PRIu64
        " files, %.1f MB, %" PRIu64 " parsed, %" PRIu64 " findings, %.3f s)\n",
        threads, megabytes / report.seconds, megabytes / processor, all.files,
        megabytes, all.parsed, all.findings, report.seconds);
    if (is_made) /* its files are of one size */
        printf("            %5.2f MB of what is parsed per second of a "
               "processor\n",
               (double)(all.parsed * file_bytes) / 1e6 / processor);
    fflush(stdout);
}

static void show_filter(enum takt_scan_language id)
{
    struct sample whole = sample_of(id), sample = dull_part(&whole, id);
    struct takt_filter filter;
    double best = 1e18;
    bool passes = false;

    takt__filter_make(&filter, takt__language(id)->words);
    for (int i = 0; i < 200; i++) {
        const double start = bench_now_ns();
        passes = takt__filter_passes(&filter, sample.text, sample.size);
        BENCH_USE(passes);
        const double took = bench_now_ns() - start;
        best = took < best ? took : best;
    }
    printf("filter, %-6s: %5.2f GB/s%s\n", takt__scan_language_name(id),
           (double)sample.size / best, passes ? " (up to a word)" : "");
    free(whole.text);
    free(sample.text);
}

static void remove_tree(const char *root)
{
    const pid_t child = fork();

    if (child == 0) {
        execlp("rm", "rm", "-rf", root, (char *)NULL);
        _exit(127);
    }
    waitpid(child, NULL, 0);
}

int main(int count, char **argument)
{
    bench_refuse_options(count, argument, "[PATH...]");
    char root[] = "/tmp/takt-bench-scan-XXXXXX";
    struct rusage usage;

    for (int i = 1; i < count; i++)
        for (unsigned threads = 1; threads <= 2; threads++)
            show(argument[i], threads, false);
    if (count == 1) {
        for (int i = 0; i < TAKT_SCAN_LANGUAGES; i++)
            show_filter((enum takt_scan_language)i);
        if (mkdtemp(root) == NULL)
            return 1;
        make_tree(root);
        for (unsigned threads = 1; threads <= 2; threads++)
            show(root, threads, true);
        remove_tree(root);
    }
    getrusage(RUSAGE_SELF, &usage);
    printf("at most %ld MB of memory\n", usage.ru_maxrss / 1024);
    return 0;
}
