#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Netlib's own test programs print the same with the interposer.

Those of BLAS come with Debian's libblas-test, those of LAPACK with
liblapack-test; where one is absent, its part is skipped.
usage: test_netlib.py LIBTAKT_BLAS
"""
import glob
import os
import re
import subprocess
import sys
import tempfile
import unittest

PRELOAD = os.path.abspath(sys.argv[1])
FOLDER = next(iter(map(os.path.dirname,
                       glob.glob("/usr/lib/*/blas/xblat3d"))), None)
LAPACK = next(iter(map(os.path.dirname,
                       glob.glob("/usr/lib/*/lapack/xlintstd"))), None)
MODES = {"usual": {}, "eager": {"TAKT_RUN_EAGER": "1"},
         "own": {"TAKT_RUN_EAGER": "1", "TAKT_EXPERT": "scalar"}}
# A program, and what it reads; of level 1 nothing.
PROGRAMS = [(f"xblat{level}{letter}", f"{letter}blat{level}.in")
            for letter in "sdcz" for level in (1, 2, 3)] + \
           [(f"x{letter}cblat{level}", f"{letter}in{level}")
            for letter in "sdcz" for level in (1, 2, 3)]


def run(program, words, **changes):
    """What it prints and writes, in a folder of its own."""
    env = {name: value for name, value in os.environ.items()
           if not name.startswith(("TAKT_", "LD_"))}
    # The C ones need what only the library has that comes with them.
    env.update(TAKT_DB="", TAKT_GPU="", LD_LIBRARY_PATH=FOLDER, **changes)
    path = os.path.join(FOLDER, words)
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="takt") as folder:
        with open(path if os.path.exists(path) else os.devnull) as given:
            ran = subprocess.run([os.path.join(FOLDER, program)], stdin=given,
                                 cwd=folder, env=env, capture_output=True,
                                 text=True, timeout=600)
        written = {}
        for name in sorted(os.listdir(folder)):
            with open(os.path.join(folder, name)) as file:
                written[name] = file.read()
    # Which exceptions were raised depends on who computes.
    said = [line for line in ran.stderr.splitlines()
            if not line.startswith("Note: The following floating-point")]
    return ran.returncode, ran.stdout, said, written


# Every call is routed: equal ones the same way, so that their bits are equal,
# which the tests of drivers ask for; in turns; and in turns with the fake GPU.
SOLVER = {name: os.environ.get(f"TAKT_TEST_FAKE_{name[5:]}", "")
          for name in ("TAKT_CUDA", "TAKT_CUBLAS", "TAKT_CUSOLVER")}
CHOICES = {"alike": {"TAKT_RUN_EAGER": "last"},
           "turns": {"TAKT_RUN_EAGER": "1"},
           "gpu": {"TAKT_RUN_EAGER": "1", "TAKT_GPU": "all", "TAKT_LOG": "off",
                   "TAKT_VULKAN": "/nowhere", **SOLVER}}
# What the programs read: sizes below and above those from which Takt's kernels
# and GPUs are taken, the routines that are intercepted, and thresholds of 20 to
# 50 for residuals and orthogonality in units of rounding.
EQUATIONS = """equations
3
0 33 70
3
0 33 70
1
3
1
20
1
1
50
30.0
T
T
T
?GE 11
?PO 9
?TR 18
?QR 8
?LS 6
"""
SINGULAR = """SVD
4
1 16 40 34
3 10 34 40
1
20
2
1
2
50.0
T
T
T
1
SVD 16
"""
SYMMETRIC = """SEP
3
1 5 20
1
10
2
1
50.0
T
T
T
1
SEP 20
1 2 3 4 5 6 7 8 10 11 12 13 14 15 16 17 18 19 20 21
"""
DRIVERS = """?EV
4
1 5 10 20
3 3 1 11 4 8 2 0
20.0
T
1
?EV 21
"""


def run_lapack(program, given, **changes):
    """What it prints, but for times and by how much a test of the library's
    fails that does without Takt, too."""
    env = {name: value for name, value in os.environ.items()
           if not name.startswith(("TAKT_", "LD_"))}
    env.update({"TAKT_DB": "", "TAKT_GPU": "", **changes})
    ran = subprocess.run([os.path.join(LAPACK, program)], input=given, env=env,
                         capture_output=True, text=True, timeout=600)
    return ran.returncode, [re.sub(r"\d*\.\d+E[+-]\d+", "#", line)
                            for line in ran.stdout.splitlines()
                            if not re.match(r" *(Total time|Elapsed)", line)]


@unittest.skipIf(FOLDER is None, "there is no xblat3d; libblas-test has it")
class Blas(unittest.TestCase):
    def test_all_print_the_same(self):
        for program, words in PROGRAMS:
            plain = run(program, words)
            self.assertEqual(plain[0], 0, program)
            text = plain[1] + "".join(plain[3].values())
            self.assertIn("PASS", text, program)
            for mode, settings in MODES.items():
                with self.subTest(program, mode=mode):
                    self.assertEqual(run(program, words, LD_PRELOAD=PRELOAD,
                                         **settings), plain)


@unittest.skipIf(LAPACK is None, "there is no xlintstd; liblapack-test has it")
class Lapack(unittest.TestCase):
    def check(self, program, given, **modes):
        for letter in modes:
            words = given.replace("?", letter.upper())
            plain = run_lapack(program + letter, words)
            self.assertEqual(plain[0], 0, program)
            self.assertIn("passed the threshold", "".join(plain[1]), program)
            for mode in modes[letter]:
                with self.subTest(program + letter, mode=mode):
                    self.assertEqual(
                        run_lapack(program + letter, words,
                                   LD_PRELOAD=PRELOAD, **CHOICES[mode]), plain)

    def test_equations(self):
        self.check("xlintst", EQUATIONS, s=["gpu"], d=CHOICES)

    def test_singular_values(self):
        self.check("xeigtst", SINGULAR, s=["gpu"], d=CHOICES)

    def test_symmetric_matrices(self):
        self.check("xeigtst", SYMMETRIC, s=["gpu"], d=CHOICES)

    def test_drivers_give_the_same_bits_whatever_is_asked_for(self):
        self.check("xeigtst", DRIVERS, s=["alike"], d=["alike"])


if __name__ == "__main__":
    if FOLDER is None and LAPACK is None:
        print("skipped: there are no xblat3d and xlintstd; libblas-test and "
              "liblapack-test have them")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
