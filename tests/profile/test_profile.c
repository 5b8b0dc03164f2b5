/* SPDX-License-Identifier: MIT */
/*
 * test_profile.c - profiles of all formats: the time of a stack goes to its
 * innermost frame that is not foreign, whatever the file looks like.
 */
#define _GNU_SOURCE /* mkdtemp() */
#include "profile/profile.h"

#include <sys/stat.h>
#include <unistd.h>

#include "support/tap.h"

/* The frames that have a place, by their function; "matmul" is 0. */
static const char *const known[] = {"matmul", "softmax", "main"};
enum { KNOWN = sizeof known / sizeof known[0], ROUTINES = 4 };

struct times {
    double of[KNOWN], foreign;
    struct takt_frame last; /* its line and file, if they were told */
    char file[64];
    struct takt_counted_call call[ROUTINES];
    char routine[ROUTINES][32];
    size_t calls;
};

static int place(void *self, const struct takt_frame *frame)
{
    struct times *times = self;

    for (int i = 0; i < KNOWN; i++)
        if (strcmp(frame->function, known[i]) == 0) {
            times->last = *frame;
            snprintf(times->file, sizeof times->file, "%s", frame->file);
            return i;
        }
    return TAKT_FRAME_FOREIGN;
}

static void add(void *self, int at, double weight)
{
    struct times *times = self;

    *(at == TAKT_FRAME_FOREIGN ? &times->foreign : &times->of[at]) += weight;
}

static void count(void *self, const struct takt_counted_call *call)
{
    struct times *times = self;

    REQUIRE(times->calls < ROUTINES);
    snprintf(times->routine[times->calls], 32, "%s", call->routine);
    times->call[times->calls++] = *call;
}

static struct takt_profile_facts facts;
static takt_diag diag;

static takt_status read_bytes(const char *bytes, size_t length,
                              struct times *times)
{
    const struct takt_profile_sink sink = {times, place, add, count};
    FILE *file = fmemopen((void *)(uintptr_t)bytes, length, "rb");

    REQUIRE(file != NULL);
    *times = (struct times){0};
    const takt_status status =
        takt__profile_read_file(file, "p", &sink, &facts, &diag);
    fclose(file);
    return status;
}

static struct times read_text(const char *text, const char *format)
{
    struct times times;

    EXPECT_INT(read_bytes(text, strlen(text), &times), TAKT_OK);
    EXPECT_STR(diag.text, "");
    EXPECT_STR(facts.format, format);
    return times;
}

static void expect_times(const struct times *times, double matmul,
                         double softmax, double other, double foreign)
{
    EXPECT_NEAR(times->of[0], matmul, 1e-9);
    EXPECT_NEAR(times->of[1], softmax, 1e-9);
    EXPECT_NEAR(times->of[2], other, 1e-9);
    EXPECT_NEAR(times->foreign, foreign, 1e-9);
    EXPECT_NEAR(facts.total, matmul + softmax + other + foreign, 1e-9);
}

/* ---- perf script ---- */

static void perf_script_with_stacks(void)
{
    const struct times times = read_text(
        "# a comment\n"
        "run  4711 1234.567890:     250 cycles:u: \n"
        "\t            55d0c2a1 matmul+0x51 (/home/me/run)\n"
        "\t            55d0c2b1 main+0x1 (/home/me/run)\n"
        "\n"
        "run  4711 1234.567891:     100 cycles:u: \n"
        "\t            7f00c2a1 __expf_fma+0x51 (/usr/lib/libm.so.6)\n"
        "\t            55d0c2b1 softmax+0x1 (/home/me/run)\n"
        "\t            55d0c2b1 main+0x1 (/home/me/run)\n"
        "\n"
        "run  4711 1234.567892:       1 page-faults: \n"
        "\t            55d0c2a1 matmul+0x51 (/home/me/run)\n"
        "\n"
        "run  4711 1234.567893:      50 cycles:u: \n"
        "\tffffffff81 [unknown] ([kernel.kallsyms])\n"
        "\n",
        "perf script");

    expect_times(&times, 250, 100, 0, 50);
    EXPECT_INT(facts.stacks, 3);
}

static void perf_script_without_stacks(void)
{
    const struct times times = read_text(
        "             run  4711  12.5:    250000 cycles:    55d0 matmul+0x5"
        " (/home/me/run)\n"
        "             run  4711  12.6:    1000 cycles:    55d0 memcpy"
        " (/usr/lib/libc.so.6)\n",
        "perf script");

    expect_times(&times, 250000, 0, 0, 1000);
}

