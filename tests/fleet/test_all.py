#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""All tests of a fleet with one PostgreSQL, whose start takes seconds.

usage: test_all.py TAKT FIXTURES [ROUNDS]
"""
import sys

from database import run_tests

sys.exit(run_tests(sys.argv[1], modules=("test_errors", "test_priors",
                                         "test_programs",
                                         "test_sync")))
