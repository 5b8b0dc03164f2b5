/* SPDX-License-Identifier: MIT */
/*
 * test_file.c - JSON lines in a file: whole ones, whoever else writes, and
 * however full the disk is.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../otel/transport.h"
#include "support/tap.h"

static char path[] = "/tmp/takt-file-XXXXXX";

static uint64_t an_hour_from_now(void *self)
{
    (void)self;
    return takt__now_ns() + 3600000000000u;
}

static uint64_t the_past(void *self)
{
    (void)self;
    return 1;
}

static void nothing(void *self)
{
    (void)self;
}

static const struct takt_otel_watch patient = {NULL, an_hour_from_now, nothing,
                                               nothing};
static const struct takt_otel_watch hasty = {NULL, the_past, nothing, nothing};

static struct takt_otel_outcome send_text(struct takt_otel_transport *transport,
                                          const char *text, size_t size,
                                          const struct takt_otel_watch *watch)
{
    struct takt_otel_outcome outcome;
    struct takt_otel_bytes bytes = {0};

    takt__otel_bytes_append(&bytes, text, size);
    transport->send(transport->self, &bytes, watch, &outcome);
    takt__otel_bytes_free(&bytes);
    return outcome;
}

static struct takt_otel_outcome send_line(struct takt_otel_transport *transport,
                                          const char *line)
{
    return send_text(transport, line, strlen(line), &patient);
}

static size_t read_back(char *out, size_t size)
{
    FILE *file = fopen(path, "r");
    const size_t length = file != NULL ? fread(out, 1, size - 1, file) : 0;

    out[length] = '\0';
    if (file != NULL)
        fclose(file);
    return length;
}

static void make_empty(void)
{
    REQUIRE(truncate(path, 0) == 0);
}

static void lines_are_appended(void)
{
    char text[64];

    make_empty();
    struct takt_otel_file *file = takt__otel_file_open(path);
    REQUIRE(file != NULL);
    struct takt_otel_transport a = takt__otel_file_transport(file);
    struct takt_otel_transport b = takt__otel_file_transport(file);
    EXPECT_INT(a.format, TAKT_OTEL_JSON);
    EXPECT_INT(send_line(&a, "one\n").result, TAKT_OTEL_DELIVERED);
    EXPECT_INT(send_line(&b, "two\n").result, TAKT_OTEL_DELIVERED);
    takt__otel_file_close(file);
    file = takt__otel_file_open(path);
    a = takt__otel_file_transport(file);
    EXPECT_INT(send_line(&a, "three\n").result, TAKT_OTEL_DELIVERED);
    takt__otel_file_close(file);
    read_back(text, sizeof text);
    EXPECT_STR(text, "one\ntwo\nthree\n");
}

static void a_place_that_cannot_be_written_is_said_at_once(void)
{
    EXPECT(takt__otel_file_open("/nowhere/at/all") == NULL);
    EXPECT_INT(errno, ENOENT);
    EXPECT(takt__otel_file_open("/tmp") == NULL);
    EXPECT_INT(errno, EISDIR);
}

static void a_full_disk_is_said_and_may_pass(void)
{
    struct takt_otel_file *file = takt__otel_file_open("/dev/full");
    REQUIRE(file != NULL);
    struct takt_otel_transport transport = takt__otel_file_transport(file);
    const struct takt_otel_outcome outcome = send_line(&transport, "x\n");

    EXPECT_INT(outcome.result, TAKT_OTEL_PUT_OFF);
    EXPECT_STR(outcome.problem,
               "cannot write /dev/full: No space left on device");
    takt__otel_file_close(file);
}

/* The limit of a file's size cuts a line as a full disk does; the signal that
 * comes with it is blocked in the threads that write. */
static void limit_size(rlim_t bytes)
{
    struct rlimit limit;

    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
}

static int write_beyond_a_limit(void)
{
    char long_line[101];
    struct takt_otel_file *file = takt__otel_file_open(path);
    struct takt_otel_transport transport = takt__otel_file_transport(file);

    memset(long_line, 'x', 99);
    strcpy(long_line + 99, "\n");
    signal(SIGXFSZ, SIG_IGN);
    limit_size(50);
    if (send_line(&transport, "short\n").result != TAKT_OTEL_DELIVERED)
        return 1;
    if (send_line(&transport, long_line).result != TAKT_OTEL_REFUSED)
        return 2;
    if (send_line(&transport, "again\n").result != TAKT_OTEL_DELIVERED)
        return 3;
    takt__otel_file_close(file);
    return 0;
}

static void half_a_line_is_cut_off(void)
{
    char text[256];
    int status = -1;

    make_empty();
    const pid_t child = fork();
    if (child == 0)
        _exit(write_beyond_a_limit());
    waitpid(child, &status, 0);
    EXPECT_INT(WEXITSTATUS(status), 0);
    read_back(text, sizeof text);
    EXPECT_STR(text, "short\nagain\n");
}

