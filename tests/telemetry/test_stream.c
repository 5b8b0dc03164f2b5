/* SPDX-License-Identifier: MIT */
#include "telemetry/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/config.h"
#include "support/tap.h"
#include "telemetry/listener.h"
#include "telemetry/record.h"
#include <takt/log.h>

static char folder[64];

static const takt_event some_event = {.told = TAKT_TOLD_SLOW,
                                      .op = "matmul",
                                      .shape = {3, {8, 8, 8}},
                                      .expert = "simd.avx2",
                                      .device = "",
                                      .runner_up = "",
                                      .refused = "",
                                      .actual_s = 1e-3};

/* ---- a reader -------------------------------------------------------------
 */

/* What a reader has got so far. */
struct reader {
    int listener, fd;
    unsigned char bytes[8 * (TAKT_TRACE_FRAME + TAKT_TRACE_MOST)];
    size_t length;
    unsigned count[TAKT_TRACE_GREETING + 1]; /* of each kind */
    uint64_t dropped;                        /* as it was last reported */
    uint64_t dropped_at_end;
    bool is_over;
};

static const char *path_of(const char *name)
{
    static char path[128];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static int listen_at(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    unlink(path);
    REQUIRE(fd >= 0);
    REQUIRE(bind(fd, (const struct sockaddr *)&address, sizeof address) == 0);
    REQUIRE(listen(fd, 8) == 0);
    return fd;
}

static const char *socket_place(void)
{
    static char place[160];

    snprintf(place, sizeof place, "unix:%s", path_of("socket"));
    return place;
}

static void take_record(struct reader *reader,
                        const struct takt_trace_record *record)
{
    reader->count[record->kind]++;
    if (record->kind == TAKT_TRACE_DROPPED) {
        EXPECT(record->loss.dropped > reader->dropped); /* reported once */
        reader->dropped = record->loss.dropped;
    }
    if (record->kind == TAKT_TRACE_END)
        reader->dropped_at_end = record->loss.dropped;
}

/* Reads what is there; waits for it if asked to. Damage is a failure. */
static void read_some(struct reader *reader, bool waits)
{
    struct takt_trace_record record;
    const ssize_t got =
        recv(reader->fd, reader->bytes + reader->length,
             sizeof reader->bytes - reader->length, waits ? 0 : MSG_DONTWAIT);
    size_t at = 0, used;

    reader->is_over = got == 0 || (got < 0 && errno != EAGAIN);
    if (got <= 0)
        return;
    reader->length += (size_t)got;
    for (; at < reader->length; at += used) {
        const enum takt_trace_outcome outcome = takt__trace_decode(
            reader->bytes + at, reader->length - at, &record, &used);
        if (outcome == TAKT_TRACE_SHORT)
            break;
        REQUIRE(outcome == TAKT_TRACE_FOUND);
        take_record(reader, &record);
    }
    reader->length -= at;
    memmove(reader->bytes, reader->bytes + at, reader->length);
}

/* A sink that is connected to a reader. */
static struct reader *connect_reader(takt_sink *sink)
{
    struct reader *reader = calloc(1, sizeof *reader);
    takt_diag diag = {""};

    REQUIRE(reader != NULL);
    reader->listener = listen_at(path_of("socket"));
    const takt_status status = takt__stream_open(socket_place(), sink, &diag);
    EXPECT_INT(status, TAKT_OK);
    EXPECT_STR(diag.text, "");
    REQUIRE(status == TAKT_OK);
    reader->fd = accept(reader->listener, NULL, NULL);
    REQUIRE(reader->fd >= 0);
    return reader;
}

static void drop_reader(struct reader *reader)
{
    close(reader->fd);
    close(reader->listener);
    free(reader);
}

static takt_sink_report report_of(const takt_sink *sink)
{
    takt_sink_report report;

    sink->report(sink->self, &report);
    return report;
}

/* ---- sockets --------------------------------------------------------------
 */

static void everything_arrives_in_the_end(void)
{
    const takt_op_metric op = {.op = "add", .calls = 7};
    const takt_duration_metric duration = {.op = "add", .expert = "scalar"};
    const takt_metrics metrics = {
        .op = &op, .op_count = 1, .duration = &duration, .duration_count = 1};
    takt_sink sink;
    struct reader *reader = connect_reader(&sink);

    EXPECT_INT(sink.wants_all, 0); /* the reader did not say */
    EXPECT_INT(sink.metrics_ms, TAKT_STREAM_METRICS_MS);
    for (unsigned i = 0; i < 10; i++)
        EXPECT_INT(sink.event(sink.self, &some_event), 0);
    EXPECT_INT(sink.metrics(sink.self, &metrics), 0);
    EXPECT_INT(report_of(&sink).sent, 14);
    EXPECT_STR(report_of(&sink).name, "trace");
    sink.close(sink.self, 1000);
    while (!reader->is_over)
        read_some(reader, true);
    EXPECT_INT(reader->count[TAKT_TRACE_HEADER], 1);
    EXPECT_INT(reader->count[TAKT_TRACE_EVENT], 10);
    EXPECT_INT(reader->count[TAKT_TRACE_OP], 1);
    EXPECT_INT(reader->count[TAKT_TRACE_DURATION], 1);
    EXPECT_INT(reader->count[TAKT_TRACE_TOTALS], 1);
    EXPECT_INT(reader->count[TAKT_TRACE_END], 1);
    EXPECT_INT(reader->length, 0);
    drop_reader(reader);
}

/* A writer that waited for its reader would wait for ever here. */
static void a_slow_reader_misses_some_and_is_told(void)
{
    enum { many = 20000 };
    takt_sink sink;
    struct reader *reader = connect_reader(&sink);
    unsigned emitted = 0;

    for (; emitted < many; emitted++)
        EXPECT_INT(sink.event(sink.self, &some_event), 0);
    const takt_op_metric op = {.op = "add", .calls = 7};
    const takt_metrics metrics = {.op = &op, .op_count = 1};
    EXPECT_INT(sink.metrics(sink.self, &metrics), 0); /* these have room */
    const takt_sink_report full = report_of(&sink);
    EXPECT(full.dropped > 0 && full.dropped < many);
    EXPECT_STR(full.problem, "");
    for (unsigned i = 0; i < 1000; i++, emitted++) { /* now it reads */
        read_some(reader, false);
        EXPECT_INT(sink.event(sink.self, &some_event), 0);
    }
    EXPECT(reader->count[TAKT_TRACE_DROPPED] > 0);
    EXPECT(reader->dropped >= full.dropped);
    const uint64_t dropped = report_of(&sink).dropped;
    EXPECT_INT(reader->dropped, dropped);
    pid_t closer = fork(); /* closing waits for the reader, as it may */
    if (closer == 0) {
        sink.close(sink.self, 60000);
        _exit(0);
    }
    sink.forked(sink.self, TAKT_FORK_CHILD); /* so this one is rid of it */
    sink.close(sink.self, 0);
    while (!reader->is_over)
        read_some(reader, true);
    EXPECT_INT(reader->count[TAKT_TRACE_EVENT] + dropped, emitted);
    EXPECT_INT(reader->count[TAKT_TRACE_TOTALS], 1);
    EXPECT_INT(reader->count[TAKT_TRACE_END], 1);
    EXPECT_INT(reader->dropped_at_end, dropped);
    waitpid(closer, NULL, 0);
    drop_reader(reader);
}

static void closing_keeps_its_deadline(void)
{
    takt_sink sink;
    struct reader *reader = connect_reader(&sink);

    while (report_of(&sink).dropped == 0)
        sink.event(sink.self, &some_event);
    sink.flush(sink.self, 20);
    sink.close(sink.self, 20); /* comes back, without a reader */
    drop_reader(reader);
}

/* The default of SIGPIPE would end this program. */
static void a_reader_that_dies_ends_the_sink(void)
{
    takt_sink sink;
    struct reader *reader = connect_reader(&sink);

    signal(SIGPIPE, SIG_DFL);
    EXPECT_INT(sink.event(sink.self, &some_event), 0);
    drop_reader(reader);
    while (sink.event(sink.self, &some_event) == 0)
        continue;
    const takt_metrics metrics = {0};
    EXPECT(sink.event(sink.self, &some_event) != 0);
    EXPECT(sink.metrics(sink.self, &metrics) != 0);
    EXPECT_STR(report_of(&sink).problem, "the reader went away");
    EXPECT(report_of(&sink).failed > 0);
    sink.flush(sink.self, 1000);
    sink.close(sink.self, 1000);
}

static void *greet(void *self)
{
    const struct takt_trace_record record = {
        .kind = TAKT_TRACE_GREETING,
        .greeting = {.wants_all = 1, .metrics_ms = 123}};
    unsigned char bytes[TAKT_TRACE_FRAME + TAKT_TRACE_MOST];
    const size_t size = takt__trace_encode(&record, bytes);
    const int fd = accept(*(int *)self, NULL, NULL);

    /* In two parts: a socket may split anything. */
    if (fd >= 0 && write(fd, bytes, 7) == 7 &&
        write(fd, bytes + 7, size - 7) == (ssize_t)size - 7)
        *(int *)self = fd;
    return NULL;
}

static void a_reader_says_what_it_wants(void)
{
    int listener = listen_at(path_of("socket")), fd = listener;
    pthread_t thread;
    takt_sink sink;

    REQUIRE(pthread_create(&thread, NULL, greet, &fd) == 0);
    EXPECT_INT(takt__stream_open(socket_place(), &sink, NULL), TAKT_OK);
    pthread_join(thread, NULL);
    EXPECT(fd != listener);
    EXPECT_INT(sink.wants_all, 1);
    EXPECT_INT(sink.metrics_ms, 123);
    sink.close(sink.self, 0);
    close(fd);
    close(listener);
}

/* What the child does; `gate` opens when the parent has seen enough. */
static int live_as_child(const takt_sink *sink, bool is_talking, int gate)
{
    const takt_metrics nothing = {0};
    char byte;
    int gone = 0;

    sink->forked(sink->self, TAKT_FORK_CHILD);
    if (is_talking)
        gone |= sink->event(sink->self, &some_event);
    gone |= sink->metrics(sink->self, &nothing);
    const bool is_late = is_talking && report_of(sink).sent == 0;
    sink->close(sink->self, 1000);
    return read(gate, &byte, 1) != 0 || gone != 0 || is_late;
}

/* The parent's stream ends while the child still lives; the child has one of
 * its own, if it has something to say. */
static void expect_streams_of_child(bool is_talking)
{
    takt_sink sink;
    struct reader *reader = connect_reader(&sink);
    int gate[2], status = -1;

    REQUIRE(pipe(gate) == 0);
    REQUIRE(fcntl(reader->listener, F_SETFL, O_NONBLOCK) == 0);
    sink.forked(sink.self, TAKT_FORK_PREPARE);
    const pid_t child = fork();
    if (child == 0) {
        close(gate[1]);
        close(reader->fd);
        _exit(live_as_child(&sink, is_talking, gate[0]));
    }
    sink.forked(sink.self, TAKT_FORK_PARENT);
    EXPECT_INT(sink.event(sink.self, &some_event), 0);
    sink.close(sink.self, 1000);
    while (!reader->is_over)
        read_some(reader, true);
    EXPECT_INT(reader->count[TAKT_TRACE_HEADER], 1);
    EXPECT_INT(reader->count[TAKT_TRACE_EVENT], 1);
    EXPECT_INT(reader->count[TAKT_TRACE_END], 1);
    close(gate[0]);
    close(gate[1]);
    REQUIRE(waitpid(child, &status, 0) == child);
    EXPECT_INT(status, 0);
    close(reader->fd);
    reader->fd = accept(reader->listener, NULL, NULL);
    EXPECT_INT(reader->fd >= 0, is_talking);
    for (reader->is_over = !is_talking; !reader->is_over;)
        read_some(reader, true);
    EXPECT_INT(reader->count[TAKT_TRACE_HEADER], 1 + is_talking);
    EXPECT_INT(reader->count[TAKT_TRACE_END], 1 + is_talking);
    drop_reader(reader);
}

static void a_child_that_speaks_has_a_stream_of_its_own(void)
{
    expect_streams_of_child(true);
    expect_streams_of_child(false);
}

/* ---- files ----------------------------------------------------------------
 */

static unsigned count_in_file(const char *path, enum takt_trace_kind kind)
{
    static unsigned char bytes[1 << 20];
    struct takt_trace_record record;
    const int fd = open(path, O_RDONLY);
    size_t used;
    unsigned count = 0;

    REQUIRE(fd >= 0);
    const ssize_t length = read(fd, bytes, sizeof bytes);
    close(fd);
    for (size_t at = 0; at < (size_t)length; at += used) {
        REQUIRE(takt__trace_decode(bytes + at, (size_t)length - at, &record,
                                   &used) == TAKT_TRACE_FOUND);
        count += record.kind == kind;
    }
    return count;
}

static void a_file_is_private_and_shared_by_writers(void)
{
    const char *path = path_of("file.trace");
    takt_sink first, second;
    struct stat facts;

    umask(0);
    EXPECT_INT(takt__stream_open(path, &first, NULL), TAKT_OK);
    EXPECT_INT(takt__stream_open(path, &second, NULL), TAKT_OK);
    EXPECT_INT(stat(path, &facts), 0);
    EXPECT_INT(facts.st_mode & 0777, 0600);
    for (unsigned i = 0; i < 100; i++) {
        EXPECT_INT(first.event(first.self, &some_event), 0);
        EXPECT_INT(second.event(second.self, &some_event), 0);
    }
    first.flush(first.self, 0);
    first.close(first.self, 0);
    EXPECT_INT(count_in_file(path, TAKT_TRACE_END), 1);
    second.close(second.self, 0);
    EXPECT_INT(count_in_file(path, TAKT_TRACE_HEADER), 2);
    EXPECT_INT(count_in_file(path, TAKT_TRACE_EVENT), 200);
    EXPECT_INT(count_in_file(path, TAKT_TRACE_END), 2);
}

static void a_file_that_is_full_ends_the_sink(void)
{
    const char *path = path_of("full.trace");
    const pid_t child = fork(); /* which is limited */

    if (child == 0) {
        const struct rlimit limit = {10000, 10000};
        takt_sink sink;
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &limit);
        if (takt__stream_open(path, &sink, NULL) != TAKT_OK)
            _exit(1);
        while (sink.event(sink.self, &some_event) == 0)
            continue;
        _exit(strstr(report_of(&sink).problem, "written") == NULL);
    }
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    EXPECT_INT(status, 0);
}

