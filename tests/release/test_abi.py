#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A break of the ABI is refused by a line that names it; growth is not.

A few sources of the library are built with public headers that were changed, and
compared with what they were.
usage: test_abi.py SOURCE BUILD
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE, BUILD = (pathlib.Path(path) for path in sys.argv[1:3])
CHECK = str(SOURCE / "tools/check_abi.py")

if shutil.which("abidiff") is None:
    print("there is no abidiff (abigail-tools)")
    sys.exit(77)


def run(*words):
    return subprocess.run(words, capture_output=True, text=True, timeout=600)


class Library(unittest.TestCase):
    def test_it_keeps_what_the_last_release_promised(self):
        ran = run(CHECK, str(BUILD / "libtakt.so"))
        # (compared one by one: unittest cuts long texts in tuples)
        self.assertEqual(ran.returncode, 0, f"\n{ran.stdout}{ran.stderr}")
        self.assertEqual(ran.stdout + ran.stderr, "")

    def test_a_library_without_descriptions_is_not_believed(self):
        with tempfile.TemporaryDirectory() as folder:
            bare = folder + "/libtakt.so"
            run("strip", "-o", bare, str(BUILD / "libtakt.so"))
            ran = run(CHECK, bare)
        self.assertEqual(ran.returncode, 1)
        self.assertIn("build them with -g", ran.stderr)


class Changes(unittest.TestCase):
    SOURCES = ("base/status.c", "policy/cost.c", "call/select.c")

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        shutil.copytree(SOURCE / "include", cls.folder / "before")
        cls.build("before", cls.folder / "before.so")
        ran = run(CHECK, str(cls.folder / "before.so"), "--update", *cls.options(
            "before"))
        assert ran.returncode == 0, ran.stderr

    @classmethod
    def options(cls, headers):
        return ("--abi", str(cls.folder / "before.abi"), "--headers",
                str(cls.folder / headers / "takt"))

    @classmethod
    def build(cls, headers, target, *flags):
        ran = run("gcc", "-g", "-O0", "-fPIC", "-shared", "-std=c17",
                  "-fvisibility=hidden", "-D_POSIX_C_SOURCE=200809L",
                  "-Wl,--unresolved-symbols=ignore-all",
                  "-Wl,-soname,libtakt.so.0", f"-I{SOURCE / 'src'}",
                  f"-I{cls.folder / headers}", *flags, "-o", str(target),
                  *(str(SOURCE / "src" / name) for name in cls.SOURCES))
        assert ran.returncode == 0, ran.stderr

    def compare(self, header=None, old="", new="", flags=()):
        """What the check says when `old` of a header is `new`."""
        after = self.folder / "after"
        shutil.rmtree(after, ignore_errors=True)
        shutil.copytree(self.folder / "before", after)
        if header is not None:
            text = (after / "takt" / header).read_text()
            self.assertEqual(text.count(old), 1, f"{header} has no '{old}'")
            (after / "takt" / header).write_text(text.replace(old, new))
        library = self.folder / "after.so"
        self.build("after", library, *flags)
        ran = run(CHECK, str(library), *self.options("after"))
        self.assertEqual(ran.stderr, "")
        return ran.returncode, ran.stdout

    def refused(self, *change, says=(), **options):
        status, said = self.compare(*change, **options)
        self.assertEqual(status, 1, said)
        for word in says:
            self.assertIn(word, said)

    def test_nothing_changed(self):
        self.assertEqual(self.compare(), (0, ""))

    def test_a_member_inserted_in_a_struct(self):
        self.refused("context.h", "    takt_policy policy;\n    const takt_op",
                     "    takt_policy policy;\n    double inserted;\n"
                     "    const takt_op", says=("takt_request", "inserted"))

    def test_a_member_at_the_end_of_a_struct_with_a_size(self):
        self.assertEqual(self.compare("context.h", "} takt_request;",
                                      "    double added;\n} takt_request;"),
                         (0, ""))

    def test_a_member_at_the_end_of_a_struct_that_never_changes(self):
        self.refused("policy.h", "} takt_cost_model;",
                     "    double added;\n} takt_cost_model;",
                     says=("takt_cost_model", "added"))

    def test_a_function_removed(self):
        self.refused(flags=["-Dtakt_status_text=takt_status_words"],
                     says=("[D]", "takt_status_text"))

    def test_a_member_of_another_type(self):
        self.refused("policy.h", "    double gpu_flops;", "    long gpu_flops;",
                     says=("takt_cost_model", "gpu_flops"))

    def test_growth_hides_no_break(self):
        self.refused("context.h", "    unsigned flags;        /* as in takt_call:"
                     " transposes and the like */\n    unsigned situation;    "
                     "/* TAKT_SITUATION_... */\n",
                     "    float flags;\n    unsigned situation;\n"
                     "    double added;\n", says=("takt_request", "flags"))

    def test_a_new_enumerator(self):
        self.assertEqual(self.compare("status.h", "    TAKT_OK = 0,",
                                      "    TAKT_NEW = 999,\n    TAKT_OK = 0,"),
                         (0, ""))

    def test_an_enumerator_of_another_value(self):
        self.refused("status.h", "TAKT_OK = 0", "TAKT_OK = -7",
                     says=("TAKT_OK",))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
