/* SPDX-License-Identifier: MIT */
/*
 * test_workspace.c - which manifest has the profiles. test_cargo.py asks Cargo
 * itself about the same layouts.
 */
#define _XOPEN_SOURCE 700 /* realpath() */

#include "project/folder.h"
#include "project/manifest.h"

static const char package[] = "[package]\nname = \"x\"\nversion = \"0.1.0\"\n";

/* Looks from a folder; the root is named relative to the test's own. */
static void expect_root(const char *from, const char *want)
{
    char real[PATH_MAX];
    takt_diag diag;
    char *path;

    const takt_status status =
        takt__manifest_find(in_folder(from), &path, &diag);
    TAP_CHECK(status == TAKT_OK, "%s: %d %s", from, (int)status, diag.text);
    REQUIRE(realpath(folder, real) != NULL);
    if (path != NULL)
        EXPECT_STR(path + strlen(real) + 1, want);
    free(path);
}

static void expect_failure(const char *from, takt_status want,
                           const char *because)
{
    takt_diag diag;
    char *path;

    EXPECT_INT(takt__manifest_find(in_folder(from), &path, &diag), want);
    EXPECT(path == NULL);
    TAP_CHECK(strstr(diag.text, because) != NULL, "%s: %s", from, diag.text);
}

static void a_package_alone_has_its_own(void)
{
    new_folder();
    put_file("Cargo.toml", package);
    expect_root(".", "Cargo.toml");
}

static void a_root_is_its_own(void)
{
    new_folder();
    put_file("Cargo.toml", "[workspace]\n");
    put_file("in/Cargo.toml", "[workspace]\nmembers = []\n");
    expect_root(".", "Cargo.toml");
    expect_root("in", "in/Cargo.toml");
}

static void a_member_has_that_of_the_root(void)
{
    new_folder();
    put_file("Cargo.toml", "[workspace]\nmembers = [\"crates/*\"]\n");
    put_file("crates/a/Cargo.toml", package);
    put_file("crates/b/deep/er/Cargo.toml", package);
    expect_root("crates/a", "Cargo.toml");
    expect_root("crates/b/deep/er", "Cargo.toml");
}

static void a_package_between_is_passed_over(void)
{
    new_folder();
    put_file("Cargo.toml", "[workspace]\n");
    put_file("a/Cargo.toml", package);
    put_file("a/b/Cargo.toml", package);
    expect_root("a/b", "Cargo.toml");
}

static void the_nearest_root_counts(void)
{
    new_folder();
    put_file("Cargo.toml", "[workspace]\n");
    put_file("a/Cargo.toml", "[workspace]\nmembers = [\"b\"]\n");
    put_file("a/b/Cargo.toml", package);
    expect_root("a/b", "a/Cargo.toml");
}

static void what_is_excluded_has_its_own(void)
{
    new_folder();
    put_file("Cargo.toml", "[workspace]\nexclude = [\"out\", \"./x/y/\"]\n");
    put_file("out/Cargo.toml", package);
    put_file("out/side/Cargo.toml", package);
    put_file("outer/Cargo.toml", package);
    put_file("x/Cargo.toml", package);
    put_file("x/y/z/Cargo.toml", package);
    expect_root("out", "out/Cargo.toml");
    expect_root("out/side", "out/side/Cargo.toml");
    expect_root("outer", "Cargo.toml");
    expect_root("x", "Cargo.toml");
    expect_root("x/y/z", "x/y/z/Cargo.toml");
}

static void a_member_by_name_is_not_excluded(void)
{
    new_folder();
    put_file("Cargo.toml", "[workspace]\nmembers = [\"out/a\"]\n"
                           "exclude = [\"out\"]\n");
    put_file("out/a/Cargo.toml", package);
    put_file("out/b/Cargo.toml", package);
    expect_root("out/a", "Cargo.toml");
    expect_root("out/b", "out/b/Cargo.toml");
}

static void the_root_above_the_one_that_excludes(void)
{
    new_folder();
    put_file("Cargo.toml", "[workspace]\nmembers = [\"a/b\"]\n");
    put_file("a/Cargo.toml", "[workspace]\nexclude = [\"b\"]\n");
    put_file("a/b/Cargo.toml", package);
    expect_root("a/b", "Cargo.toml");
}