static void count_line(void *self, takt_log_level level, const char *text)
{
    if (level == TAKT_LOG_ERROR && strstr(text, "the trace ends here") != NULL)
        ++*(int *)self;
}

/* The header is written on a thread of the program's. */
static void a_limit_of_files_does_not_end_the_program(void)
{
    const pid_t child = fork();

    if (child == 0) {
        const struct rlimit limit = {0, 0};
        takt_sink sink;
        int lines = 0;
        signal(SIGXFSZ, SIG_DFL);
        setrlimit(RLIMIT_FSIZE, &limit);
        takt_log_set(TAKT_LOG_ERROR, count_line, &lines);
        if (takt__stream_open(path_of("full.trace"), &sink, NULL) != TAKT_OK ||
            sink.event(sink.self, &some_event) == 0)
            _exit(1);
        sink.close(sink.self, 0);
        _exit(lines == 1 ? 0 : 2);
    }
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    EXPECT_INT(status, 0);
}

/* The program's file is given the number that it closed. */
static void what_the_program_closed_is_not_written_to(void)
{
    const int number = dup(0);
    takt_sink sink;
    struct stat facts;

    close(number);
    EXPECT_INT(takt__stream_open(path_of("file.trace"), &sink, NULL), TAKT_OK);
    REQUIRE(close(number) == 0);
    REQUIRE(open(path_of("own"), O_RDWR | O_CREAT | O_TRUNC, 0600) == number);
    EXPECT_INT(sink.event(sink.self, &some_event), 1);
    EXPECT(strstr(report_of(&sink).problem, "closed") != NULL);
    sink.close(sink.self, 0);
    EXPECT_INT(fstat(number, &facts), 0);
    EXPECT_INT(facts.st_size, 0);
    close(number);
}

