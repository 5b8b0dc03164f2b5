#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What is installed was built to make memory errors hard to exploit.

Every ELF file of an installation is looked at, so that a new one cannot be
forgotten; and programs that lack each protection show that it would be seen.
usage: test_hardening.py BUILD
"""
import os
import pathlib
import platform
import subprocess
import sys
import tempfile
import unittest

BUILD = sys.argv[1]


def says(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True,
                          timeout=600).stdout


def is_elf(path):
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def stack_is_executable(headers):
    line = [x for x in headers.splitlines() if "GNU_STACK" in x]
    return not line or "E" in line[0].split()[-2]


def faults(path):
    """What is wrong with one ELF file."""
    headers, dynamic = says("readelf", "-Wl", path), says("readelf", "-d", path)
    bad = []
    if "GNU_RELRO" not in headers:
        bad.append("no RELRO")
    if "BIND_NOW" not in dynamic and " NOW" not in dynamic:
        bad.append("binds late")
    if stack_is_executable(headers):
        bad.append("executable stack")
    if " RWE " in headers:
        bad.append("memory that is written and executed")
    if "DYN" not in says("readelf", "-h", path):
        bad.append("no PIE")
    if "TEXTREL" in dynamic:
        bad.append("relocations in code")
    return bad


def symbols(path):
    return says("nm", "-D", "--undefined-only", path)


def has_probes(path):
    """Whether large frames touch each page: what stack clash protection adds."""
    code = says("objdump", "-d", "--no-show-raw-insn", path)
    return any("orq" in line and "$0x0,(%rsp)" in line
               for line in code.splitlines())


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        says("cmake", "--install", BUILD, "--prefix", cls.folder.name)
        cls.files = [path for path in pathlib.Path(cls.folder.name).rglob("*")
                     if path.is_file() and not path.is_symlink() and
                     is_elf(path)]
        # What a wheel has and an installation has not.
        cls.files += pathlib.Path(BUILD, "python").rglob("*.abi3.so")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def named(self, start):
        return [path for path in self.files if path.name.startswith(start)][0]

    def test_all_are_found(self):
        names = {path.name.split(".")[0] for path in self.files}
        self.assertLessEqual({"takt", "libtakt", "libtakt-blas", "libblas"},
                             names)

    def test_each_is_hardened(self):
        for path in self.files:
            with self.subTest(path.name):
                self.assertEqual(faults(path), [])

    def test_stacks_are_protected(self):
        for path in self.files:
            with self.subTest(path.name):
                self.assertIn("__stack_chk_fail", symbols(path))

    def test_calls_that_know_their_room_are_checked(self):
        for start in ("takt", "libtakt.so", "libtakt-otel"):
            if start == "libtakt-otel" and not any(
                    path.name.startswith(start) for path in self.files):
                continue
            with self.subTest(start):
                self.assertRegex(symbols(self.named(start)), r"\w+_chk@")

    @unittest.skipUnless(platform.machine() == "x86_64", "other instructions")
    def test_large_frames_touch_every_page(self):
        for start in ("takt", "libtakt.so"):
            with self.subTest(start):
                self.assertTrue(has_probes(self.named(start)))


class Lacking(unittest.TestCase):
    """The checks above can fail."""

    SOURCE = ("#include <string.h>\nint f(char *);\nint g(const char *a)\n"
              "{ char b[9000]; strcpy(b, a); return f(b); }\n"
              "int f(char *b) { return b[0]; }\n"
              "int main(int c, char **v) { return g(v[c > 1]); }\n")
    GOOD = ["-O2", "-fPIE", "-pie", "-Wl,-z,relro,-z,now", "-U_FORTIFY_SOURCE",
            "-D_FORTIFY_SOURCE=2", "-fstack-protector-strong",
            "-fstack-clash-protection", "-fno-inline"]

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def build(self, *flags):
        out = os.path.join(self.folder, "program")
        subprocess.run(["gcc", "-x", "c", "-", "-o", out, *self.GOOD, *flags],
                       input=self.SOURCE, text=True, check=True, timeout=600,
                       capture_output=True)
        return out

    def test_nothing_is_wrong_with_a_good_one(self):
        program = self.build()
        self.assertEqual(faults(program), [])
        self.assertIn("__stack_chk_fail", symbols(program))
        self.assertIn("__strcpy_chk", symbols(program))
        if platform.machine() == "x86_64":
            self.assertTrue(has_probes(program))

    def test_each_fault_is_seen(self):
        for flags, fault in ((["-Wl,-z,norelro"], "no RELRO"),
                             (["-Wl,-z,lazy"], "binds late"),
                             (["-Wl,-z,execstack"], "executable stack"),
                             (["-no-pie"], "no PIE")):
            with self.subTest(fault):
                self.assertIn(fault, faults(self.build(*flags)))
        self.assertNotIn("__stack_chk_fail",
                         symbols(self.build("-fno-stack-protector")))
        self.assertNotIn("_chk@", symbols(self.build("-U_FORTIFY_SOURCE",
                                                     "-fno-stack-protector")))
        self.assertFalse(has_probes(self.build("-fno-stack-clash-protection")))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
