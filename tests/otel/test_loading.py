#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A program that libtakt.a is linked into loads no exporter from where it
happens to be, nor from where its caller says that it is.

usage: test_loading.py PROGRAM
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM = sys.argv[1]
PLANTED = """
#include <stdio.h>
#include <stdlib.h>
__attribute__((constructor)) static void run(void)
{
    FILE *file = fopen(getenv("PLANTED"), "w");
    if (file != NULL)
        fclose(file);
}
"""


class Loading(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        shutil.copy(PROGRAM, self.folder / "program")
        (self.folder / "planted.c").write_text(PLANTED)
        subprocess.run(["cc", "-shared", "-fPIC", "-o",
                        self.folder / "libtakt-otel.so.0",
                        self.folder / "planted.c"], check=True)
        self.mark = self.folder / "planted"

    def run_as(self, name, **variables):
        env = {key: value for key, value in os.environ.items()
               if not key.startswith(("OTEL_", "TAKT_", "LD_"))}
        ran = subprocess.run(
            [name], executable=self.folder / "program", cwd=self.folder,
            env={**env, "TAKT_DB": "", "TAKT_BLAS": "", "TAKT_GPU": "",
                 "TAKT_OTLP_FILE": str(self.folder / "out"),
                 "PLANTED": str(self.mark), **variables},
            capture_output=True, timeout=600)
        self.assertEqual(ran.returncode, 0, ran.stderr)

    def test_nothing_is_loaded_from_a_folder_by_chance(self):
        for name in ("./program", "program", "x/../program",
                     str(self.folder / "program")):
            with self.subTest(name):
                self.run_as(name)
                self.assertFalse(self.mark.exists())

    def test_what_is_named_is_loaded(self):
        """So that the library would have been found out."""
        self.run_as("program",
                    TAKT_OTEL=str(self.folder / "libtakt-otel.so.0"))
        self.assertTrue(self.mark.exists())


unittest.main(argv=sys.argv[:1])