/* What is printed where there is no output must not be found in a trace. */
static void standard_files_are_left_to_the_program(void)
{
    int status = -1;
    const pid_t child = fork();

    if (child == 0) {
        takt_sink sink;
        for (int fd = 0; fd < 3; fd++)
            close(fd);
        bool is_good =
            takt__stream_open(path_of("file.trace"), &sink, NULL) == TAKT_OK;
        for (int fd = 0; fd < 3; fd++)
            is_good &= fcntl(fd, F_GETFD) < 0;
        _exit(!is_good);
    }
    REQUIRE(waitpid(child, &status, 0) == child);
    EXPECT_INT(status, 0);
}

static void what_cannot_be_opened_is_said(void)
{
    char fifo[128], long_place[300] = "unix:";
    takt_sink sink;

    snprintf(fifo, sizeof fifo, "%s", path_of("fifo"));
    memset(long_place + 5, 'x', 200);
    REQUIRE(mkfifo(fifo, 0600) == 0);
    const int reader = open(fifo, O_RDONLY | O_NONBLOCK);
    const char *const places[] = {
        fifo,       folder,     "/no/such/folder/file",
        "unix:",    "",         "unix:/no/such/socket",
        long_place, "/dev/null"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        takt_diag diag = {""};
        EXPECT_INT(takt__stream_open(places[i], &sink, &diag), TAKT_EIO);
        EXPECT(diag.text[0] != '\0');
    }
    const int listener = listen_at(path_of("socket"));
    close(listener); /* it exists, but no process listens */
    EXPECT_INT(takt__stream_open(socket_place(), &sink, NULL), TAKT_EIO);
    close(reader);
}

