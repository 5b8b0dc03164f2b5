#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fail when a component includes, or uses a symbol of, a component that
layers.txt does not allow, when it may and never does, or when the lines of
layers.txt are not in order.

usage: check_layers.py BUILD [--all | --shrink]
--all lists known exceptions too; --shrink removes those that are gone."""
import collections
import sys

from tree import EDGES, ROOT, Exceptions, Symbols, component, includes, \
    report, sources

# Folders of the system's headers.
SYSTEM = {"sys", "linux", "asm", "arpa", "netinet"}


def allowed():
    rules = {}
    for line in (ROOT / "tools/layers.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            name, _, rest = line.partition(":")
            rules[name] = rest.split()
    return rules


def edges(symbols):
    """(from, to) -> one example of an include or a use, and how many."""
    seen = collections.defaultdict(list)
    for path in sources(".c", ".h", ".def"):
        for target in includes(path):
            folder, slash, _ = target.partition("/")
            if slash and folder not in SYSTEM and folder != "takt":
                seen[component(path), folder].append(
                    f"{path} includes {target}")
    for user, symbol, definer in symbols.uses():
        # The edges may use all that include/takt declares.
        is_public = symbol.startswith("takt_") and symbol[5] != "_"
        if not (is_public and component(user) in EDGES):
            seen[component(user), component(definer)].append(
                f"{user} uses {symbol} of {definer}")
    return {edge: uses for edge, uses in seen.items() if edge[0] != edge[1]}


def violations(rules, seen):
    found = {}
    for (user, target), uses in seen.items():
        if user not in rules:
            found["folder", user] = 1, f"tools/layers.txt has no line {user}"
        elif target not in rules[user]:
            for use in sorted(set(uses)):
                count, text = found.get(("layer", f"{user}:{target}"), (0, ""))
                found["layer", f"{user}:{target}"] = count + 1, \
                    f"{text}{use}: {user} may not use {target}\n"
    names = list(rules)
    for user, targets in rules.items():
        for target in targets:
            if target in names[names.index(user):]:
                found["order", f"{user}:{target}"] = 1, \
                    f"tools/layers.txt: {user} names {target}, below it"
            if (user, target) not in seen:
                found["unused", f"{user}:{target}"] = 1, \
                    f"tools/layers.txt: {user} never uses {target}: remove it"
    return {key: (count, text.rstrip()) for key, (count, text) in found.items()}


def main(build, *arguments):
    symbols = Symbols(build)
    rules = allowed()
    components = {component(path) for path in sources(".c", ".h")}
    found = violations(rules, edges(symbols))
    for name in components - rules.keys():
        found["folder", name] = 1, f"tools/layers.txt has no line {name}"
    bare = components - {component(path) for path in symbols.sources}
    for name in bare:
        found["folder", name] = 1, f"{build} has no objects of {name}"
    return report(f"{len(components)} components, "
                  f"{len(symbols.sources)} objects", found,
                  Exceptions("layer", "unused", "order", "folder"), arguments)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