static void perf_script_with_source_lines(void)
{
    const struct times times = read_text("run 1 [000] 12.5: 7 cycles:u: \n"
                                         "\t 55d0 matmul+0x5 (/home/me/run)\n"
                                         "  run.c:226\n"
                                         "\t 55d1 main+0x5 (/home/me/run)\n"
                                         "  run.c:400\n\n",
                                         "perf script");

    expect_times(&times, 7, 0, 0, 0);
    EXPECT_STR(times.file, "run.c");
    EXPECT_INT(times.last.line, 226);
}

/* ---- folded, gprof ---- */

static void folded_stacks(void)
{
    const struct times times = read_text("main;forward;matmul 70\n"
                                         "main;softmax;expf 20\r\n"
                                         "main;[libc.so.6] 5\n"
                                         "start_thread 4\n"
                                         "no number here\n",
                                         "folded stacks");

    expect_times(&times, 70, 20, 5, 4);
}

static void folded_stacks_with_lines(void)
{
    const struct times times = read_text(
        "<module> (app.py:3);matmul (src/app.py:12) 9\n", "folded stacks");

    expect_times(&times, 9, 0, 0, 0);
    EXPECT_STR(times.file, "src/app.py");
    EXPECT_INT(times.last.line, 12);
}

static void a_line_of_a_megabyte_keeps_its_inner_frames(void)
{
    enum { LENGTH = 1 << 20 };
    char *text = malloc(LENGTH + 64);
    struct times times;

    REQUIRE(text != NULL);
    strcpy(text, "a;b 1\n");
    for (size_t i = 6; i < LENGTH; i += 5)
        memcpy(text + i, "deep;", 6);
    strcpy(text + strlen(text), "matmul;expf 3\n");
    EXPECT_INT(read_bytes(text, strlen(text), &times), TAKT_OK);
    EXPECT_NEAR(times.of[0], 3, 0);
    free(text);
}

static void the_flat_profile_of_gprof(void)
{
    const struct times times = read_text(
        "Flat profile:\n\nEach sample counts as 0.01 seconds.\n"
        "  %   cumulative   self              self     total           \n"
        " time   seconds   seconds    calls  ms/call  ms/call  name    \n"
        " 75.00      1.50     1.50     5000     0.30     0.30  matmul\n"
        " 20.00      1.90     0.40                             softmax\n"
        "  5.00      2.00     0.10        1   100.00  2000.00  main (r.c:9 @ "
        "40)\n"
        "\n %         the percentage of the total running time of the\n"
        " 75.00      1.50     1.50     5000     0.30     0.30  matmul\n",
        "gprof");

    expect_times(&times, 1.5, 0.4, 0.1, 0);
}

/* ---- JSON ---- */

static void speedscope_samples_before_their_frames(void)
{
    const struct times times =
        read_text("{\"$schema\":\"x\",\"profiles\":[{\"type\":\"sampled\","
                  "\"unit\":\"seconds\",\"samples\":[[2,0],[2,1,3],[3]],"
                  "\"weights\":[0.5,0.25,1e-1]}],\"shared\":{\"frames\":["
                  "{\"name\":\"matmul\",\"file\":\"a.py\",\"line\":7},"
                  "{\"name\":\"soft\\u006dax\"},{\"name\":\"main\"},"
                  "{\"name\":\"<built-in exp>\"}]}}",
                  "speedscope");

    expect_times(&times, 0.5, 0.25, 0, 0.1);
}

static void speedscope_weights_before_samples(void)
{
    const struct times times = read_text(
        "{\"shared\":{\"frames\":[{\"name\":\"matmul\"}]},\"profiles\":[{"
        "\"weights\":[2,3],\"samples\":[[0],[9]]},{\"samples\":[[0]]}]}",
        "speedscope");

    expect_times(&times, 3, 0, 0, 3);
}

