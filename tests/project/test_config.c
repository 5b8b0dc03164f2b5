/* SPDX-License-Identifier: MIT */
/* test_config.c - what takt.toml may say, and what is said about the rest. */
#include "project/config.h"

#include "project/folder.h"

static char warnings[4096];

static void keep_warning(void *self, const char *line)
{
    EXPECT(self == warnings);
    strcat(warnings, line);
    strcat(warnings, "\n");
}

static takt_status parse(const char *name, const char *text,
                         struct takt_project_config *config, takt_diag *diag)
{
    warnings[0] = '\0';
    return takt__config_parse(name, text, strlen(text), keep_warning, warnings,
                              config, diag);
}

static void expect_defaults(const struct takt_project_config *config)
{
    EXPECT(config->path == NULL);
    EXPECT(!config->is_batuta);
    EXPECT_INT(config->given, 0);
    EXPECT_INT(config->profile, TAKT_PROFILE_BALANCED);
    EXPECT(config->enable_simd);
    EXPECT(!config->enable_gpu);
    EXPECT_INT(config->gpu_threshold, 500);
    EXPECT(!config->use_moe_routing);
    EXPECT(config->output_dir == NULL);
    EXPECT(config->test_command == NULL);
    EXPECT(config->build_command == NULL);
}

static void without_a_file_there_are_defaults(void)
{
    struct takt_project_config config;
    takt_diag diag;

    new_folder();
    EXPECT_INT(
        takt__config_load(folder, keep_warning, warnings, &config, &diag),
        TAKT_OK);
    expect_defaults(&config);
    EXPECT_STR(diag.text, "");
}

static void everything_can_be_said(void)
{
    struct takt_project_config config;
    takt_diag diag;

    EXPECT_INT(parse("takt.toml",
                     "[optimization]\nprofile = \"Aggressive\"\n"
                     "enable_simd = false\nenable_gpu = true\n"
                     "gpu_threshold = 1_024\nuse_moe_routing = true\n"
                     "[transpilation]\noutput_dir = './out'\n"
                     "[validation]\ntest_command = \"make \\\"x\\\"\"\n"
                     "[build]\ncommand = \"\"\"\nmake\nall\"\"\"\n",
                     &config, &diag),
               TAKT_OK);
    EXPECT_INT(config.profile, TAKT_PROFILE_AGGRESSIVE);
    EXPECT(!config.enable_simd);
    EXPECT(config.enable_gpu);
    EXPECT_INT(config.gpu_threshold, 1024);
    EXPECT(config.use_moe_routing);
    EXPECT_STR(config.output_dir, "./out");
    EXPECT_STR(config.test_command, "make \"x\"");
    EXPECT_STR(config.build_command, "make\nall");
    EXPECT_INT(config.given, 255);
    EXPECT_STR(warnings, "");
    takt__config_fini(&config);
    expect_defaults(&config);
}

static void any_part_can_be_left_out(void)
{
    static const struct {
        const char *text;
        unsigned given;
    } parts[] = {
        {"", 0},
        {"# nothing\n", 0},
        {"[optimization]\n", 0},
        {"[build]\n[validation]\n", 0},
        {"optimization.enable_gpu = true", TAKT_GIVEN_GPU},
        {"optimization = { gpu_threshold = 9 }", TAKT_GIVEN_GPU_THRESHOLD},
        {"[\"optimization\"]\n'profile' = 'fast'", TAKT_GIVEN_PROFILE},
        {"\xEF\xBB\xBF[build]\r\ncommand='x'\r\n", TAKT_GIVEN_BUILD_COMMAND}};
    struct takt_project_config config;

    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        EXPECT_INT(parse("takt.toml", parts[i].text, &config, NULL), TAKT_OK);
        EXPECT_INT(config.given, parts[i].given);
        EXPECT_STR(warnings, "");
        takt__config_fini(&config);
    }
}

