/* SPDX-License-Identifier: MIT */
/* test_privileged.c - what the libraries of the exporter do for the caller of a
 * setuid program that exports. */
#include "support/privileged.h"
#include "takt/otlp.h"

/* Nobody listens there. */
static int export(const char *wanted)
{
    const takt_otlp_options options = {.size = sizeof options,
                                       .endpoint = "https://127.0.0.1:9"};
    takt_machine *machine;
    takt_sink sink;

    if ((strcmp(wanted, "privileged") == 0) != (getauxval(AT_SECURE) != 0))
        return not_privileged;
    if (takt_machine_create(NULL, &machine) != TAKT_OK ||
        takt_otel_open(TAKT_OTEL_VERSION, &options, machine, &sink, NULL) !=
            TAKT_OK)
        return 1;
    sink.close(sink.self, 1000);
    takt_machine_destroy(machine);
    return getenv("SSLKEYLOGFILE") != NULL ? 0 : 2;
}

static int run(const char *program)
{
    int status = 0;

    fflush(stdout);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        setenv("SSLKEYLOGFILE", path_of("keys"), 1);
        execl(path_of(program), program, program, (char *)NULL);
        _exit(127);
    }
    REQUIRE(waitpid(child, &status, 0) == child && WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void keys_are_not_written_where_the_caller_says(void)
{
    if (geteuid() != 0) {
        SKIP("only root can make a setuid program of somebody else");
        return;
    }
    REQUIRE(chmod(folder, 0777) == 0);
    copy_file("/proc/self/exe", path_of("ordinary"), 0755);
    copy_file("/proc/self/exe", path_of("privileged"), 04755);
    EXPECT_INT(run("ordinary"), 0);
    if (!exists("keys")) {
        SKIP("this libcurl writes no keys");
        return;
    }
    unlink(path_of("keys"));
    const int status = run("privileged");
    if (status == not_privileged) {
        SKIP("the file system ignores the setuid bit");
        return;
    }
    EXPECT_INT(status, 0);
    EXPECT(!exists("keys"));
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return export(argv[1]);
    REQUIRE(mkdtemp(folder) != NULL);
    RUN(keys_are_not_written_where_the_caller_says);
    remove_all();
    return tap_done();
}