static void speedscope_events(void)
{
    const struct times times = read_text(
        "{\"shared\":{\"frames\":[{\"name\":\"main\"},{\"name\":\"matmul\"},"
        "{\"name\":\"expf\"}]},\"profiles\":[{\"type\":\"evented\","
        "\"events\":[{\"type\":\"O\",\"frame\":0,\"at\":0},"
        "{\"type\":\"O\",\"frame\":1,\"at\":2},"
        "{\"type\":\"O\",\"frame\":2,\"at\":3},"
        "{\"type\":\"C\",\"frame\":2,\"at\":5},"
        "{\"type\":\"C\",\"frame\":1,\"at\":9},"
        "{\"type\":\"C\",\"frame\":0,\"at\":10}]}]}",
        "speedscope");

    expect_times(&times, 7, 0, 3, 0); /* expf is matmul's time */
}

static void chrome_traces_in_any_order(void)
{
    static const char *const texts[] = {
        "{\"traceEvents\":["
        "{\"ph\":\"X\",\"name\":\"matmul (a.py:3)\",\"ts\":2,\"dur\":5,"
        "\"tid\":1},"
        "{\"ph\":\"M\",\"name\":\"process_name\",\"args\":{\"name\":\"x\"}},"
        "{\"ph\":\"X\",\"name\":\"expf\",\"ts\":3,\"dur\":1,\"tid\":1},"
        "{\"ph\":\"X\",\"name\":\"main\",\"ts\":0,\"dur\":10,\"tid\":1},"
        "{\"ph\":\"X\",\"name\":\"softmax\",\"ts\":1,\"dur\":4,\"tid\":2}]}",
        /* begun and ended, and the list is left open */
        "[{\"ph\":\"B\",\"name\":\"main\",\"ts\":0,\"tid\":1},\n"
        "{\"ph\":\"B\",\"name\":\"matmul\",\"ts\":2,\"tid\":1},\n"
        "{\"ph\":\"E\",\"ts\":7,\"tid\":1},\n"
        "{\"ph\":\"E\",\"ts\":10,\"tid\":1},\n"
        "{\"ph\":\"X\",\"name\":\"softmax\",\"ts\":1,\"dur\":4,\"tid\":\"b\"},"
        "\n"};

    for (int i = 0; i < 2; i++) {
        const struct times times = read_text(texts[i], "Chrome trace");
        expect_times(&times, 5, 4, 5, 0);
    }
}

static void the_report_of_takt_run(void)
{
    const struct times times = read_text(
        "{\"schema\":3,\"wall_s\":4,\"rows\":[{\"routine\":\"sgemm\","
        "\"least\":512,\"most\":1023,\"calls\":{\"simd\":3,\"baseline\":2},"
        "\"took_s\":1.5}],\"loops\":[{\"loop\":\"exp f->f\",\"whole\":1,"
        "\"split\":2,\"whole_s\":0.25,\"split_s\":0.5,\"most\":null}]}",
        "takt run report");

    EXPECT_NEAR(facts.total, 4, 0);
    REQUIRE(times.calls == 2);
    EXPECT_STR(times.routine[0], "sgemm");
    EXPECT_NEAR(times.call[0].calls, 5, 0);
    EXPECT_NEAR(times.call[0].seconds, 1.5, 0);
    EXPECT_INT(times.call[0].least, 512);
    EXPECT(times.call[1].is_loop);
    EXPECT_NEAR(times.call[1].seconds, 0.75, 0);
}

/* ---- what is none ---- */

/* Shares of an infinite sum would be no numbers. */
static void numbers_that_no_profile_has_are_passed_over(void)
{
    struct times times =
        read_text("main;matmul 1e308\nmain;matmul 1e308\nmain;softmax 3\n",
                  "folded stacks");

    EXPECT_NEAR(times.of[0], 0, 0);
    EXPECT_NEAR(times.of[1], 3, 0);
    EXPECT_NEAR(facts.total, 3, 0);
    times = read_text("{\"wall_s\":2,\"rows\":[{\"routine\":\"dgemm\","
                      "\"took_s\":1,\"whole_s\":1e308,\"split_s\":1e308,"
                      "\"calls\":{\"a\":1e308,\"b\":1e308,\"c\":2}}]}",
                      "takt run report");
    REQUIRE(times.calls == 1);
    EXPECT_NEAR(times.call[0].seconds, 1, 0);
    EXPECT_NEAR(times.call[0].calls, 2, 0);
}

