/* SPDX-License-Identifier: MIT */
/*
 * places.c - programs that call BLAS where hardly anything may be done: on
 * stacks of 16 KiB, in signal handlers, in threads that outlive the main one.
 *
 * usage: places WHAT
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include "program.h"

enum { order = 96, elements = order * order, small = 16384 };

struct work {
    double a[elements], b[elements], c[elements], x[order];
};

static void *new_memory(size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (at == MAP_FAILED)
        abort();
    return at;
}

static struct work *new_work(void)
{
    struct work *work = new_memory(sizeof *work);

    for (int i = 0; i < elements; i++) {
        work->a[i] = i % 7;
        work->b[i] = i % 5;
    }
    return work;
}

/* One of each kind of call, with hardly any stack of its own. */
static double compute(struct work *work)
{
    cblas_dgemm(101, 111, 112, order, order, order, 1, work->a, order, work->b,
                order, 0, work->c, order);
    cblas_dsyrk(101, 121, 111, order, order, 1, work->a, order, 2, work->c,
                order);
    cblas_dgemv(101, 111, order, order, 1, work->c, order, work->b, 1, 0,
                work->x, 1);
    cblas_daxpy(elements, 2, work->a, 1, work->c, 1);
    return cblas_ddot(elements, work->c, 1, work->b, 1) + work->x[order - 1];
}

static double compute_often(struct work *work, int times)
{
    double sum = 0;

    for (int i = 0; i < times; i++)
        sum += compute(work);
    return sum;
}

/* ---- small stacks -------------------------------------------------------- */

static void *compute_in_thread(void *self)
{
    struct work *work = self;

    work->x[0] = compute_often(work, 30);
    return NULL;
}

static int threads(void)
{
    pthread_attr_t attributes;
    struct work *works[4];
    pthread_t all[4];

    pthread_attr_init(&attributes);
    if (pthread_attr_setstacksize(&attributes, small) != 0)
        return 1;
    for (int i = 0; i < 4; i++) {
        works[i] = new_work();
        if (pthread_create(&all[i], &attributes, compute_in_thread, works[i]))
            return 1;
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(all[i], NULL);
        printf("%.0f\n", works[i]->x[0]);
    }
    return 0;
}

static ucontext_t outside, coroutine;
static double of_coroutine;

static void compute_in_coroutine(void)
{
    of_coroutine = compute_often(new_work(), 30);
}

static int coroutines(void)
{
    getcontext(&coroutine);
    coroutine.uc_stack.ss_sp = new_memory(small);
    coroutine.uc_stack.ss_size = small;
    coroutine.uc_link = &outside;
    makecontext(&coroutine, compute_in_coroutine, 0);
    swapcontext(&outside, &coroutine);
    printf("%.0f\n", of_coroutine);
    return 0;
}

/* ---- signal handlers ----------------------------------------------------- */

static struct work *of_handler;
static volatile double first, wrong;
static volatile sig_atomic_t handled;

static void compute_in_handler(int number)
{
    const double sum = compute(of_handler);

    (void)number;
    if (handled == 0)
        first = sum;
    if (sum != first)
        wrong++;
    handled = handled + 1;
}

static void handle(int number, int flags)
{
    const struct sigaction action = {.sa_handler = compute_in_handler,
                                     .sa_flags = flags};

    of_handler = new_work();
    sigaction(number, &action, NULL);
}

static int signal_stack(void)
{
    const stack_t stack = {.ss_sp = new_memory(small), .ss_size = small};

    sigaltstack(&stack, NULL);
    handle(SIGUSR1, SA_ONSTACK);
    printf("%.0f\n", compute_often(new_work(), 30));
    for (int i = 0; i < 30; i++)
        raise(SIGUSR1);
    printf("%d %.0f\n", (int)handled, first);
    return 0;
}

/* The handler interrupts calls, each at another moment. */
static int handlers(void)
{
    const struct itimerval never = {0};
    struct work *work = new_work();
    const double sum = compute(work);

    handle(SIGALRM, SA_RESTART);
    for (int i = 0; i < 150; i++) {
        const struct itimerval once = {.it_value.tv_usec = 20 + i * 37 % 800};
        setitimer(ITIMER_REAL, &once, NULL);
        if (compute(work) != sum)
            wrong++;
    }
    setitimer(ITIMER_REAL, &never, NULL);
    raise(SIGALRM);
    printf("%.0f %.0f, %.0f wrong\n", sum, first, wrong);
    return 0;
}

/* ---- signals to the process ----------------------------------------------
 * They are for the main thread, as long as it does not block them.
 */

static pid_t main_thread;
static volatile sig_atomic_t elsewhere;

/* Of the main thread, as the kernel tells it. */
static bool is_blocked(int signal)
{
    char text[4096] = "";
    const int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    const ssize_t got = file < 0 ? -1 : read(file, text, sizeof text - 1);
    const char *at = got < 0 ? NULL : strstr(text, "SigBlk:");

    close(file);
    return at == NULL ||
           (strtoull(at + strlen("SigBlk:"), NULL, 16) >> (signal - 1) & 1) !=
               0;
}

/* On a busy machine the kernel may choose another thread all the same, while
 * the main one is about to handle one. It does not block them meanwhile
 * (SA_NODEFER): it would have to be Takt that does. */
static void count(int number)
{
    handled = handled + 1;
    if (gettid() != main_thread && is_blocked(number))
        elsewhere = elsewhere + 1;
}

static void *wait_idly(void *self)
{
    for (;;)
        pause();
    return self;
}

/* A handler of the main thread that has lost its processor would block the
 * signal itself, if it were deferred. */
static int process_signals(void)
{
    const struct sigaction action = {.sa_handler = count,
                                     .sa_flags = SA_NODEFER};
    const struct itimerval often = {{0, 500}, {0, 500}}, never = {0};
    struct work *work = new_work();
    pthread_t idle;

    main_thread = gettid();
    compute(work);
    if (pthread_create(&idle, NULL, wait_idly, NULL) != 0)
        return 1;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    while (handled < 200)
        cblas_dsyrk(101, 121, 111, 24, 24, 1, work->a, order, 2, work->c,
                    order);
    setitimer(ITIMER_REAL, &never, NULL);
    printf("%d elsewhere\n", (int)elsewhere);
    return 0;
}

/* ---- without a main thread ----------------------------------------------- */

static void *compute_alone(void *self)
{
    usleep(100000); /* most likely after the main thread */
    printf("%.0f\n", compute_often(self, 30));
    return NULL;
}

/* The program ends with the other thread, or with this one. */
static int main_thread_ends(bool is_last)
{
    pthread_t thread;

    printf("%.0f\n", compute_often(new_work(), 30));
    if (!is_last && pthread_create(&thread, NULL, compute_alone, new_work()))
        return 1;
    pthread_exit(NULL);
}

int main(int count, char **words)
{
    const char *what = count > 1 ? words[1] : "";

    if (strcmp(what, "threads") == 0)
        return threads();
    if (strcmp(what, "coroutines") == 0)
        return coroutines();
    if (strcmp(what, "signal_stack") == 0)
        return signal_stack();
    if (strcmp(what, "handlers") == 0)
        return handlers();
    if (strcmp(what, "process_signals") == 0)
        return process_signals();
    if (strcmp(what, "main_thread_ends") == 0)
        return main_thread_ends(count > 2);
    fprintf(stderr, "usage: places WHAT\n");
    return 2;
}
