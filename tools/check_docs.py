#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fail when the documents and the program tell different stories.

Checks that relative links lead somewhere, that every `takt ...` line of a
console block runs, that docs/ops.md is what ops.def says, and that the variables
of docs/environment.md are those among which a misspelt one is looked for.
usage: check_docs.py PATH_TO_TAKT
"""
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINK = re.compile(r"\]\(([^)#:]+)(#[^)]*)?\)")
BLOCK = re.compile(r"```console\n(.*?)```", re.S)


def documents():
    yield from sorted(ROOT.glob("*.md"))
    yield from sorted((ROOT / "docs").rglob("*.md"))


def dead_links(path):
    for target, _ in LINK.findall(path.read_text()):
        if not (path.parent / target).exists():
            yield f"{path.relative_to(ROOT)}: no file {target}"


def failing_commands(path, takt):
    for block in BLOCK.findall(path.read_text()):
        for line in re.findall(r"^\$ takt (.*)$", block, re.M):
            ran = subprocess.run([takt, *shlex.split(line)], timeout=60,
                                 capture_output=True, text=True)
            if ran.returncode != 0:
                yield (f"{path.relative_to(ROOT)}: takt {line}: "
                       f"{ran.stderr.strip()}")


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
    takt = sys.argv[1]
    bad = [line for path in documents() for line in dead_links(path)]
    bad += [line for path in documents()
            for line in failing_commands(path, takt)]
    bad += stale_table()
    bad += variables()
    print(*bad, f"{len(bad)} complaints", sep="\n")
    return bool(bad)


sys.exit(main())