static void what_is_no_profile_is_refused_in_one_line(void)
{
    static const struct {
        const char *text;
        takt_status status;
        const char *says;
    } cases[] = {
        {"hello\nworld\n", TAKT_ENOTSUP, "is no profile that is known"},
        {"int main(void) { return 0; }\n", TAKT_ENOTSUP, "no profile"},
        {"PERFILE2\x01\x02", TAKT_ENOTSUP, "perf script -i"},
        {"gmon\x01", TAKT_ENOTSUP, "gprof PROGRAM"},
        {"\x1f\x8b\x08", TAKT_ENOTSUP, "compressed"},
        {"\x7f"
         "ELF",
         TAKT_ENOTSUP, "a program"},
        {"{}", TAKT_ENOTSUP, "is JSON, but"},
        {"{\"a\":[1,{\"b\":null}]}", TAKT_ENOTSUP, "is JSON, but"},
        {"{\"shared\":{\"frames\":[]},\"profiles\":[]}", TAKT_ECORRUPT,
         "no samples"},
        {"{\"shared\":{\"frames\":[", TAKT_ECORRUPT, "ends too early"},
        {"{\"shared\":{\"frames\":[1,2]}}", TAKT_ECORRUPT, "byte "},
        {"{\"shared\" 1}", TAKT_ECORRUPT, "byte "},
        {"{\"a\":1e999}", TAKT_ECORRUPT, "a number is wrong"},
        {"{\"a\":tru}", TAKT_ECORRUPT, "a value is missing"},
        {"{\"a\":\"\\q\"}", TAKT_ECORRUPT, "a string is wrong"},
        {"{\"a\":1]", TAKT_ECORRUPT, "bracket"},
        {"{\"a\":1 \"b\":2}", TAKT_ECORRUPT, "a comma is missing"},
        {"[]", TAKT_ECORRUPT, "no samples"},
        {"[1]", TAKT_ECORRUPT, "byte "},
    };
    struct times times;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const takt_status status =
            read_bytes(cases[i].text, strlen(cases[i].text), &times);
        TAP_CHECK(status == cases[i].status, "%s: status %d", cases[i].text,
                  (int)status);
        TAP_CHECK(strstr(diag.text, cases[i].says) != NULL &&
                      strncmp(diag.text, "p: ", 3) == 0,
                  "%s: says '%s'", cases[i].text, diag.text);
    }
}

static void what_is_nested_too_deeply_is_refused(void)
{
    char text[300] = "{\"a\":";
    struct times times;

    memset(text + 5, '[', 200);
    EXPECT_INT(read_bytes(text, strlen(text), &times), TAKT_ECORRUPT);
    EXPECT(strstr(diag.text, "too deeply") != NULL);
}

static void a_file_that_is_not_there(void)
{
    const struct takt_profile_sink sink = {0};

    EXPECT_INT(takt__profile_read("/no/such/file", &sink, &facts, &diag),
               TAKT_ENOENT);
    EXPECT(strstr(diag.text, "/no/such/file: ") == diag.text);
    EXPECT_INT(takt__profile_read("/proc/self", &sink, &facts, &diag),
               TAKT_EIO);
}

/* Even one without a writer, which would be waited for. */
static void a_pipe_is_refused_at_once(void)
{
    const struct takt_profile_sink sink = {0};
    char folder[] = "/tmp/takt-test-XXXXXX", path[64];

    REQUIRE(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/pipe", folder);
    REQUIRE(mkfifo(path, 0600) == 0);
    EXPECT_INT(takt__profile_read(path, &sink, &facts, &diag), TAKT_EIO);
    EXPECT(strstr(diag.text, "write it to a file") != NULL);
    unlink(path);
    rmdir(folder);
}

int main(void)
{
    RUN(perf_script_with_stacks);
    RUN(perf_script_without_stacks);
    RUN(perf_script_with_source_lines);
    RUN(folded_stacks);
    RUN(folded_stacks_with_lines);
    RUN(a_line_of_a_megabyte_keeps_its_inner_frames);
    RUN(the_flat_profile_of_gprof);
    RUN(speedscope_samples_before_their_frames);
    RUN(speedscope_weights_before_samples);
    RUN(speedscope_events);
    RUN(chrome_traces_in_any_order);
    RUN(the_report_of_takt_run);
    RUN(numbers_that_no_profile_has_are_passed_over);
    RUN(what_is_no_profile_is_refused_in_one_line);
    RUN(what_is_nested_too_deeply_is_refused);
    RUN(a_file_that_is_not_there);
    RUN(a_pipe_is_refused_at_once);
    return tap_done();
}
