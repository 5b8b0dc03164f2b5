/* SPDX-License-Identifier: MIT */
/*
 * program.c - programs that call BLAS in ways that are easily broken by who
 * stands between: each must do the same with and without.
 *
 * usage: program WHAT [ARGUMENT...]
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "program.h"

extern char **environ;

enum { order = 24, large = 80 };

static char **words; /* of the command line, from the program's name on */

static void tell(const char *who)
{
    printf("%s %.0f\n", who, steady_work(order, 10));
    fflush(stdout);
}

static void wait_for(pid_t child)
{
    int status = 0;

    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    printf("child ended with %d\n", status);
    fflush(stdout);
}

static int plain(void)
{
    tell("plain");
    return 0;
}

/* So many calls of cblas_ddot and not one more; then it waits to be killed. */
static int exactly(void)
{
    const double x[4] = {1, 2, 3, 4};
    const long calls = strtol(words[2], NULL, 10);
    double sum = 0;

    for (long i = 0; i < calls; i++)
        sum += cblas_ddot(4, x, 1, x, 1);
    printf("%.0f\n", sum);
    fflush(stdout);
    if (words[3] != NULL)
        pause();
    return 0;
}

/* For each line of input, a thousand products of the same matrices, of whole
 * numbers. */
static int multiplies(void)
{
    enum { n = 64 };
    static double a[n * n], b[n * n], c[n * n];
    char line[8];

    for (int i = 0; i < n * n; i++) {
        a[i] = i % 7;
        b[i] = i % 5;
    }
    while (fgets(line, sizeof line, stdin) != NULL) {
        double sum = 0;
        for (int call = 0; call < 1000; call++) {
            cblas_dgemm(101, 111, 111, n, n, n, 1, a, n, b, n, 0, c, n);
            sum += c[call];
        }
        printf("%.0f\n", sum);
        fflush(stdout);
    }
    return 0;
}

/* So many products of a matrix with its transpose; -1: the other triangle did
 * not stay as it was. */
static double square(long calls)
{
    enum { n = 72, k = 64, ld = n + 3 };
    static double a[n * k], c[n * ld];
    double sum = 0;

    for (int i = 0; i < n * k; i++)
        a[i] = i % 7;
    for (long call = 0; call < calls; call++) {
        for (int i = 0; i < n * ld; i++)
            c[i] = i % 5;
        cblas_dsyrk(101, 121, 111, n, k, 2, a, k, call % 2 == 0 ? 0 : 3, c, ld);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < ld; j++) {
                if ((j < i || j >= n) && c[i * ld + j] != (i * ld + j) % 5)
                    return -1;
                sum += c[i * ld + j] * (i + 1);
            }
    }
    return sum;
}

/* Once, or ("rounds") for every line of input. */
static int squares(void)
{
    const long calls = strtol(words[2], NULL, 10);
    char line[8];

    do {
        const double sum = square(calls);
        if (sum < 0)
            return 1;
        printf("%.0f\n", sum);
        fflush(stdout);
    } while (words[3] != NULL && fgets(line, sizeof line, stdin) != NULL);
    return 0;
}

/* Calls that have nothing to multiply, as LAPACK makes them. */
static int empty(void)
{
    double x[16] = {1};

    for (int i = 0; i < 5; i++) {
        cblas_dgemm(101, 111, 111, 0, 4, 4, 1, x, 4, x, 4, 1, x, 4);
        cblas_dgemm(102, 111, 112, 4, 4, 0, 1, x, 4, x, 4, 1, x, 4);
        cblas_dgemm(101, 111, 111, 4, 4, 4, 0, x, 4, x, 4, 1, x, 4);
        cblas_dsyrk(101, 121, 111, 4, 0, 1, x, 4, 1, x, 4);
        cblas_dgemv(102, 111, 0, 4, 1, x, 4, x, 1, 1, x, 1);
        cblas_dger(102, 4, 0, 1, x, 1, x, 1, x, 4);
        cblas_daxpy(0, 1, x, 1, x, 1);
        x[1] += cblas_ddot(0, x, 1, x, 1);
    }
    printf("%.0f\n", x[0] + x[1]);
    return 0;
}

