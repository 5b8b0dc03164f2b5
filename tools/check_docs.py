#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fail when the documents and the program tell different stories.

Checks that docs/ops.md is what ops.def says, and that the variables of
docs/environment.md are those among which a misspelt one is looked for. Links are
checked by make_manual.py, commands and examples by tests/manual.
usage: check_docs.py
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def stale_table():
    made = subprocess.run([sys.executable, ROOT / "tools/make_op_table.py"],
                          capture_output=True, text=True, check=True).stdout
    if made != (ROOT / "docs/ops.md").read_text():
        yield "docs/ops.md: run tools/make_op_table.py > docs/ops.md"


def variables():
    described = set(re.findall(r"`(TAKT_[A-Z_]+)\b",
                               (ROOT / "docs/environment.md").read_text()))
    listed = (ROOT / "src/base/config.c").read_text()
    listed = listed[listed.index("known[] = {"):]
    listed = set(re.findall(r'"(TAKT_[A-Z_]+)"', listed[:listed.index("};")]))
    for name in sorted(described - listed):
        yield f"src/base/config.c: {name} is not in the list of known names"
    for name in sorted(listed - described):
        yield f"docs/environment.md: {name} is missing"


def main():
    bad = [*stale_table(), *variables()]
    print(*bad, f"{len(bad)} complaints", sep="\n")
    return bool(bad)


sys.exit(main())
