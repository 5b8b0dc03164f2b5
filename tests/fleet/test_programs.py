#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs whose store is synced in the background, with a real PostgreSQL and
without any. The program is `takt tune`, which learns as others do.

usage: test_programs.py TAKT FIXTURES
"""
import os
import shutil
import subprocess
import sys
import time
import unittest

import machines
from database import DATABASE, run_tests

TAKT = os.path.abspath(sys.argv[1])


class Programs(unittest.TestCase):
    def setUp(self):
        self.folder = machines.folder()
        self.addCleanup(shutil.rmtree, self.folder)
        self.store = self.folder / "store.db"
        self.lock = self.folder / "store.db-fleet-lock"
        self.set_due()
        DATABASE.sql("DELETE FROM takt_fleet.page")

    def set_due(self):
        """The last sync was long ago."""
        self.lock.touch()
        os.utime(self.lock, (0, 0))

    def environment(self, address, **settings):
        return os.environ | dict(
            HOME=str(self.folder), TAKT_DB=str(self.store), TAKT_FLEET=address,
            TAKT_FLEET_EVERY="1", TAKT_FLEET_TOOL=TAKT, TAKT_BLAS="",
            TAKT_GPU="") | settings

    def run_program(self, address, **settings):
        ran = subprocess.run(
            [TAKT, "tune", "--anyway", "--ops", "add", "--budget", "2"],
            env=self.environment(address, **settings), capture_output=True,
            text=True)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        return ran.stderr

    def wait_for(self, what):
        end = time.monotonic() + 60
        while time.monotonic() < end:
            found = what()
            if found:
                return found
            time.sleep(0.05)
        self.fail("nothing came of it")

    def test_what_a_program_learned_is_sent(self):
        said = self.run_program(DATABASE.address(), TAKT_LOG="info")
        self.assertIn("with its fleet", said)
        self.set_due()  # that one may have come before anything was stored
        self.run_program(DATABASE.address())
        self.wait_for(lambda: DATABASE.sql(
            "SELECT count(*) FROM takt_fleet.page WHERE line <> ''")
            != [["0"]])

    def test_a_program_does_not_notice_that_it_is_offline(self):
        nowhere = "host=127.0.0.1 port=1 sslmode=disable"
        self.assertNotIn("fleet", self.run_program(nowhere))
        line = self.wait_for(self.lock.read_text)
        self.assertEqual(line.count("\n"), 1)
        self.assertIn("refused", line)
        doctor = subprocess.run(
            [TAKT, "doctor"], env=self.environment(nowhere),
            capture_output=True, text=True)
        self.assertIn("the last sync failed: ", doctor.stdout)
        said = self.run_program(nowhere, TAKT_LOG="info",
                                TAKT_FLEET_EVERY="1000000")
        self.assertEqual(said.count("the last sync with the fleet failed"), 1)


if __name__ == "__main__":
    sys.exit(run_tests(TAKT))