static void a_database_is_not_appended_to(void)
{
    static const char start[] = "SQLite format 3";
    char path[128];
    takt_sink sink;
    takt_diag diag = {""};
    struct stat facts;

    snprintf(path, sizeof path, "%s", path_of("database"));
    FILE *file = fopen(path, "w");
    REQUIRE(file != NULL && fwrite(start, sizeof start, 1, file) == 1);
    fclose(file);
    EXPECT_INT(takt__stream_open(path, &sink, &diag), TAKT_EIO);
    EXPECT(strstr(diag.text, "is a database, and stays") != NULL);
    REQUIRE(stat(path, &facts) == 0);
    EXPECT_INT(facts.st_size, sizeof start);
}

/* ---- places ---------------------------------------------------------------
 */

static void only_a_private_folder_will_do(void)
{
    char path[128], link_path[128];

    snprintf(path, sizeof path, "%s", path_of("private"));
    snprintf(link_path, sizeof link_path, "%s", path_of("link"));
    EXPECT(!takt__listener_is_private(path)); /* there is none */
    REQUIRE(mkdir(path, 0700) == 0);
    EXPECT(takt__listener_is_private(path));
    static const mode_t shared[] = {0770, 0702, 0777, 01777};
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++) {
        REQUIRE(chmod(path, shared[i]) == 0);
        EXPECT(!takt__listener_is_private(path));
    }
    REQUIRE(chmod(path, 0700) == 0 && symlink(path, link_path) == 0);
    EXPECT(!takt__listener_is_private(link_path));
    EXPECT(!takt__listener_is_private("/dev/null"));
    if (geteuid() == 0) {
        REQUIRE(chown(path, 65534, 65534) == 0);
        EXPECT(!takt__listener_is_private(path));
    } else {
        EXPECT(!takt__listener_is_private("/"));
    }
}