static void wrong_values_are_refused_by_line_and_column(void)
{
    static const struct {
        const char *text, *why;
    } wrong[] = {
        {"[optimization]\nenable_gpu = 1\n",
         "t.toml:2:14: optimization.enable_gpu should be a boolean, not an "
         "integer"},
        {"[optimization]\n\n  enable_simd = \"yes\"\n",
         "t.toml:3:17: optimization.enable_simd should be a boolean, not a "
         "string"},
        {"[optimization]\ngpu_threshold = 500.0\n",
         "t.toml:2:17: optimization.gpu_threshold should be an integer, not a "
         "float"},
        {"[optimization]\ngpu_threshold = true\n",
         "t.toml:2:17: optimization.gpu_threshold should be an integer, not a "
         "boolean"},
        {"[optimization]\nprofile = [\"fast\"]\n",
         "t.toml:2:11: optimization.profile should be a string, not an array"},
        {"[optimization.profile]\n",
         "t.toml:1:15: optimization.profile should be a string, not a table"},
        {"[build]\ncommand = 2024-01-01\n",
         "t.toml:2:11: build.command should be a string, not a date or time"},
        {"[optimization]\nuse_moe_routing = {}\n",
         "t.toml:2:19: optimization.use_moe_routing should be a boolean, not a "
         "table"},
        {"[optimization]\nprofile = \"quick\"\n",
         "t.toml:2:11: profile should be \"fast\", \"balanced\" or "
         "\"aggressive\""},
        {"[optimization]\nprofile = \"fast\\u0000\"\n",
         "t.toml:2:11: profile should be \"fast\", \"balanced\" or "
         "\"aggressive\""},
        {"[optimization]\ngpu_threshold = 0\n",
         "t.toml:2:17: gpu_threshold should be at least 1"},
        {"[optimization]\ngpu_threshold = -5\n",
         "t.toml:2:17: gpu_threshold should be at least 1"},
        {"[transpilation]\noutput_dir = \"\"\n",
         "t.toml:2:14: output_dir should not be empty"},
        {"[build]\ncommand = \"a\\u0000b\"\n",
         "t.toml:2:11: command should have no character 0"},
        {"é = 1\n", "t.toml:1:1: a key should be here"},
        {"optimization = 3\n", "t.toml:1:16: optimization should be a table"},
        {"[[optimization]]\n", "t.toml:1:1: optimization should be a table"},
        {"[optimization]\nprofile = \"é\" x\n",
         "t.toml:2:15: the line should end here, or a comment begin"},
        {"[optimization]\nprofile = fast\n", "t.toml:2:11: this is no value"},
    };
    struct takt_project_config config;
    takt_diag diag;

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const takt_status status =
            parse("t.toml", wrong[i].text, &config, &diag);
        EXPECT(status == TAKT_EINVAL || status == TAKT_ECORRUPT);
        EXPECT_STR(diag.text, wrong[i].why);
        expect_defaults(&config);
    }
}

static void unknown_keys_are_warned_about(void)
{
    struct takt_project_config config;

    EXPECT_INT(parse("takt.toml",
                     "[optimization]\nenable_gpus = true\n"
                     "  gpu_treshold = 1\nwhatever = 2\n\n"
                     "[optimisation]\nprofile = \"fast\"\n\n"
                     "[build]\ntest_command = \"x\"\n\n[build.deep]\nx = 1\n"
                     "[Optimization]\n[other]\n",
                     &config, NULL),
               TAKT_OK);
    EXPECT_INT(config.given, 0);
    EXPECT_STR(
        warnings,
        "takt.toml:2:1: 'optimization.enable_gpus' is not known; did you mean "
        "'enable_gpu'?\n"
        "takt.toml:3:3: 'optimization.gpu_treshold' is not known; did you mean "
        "'gpu_threshold'?\n"
        "takt.toml:4:1: 'optimization.whatever' is not known\n"
        "takt.toml:6:2: 'optimisation' is not known; did you mean "
        "'optimization'?\n"
        "takt.toml:10:1: 'build.test_command' is not known; it belongs into "
        "[validation]\n"
        "takt.toml:12:8: 'build.deep' is not known\n"
        "takt.toml:14:2: 'Optimization' is not known; did you mean "
        "'optimization'?\n"
        "takt.toml:15:2: 'other' is not known\n");
    takt__config_fini(&config);
    EXPECT_INT(
        takt__config_parse("takt.toml", "x = 1", 5, NULL, NULL, &config, NULL),
        TAKT_OK);
}

static void a_name_with_a_nul_is_another_name(void)
{
    struct takt_project_config config;

    EXPECT_INT(parse("takt.toml",
                     "[optimization]\n\"enable_gpu\\u0000\" = true\n"
                     "[\"build\\u0000\"]\ncommand = 3\n",
                     &config, NULL),
               TAKT_OK);
    EXPECT_INT(config.given, 0);
    EXPECT(warnings[0] != '\0');
    takt__config_fini(&config);
}

