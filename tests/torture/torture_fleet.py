#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Eight machines sync at once, are killed, and the server restarts, for so many
rounds: tests/fleet/test_sync.py says what must hold.

usage: torture_fleet.py ROUNDS
"""
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
ran = subprocess.run([sys.executable, ROOT / "tests/fleet/test_sync.py",
                      ROOT / "build/check/cli/takt", ROOT / "tests/fixtures",
                      sys.argv[1]])
sys.exit(0 if ran.returncode == 77 else ran.returncode)
