# SPDX-License-Identifier: MIT
"""What the checks know about the tree: its components, the includes of its
files, the symbols of its object files and the list of known exceptions."""
import collections
import json
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
EDGES = ("cli", "scan", "profile", "project", "fleet", "otel", "dropin",
         "python")  # besides those of src
INCLUDE = re.compile(r'^\s*#\s*include\s+[<"]([^>"]+)[>"]', re.M)
LITERAL = re.compile(
    r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
OUTPUT = re.compile(r" -o (\S+)")
DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.M)


def component(path):
    """The component of a file: a folder of src, or one of EDGES."""
    return path.parts[1] if path.parts[0] == "src" else path.parts[0]


def sources(*suffixes):
    """Every source file, relative to the root."""
    for folder in ("src", *EDGES):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in suffixes:
                yield path.relative_to(ROOT)


def includes(path):
    return INCLUDE.findall((ROOT / path).read_text())


def code(text):
    """The text without comments, literals and directives; lines stay."""
    def blank(match):
        return " " + "\n" * match[0].count("\n")
    return DIRECTIVE.sub(blank, LITERAL.sub(blank, text))


class Symbols:
    """Which source defines and which uses each symbol, by a build's objects."""

    def __init__(self, build):
        self.definers = collections.defaultdict(set)
        self.used = collections.defaultdict(set)  # source -> symbols
        objects = dict(self._objects(pathlib.Path(build)))
        nm = subprocess.run(["nm", "-A", "-g", "-P", *objects],
                            capture_output=True, text=True, check=True)
        for line in nm.stdout.splitlines():
            where, _, rest = line.partition(": ")
            symbol, kind, *_ = rest.split()
            source = objects[where]
            if kind in "Uw":
                self.used[source].add(symbol)
            else:
                self.definers[symbol].add(source)
        self.sources = set(objects.values())

    @staticmethod
    def _objects(build):
        commands = json.loads((build / "compile_commands.json").read_text())
        for command in commands:
            source = pathlib.Path(command["file"])
            output = build / OUTPUT.search(command["command"])[1]
            if not source.is_relative_to(ROOT) or not output.exists():
                continue
            source = source.relative_to(ROOT)
            if source.parts[0] in ("src", *EDGES) and \
                    output.relative_to(build).parts[0] in \
                    ("CMakeFiles", *EDGES):
                yield str(output), source

    def uses(self):
        """(user, symbol, definer) for symbols of another file. Of several
        definers the one in the user's own component is meant."""
        for user in sorted(self.used):
            for symbol in sorted(self.used[user]):
                definers = self.definers.get(symbol, set())
                own = {d for d in definers if component(d) == component(user)}
                for definer in sorted(own or definers):
                    if definer != user:
                        yield user, symbol, definer


class Exceptions:
    """Known violations of one check, in tools/exceptions.txt: a kind, a name
    and a figure. A figure may only shrink, and a line goes when its violation
    is gone."""

    FILE = ROOT / "tools/exceptions.txt"

    def __init__(self, *kinds):
        self.kinds = kinds
        self.known = {}
        for line in self.FILE.read_text().splitlines():
            kind, *rest = line.split() or ["#"]
            if kind in kinds:
                self.known[kind, rest[0]] = int(rest[1])

    def judge(self, found):
        """found: (kind, name) -> (figure, message). Returns the problems."""
        problems = []
        for key, (figure, message) in sorted(found.items()):
            if figure > self.known.get(key, 0):
                problems.append(message)
        for key, figure in sorted(self.known.items()):
            now = found.get(key, (0,))[0]
            if now < figure:
                problems.append(
                    f"tools/exceptions.txt: {' '.join(key)} {figure}: now "
                    f"{now}; run the check with --shrink")
        return problems

    def shrink(self, found):
        """Lowers figures and drops lines. Never adds one."""
        lines = []
        for line in self.FILE.read_text().splitlines():
            kind, *rest = line.split() or ["#"]
            if kind in self.kinds:
                now = found.get((kind, rest[0]), (0,))[0]
                if now == 0:
                    continue
                line = f"{kind} {rest[0]} {min(now, int(rest[1]))}"
            lines.append(line)
        self.FILE.write_text("\n".join(lines) + "\n")


def report(seen, found, exceptions, arguments):
    """Prints the problems, or shrinks the exceptions. Returns a status."""
    if "--all" in arguments:
        problems = [message for _, (_, message) in sorted(found.items())]
    else:
        if "--shrink" in arguments:
            exceptions.shrink(found)
            exceptions.__init__(*exceptions.kinds)
        problems = exceptions.judge(found)
    print(*problems, sep="\n", end="\n" if problems else "")
    print(f"{seen}, {len(problems)} problems, "
          f"{len(exceptions.known)} known exceptions")
    return 1 if problems else 0