static void a_pipe_without_a_reader_blocks_nothing(void)
{
    enum { size = 300000 };
    static char line[size], back[size + 2];
    char name[64];
    int ends[2];

    REQUIRE(pipe(ends) == 0);
    snprintf(name, sizeof name, "/dev/fd/%d", ends[1]);
    struct takt_otel_file *file = takt__otel_file_open(name);
    REQUIRE(file != NULL);
    struct takt_otel_transport transport = takt__otel_file_transport(file);
    memset(line, 'x', size);
    line[size - 1] = '\n';
    EXPECT_INT(send_text(&transport, line, size, &hasty).result,
               TAKT_OTEL_PUT_OFF);
    size_t length = 0;
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    for (ssize_t more; (more = read(ends[0], back, size)) > 0;)
        length += (size_t)more;
    EXPECT(length > 0 && length < size);
    /* The half line ends before the next one begins. */
    EXPECT_INT(send_line(&transport, "next\n").result, TAKT_OTEL_DELIVERED);
    const ssize_t last = read(ends[0], back, sizeof back - 1);
    back[last > 0 ? last : 0] = '\0';
    EXPECT_STR(back, "\nnext\n");
    takt__otel_file_close(file);
    close(ends[0]);
    close(ends[1]);
}

static void a_reader_that_went_away_is_said(void)
{
    char name[64];
    int ends[2];

    signal(SIGPIPE, SIG_IGN); /* blocked where this runs for real */
    REQUIRE(pipe(ends) == 0);
    snprintf(name, sizeof name, "/dev/fd/%d", ends[1]);
    struct takt_otel_file *file = takt__otel_file_open(name);
    struct takt_otel_transport transport = takt__otel_file_transport(file);
    close(ends[0]);
    EXPECT_INT(send_line(&transport, "x\n").result, TAKT_OTEL_REFUSED);
    takt__otel_file_close(file);
    close(ends[1]);
}

static void write_many(char mark)
{
    enum { lines = 200, size = 20000 };
    static char line[size];
    struct takt_otel_file *file = takt__otel_file_open(path);
    struct takt_otel_transport transport = takt__otel_file_transport(file);

    memset(line, mark, size);
    line[size - 1] = '\n';
    for (int i = 0; i < lines; i++)
        send_text(&transport, line, size, &patient);
    takt__otel_file_close(file);
}

/* Every line is of one mark, and whole. */
static void processes_share_a_file(void)
{
    enum { writers = 3, lines = 200, size = 20000 };
    static char line[size + 2];
    int whole = 0;

    make_empty();
    for (int i = 0; i < writers; i++)
        if (fork() == 0) {
            write_many((char)('a' + i));
            _exit(0);
        }
    for (int i = 0; i < writers; i++)
        wait(NULL);
    FILE *file = fopen(path, "r");
    while (fgets(line, sizeof line, file) != NULL) {
        const size_t length = strlen(line);
        char mark[2] = {line[0], '\0'};
        whole += length == size && strspn(line, mark) == size - 1;
    }
    fclose(file);
    EXPECT_INT(whole, writers * lines);
}

static void a_child_opens_the_file_for_itself(void)
{
    char text[64];
    int status = -1;

    make_empty();
    struct takt_otel_file *file = takt__otel_file_open(path);
    struct takt_otel_transport transport = takt__otel_file_transport(file);
    transport.start(transport.self);
    send_line(&transport, "parent\n");
    const pid_t child = fork();
    if (child == 0) {
        transport.forget(transport.self);
        transport.start(transport.self);
        _exit(send_line(&transport, "child\n").result != TAKT_OTEL_DELIVERED);
    }
    waitpid(child, &status, 0);
    EXPECT_INT(status, 0);
    send_line(&transport, "parent again\n");
    takt__otel_file_close(file);
    read_back(text, sizeof text);
    EXPECT_STR(text, "parent\nchild\nparent again\n");
}

/* The program's file is given the number that it closed. */
static void what_the_program_closed_is_not_written_to(void)
{
    char own[] = "/tmp/takt-file-XXXXXX";
    struct stat facts;

    make_empty();
    const int number = dup(0);
    close(number);
    struct takt_otel_file *file = takt__otel_file_open(path);
    struct takt_otel_transport transport = takt__otel_file_transport(file);
    REQUIRE(close(number) == 0);
    REQUIRE(mkstemp(own) == number);
    EXPECT_INT(send_line(&transport, "line\n").result, TAKT_OTEL_REFUSED);
    takt__otel_file_close(file);
    EXPECT_INT(fstat(number, &facts), 0);
    EXPECT_INT(facts.st_size, 0);
    close(number);
    unlink(own);
}

static void standard_files_are_left_to_the_program(void)
{
    int status = -1;
    const pid_t child = fork();

    if (child == 0) {
        for (int fd = 0; fd < 3; fd++)
            close(fd);
        bool is_there = takt__otel_file_open(path) != NULL;
        for (int fd = 0; fd < 3; fd++)
            is_there &= fcntl(fd, F_GETFD) < 0;
        _exit(!is_there);
    }
    waitpid(child, &status, 0);
    EXPECT_INT(status, 0);
}

int main(void)
{
    const int made = mkstemp(path);

    REQUIRE(made >= 0);
    close(made);
    RUN(lines_are_appended);
    RUN(a_place_that_cannot_be_written_is_said_at_once);
    RUN(a_full_disk_is_said_and_may_pass);
    RUN(half_a_line_is_cut_off);
    RUN(a_pipe_without_a_reader_blocks_nothing);
    RUN(a_reader_that_went_away_is_said);
    RUN(processes_share_a_file);
    RUN(a_child_opens_the_file_for_itself);
    RUN(what_the_program_closed_is_not_written_to);
    RUN(standard_files_are_left_to_the_program);
    unlink(path);
    return tap_done();
}
