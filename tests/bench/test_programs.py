#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The programs of bench/programs run, and their drivers tell what they should.
Nothing is timed here. Without NumPy this is skipped.

usage: test_programs.py PATH_TO_TAKT
"""
import json
import math
import os
import subprocess
import sys
import tempfile
import unittest

TAKT = os.path.abspath(sys.argv[1])
HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = os.path.join(os.path.dirname(os.path.dirname(HERE)), "bench",
                        "programs")
sys.path.insert(0, PROGRAMS)
import run  # noqa: E402


def find_python():
    for path in (sys.executable, "/usr/bin/python3"):
        if os.path.exists(path) and subprocess.run(
                [path, "-c", "import numpy"],
                capture_output=True).returncode == 0:
            return path
    print("skipped: there is no NumPy (python3-numpy)")
    sys.exit(77)


# Threads of a BLAS library that wait for their processors take minutes for what
# one does in a second.
ALONE = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def ran(*words, **changes):
    env = {name: value for name, value in os.environ.items()
           if not name.startswith(("TAKT_", "LD_"))}
    env["PYTHONDONTWRITEBYTECODE"] = "1"
    return subprocess.run(words, capture_output=True, text=True,
                          env={**env, **changes},
                          stdin=subprocess.DEVNULL, timeout=600)


class Options:
    python, factor = None, 0.0


class Programs(unittest.TestCase):
    def driver(self, script, *words):
        return ran(sys.executable, os.path.join(PROGRAMS, script), "--takt",
                   TAKT, "--python", Options.python, *words, **ALONE)

    # That a program prints the same each time is shown by every --compare.
    def test_each_program_prints_numbers(self):
        for name, program in run.PROGRAMS.items():
            with self.subTest(name):
                if run.missing(Options, program):
                    continue
                told = ran(*run.command(Options, program), **ALONE)
                self.assertEqual(told.returncode, 0, told.stderr)
                for number in told.stdout.split():
                    self.assertTrue(math.isfinite(float(number)))

    def test_the_driver_compares(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "out.json")
            told = self.driver("run.py", "--only", "tiny,mlp", "--stores",
                               "none,own", "--pairs", "2", "--factor", "0",
                               "--json", path)
            self.assertEqual((told.returncode, told.stderr), (0, ""))
            with open(path) as file:
                rows = json.load(file)["rows"]
        self.assertEqual([(row["program"], row["store"]) for row in rows],
                         [("tiny", "none"), ("tiny", "own"), ("mlp", "none"),
                          ("mlp", "own")])
        self.assertEqual(rows[0]["told"]["pairs"], 2)
        self.assertIsNone(rows[0]["told"]["store"])
        self.assertTrue(rows[1]["told"]["store_is_new"])
        lines = told.stdout.splitlines()
        self.assertRegex(lines[1], r"^tiny +none +\d\.\d{3}[! ]")
        self.assertRegex(lines[-1], r"^geometric mean, own: \d\.\d{3} of 2$")

    def test_what_is_missing_is_left_out_and_said(self):
        told = ran(sys.executable, os.path.join(PROGRAMS, "run.py"), "--takt",
                   TAKT, "--python", "/no/such/python", "--only", "tiny",
                   "--stores", "none")
        self.assertEqual(told.returncode, 0, told.stderr)
        self.assertIn("tiny        left out: there is no /no/such/python",
                      told.stdout)

    def test_mistakes(self):
        for words, said in ((["--only", "no"], "no program 'no'"),
                            (["--stores", "no"], "no kind of store 'no'")):
            told = self.driver("run.py", *words)
            self.assertEqual(told.returncode, 1)
            self.assertIn(said, told.stderr)

    def test_all_are_listed(self):
        told = self.driver("run.py", "--list")
        self.assertEqual([line.split()[0]
                          for line in told.stdout.splitlines()],
                         list(run.PROGRAMS))

    def test_bars(self):
        def wall(ratio, low, high):
            return run.is_slow({"ratio": ratio, "low": low, "high": high})
        self.assertFalse(wall(1.02, 1.01, 1.03))
        self.assertTrue(wall(1.021, 1.01, 1.03))
        self.assertFalse(wall(1.03, 0.99, 1.069))
        self.assertTrue(wall(1.03, 0.98, 1.07))
        self.assertTrue(wall(1.03, None, None))
        self.assertFalse(wall(0.5, None, None))

    def test_surroundings(self):
        told = self.driver("surroundings.py", "--programs", "tiny", "--pairs",
                           "1", "--factor", "0")
        self.assertEqual((told.returncode, told.stderr), (0, ""))
        lines = told.stdout.splitlines()
        for name, line in zip(("read-only", "full", "half", "lost-gpu"), lines):
            self.assertRegex(line, rf"^tiny +{name}( +\d\.\d{{3}}|: )")
        self.assertRegex(lines[4], r"^tiny +together +\d\.\d{3} ")
        self.assertEqual(len(lines), 5)
        told = self.driver("surroundings.py", "--only", "no")
        self.assertEqual(told.returncode, 1)
        self.assertIn("no surroundings 'no'", told.stderr)

    def test_loops(self):
        told = self.driver("loops.py", "--ufuncs", "add,add.reduce", "--sizes",
                           "10,5000", "--seconds", "0.001", "--rounds", "1")
        self.assertEqual((told.returncode, told.stderr), (0, ""))
        lines = told.stdout.splitlines()
        self.assertEqual(len(lines), 6)
        for kind, line in zip(("add float32", "add float64",
                               "add.reduce float32", "add.reduce float64",
                               "geometric mean"), lines[1:]):
            self.assertRegex(line, rf"^{kind}( +\d+\.\d\d[! ]?){{2}}$")

    def test_linalg(self):
        told = self.driver("linalg.py", "--functions", "solve,eigh", "--sizes",
                           "3,20", "--seconds", "0.001", "--rounds", "1")
        self.assertEqual((told.returncode, told.stderr), (0, ""))
        lines = told.stdout.splitlines()
        self.assertEqual(len(lines), 3)
        for name, line in zip(("solve", "eigh"), lines[1:]):
            self.assertRegex(line, rf"^{name}( +\d+\.\d\d[! ]?){{3}}$")

    def test_products_again_and_again(self):
        told = self.driver("products.py", "--sizes", "3,20", "--seconds",
                           "0.001")
        self.assertEqual((told.returncode, told.stderr), (0, ""))
        lines = told.stdout.splitlines()
        self.assertEqual(len(lines), 11)
        self.assertRegex(lines[1], r"^int64 3( +\d+\.\d){2} +\d+\.\d\d$")

    def test_one_shape_again_and_again(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "out.json")
            told = self.driver("shapes.py", "--only", "48,32x32x32+16x16x16",
                               "--dtypes", "float32", "--rounds", "1",
                               "--seconds", "0.05", "--experts", "scalar",
                               "--json", path)
            self.assertEqual((told.returncode, told.stderr), (0, ""))
            with open(path) as file:
                rows = json.load(file)["rows"]
        self.assertEqual([row["shape"] for row in rows],
                         ["48x48x48", "32x32x32+16x16x16"])
        for row in rows:
            self.assertEqual(set(row["rounds"]), {"plain", "takt", "scalar"})
            self.assertGreater(row["row"]["to_plain"], 0)
            self.assertGreaterEqual(row["row"]["to_best"],
                                    row["row"]["to_plain"])
            after = row["rounds"]["takt"][0]["after"]
            self.assertGreater(after["calls"], 0)
            self.assertGreater(after["median"], 0)


if __name__ == "__main__":
    Options.python = find_python()
    unittest.main(argv=sys.argv[:1], verbosity=1)