/* ---- processes ----------------------------------------------------------- */

static int forks(void)
{
    tell("before");
    for (int i = 0; i < 3; i++) {
        const pid_t child = fork();
        if (child == 0) {
            tell("child");
            exit(i);
        }
        wait_for(child);
        tell("parent");
    }
    return 0;
}

static _Atomic bool is_over;

static void *keep_working(void *self)
{
    while (!atomic_load(&is_over))
        steady_work(order, 1);
    return self;
}

static int forks_among_threads(void)
{
    pthread_t threads[3];

    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, keep_working, NULL);
    for (int i = 0; i < 6; i++) {
        const pid_t child = fork();
        if (child == 0) {
            alarm(60); /* ends what would wait for ever */
            _exit(steady_work(order, 5) == some_work(order) ? 3 : 4);
        }
        wait_for(child);
    }
    atomic_store(&is_over, true);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}

static int spawns(void)
{
    char *const child_words[] = {words[0], "plain", NULL};
    pid_t child;

    tell("before");
    child = fork();
    if (child == 0) {
        execv(words[0], child_words);
        _exit(127);
    }
    wait_for(child);
    child = vfork();
    if (child == 0) {
        execv(words[0], child_words);
        _exit(127);
    }
    wait_for(child);
    if (posix_spawn(&child, words[0], NULL, NULL, child_words, environ) != 0)
        return 1;
    wait_for(child);
    tell("after");
    execv(words[0], child_words);
    return 1;
}

/* A child that does not inherit what was preloaded. */
static int spawns_without(void)
{
    char *const child_words[] = {words[0], "plain", NULL};
    pid_t child;

    tell("before");
    unsetenv("LD_PRELOAD");
    if (posix_spawn(&child, words[0], NULL, NULL, child_words, environ) != 0)
        return 1;
    wait_for(child);
    return 0;
}

/* ---- threads ------------------------------------------------------------- */

static void *work_in_thread(void *self)
{
    *(double *)self = steady_work(order, 30) + steady_work(large, 2);
    return NULL;
}

static int threads(void)
{
    pthread_t thread[8];
    double result[8];

    for (int i = 0; i < 8; i++)
        pthread_create(&thread[i], NULL, work_in_thread, &result[i]);
    for (int i = 0; i < 8; i++) {
        pthread_join(thread[i], NULL);
        printf("%.0f\n", result[i]);
    }
    return 0;
}

static int in_openmp(void)
{
#ifdef _OPENMP
    double sum = 0;

#pragma omp parallel for reduction(+ : sum) num_threads(4)
    for (int i = 0; i < 16; i++)
        sum += steady_work(order, 5);
    printf("%.0f\n", sum);
#endif
    return 0;
}

/* ---- ends ---------------------------------------------------------------- */

static void tell_at_exit(void)
{
    tell("at exit");
}

static int at_exit(void)
{
    atexit(tell_at_exit);
    tell("before");
    return 5;
}

static int only_at_exit(void)
{
    atexit(tell_at_exit);
    return 6;
}

static int crashes(void)
{
    volatile int *volatile nowhere = NULL;

    tell("before");
    *nowhere = 1;
    return 0;
}

static int crashes_inside(void)
{
    tell("before");
    cblas_daxpy(1000000, 1, (const double *)16, 1, (double *)32, 1);
    return 0;
}

static int aborts(void)
{
    tell("before");
    abort();
}

static int leaves(void)
{
    tell("before");
    _exit(7);
}

/* ---- xerbla -------------------------------------------------------------- */

static jmp_buf way_back;
static bool is_jumping;

void xerbla_(const char *name, const int *argument, size_t length);
void xerbla_(const char *name, const int *argument, size_t length)
{
    printf("wrong: %.*s %d\n", (int)length, name, *argument);
    fflush(stdout);
    if (is_jumping)
        longjmp(way_back, 1);
}