static void the_place_is_where_somebody_listens(void)
{
    char takt[128], path[160], place[256], wanted[256];

    test_config()->runtime_dir = folder;
    EXPECT(takt__listener_folder(0, place, sizeof place));
    EXPECT_STR(place, path_of("takt"));
    EXPECT(takt__listener_folder(1, place, sizeof place));
    EXPECT(strncmp(place, "/tmp/takt-", 10) == 0);
    EXPECT(!takt__listener_folder(2, place, sizeof place));
    snprintf(takt, sizeof takt, "%s", path_of("takt"));
    snprintf(path, sizeof path, "%s/999999999.trace", takt);
    snprintf(wanted, sizeof wanted, "unix:%s", path);
    EXPECT(!takt__listener_path(999999999, place, sizeof place));
    REQUIRE(mkdir(takt, 0700) == 0);
    EXPECT(!takt__listener_path(999999999, place, sizeof place));
    close(open(path, O_CREAT | O_WRONLY, 0600)); /* a file is no socket */
    EXPECT(!takt__listener_path(999999999, place, sizeof place));
    const int listener = listen_at(path);
    EXPECT(takt__listener_path(999999999, place, sizeof place));
    EXPECT_STR(place, wanted);
    EXPECT(!takt__listener_path(999999999, place, 20)); /* too small */
    REQUIRE(chmod(takt, 0777) == 0);
    EXPECT(!takt__listener_path(999999999, place, sizeof place));
    test_config()->runtime_dir = NULL;
    EXPECT(takt__listener_folder(0, place, sizeof place));
    EXPECT(strncmp(place, "/tmp/takt-", 10) == 0);
    EXPECT(!takt__listener_folder(1, place, sizeof place));
    close(listener);
}

