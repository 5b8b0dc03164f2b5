#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Eight machines sync at once, are killed, the server restarts and its disk is
full, for so many rounds: tests/fleet/test_sync.py says what must hold.

usage: torture_fleet.py ROUNDS
"""
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FULL_DISK = ROOT / "build/check/tests/libfleet_full_disk.so"
ran = subprocess.run([sys.executable, ROOT / "tests/fleet/test_sync.py",
                      ROOT / "build/check/cli/takt", ROOT / "tests/fixtures",
                      sys.argv[1]],
                     env=os.environ | {"TAKT_TEST_FULL_DISK": str(FULL_DISK)})
sys.exit(0 if ran.returncode == 77 else ran.returncode)
