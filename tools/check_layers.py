#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fail when a file includes a component that layers.txt does not allow."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s+[<"]([a-z0-9_]+)/', re.M)
SYSTEM = {"sys", "linux", "asm", "arpa", "netinet"}


def allowed():
    rules = {}
    for line in (ROOT / "tools/layers.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            name, _, rest = line.partition(":")
            rules[name] = {name, "takt", *rest.split()} | SYSTEM
    return rules


def sources():
    for folder in ("src", "cli", "otel", "scan", "project"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".c", ".h", ".def"):
                relative = path.relative_to(ROOT)
                yield relative, relative.parts[1 if folder == "src" else 0]


def main():
    rules, bad, seen = allowed(), 0, 0
    for path, component in sources():
        seen += 1
        for target in INCLUDE.findall((ROOT / path).read_text()):
            if target not in rules.get(component, set()):
                print(f"{path}: {component} may not include {target}")
                bad += 1
    print(f"{seen} files, {bad} includes that are not allowed")
    return bad != 0 or seen == 0


sys.exit(main())
