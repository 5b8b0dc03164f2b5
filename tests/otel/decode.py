#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Have protoc read the golden files by the official definitions.

usage: TAKT_NODE_MODULES=FOLDER decode.py [GOLDEN_FOLDER]

Each .pb is decoded by `protoc --decode`; the .json beside it is read by the
same definitions under the rules of OTLP (ids in hex, enums as numbers, 64-bit
integers as strings). Both must say the same, and nothing that is not defined.
Exits with 77 when protoc or the definitions are not there.
"""
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
PROTOS = "@elastic/mockotlpserver"
FILES = ("collector/trace/v1/trace_service", "trace/v1/trace",
         "collector/metrics/v1/metrics_service", "metrics/v1/metrics",
         "resource/v1/resource", "common/v1/common")
TRACE, COLLECTOR = "trace.v1.", "collector."
# What each golden file is a message of, and what makes its JSON an object.
GOLDEN = {
    "cpu_call": (TRACE + "ScopeSpans", '{"spans":[%s]}'),
    "gpu_call": (TRACE + "ScopeSpans", '{"spans":[%s]}'),
    "drift": (TRACE + "ScopeSpans", '{"spans":[%s]}'),
    "root": (TRACE + "ScopeSpans", '{"spans":[%s]}'),
    "resource": (TRACE + "ResourceSpans", "{%s}"),
    "traces": (COLLECTOR + "trace.v1.ExportTraceServiceRequest", "%s"),
    "metrics": (COLLECTOR + "metrics.v1.ExportMetricsServiceRequest", "%s"),
    "no_metrics": (COLLECTOR + "metrics.v1.ExportMetricsServiceRequest", "%s"),
}
SIZES = {"trace_id": 16, "span_id": 8, "parent_span_id": 8}
WIDE = {"int64", "uint64", "sint64", "fixed64", "sfixed64"}
NARROW = {"int32", "uint32", "sint32", "fixed32", "sfixed32"}


class Definitions:
    """Messages and enums of .proto files: only what OTLP's make use of."""

    def __init__(self, folder):
        self.messages, self.enums = {}, {}
        for name in FILES:
            text = (folder / f"opentelemetry/proto/{name}.proto").read_text()
            self.read(re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S))

    def read(self, text):
        pattern = re.compile(
            r"(?P<kind>message|enum|oneof|service)\s+(?P<name>\w+)\s*\{"
            r"|(?:(?P<label>optional|repeated)\s+)?(?P<type>[\w.]+)\s+"
            r"(?P<field>\w+)\s*=\s*\d+\s*;"
            r"|(?P<value>\w+)\s*=\s*(?P<number>0x[0-9A-Fa-f]+|\d+)\s*;"
            r"|(?P<skip>\{|reserved[^;]*;|option[^;]*;)|(?P<end>\})")
        within = []
        for match in pattern.finditer(text):
            if match["kind"]:
                within.append((match["kind"], match["name"]))
                self.messages.setdefault(match["name"], {})
            elif match["skip"] == "{":
                within.append(("", ""))
            elif match["end"]:
                within.pop()
            elif match["field"] and within:
                message = [n for k, n in within if k == "message"][-1]
                presence = match["label"] or \
                    ("optional" if within[-1][0] == "oneof" else "")
                self.messages[message][match["field"]] = (
                    match["type"].split(".")[-1], presence)
            elif match["value"] and within and within[-1][0] == "enum":
                self.enums.setdefault(within[-1][1], {})[match["value"]] = \
                    int(match["number"], 0)


def camel(name):
    return re.sub(r"_(\w)", lambda m: m[1].upper(), name)


def is_default(value):
    return value in (0, "", b"", False) and not (
        isinstance(value, float) and math.copysign(1, value) < 0)


def put(tree, name, value, presence):
    """What is not marked and zero may be there or not: the same thing."""
    if presence == "repeated":
        tree.setdefault(name, []).append(value)
    elif presence == "optional" or isinstance(value, dict) or \
            not is_default(value):
        assert name not in tree, f"{name} is there twice"
        tree[name] = value


# ---- protoc's text ---------------------------------------------------------

ESCAPES = {"n": 10, "r": 13, "t": 9, '"': 34, "'": 39, "\\": 92}


def unescape(text):
    out = bytearray()
    for octal, letter, plain in re.findall(
            r"\\([0-7]{1,3})|\\(.)|([^\\])", text):
        if octal:
            out.append(int(octal, 8))
        elif letter:
            out.append(ESCAPES[letter])
        else:
            out += plain.encode()
    return bytes(out)


def from_text(definitions, kind, text):
    if kind in definitions.enums:
        return definitions.enums[kind][text]
    if kind == "bytes":
        return unescape(text[1:-1])
    if kind == "string":
        return unescape(text[1:-1]).decode()
    if kind == "bool":
        return text == "true"
    return float(text) if kind == "double" else int(text)


