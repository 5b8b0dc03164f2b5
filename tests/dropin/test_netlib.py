#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Netlib's own test programs of BLAS print the same with the interposer.

They come with Debian's libblas-test; where it is absent this is skipped.
usage: test_netlib.py LIBTAKT_BLAS
"""
import glob
import os
import subprocess
import sys
import tempfile
import unittest

PRELOAD = os.path.abspath(sys.argv[1])
FOLDER = next(iter(map(os.path.dirname,
                       glob.glob("/usr/lib/*/blas/xblat3d"))), None)
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


class Netlib(unittest.TestCase):
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


if __name__ == "__main__":
    if FOLDER is None:
        print("skipped: there is no xblat3d; libblas-test has it")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