static void complain_about(int what)
{
    static double a[64], z[128], one[2] = {1, 0};

    if (what == 0)
        cblas_dgemm(101, 111, 111, 4, 4, 4, 1, a, 3, a, 4, 0, a, 4);
    if (what == 1)
        cblas_dger(102, 4, 4, 1, a, 0, a, 1, a, 4);
    if (what == 2)
        cblas_zgemm(102, 111, 111, 4, 4, 4, one, z, 3, z, 4, one, z, 4);
    if (what == 3)
        cblas_zgemm(102, 999, 111, 4, 4, 4, one, z, 4, z, 4, one, z, 4);
}

static int complains(void)
{
    tell("before");
    for (is_jumping = false;; is_jumping = true) {
        for (volatile int what = 0; what < 4; what++)
            if (setjmp(way_back) == 0)
                complain_about(what);
        if (is_jumping)
            break;
    }
    tell("after");
    return 0;
}

/* ---- signals ------------------------------------------------------------- */

static volatile sig_atomic_t alarms;
static sigjmp_buf out_of_call;

static void count_alarm(int number)
{
    (void)number;
    alarms++;
}

static void jump_out(int number)
{
    (void)number;
    siglongjmp(out_of_call, 1);
}

static void every_millisecond(void (*handler)(int), long microseconds)
{
    const struct itimerval interval = {{0, microseconds}, {0, 1000}};
    struct sigaction action;

    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &interval, NULL);
}

static int interrupted(void)
{
    every_millisecond(count_alarm, 1000);
    while (alarms < 300)
        if (steady_work(order, 5) != some_work(order))
            return 1;
    every_millisecond(count_alarm, 0);
    tell("after");
    return 0;
}

/* Leaves a call in the middle, as some interpreters do when a key is pressed.
 */
static int jumps_out_of_a_call(void)
{
    static volatile int rounds;

    tell("before");
    if (sigsetjmp(out_of_call, 1) == 0) {
        every_millisecond(jump_out, 5000);
        for (;; rounds++)
            some_work(large);
    }
    every_millisecond(count_alarm, 0);
    tell("after");
    fprintf(stderr, "%d\n", rounds);
    return 0;
}

/* ---- descriptors --------------------------------------------------------- */

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Closes all that it did not open, then has files of its own there. What it
 * finds in them must be what it wrote, also when a while has passed.
 * words: FOLDER SECONDS */
static int closes_all(void)
{
    const double until = seconds() + strtod(words[3], NULL);
    char path[4096], text[16];
    bool is_whole = true;

    tell("before");
    for (int fd = 3; fd < 256; fd++)
        close(fd);
    for (int i = 0; i < 40; i++) {
        snprintf(path, sizeof path, "%s/%d", words[2], i);
        const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
        if (fd < 0 || write(fd, "whole", 5) != 5)
            return 1;
    }
    while (seconds() < until)
        steady_work(large, 1);
    for (int i = 0; i < 40; i++) {
        snprintf(path, sizeof path, "%s/%d", words[2], i);
        const int fd = open(path, O_RDONLY);
        is_whole &=
            read(fd, text, sizeof text) == 5 && memcmp(text, "whole", 5) == 0;
        close(fd);
    }
    printf("%s\n", is_whole ? "whole" : "damaged");
    return 0;
}

int main(int count, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(void);
    } programs[] = {
        {"plain", plain},
        {"exactly", exactly},
        {"multiplies", multiplies},
        {"squares", squares},
        {"empty", empty},
        {"forks", forks},
        {"forks_among_threads", forks_among_threads},
        {"spawns", spawns},
        {"spawns_without", spawns_without},
        {"threads", threads},
        {"in_openmp", in_openmp},
        {"at_exit", at_exit},
        {"only_at_exit", only_at_exit},
        {"crashes", crashes},
        {"crashes_inside", crashes_inside},
        {"aborts", aborts},
        {"leaves", leaves},
        {"complains", complains},
        {"interrupted", interrupted},
        {"jumps_out_of_a_call", jumps_out_of_a_call},
        {"closes_all", closes_all},
    };

    words = argv;
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        if (count > 1 && strcmp(argv[1], programs[i].name) == 0)
            return programs[i].run();
    fprintf(stderr, "usage: program WHAT\n");
    return 2;
}
