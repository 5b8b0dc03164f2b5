#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fail when libtakt.so breaks programs that were linked with the last release.

usage: check_abi.py LIBRARY [--update] [--abi FILE] [--headers FOLDER]

LIBRARY has debug information (that of the build `check` has). FILE is what the
last release promised: functions, and the types that the public headers define.
--update writes it, when a release is made. New functions, enumerators and members
at the end of structs break nothing; takt/takt.h says which structs may not even
grow. Needs abidw and abidiff (Debian: abigail-tools).
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile
from xml.etree import ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Nothing that differs from machine to machine, or with a comment.
DESCRIBE = ["abidw", "--no-corpus-path", "--no-comp-dir-path", "--no-show-locs",
            "--no-architecture", "--no-elf-needed", "--drop-undefined-syms",
            "--drop-private-types", "--no-parameter-names",
            "--no-write-default-sizes", "--type-id-style", "hash"]
COMPARE = ["abidiff", "--no-added-syms", "--no-show-locs",
           "--leaf-changes-only"]
FAILURES = 1 | 2  # bits of abidiff's status; the others say what changed
FIXED = {"takt_" + name for name in (
    "shape work cost_model span_context diag gpu sink_report op_metric "
    "duration_metric").split()}


def run(words):
    try:
        return subprocess.run(words, capture_output=True, text=True, timeout=600)
    except FileNotFoundError:
        sys.exit(f"check_abi: {words[0]} is not installed "
                 "(Debian: abigail-tools)")


def describe(library, headers, target):
    ran = run([*DESCRIBE, "--headers-dir", headers, "--out-file", str(target),
               str(library)])
    text = target.read_text() if target.exists() else ""
    symbols = len(re.findall("<elf-symbol [^>]*type='func-type'", text))
    functions = len(re.findall("<function-decl [^>]*elf-symbol-id=", text))
    if ran.returncode != 0 or symbols == 0:
        sys.exit(f"check_abi: cannot read {library}: {ran.stderr.strip()}")
    if functions < symbols:
        sys.exit(f"check_abi: {library} describes {functions} of its {symbols} "
                 "functions: build them with -g (`described` in CMakeLists.txt)")


def structs(tree):
    """name -> element, of structs with members."""
    return {each.get("name"): each for each in tree.iter("class-decl")
            if each.get("size-in-bits")}


def cut_growth(before, now):
    """Gives structs that grew at their end the size that they had. (abidiff has
    a rule for such structs, which hides every other change of them, too.)"""
    tree = ElementTree.parse(now)
    old = structs(ElementTree.parse(before))
    for name, struct in structs(tree).items():
        if name not in old or name in FIXED:
            continue
        size = old[name].get("size-in-bits")
        added = [member for member in struct.findall("data-member")
                 if int(member.get("layout-offset-in-bits")) >= int(size)]
        for member in added:
            struct.remove(member)
        if added:
            struct.set("size-in-bits", size)
    tree.write(now)


def breaks(text):
    """The lines of abidiff that name what changed, without its summaries."""
    for line in text.splitlines():
        if line.strip() and not re.match(
                r"(Leaf changes summary|Changed leaf types|Removed/Changed/Added|Functions changes"
                r"|Variables changes|Function symbols changes"
                r"|Variable symbols changes|ELF )", line):
            yield line.rstrip()


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("library", type=pathlib.Path)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--abi", type=pathlib.Path,
                        default=ROOT / "packaging/abi/libtakt.so.0.abi")
    parser.add_argument("--headers", default=str(ROOT / "include/takt"))
    given = parser.parse_args()
    if given.update:
        describe(given.library, given.headers, given.abi)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        now = pathlib.Path(folder) / "now.abi"
        describe(given.library, given.headers, now)
        cut_growth(given.abi, now)
        ran = run([*COMPARE, str(given.abi), str(now)])
    if ran.returncode & FAILURES:
        sys.exit(f"check_abi: abidiff failed: {ran.stdout}{ran.stderr}")
    if ran.returncode == 0:
        return 0
    print("check_abi: programs that were linked with the last release would "
          "break (CONTRIBUTING.md, 'The ABI'):", *breaks(ran.stdout), sep="\n")
    return 1


sys.exit(main())
