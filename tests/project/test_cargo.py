#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Profiles that were written, judged by others: Cargo builds with them and
looks for workspaces, tomllib reads them, patch applies the diffs.

usage: test_cargo.py PATH_TO_DRIVE [--all]

Who is not there is left out, and it is said. Cargo builds one in eight of the
manifests, or --all, which takes a minute or two.
"""
import copy
import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

try:
    import tomllib
except ImportError:  # before Python 3.11
    tomllib = None

DRIVE = sys.argv[1]
BUILDS_ALL = "--all" in sys.argv[2:]
HERE = pathlib.Path(__file__).resolve().parent
PROFILES = {
    "fast": {"opt-level": 2, "lto": "off", "codegen-units": 16},
    "balanced": {"opt-level": 3, "lto": "thin", "codegen-units": 4},
    "aggressive": {"opt-level": 3, "lto": "fat", "codegen-units": 1,
                   "strip": "symbols"},
}
PACKAGE = '[package]\nname = "demo"\nversion = "0.1.0"\nedition = "2021"\n'
# Nothing from outside, and nobody's settings.
ENVIRONMENT = {name: value for name, value in os.environ.items()
               if not re.match("CARGO_|RUSTFLAGS|RUSTC", name)}
# For all, because Cargo keeps there what it found out about the compiler.
ROOM = tempfile.TemporaryDirectory()
TARGET = ROOM.name + "/target"
ENVIRONMENT |= {"CARGO_NET_OFFLINE": "true", "CARGO_TERM_COLOR": "never",
                "CARGO_TARGET_DIR": TARGET, "CARGO_HOME": ROOM.name + "/home"}


def run(*words, **options):
    return subprocess.run(words, capture_output=True, text=True, timeout=600,
                          **options)


def cargo(folder, *words):
    return run("cargo", *words, cwd=folder, env=ENVIRONMENT)


@functools.cache
def has_cargo():
    """A cargo that compiles: rustup's may have nothing behind it."""
    if shutil.which("cargo") is None:
        return False
    with tempfile.TemporaryDirectory() as folder:
        write(folder, {"Cargo.toml": PACKAGE, "src/lib.rs": ""})
        return cargo(folder, "build", "--offline").returncode == 0


def write(folder, files):
    for name, text in files.items():
        path = pathlib.Path(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())


def cases():
    """(profile, what it shows, before) for each that is not refused."""
    text = (HERE / "profiles.cases").read_bytes().decode()
    for case in text.split("\n=== ")[1:]:
        title, rest = case.split("\n", 1)
        before, after = re.split("^---", rest, maxsplit=1, flags=re.M)
        if not after.startswith(" !"):
            profile, name = title.removeprefix("unasked ").split(": ", 1)
            yield profile, name, re.sub(r"\n\\\n\Z", "", before)


def is_equivalent(key, has, value):
    """Cargo takes several words for the same."""
    return (key, value) in (("lto", "fat"), ("strip", "symbols")) and \
        has is True or key == "lto" and value == "off" and \
        has in ("n", "no", "none")


class Folder(unittest.TestCase):
    def setUp(self):
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        self.folder = pathlib.Path(kept.name).resolve()

    def put(self, files):
        shutil.rmtree(self.folder)
        self.folder.mkdir()
        write(self.folder, files)

    def read(self, name="Cargo.toml"):
        return (self.folder / name).read_bytes().decode()

    def set(self, profile, where="."):
        ran = run(DRIVE, "set", str(self.folder / where), profile)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        return ran.stdout.splitlines()[0]


@unittest.skipIf(tomllib is None, "Python has no tomllib before 3.11")
class Read(Folder):
    """By another reader, exactly the keys of the table are different."""

    def test_exactly_the_keys_are_set(self):
        for _, name, before in cases():
            for profile, keys in PROFILES.items():
                with self.subTest(name, profile=profile):
                    try:
                        want = tomllib.loads(before)
                    except tomllib.TOMLDecodeError:
                        continue  # of version 1.1
                    self.put({"Cargo.toml": before})
                    self.set(profile)
                    got = tomllib.loads(self.read().replace("\r\n", "\n"))
                    release = want.setdefault("profile", {}) \
                                  .setdefault("release", {})
                    aggressive = PROFILES["aggressive"]
                    was_ours = all(release.get(key) == value for key, value
                                   in aggressive.items())
                    if was_ours and "strip" not in got["profile"]["release"]:
                        del release["strip"]
                    after = got["profile"]["release"]
                    keys = {key: value for key, value in keys.items()
                            if not is_equivalent(key, release.get(key), value)}
                    if release.get("debug", "none") not in (0, False, "none"):
                        keys.pop("strip", None)
                    release |= keys
                    self.assertEqual(after, release)
                    self.assertEqual(got, want)


