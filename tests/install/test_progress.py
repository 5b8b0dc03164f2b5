#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A long build says where it is, and a failed one says all.

usage: test_progress.py PATH_TO_PROGRESS_SH
"""
import os
import pty
import subprocess
import sys
import tempfile
import unittest

PROGRESS = sys.argv[1]


class Progress(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.log = os.path.join(self.folder, "log")

    def run_script(self, script):
        return subprocess.run([PROGRESS, "build", self.log, "sh", "-c", script],
                              capture_output=True, text=True, timeout=600)

    def test_success_is_silent_and_kept_in_the_log(self):
        ran = self.run_script("echo one; echo two >&2")
        self.assertEqual((ran.returncode, ran.stdout, ran.stderr), (0, "", ""))
        with open(self.log) as log:
            self.assertEqual(log.read(), "one\ntwo\n")

    def test_failure_shows_everything_and_keeps_its_status(self):
        ran = self.run_script("seq 100; exit 7")
        self.assertEqual(ran.returncode, 7)
        self.assertEqual(ran.stdout.split(), [str(i) for i in range(1, 101)])

    def test_a_terminal_shows_the_last_line(self):
        fifo = os.path.join(self.folder, "fifo")
        os.mkfifo(fifo)
        master, slave = pty.openpty()
        ran = subprocess.Popen(
            [PROGRESS, "build", self.log, "sh", "-c",
             f"echo '[1/9] first'; echo '[3/9] now'; read line <{fifo}"],
            stdout=slave, stderr=slave)
        os.close(slave)
        shown = b""
        while b"[3/9] now" not in shown:
            shown += os.read(master, 4096)
        with open(fifo, "w") as file:
            file.write("go\n")
        self.assertEqual(ran.wait(timeout=600), 0)
        os.close(master)
        self.assertIn(b"build: ", shown)
        self.assertNotIn(b"first", shown)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
