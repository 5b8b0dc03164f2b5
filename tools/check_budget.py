#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fail when functions or files outgrow what a reader can hold in the head."""
import json
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LONGEST_FUNCTION, LONGEST_FILE, MEDIAN_FUNCTION, WIDEST_LINE = 80, 500, 20, 80
# Kernels may have longer files: a vocabulary of vectors is one noun.
LONGEST_KERNEL_FILE = 900
CTAGS = ("ctags --languages=C --kinds-C=f --fields=+ne --output-format=json "
         "-L - -f -")


def functions(files):
    out = subprocess.run(CTAGS.split(), input="\n".join(map(str, files)),
                         capture_output=True, text=True, check=True).stdout
    for tag in map(json.loads, out.splitlines()):
        if "end" in tag:
            yield tag["end"] - tag["line"] + 1, tag["name"], tag["path"]


def over_budget(path):
    lines = path.read_text().splitlines()
    longest = LONGEST_KERNEL_FILE if "kernels" in path.parts else LONGEST_FILE
    if len(lines) > longest:
        yield f"{path}: file has {len(lines)} lines"
    is_table = False  # tables may be wider: they say so to clang-format
    for number, line in enumerate(lines, 1):
        is_table = (is_table or "clang-format off" in line) and \
            "clang-format on" not in line
        if len(line) > WIDEST_LINE and not is_table:
            yield f"{path}:{number}: line has {len(line)} columns"


def main():
    files = sorted(p for folder in ("src", "cli", "include", "otel", "scan",
                                    "profile", "project", "fleet", "python")
                   for p in (ROOT / folder).rglob("*.[ch]"))
    found = sorted(functions(files), reverse=True)
    over = [f"{p}: {n} has {k} lines" for k, n, p in found
            if k > LONGEST_FUNCTION]
    over += [line for path in files for line in over_budget(path)]
    median = statistics.median(k for k, _, _ in found)
    print(f"{len(found)} functions, median {median} lines, "
          f"longest {found[0][1]} with {found[0][0]}", *over, sep="\n")
    return bool(over) or median > MEDIAN_FUNCTION


sys.exit(main())
