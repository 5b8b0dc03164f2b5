/* SPDX-License-Identifier: MIT */
/*
 * test_privileged.c - a setuid program does not do what its caller's
 * environment says.
 *
 * The test copies itself twice, once with the bit set, and runs both copies
 * with an environment that names libraries to load and files to write. The copy
 * without the bit obeys, which shows that the environment is a good one.
 */
#include "support/privileged.h"
#include "takt/takt.h"

/* ---- the program -----------------------------------------------------------
 */

static int compute(const char *wanted)
{
    static float a[256 * 256], c[256 * 256];

    if ((strcmp(wanted, "privileged") == 0) != (getauxval(AT_SECURE) != 0))
        return not_privileged; /* the file system ignores the bit */
    takt_ctx *ctx = takt_ctx_default();
    if (ctx == NULL || takt_matmul_f32(256, 256, 256, a, a, c) != TAKT_OK)
        return 1;
    takt_ctx_open_gpus(ctx);
    takt_ctx_flush(ctx);
    return 0;
}

static int run(const char *program, const char *wanted)
{
    int status = 0;

    fflush(stdout);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        setenv("TAKT_BLAS", path_of("blas.so"), 1);
        setenv("TAKT_CUDA", path_of("cuda.so"), 1);
        setenv("TAKT_VULKAN", path_of("vulkan.so"), 1);
        setenv("TAKT_OTEL", path_of("otel.so"), 1);
        setenv("TAKT_OTLP_FILE", path_of("spans"), 1);
        setenv("TAKT_GPU", "all", 1);
        setenv("TAKT_TRACE", path_of("trace"), 1);
        setenv("TAKT_DB", path_of("store.db"), 1);
        setenv("TAKT_LOG", "off", 1);
        execl(program, program, wanted, (char *)NULL);
        _exit(127);
    }
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static const char *const traces[] = {
    "blas.so.loaded", "cuda.so.loaded", "vulkan.so.loaded",
    "otel.so.loaded", "trace",          "store.db"};

static void only_an_ordinary_program_obeys_the_environment(void)
{
    if (geteuid() != 0) {
        SKIP("only root can make a setuid program of somebody else");
        return;
    }
    REQUIRE(chmod(folder, 0777) == 0);
    copy_file("/proc/self/exe", path_of("ordinary"), 0755);
    copy_file("/proc/self/exe", path_of("privileged"), 04755);
    static const char *const library[] = {"blas.so", "cuda.so", "vulkan.so",
                                          "otel.so"};
    for (size_t i = 0; i < sizeof library / sizeof *library; i++)
        copy_file(TAKT_TEST_MARKER, path_of(library[i]), 0755);

    const int status = run(path_of("privileged"), "privileged");
    if (status == not_privileged) {
        SKIP("the file system ignores the setuid bit");
        return;
    }
    EXPECT_INT(status, 0);
    for (size_t i = 0; i < sizeof traces / sizeof *traces; i++)
        TAP_CHECK(!exists(traces[i]), "there is %s", traces[i]);
    EXPECT_INT(run(path_of("ordinary"), "ordinary"), 0);
    for (size_t i = 0; i < sizeof traces / sizeof *traces; i++)
        TAP_CHECK(exists(traces[i]), "there is no %s", traces[i]);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return compute(argv[1]);
    REQUIRE(mkdtemp(folder) != NULL);
    RUN(only_an_ordinary_program_obeys_the_environment);
    remove_all();
    return tap_done();
}