static void no_other_reader_gets_it(void)
{
    takt_sink sink;
    takt_diag diag = {""};
    int ready[2], status;
    char byte;

    if (geteuid() != 0) {
        SKIP("only root can be another user");
        return;
    }
    REQUIRE(chmod(folder, 0777) == 0);
    REQUIRE(pipe(ready) == 0);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        if (setgid(65534) != 0 || setuid(65534) != 0)
            _exit(1);
        listen_at(path_of("socket"));
        if (write(ready[1], "x", 1) == 1)
            pause();
        _exit(1);
    }
    REQUIRE(read(ready[0], &byte, 1) == 1);
    EXPECT_INT(takt__stream_open(socket_place(), &sink, &diag), TAKT_EIO);
    EXPECT(strstr(diag.text, strerror(EACCES)) != NULL);
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    close(ready[0]);
    close(ready[1]);
    REQUIRE(chmod(folder, 0700) == 0);
}

/* Leaves nothing behind. */
static void clean_up(void)
{
    static const char *const names[] = {"takt/999999999.trace",
                                        "takt",
                                        "socket",
                                        "file.trace",
                                        "full.trace",
                                        "fifo",
                                        "private",
                                        "link",
                                        "own"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        remove(path_of(names[i]));
    rmdir(folder);
}

int main(void)
{
    snprintf(folder, sizeof folder, "/tmp/takt-stream-XXXXXX");
    REQUIRE(mkdtemp(folder) != NULL);
    RUN(everything_arrives_in_the_end);
    RUN(a_slow_reader_misses_some_and_is_told);
    RUN(closing_keeps_its_deadline);
    RUN(a_reader_that_dies_ends_the_sink);
    RUN(a_reader_says_what_it_wants);
    RUN(a_child_that_speaks_has_a_stream_of_its_own);
    RUN(a_file_is_private_and_shared_by_writers);
    RUN(a_file_that_is_full_ends_the_sink);
    RUN(a_limit_of_files_does_not_end_the_program);
    RUN(what_the_program_closed_is_not_written_to);
    RUN(standard_files_are_left_to_the_program);
    RUN(what_cannot_be_opened_is_said);
    RUN(a_database_is_not_appended_to);
    RUN(only_a_private_folder_will_do);
    RUN(the_place_is_where_somebody_listens);
    RUN(no_other_reader_gets_it);
    clean_up();
    return tap_done();
}
