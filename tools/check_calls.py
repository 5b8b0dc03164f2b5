#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fail when a function that needs care is called outside its one place."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIBRARIES = ("src", "otel", "dropin")
PROGRAMS = ("cli", "fleet", "profile", "project", "python", "scan")
# What each of these functions needs is written in the files that may call it.
ALLOWED = {
    "getenv": set(),  # privileged programs must not obey their caller
    "secure_getenv": {"otel/setting.c"},
    "dlopen": {"src/base/library.c", "dropin/loader.c"},
    # exit() of any thread writes what is in the streams of all, also in a child
    # of a fork() that has copies of them.
    "takt__memory_file_open": {"src/text/memory_file.c",
                               "src/text/memory_file.h",
                               "src/text/json_edit.c"},  # the tool's
    "open_memstream": set(),  # loses text: see src/text/memory_file.h
}
EVERYWHERE = {"open_memstream"}
CALL = re.compile(r"(?<![\w>.])(%s)\(" % "|".join(ALLOWED))
COMMENT_OR_STRING = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\])*"', re.DOTALL)


def without_comments(text):
    return COMMENT_OR_STRING.sub(lambda m: "\n" * m[0].count("\n"), text)


def main():
    problems = []
    used = set()
    for folder in LIBRARIES + PROGRAMS:
        for path in sorted((ROOT / folder).rglob("*.[ch]")):
            name = path.relative_to(ROOT).as_posix()
            lines = without_comments(path.read_text()).splitlines()
            for number, line in enumerate(lines, 1):
                for function in CALL.findall(line):
                    if folder in PROGRAMS and function not in EVERYWHERE:
                        continue
                    used.add((function, name))
                    if name not in ALLOWED[function]:
                        problems.append(f"{name}:{number}: calls {function}()")
    for function, names in ALLOWED.items():
        for name in sorted(names):
            if (function, name) not in used:
                problems.append(f"{name}: never calls {function}(), but may")
    for problem in problems:
        print(problem)
    print(f"{len(used)} places, {len(problems)} problems")
    return 1 if problems or not used else 0


if __name__ == "__main__":
    sys.exit(main())