@unittest.skipIf(shutil.which("patch") is None, "there is no patch")
class Patch(Folder):
    def test_the_diff_makes_the_new_text_of_the_old(self):
        for profile, name, before in cases():
            with self.subTest(name):
                self.put({"Cargo.toml": before})
                ran = run(DRIVE, "diff", str(self.folder), profile)
                self.assertEqual((ran.returncode, ran.stderr), (0, ""))
                self.assertEqual(self.read(), before)
                changed = self.set(profile) == "changed"
                self.assertEqual(ran.stdout != "", changed)
                if not changed:
                    continue
                after = self.read()
                self.put({"copy": before})
                patched = run("patch", "--binary", str(self.folder / "copy"),
                              input=ran.stdout)
                self.assertEqual(patched.returncode, 0, patched.stdout)
                self.assertEqual(self.read("copy"), after)


# What Cargo refuses before and after, for reasons that are not ours.
REFUSED = {"a number sign in a string",  # as a value of debug
           "a value over several lines"}  # rustflags are not stable
# What Cargo takes since it reads version 1.1 of TOML.
RECENT = {"braces over several lines",
          "braces over several lines, no comma at the end"}


@unittest.skipUnless(has_cargo(), "there is no cargo that can build")
class Build(Folder):
    def build(self, where="."):
        return cargo(self.folder / where, "build", "--release", "--offline",
                     "-v")

    def flags(self, ran, crate="demo"):
        """Of the compiler, for one crate."""
        lines = [line for line in ran.stderr.splitlines()
                 if f"--crate-name {crate} " in line and "Running" in line]
        self.assertEqual(len(lines), 1, ran.stderr)
        return dict((flag.split("=", 1) + ["fat"])[:2] for flag in
                    re.findall("-C ([a-z-]+(?:=[^ `]+)?)", lines[0]))

    def expect_flags(self, flags, profile, lto=True):
        """LTO is for what is linked; the aggressive one is the default of
        the flag, and strip may be what Cargo does by itself."""
        keys = PROFILES[profile]
        self.assertEqual(flags["opt-level"], str(keys["opt-level"]))
        self.assertEqual(flags["codegen-units"], str(keys["codegen-units"]))
        if lto:
            self.assertEqual(flags["lto"], keys["lto"])
        if "strip" in keys:
            self.assertEqual(flags["strip"], "symbols")
        else:
            self.assertNotEqual(flags.get("strip"), "symbols")

    def test_every_case_that_is_a_package_builds(self):
        built = 0
        files = {"src/lib.rs": "pub fn one() -> u32 { 1 }\n",
                 "x.rs": "fn main() {}\n"}
        packages = [case for case in cases() if PACKAGE in case[2]]
        for profile, name, before in packages[::1 if BUILDS_ALL else 8]:
            with self.subTest(name):
                self.put({"Cargo.toml": before} | files)
                if name in RECENT and self.build().returncode != 0:
                    continue
                self.set(profile)
                ran = self.build()
                if name in REFUSED:
                    self.put({"Cargo.toml": before} | files)
                    self.assertNotEqual(self.build().returncode, 0)
                    continue
                self.assertEqual(ran.returncode, 0, ran.stderr)
                flags = self.flags(ran)
                if "stays" in name and "strip" in name:
                    flags["strip"] = None  # somebody else's
                if "package" not in before.split(PACKAGE)[1] and \
                        "release.package" not in before:
                    self.expect_flags(flags, profile, lto=False)
                built += 1
        self.assertGreaterEqual(built, 70 if BUILDS_ALL else 8)
        print(f"{built} manifests built", file=sys.stderr)

    def test_nothing_is_lowered_that_nobody_asked_for(self):
        self.put({"Cargo.toml": PACKAGE + "\n[profile.release]\n"
                  "lto = true\ncodegen-units = 1\nopt-level = 's'\n",
                  "src/main.rs": "fn main() {}\n"})
        for profile in PROFILES:
            ran = run(DRIVE, "raise", str(self.folder), profile)
            self.assertEqual(ran.stdout.splitlines()[0],
                             "changed" if profile == "aggressive"
                             else "unchanged")
        flags = self.flags(self.build())
        self.assertEqual((flags["opt-level"], flags["codegen-units"],
                          flags["lto"], flags["strip"]),
                         ("s", "1", "fat", "symbols"))

    def test_programs_are_linked_as_the_profile_says(self):
        sections = {
            "none": "",
            "section": "\n[profile.release] # ours\ndebug = 0\nlto = false\n",
            "braces": "\n[profile]\nrelease = { panic = 'abort' }\n",
            "dots": "\n[profile]\nrelease.incremental = false\n",
        }
        for profile in PROFILES:
            for name, section in sections.items():
                if profile != "fast" and name != "none":
                    continue  # linking takes seconds, and shows nothing new
                with self.subTest(profile, section=name):
                    self.put({"Cargo.toml": PACKAGE + section,
                              "src/main.rs":
                              'fn main() { println!("hello"); }\n'})
                    self.assertEqual(self.set(profile), "changed")
                    ran = self.build()
                    self.assertEqual(ran.returncode, 0, ran.stderr)
                    self.assertNotIn("warning", ran.stderr)
                    self.expect_flags(self.flags(ran), profile)
                    program = run(TARGET + "/release/demo")
                    self.assertEqual(program.stdout, "hello\n")
                    self.assertEqual(self.set(profile), "unchanged")

    def test_all_kinds_of_libraries_build(self):
        for kind in ("lib", "rlib", "dylib", "cdylib", "staticlib",
                     "proc-macro"):
            with self.subTest(kind):
                self.put({"Cargo.toml": PACKAGE +
                          f'\n[lib]\ncrate-type = ["{kind}"]\n',
                          "src/lib.rs": ""})
                self.set("aggressive")
                ran = self.build()
                self.assertEqual(ran.returncode, 0, ran.stderr)

    def test_a_member_is_built_with_the_profile_of_the_root(self):
        member = PACKAGE.replace("demo", "member")
        for root in ('[workspace]\nmembers = ["crates/*"]\n',
                     PACKAGE + '\n[workspace]\nmembers = ["crates/member"]\n'):
            for profile in PROFILES:
                with self.subTest(root, profile=profile):
                    self.put({"Cargo.toml": root, "src/lib.rs": "",
                              "crates/member/Cargo.toml": member,
                              "crates/member/src/lib.rs": ""})
                    self.set(profile, "crates/member")
                    self.assertEqual(self.read("crates/member/Cargo.toml"),
                                     member)
                    ran = self.build("crates/member")
                    self.assertEqual(ran.returncode, 0, ran.stderr)
                    self.assertNotIn("will be ignored", ran.stderr)
                    self.expect_flags(self.flags(ran, "member"), profile,
                                      lto=False)


