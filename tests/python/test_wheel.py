#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A wheel of the module is the same each time, and pip installs it without a
network into a fresh environment, where it works. Skipped where there is no venv.

usage: test_wheel.py SOURCE BUILD
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE, BUILD = sys.argv[1:3]

try:
    import ensurepip
    import venv
    ensurepip.version()
except (ImportError, AttributeError):
    print("there is no venv")
    sys.exit(77)


def tell(*words, **options):
    return subprocess.run(words, check=True, capture_output=True, text=True,
                          timeout=600, **options).stdout


def make(folder):
    return pathlib.Path(tell(sys.executable, SOURCE + "/tools/make_wheel.py",
                             BUILD, folder).strip())


class Wheel(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def test_it_is_the_same_each_time_and_is_installed(self):
        again = make(os.path.join(self.folder.name, "again"))
        wheel = make(self.folder.name)
        self.assertEqual(wheel.read_bytes(), again.read_bytes())
        place = os.path.join(self.folder.name, "an environment")
        venv.create(place, with_pip=True)
        python = os.path.join(place, "bin/python")
        tell(python, "-m", "pip", "install", "--no-index",
             "--disable-pip-version-check", "--no-compile", str(wheel))
        script = """
import array, os, takt
x = array.array("d", [1, 2])
assert takt.add(x, x).tolist() == [2, 4]
from takt import _takt
print(os.path.dirname(_takt._library) == os.path.dirname(takt.__file__))
print(os.path.exists(os.path.join(os.path.dirname(takt.__file__),
                                  "libtakt-blas.so")))
print(takt.__version__, takt.numpy.enable.__doc__[:6])
"""
        environment = {k: v for k, v in os.environ.items()
                       if k != "PYTHONPATH"}
        out = tell(python, "-c", script, env=environment,
                   cwd=self.folder.name).split("\n")
        self.assertEqual(out[:2], ["True", "True"])
        self.assertIn(out[2].split()[0], wheel.name)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
