#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What begins with - is an option of a bench program, never a file of its own.

usage: test_words.py FOLDER
Each program of the folder is asked for help, and for an option that it does
not have, in an empty folder.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAMS = [path for path in sorted(pathlib.Path(sys.argv[1]).resolve()
                                    .glob("bench_*"))
            if path.is_file() and os.access(path, os.X_OK)]


class Words(unittest.TestCase):
    def check(self, program, word, codes):
        with tempfile.TemporaryDirectory() as folder:
            ran = subprocess.run([program, word], cwd=folder, text=True,
                                 capture_output=True, timeout=60,
                                 env=dict(os.environ, TAKT_DB=""))
            self.assertIn(ran.returncode, codes, program.name)
            self.assertIn(f"usage: {program.name}", ran.stdout + ran.stderr)
            self.assertEqual(os.listdir(folder), [], program.name)

    def test_words_with_a_dash_are_no_files(self):
        self.assertGreater(len(PROGRAMS), 10)
        for program in PROGRAMS:
            self.check(program, "--help", (0, 2))
            self.check(program, "-nothing", (2,))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