static void a_package_can_name_its_root(void)
{
    new_folder();
    put_file("root/Cargo.toml", "[workspace]\nmembers = [\"../side\"]\n");
    put_file("side/Cargo.toml", "[package]\nname = \"x\"\nversion = \"0.1.0\"\n"
                                "workspace = \"../root\"\n");
    put_file("side/in/Cargo.toml", package);
    put_file("dots/Cargo.toml", "package.workspace = \"./../root/.\"\n");
    expect_root("side", "root/Cargo.toml");
    expect_root("side/in", "root/Cargo.toml");
    expect_root("dots", "root/Cargo.toml");
}

static void links_are_followed_to_the_folder(void)
{
    new_folder();
    put_file("ws/Cargo.toml", "[workspace]\n");
    put_file("ws/a/Cargo.toml", package);
    REQUIRE(symlink("ws/a", in_folder("link")) == 0);
    expect_root("link", "ws/Cargo.toml");
}

static void what_is_wrong_is_named(void)
{
    new_folder();
    expect_failure(".", TAKT_ENOENT, "");
    expect_failure("nowhere", TAKT_EIO, "nowhere: No such file");
    put_file("a/Cargo.toml", "package.workspace = \"../b\"\n");
    expect_failure("a", TAKT_EINVAL, "a/Cargo.toml:1:9: 'workspace' should be");
    put_file("b/Cargo.toml", package);
    expect_failure("a", TAKT_EINVAL, "b/Cargo.toml: should be the root");
    put_file("a/Cargo.toml", "[package]\nworkspace = 3\n");
    expect_failure("a", TAKT_EINVAL, "a/Cargo.toml:2:1: 'workspace' should be");
    put_file("Cargo.toml", "workspace = 3\n");
    expect_failure("b", TAKT_EINVAL, "/Cargo.toml:1:1: 'workspace' should be");
    put_file("Cargo.toml", "[workspace]\nexclude = [\n1]\n");
    expect_failure("b", TAKT_EINVAL, ":2:1: 'exclude' should be a list");
    put_file("Cargo.toml", "[workspace]\nmembers = \"a\"\n");
    expect_failure("b", TAKT_EINVAL, ":2:1: 'members' should be a list");
    put_file("Cargo.toml", "[workspace\n");
    expect_failure("b", TAKT_ECORRUPT, "/Cargo.toml:1:11: a ']' should be");
    put_file("b/Cargo.toml", "\xFF");
    expect_failure("b", TAKT_ECORRUPT, "b/Cargo.toml:1:1: this is not UTF-8");
}

static void a_profile_is_set_at_the_root(void)
{
    struct takt_manifest_change change;
    takt_diag diag;

    new_folder();
    put_file("Cargo.toml", "[workspace]\nmembers = [\"a\"]\n");
    put_file("a/Cargo.toml", package);
    REQUIRE(
        takt__manifest_plan(in_folder("a"), folder,
                            (struct takt_profile_wish){TAKT_PROFILE_FAST, true},
                            &change, &diag) == TAKT_OK);
    EXPECT(change.is_needed);
    char *diff = takt__manifest_diff(&change);
    EXPECT(strstr(diff, "@@ -1,2 +1,7 @@\n") != NULL);
    EXPECT(strstr(diff, "\n+[profile.release]\n+opt-level = 2\n") != NULL);
    EXPECT_STR(get_file("Cargo.toml"), change.old_text);
    EXPECT_INT(takt__manifest_write(&change, NULL, &diag), TAKT_OK);
    EXPECT_STR(get_file("Cargo.toml"), change.new_text);
    EXPECT_STR(get_file("a/Cargo.toml"), package);
    free(diff);
    takt__manifest_change_fini(&change);
}

int main(void)
{
    RUN(a_package_alone_has_its_own);
    RUN(a_root_is_its_own);
    RUN(a_member_has_that_of_the_root);
    RUN(a_package_between_is_passed_over);
    RUN(the_nearest_root_counts);
    RUN(what_is_excluded_has_its_own);
    RUN(a_member_by_name_is_not_excluded);
    RUN(the_root_above_the_one_that_excludes);
    RUN(a_package_can_name_its_root);
    RUN(links_are_followed_to_the_folder);
    RUN(what_is_wrong_is_named);
    RUN(a_profile_is_set_at_the_root);
    remove_all(folder);
    return tap_done();
}
