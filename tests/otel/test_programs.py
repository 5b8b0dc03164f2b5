#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whole programs with telemetry: a collector in whatever state changes neither
what they compute nor how they end, and what they tell of hangs together.

usage: test_programs.py PROGRAM [--short]"""
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import threading
import time

PROGRAM = sys.argv[1]
IS_SHORT = "--short" in sys.argv[2:]  # where a program takes seconds
ROUNDS = 100 if IS_SHORT else 400
LONGEST = 200  # seconds that a program may take on a machine that is very busy
failures = tests = 0


def check(what, condition, why=""):
    global failures, tests
    tests += 1
    failures += not condition
    print(f"{'ok' if condition else 'not ok'} {tests} - {what}"
          f"{'' if condition else f' # {why}'}", flush=True)


def run(**variables):
    clean = {k: v for k, v in os.environ.items()
             if not k.startswith(("OTEL_", "TRACE")) and k != "TAKT_TRACE"}
    begun = time.monotonic()
    done = subprocess.run([PROGRAM, str(ROUNDS)], env={**clean, **variables},
                          text=True, capture_output=True, timeout=LONGEST)
    return done.stdout, done.stderr, done.returncode, time.monotonic() - begun


class Collector(threading.Thread):
    """Listens on loopback and does `act` with each connection."""

    def __init__(self, act):
        super().__init__(daemon=True)
        self.act, self.seen = act, 0
        self.server = socket.create_server(("127.0.0.1", 0))
        self.server.settimeout(LONGEST)
        self.start()

    def run(self):
        try:
            while self.seen < 100:
                connection, _ = self.server.accept()
                self.seen += 1
                with connection:
                    connection.settimeout(2)
                    self.act(connection)
        except OSError:
            pass

    def __enter__(self):
        return f"http://127.0.0.1:{self.server.getsockname()[1]}"

    def __exit__(self, *_):
        self.server.close()


def wait(connection):
    """Takes everything and says nothing, until the other end goes."""
    try:
        while connection.recv(65536):
            pass
    except OSError:
        pass


def blabber(connection):
    connection.recv(64)
    connection.sendall(b"\x00\xff garbage " * 1000)


def hang_up(connection):
    connection.recv(1)


def nowhere():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"http://127.0.0.1:{server.getsockname()[1]}"


def states():
    """Names, and variables of the environment while they last."""
    for protocol in ("grpc",) if IS_SHORT else ("grpc", "http/protobuf"):
        common = {"OTEL_EXPORTER_OTLP_PROTOCOL": protocol,
                  "TAKT_TRACE_DEBUG": "1", "OTEL_BSP_SCHEDULE_DELAY": "50"}
        yield f"absent ({protocol})", {
            **common, "OTEL_EXPORTER_OTLP_ENDPOINT": nowhere()}
        for name, act in (("silent", wait), ("talking nonsense", blabber),
                          ("hanging up", hang_up)):
            with Collector(act) as place:
                yield f"{name} ({protocol})", {
                    **common, "OTEL_EXPORTER_OTLP_ENDPOINT": place}
    if IS_SHORT:
        return
    yield "a full disk", {"TAKT_OTLP_FILE": "/dev/full",
                          "TAKT_TRACE_DEBUG": "1"}


def wrong_settings():
    """Names, and variables that cannot be obeyed."""
    yield "a file that cannot be", {"TAKT_OTLP_FILE": "/nowhere/trace"}
    yield "no exporter", {"TAKT_OTEL": "/nowhere/libtakt-otel.so",
                          "OTEL_EXPORTER_OTLP_ENDPOINT": nowhere()}
    yield "nonsense in the environment", {
        "OTEL_EXPORTER_OTLP_ENDPOINT": "gopher://x y", "TAKT_TRACE_RATE": "x",
        "OTEL_EXPORTER_OTLP_TIMEOUT": "soon", "TRACEPARENT": "00-1-2-3",
        "OTEL_TRACES_SAMPLER": "never?", "OTEL_BSP_MAX_QUEUE_SIZE": "-1"}
    yield "a trace that cannot be written", {"TAKT_TRACE": "/nowhere/x"}
    yield "a trace on a full disk", {"TAKT_TRACE": "/dev/full"}


def collectors_change_nothing():
    plain = run()
    check("the program computes", plain[2] == 0 and plain[1] == "", plain)
    for name, variables in states():
        done = run(**variables)
        lines = done[1].splitlines()
        check(f"{name}: same output, same exit status",
              (done[0], done[2]) == (plain[0], plain[2]), done)
        # Of traces and of metrics.
        check(f"{name}: it is said, once",
              1 <= len(lines) <= 2 and len(set(lines)) == len(lines) and
              all(line.startswith("takt: telemetry: ") for line in lines),
              done[1])
        # Half a second is what the end may take; the rest is the machine's.
        check(f"{name}: it ends", done[3] < plain[3] * 3 + 5, done[3])
    for name, variables in () if IS_SHORT else wrong_settings():
        done = run(**variables)
        lines = done[1].splitlines()
        check(f"{name}: same output, same exit status, a line of Takt's",
              (done[0], done[2]) == (plain[0], plain[2]) and lines
              and all(line.startswith("takt: ") for line in lines), done)
        done = run(**variables, TAKT_LOG="off")
        check(f"{name}: nothing said if nothing is to be",
              done[:3] == plain[:3], done)


def spans_of(path):
    spans, metrics = [], []
    for line in path.read_text().splitlines():
        said = json.loads(line)
        for part in said.get("resourceSpans", []):
            spans += part["scopeSpans"][0]["spans"]
        for part in said.get("resourceMetrics", []):
            metrics.append(part["scopeMetrics"][0]["metrics"])
    return spans, metrics


def attributes(span):
    return {a["key"]: next(iter(a["value"].values()))
            for a in span.get("attributes", [])}


def the_trace_hangs_together(folder):
    path = folder / "all.jsonl"
    done = run(TAKT_OTLP_FILE=str(path), TAKT_TRACE_DEBUG="1",
               OTEL_SERVICE_NAME="a program")
    spans, metrics = spans_of(path)
    by_id = {span["spanId"]: span for span in spans}
    roots = [s for s in spans if not s.get("parentSpanId")]
    selections = [s for s in spans if s["name"].startswith("backend_sel")]
    runs = [s for s in spans if s["name"].startswith("compute_block")]
    check("it ends well", done[2] == 0, done)
    check("there is one root", [s["name"] for s in roots] == ["takt_compute"],
          [s["name"] for s in roots])
    check("there is one trace", len({s["traceId"] for s in spans}) == 1)
    check("every call of all rounds is told of, twice",
          len(selections) == len(runs) == 4 * ROUNDS,
          (len(selections), len(runs)))
    check("selections are below the root", all(
        s["parentSpanId"] == roots[0]["spanId"] for s in selections))
    check("runs are nested in their selections", all(
        by_id[r["parentSpanId"]]["name"] == r["name"].replace(
            "compute_block", "backend_selection") and
        int(by_id[r["parentSpanId"]]["startTimeUnixNano"]) <=
        int(r["startTimeUnixNano"]) <= int(r["endTimeUnixNano"]) <=
        int(by_id[r["parentSpanId"]]["endTimeUnixNano"]) for r in runs))
    check("the root spans them all", all(
        int(roots[0]["startTimeUnixNano"]) <= int(s["startTimeUnixNano"]) and
        int(s["endTimeUnixNano"]) <= int(roots[0]["endTimeUnixNano"])
        for s in spans))
    check("attributes have their words", all(
        {"operation", "input_size", "selected_backend", "has_history",
         "decision_type", "takt.expert", "takt.reason", "takt.actual_s",
         "takt.residency", "takt.explored", "takt.drift"} <=
        attributes(s).keys() for s in selections))
    check("what history decided is called so", all(
        attributes(s)["decision_type"] ==
        ("historical" if attributes(s)["has_history"] else "heuristic")
        for s in selections))
    calls = {p["attributes"][0]["value"]["stringValue"]: int(p["asInt"])
             for m in metrics[-1] if m["name"] == "takt.calls"
             for p in m["sum"]["dataPoints"]}
    check("metrics count every call",
          calls == dict.fromkeys(("matmul", "add", "relu", "sum"), ROUNDS),
          calls)


def a_caller_has_the_root(folder):
    path = folder / "child.jsonl"
    run(TAKT_OTLP_FILE=str(path), TAKT_TRACE_DEBUG="1",
        TRACEPARENT="00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
    spans, _ = spans_of(path)
    check("spans belong to the caller's trace", spans and {
        s["traceId"] for s in spans} == {"0af7651916cd43dd8448eb211c80319c"})
    check("and are below the caller's span", all(
        s["parentSpanId"] == "b7ad6b7169203331" for s in spans
        if s["name"].startswith("backend_selection")))
    check("there is no takt_compute then",
          not any(s["name"] == "takt_compute" for s in spans))
    path = folder / "unsampled.jsonl"
    run(TAKT_OTLP_FILE=str(path), TAKT_TRACE_DEBUG="1",
        TRACEPARENT="00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00")
    check("what the caller does not sample is not told of",
          not spans_of(path)[0])


def off_is_off(folder):
    path = folder / "off.jsonl"
    run(TAKT_OTLP_FILE=str(path), OTEL_SDK_DISABLED="true")
    check("OTEL_SDK_DISABLED switches it off", not path.exists())


collectors_change_nothing()
with tempfile.TemporaryDirectory() as scratch:
    folder = pathlib.Path(scratch)
    the_trace_hangs_together(folder)
    a_caller_has_the_root(folder)
    off_is_off(folder)
print(f"1..{tests}")
sys.exit(failures != 0)