WORKSPACES = {
    "alone": {"Cargo.toml": PACKAGE},
    "root": {"Cargo.toml": "[workspace]\n" + PACKAGE},
    "globs": {"Cargo.toml": '[workspace]\nmembers = ["c/*"]\n',
              "c/a/Cargo.toml": "A", "c/b/Cargo.toml": "B"},
    "excluded": {"Cargo.toml": '[workspace]\nexclude = ["out", "./x/y/"]\n',
                 "out/Cargo.toml": "A", "out/in/Cargo.toml": "B",
                 "x/y/z/Cargo.toml": "C"},
    "excluded, but a member": {
        "Cargo.toml": '[workspace]\nmembers = ["out/a"]\nexclude = ["out"]\n',
        "out/a/Cargo.toml": "A", "out/b/Cargo.toml": "B"},
    "excluded, but a member by a glob": {
        "Cargo.toml": '[workspace]\nmembers = ["out/*"]\n'
                      'exclude = ["out/b"]\n',
        "out/a/Cargo.toml": "A", "out/b/Cargo.toml": "B"},
    "a glob excludes nothing": {
        "Cargo.toml": '[workspace]\nmembers = ["c/a"]\nexclude = ["c/*"]\n',
        "c/a/Cargo.toml": "A", "c/b/Cargo.toml": "B"},
    "a pointer": {"root/Cargo.toml": '[workspace]\nmembers = ["../side"]\n',
                  "side/Cargo.toml": 'Aworkspace = "../root"\n'},
    "nested": {"Cargo.toml": "[workspace]\n",
               "a/Cargo.toml": '[workspace]\nmembers = ["b"]\n',
               "a/b/Cargo.toml": "B"},
    "a package between": {
        "Cargo.toml": '[workspace]\nmembers = ["a", "a/b"]\n',
        "a/Cargo.toml": "A", "a/b/Cargo.toml": "B"},
    "a dependency by its path": {
        "Cargo.toml": '[workspace]\nmembers = ["a"]\n',
        "a/Cargo.toml": 'A[dependencies]\nb = { path = "../b" }\n',
        "b/Cargo.toml": "B"},
    "the root above the one that excludes": {
        "Cargo.toml": '[workspace]\nmembers = ["a/b"]\n',
        "a/Cargo.toml": '[workspace]\nexclude = ["b"]\n',
        "a/b/Cargo.toml": "B"},
}


@unittest.skipUnless(has_cargo(), "there is no cargo that can build")
class Workspace(Folder):
    def test_the_root_is_the_one_that_cargo_finds(self):
        asked = 0
        for name, files in WORKSPACES.items():
            made = copy.copy(files)
            for path, text in files.items():
                if text[0] in "ABC":
                    made[path] = PACKAGE.replace("demo", text[0].lower()) + \
                        text[1:]
                made[path.replace("Cargo.toml", "src/lib.rs")] = ""
            self.put(made)
            for path in files:
                with self.subTest(name, path=path):
                    where = (self.folder / path).parent
                    found = cargo(where, "locate-project", "--workspace",
                                  "--message-format", "plain", "--offline")
                    if found.returncode != 0:
                        # It is in the folders of a workspace, and neither
                        # member nor excluded.
                        self.assertIn("believes it's in a workspace",
                                      found.stderr)
                        continue
                    asked += 1
                    ours = run(DRIVE, "root", str(where))
                    self.assertEqual(ours.stdout, found.stdout, ours.stderr)
        self.assertGreaterEqual(asked, 20)


if __name__ == "__main__":
    words = [word for word in sys.argv[2:] if word != "--all"]
    unittest.main(argv=[sys.argv[0], *words], verbosity=1)