def read_text(definitions, message, lines):
    tree = {}
    for line in lines:
        line = line.strip()
        if line == "}":
            break
        name = re.match(r"\w+", line)[0]
        assert name in definitions.messages[message], \
            f"{message} has no field {name}"
        kind, presence = definitions.messages[message][name]
        if line.endswith("{"):
            value = read_text(definitions, kind, lines)
        else:
            value = from_text(definitions, kind, line.split(": ", 1)[1])
        put(tree, name, value, presence)
    return tree


def read_protobuf(definitions, folder, message, path):
    found = subprocess.run(
        ["protoc", f"-I{folder}", f"--decode=opentelemetry.proto.{message}",
         *(f"opentelemetry/proto/{name}.proto" for name in FILES)],
        stdin=path.open("rb"), capture_output=True, check=False, cwd=folder)
    assert found.returncode == 0, found.stderr.decode()
    return read_text(definitions, message.split(".")[-1],
                     iter(found.stdout.decode().splitlines()))


# ---- OTLP's JSON -----------------------------------------------------------


def from_json(definitions, kind, name, value):
    if kind in definitions.messages and kind not in definitions.enums:
        return read_json(definitions, kind, value)
    if kind in definitions.enums or kind in NARROW:
        assert type(value) is int, f"{name} is not a number: {value!r}"
        return value
    if kind in WIDE:
        assert re.fullmatch(r"-?(0|[1-9]\d*)", value), f"{name}: {value!r}"
        return int(value)
    if kind == "bytes":
        assert re.fullmatch("[0-9a-f]{%d}" % (2 * SIZES[name]), value), \
            f"{name}: {value!r}"
        return bytes.fromhex(value)
    if kind == "double":
        assert value in ("NaN", "Infinity", "-Infinity") or \
            type(value) in (int, float), f"{name}: {value!r}"
        return float(value)
    assert isinstance(value, {"string": str, "bool": bool}[kind]), name
    return value


def read_json(definitions, message, value):
    names = {camel(name): name for name in definitions.messages[message]}
    tree = {}
    for key, part in value.items():
        assert key in names, f"{message} has no field {key}"
        name = names[key]
        kind, presence = definitions.messages[message][name]
        for each in part if presence == "repeated" else [part]:
            put(tree, name, from_json(definitions, kind, name, each), presence)
    return tree


def once(pairs):
    assert len(dict(pairs)) == len(pairs), f"a name is there twice: {pairs}"
    return dict(pairs)


# ---- both ------------------------------------------------------------------


def differences(path, a, b):
    if isinstance(a, dict) and isinstance(b, dict):
        for name in sorted(a.keys() | b.keys()):
            yield from differences(f"{path}.{name}", a.get(name), b.get(name))
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for i, (left, right) in enumerate(zip(a, b)):
            yield from differences(f"{path}[{i}]", left, right)
    elif repr(a) != repr(b):  # so that NaN is NaN, and -0.0 is not 0.0
        yield f"{path}: protobuf has {a!r}, JSON has {b!r}"


def compare(definitions, folder, golden, name):
    message, frame = GOLDEN[name]
    text = (golden / f"{name}.json").read_bytes().decode()
    assert "\n" not in text.removesuffix("\n"), "more than one line"
    try:
        binary = read_protobuf(definitions, folder, message,
                               golden / f"{name}.pb")
        plain = read_json(definitions, message.split(".")[-1], json.loads(
            frame % text, object_pairs_hook=once))
    except (AssertionError, ValueError, KeyError) as problem:
        return [f"{type(problem).__name__}: {problem}"]
    return list(differences("", binary, plain)) or \
        ([] if binary else ["there is nothing in it"])


def main():
    golden = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "golden"
    folder = pathlib.Path(os.environ.get("TAKT_NODE_MODULES", "")) / PROTOS
    if not shutil.which("protoc") or not (folder / "opentelemetry").is_dir():
        print("1..0 # SKIP protoc or the definitions of OTLP are not there")
        return 77
    definitions = Definitions(folder.resolve())
    names = {path.stem for path in golden.iterdir()}
    failed = names != GOLDEN.keys()
    print(f"1..{len(GOLDEN) + 1}")
    print("not ok" if failed else "ok", "1 - every golden file is looked at")
    for number, name in enumerate(GOLDEN, 2):
        problems = compare(definitions, folder.resolve(), golden, name)
        failed |= bool(problems)
        print("not ok" if problems else "ok",
              f"{number} - {name} says the same in protobuf and in JSON")
        print(*(f"# {problem}\n" for problem in problems), sep="", end="")
    return int(failed)


sys.exit(main())
