#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A failed test is run again alone; what passes then is named.

usage: test_again.py PATH_TO_TOOLS
"""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

TOOLS = sys.argv[1]

ONCE = 'test -e %s || { touch %s; echo first; exit 1; }'


class Again(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        os.makedirs(self.path("build/some"))
        os.mkdir(self.path("tools"))
        for name in ("test_build.sh", "test_again.sh"):
            shutil.copy(os.path.join(TOOLS, name), self.path("tools"))

    def path(self, name):
        return os.path.join(self.folder, name)

    def read(self, name):
        with open(self.path(name)) as file:
            return file.read()

    def write(self, **scripts):
        with open(self.path("build/some/CTestTestfile.cmake"), "w") as file:
            for name, script in scripts.items():
                file.write(f'add_test(some/{name} "sh" "-c" "{script}")\n')

    def run_both(self):
        for tool in ("test_build.sh", "test_again.sh"):
            ran = subprocess.run([self.path(f"tools/{tool}"), "some"],
                                 capture_output=True, text=True, timeout=600)
            self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        return ran.stdout

    def unsteady(self):
        path = self.path("build/unsteady")
        return self.read(path) if os.path.exists(path) else ""

    def test_what_passes_is_not_run_again(self):
        self.write(good="true", fine="true")
        self.assertEqual(self.run_both(), "")
        self.assertEqual(self.read("build/some.count"), "2 0\n")
        self.assertEqual(self.unsteady(), "")

    def test_what_passes_alone_is_named(self):
        self.write(good="true", odd=ONCE % ("x", "x"))
        self.assertIn("some again:", self.run_both())
        self.assertEqual(self.read("build/some.count"), "2 0\n")
        self.assertEqual(self.unsteady(), "some: some/odd\n")

    def test_what_fails_again_stays_failed(self):
        self.write(good="true", bad="false", odd=ONCE % ("x", "x"))
        self.run_both()
        self.assertEqual(self.read("build/some.count"), "2 1\n")
        self.assertEqual(self.unsteady(), "some: some/odd\n")

    def test_many_failures_are_no_accident(self):
        self.write(good="true", **{f"odd{i}": ONCE % (i, i) for i in range(4)})
        self.assertEqual(self.run_both(), "")
        self.assertEqual(self.read("build/some.count"), "1 4\n")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