/* As the other tool writes it. */
static const char batuta[] =
    "version = \"1.0\"\n\n[project]\nname = \"demo\"\nauthors = []\n\n"
    "[source]\npath = \".\"\nexclude = [\".git\", \"target\"]\n\n"
    "[transpilation]\noutput_dir = \"./rust-output\"\nincremental = true\n"
    "[transpilation.decy]\nownership_inference = true\n\n"
    "[optimization]\nprofile = \"fast\"\nenable_simd = true\n"
    "enable_gpu = true\ngpu_threshold = 700\nuse_moe_routing = true\n\n"
    "[optimization.trueno]\nbackends = [\"simd\", \"cpu\"]\n"
    "cpu_threshold = 500\n\n"
    "[validation]\ntrace_syscalls = true\n\n[validation.renacer]\n"
    "trace_syscalls = []\n\n[build]\nrelease = true\ncargo_flags = []\n";

static void the_other_tool_s_file_is_read(void)
{
    struct takt_project_config config;

    new_folder();
    warnings[0] = '\0';
    put_file("batuta.toml", batuta);
    EXPECT_INT(takt__config_load(folder, keep_warning, warnings, &config, NULL),
               TAKT_OK);
    EXPECT(config.is_batuta);
    EXPECT_STR(config.path, in_folder("batuta.toml"));
    EXPECT_STR(warnings, "");
    EXPECT_STR(config.output_dir, "./rust-output");
    EXPECT_INT(config.profile, TAKT_PROFILE_FAST);
    EXPECT_INT(config.gpu_threshold, 700);
    EXPECT(config.enable_gpu && config.use_moe_routing);
    takt__config_fini(&config);
}

static void only_what_was_meant_for_us_is_warned_about_there(void)
{
    struct takt_project_config config;

    EXPECT_INT(parse("x/batuta.toml",
                     "[optimization]\nenable_gpus = true\nother = 1\n", &config,
                     NULL),
               TAKT_OK);
    EXPECT_STR(warnings, "x/batuta.toml:2:1: 'optimization.enable_gpus' is not "
                         "known; did you mean 'enable_gpu'?\n");
    takt__config_fini(&config);
}

static void our_own_file_comes_first(void)
{
    struct takt_project_config config;

    new_folder();
    put_file("batuta.toml", batuta);
    put_file("takt.toml", "[optimization]\ngpu_threshold = 9\n");
    char with_slash[80];
    snprintf(with_slash, sizeof with_slash, "%s/", folder);
    EXPECT_INT(takt__config_load(with_slash, NULL, NULL, &config, NULL),
               TAKT_OK);
    EXPECT_STR(config.path, in_folder("takt.toml"));
    EXPECT(!config.is_batuta);
    EXPECT_INT(config.given, TAKT_GIVEN_GPU_THRESHOLD);
    EXPECT_INT(config.profile, TAKT_PROFILE_BALANCED);
    takt__config_fini(&config);
}

static void a_file_that_is_none_is_an_error(void)
{
    struct takt_project_config config;
    takt_diag diag;

    new_folder();
    REQUIRE(mkdir(in_folder("takt.toml"), 0777) == 0);
    put_file("batuta.toml", batuta);
    EXPECT_INT(takt__config_load(folder, NULL, NULL, &config, &diag), TAKT_EIO);
    EXPECT(strstr(diag.text, "takt.toml: is no file") != NULL);
    expect_defaults(&config);
}

static void profiles_have_names(void)
{
    enum takt_profile profile = TAKT_PROFILE_FAST;

    for (int i = 0; i < TAKT_PROFILES; i++) {
        EXPECT(takt__profile_parse(takt__profile_name((enum takt_profile)i),
                                   &profile));
        EXPECT_INT(profile, i);
    }
    EXPECT(!takt__profile_parse("", &profile));
    EXPECT(!takt__profile_parse("faster", &profile));
    EXPECT_INT(profile, TAKT_PROFILE_AGGRESSIVE);
}

int main(void)
{
    RUN(without_a_file_there_are_defaults);
    RUN(everything_can_be_said);
    RUN(any_part_can_be_left_out);
    RUN(wrong_values_are_refused_by_line_and_column);
    RUN(unknown_keys_are_warned_about);
    RUN(a_name_with_a_nul_is_another_name);
    RUN(the_other_tool_s_file_is_read);
    RUN(only_what_was_meant_for_us_is_warned_about_there);
    RUN(our_own_file_comes_first);
    RUN(a_file_that_is_none_is_an_error);
    RUN(profiles_have_names);
    remove_all(folder);
    return tap_done();
}
