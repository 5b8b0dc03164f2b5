#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fail when a function has too many decisions or lines, when files of a folder
include or call each other in a circle, or when a struct name is defined twice.

usage: check_shape.py BUILD [--all | --shrink]
--all lists known exceptions too; --shrink lowers those that are smaller now."""
import collections
import json
import pathlib
import re
import subprocess
import sys

from tree import ROOT, Exceptions, Symbols, code, component, includes, \
    report, sources

MOST_DECISIONS = 15
LONGEST_CALL_FUNCTION = 40  # in src/call, which every reader passes
WITHOUT_CIRCLES = ("src", "otel", "project")
DECISION = re.compile(r"\b(?:if|for|while|case)\b|&&|\|\||\?")
STRUCT = re.compile(r"\b(?:struct|union)\s+(\w+)\s*\{")
CTAGS = ("ctags --languages=C --kinds-C=f --fields=+ne --output-format=json "
         "-L - -f -")


def functions(paths):
    """(path, name, first line, last line) of every function."""
    out = subprocess.run(CTAGS.split(), input="\n".join(map(str, paths)),
                         capture_output=True, text=True, check=True, cwd=ROOT)
    for tag in map(json.loads, out.stdout.splitlines()):
        if "end" in tag:
            yield pathlib.Path(tag["path"]), tag["name"], tag["line"], \
                tag["end"]


def check_functions(paths, found):
    lines = {path: code((ROOT / path).read_text()).split("\n")
             for path in paths}
    count = 0
    for path, name, first, last in functions(paths):
        count += 1
        where = f"{path}:{name}"
        length = last - first + 1
        body = "\n".join(lines[path][first - 1:last])
        decisions = len(DECISION.findall(body))
        if decisions > MOST_DECISIONS:
            found["decisions", where] = decisions, \
                f"{where}() has {decisions} decisions, more than " \
                f"{MOST_DECISIONS}: split it, or make a table of its cases"
        if component(path) == "call" and length > LONGEST_CALL_FUNCTION:
            found["lines", where] = length, \
                f"{where}() has {length} lines, more than " \
                f"{LONGEST_CALL_FUNCTION}: name its parts"
    return count


def unit(path):
    """A .c file and the header of its name are one unit."""
    return path.with_suffix("")


def links(paths, symbols):
    """Unit -> the units of its component that it includes or calls, with a
    reason each. A header without a .c file is no unit: what it declares counts
    where it is defined."""
    units = {unit(path) for path in paths if path.suffix == ".c"}
    graph = {name: {} for name in units}
    for path in paths:
        for target in filter(lambda name: name.endswith(".h"), includes(path)):
            near = unit(path.parent / target)
            far = unit(pathlib.Path("src") / target)
            for other in {near, far} & units - {unit(path)}:
                if unit(path) in units and \
                        component(other) == component(path):
                    graph[unit(path)][other] = f"includes {target}"
    for user, symbol, definer in symbols.uses():
        if component(user) == component(definer) and unit(user) in units:
            graph[unit(user)][unit(definer)] = f"calls {symbol}"
    return graph


def header_links(paths):
    """Header -> the headers of its folder that it includes."""
    headers = {path for path in paths if path.suffix == ".h"}
    return {path: {other: f"includes {target}" for target in includes(path)
                   for other in {path.parent / target,
                                 pathlib.Path("src") / target} & headers}
            for path in headers}


def circles(graph):
    """The strongly connected components of more than one node (Tarjan)."""
    number, low, stack, result = {}, {}, [], []

    def visit(node):
        number[node] = low[node] = len(number)
        stack.append(node)
        for other in graph[node]:
            if other not in number:
                visit(other)
            if other in stack:
                low[node] = min(low[node], low[other])
        if low[node] == number[node]:
            members = stack[stack.index(node):]
            del stack[stack.index(node):]
            if len(members) > 1:
                result.append(sorted(members))

    for node in sorted(graph):
        if node not in number:
            visit(node)
    return result


def check_circles(paths, symbols, found):
    for graph in (links(paths, symbols), header_links(paths)):
        for members in circles(graph):
            arrows = [f"  {a} {reason} of {b}" for a in members
                      for b, reason in sorted(graph[a].items())
                      if b in members]
            key = "circle", component(members[0])
            figure, text = found.get(key, (0, ""))
            found[key] = figure + len(members), "\n".join(
                filter(None, [text, f"{members[0].parent}: a circle of "
                              f"{len(members)} files: move what they share "
                              "down, or pass it as a parameter", *arrows]))


def check_structs(found):
    places = collections.defaultdict(set)
    public = [path.relative_to(ROOT)
              for path in (ROOT / "include/takt").glob("*.h")]
    for path in [*sources(".c", ".h"), *public]:
        for name in STRUCT.findall(code((ROOT / path).read_text())):
            places[name].add(str(path))
    for name, paths in places.items():
        if len(paths) > 1:
            found["struct", name] = len(paths), \
                f"struct {name} is defined in {' and '.join(sorted(paths))}: " \
                "say which is which by name"


def main(build, *arguments):
    found = {}
    files = [path for path in sources(".c", ".h")
             if path.parts[0] != "scan"]  # its judges have more decisions yet
    count = check_functions(files, found)
    check_circles([path for path in files if path.parts[0] in WITHOUT_CIRCLES],
                  Symbols(build), found)
    check_structs(found)
    return report(f"{count} functions", found,
                  Exceptions("decisions", "lines", "circle", "struct"),
                  arguments)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
