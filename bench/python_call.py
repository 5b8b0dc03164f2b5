#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a call of 16 elements costs in Python, and whether a million of them
leave anything behind.

usage: python_call.py [--leaks]

PYTHONPATH has the package (build/release/python). Times are medians of rounds
in which all kinds take turns, less an empty loop. The kernel, 4 ns by bench_call,
is a part of them.
"""
import os
import statistics
import sys
import time
from array import array

import takt

N, ROUNDS, CALLS = 16, 31, 20_000


def loop(text, names):
    """A function that runs a statement CALLS times."""
    code = f"def f():\n for _ in range({CALLS}):\n  {text}\n"
    exec(code, names)
    return names["f"]


def kinds():
    a, b, out = (array("f", [1]) * N for _ in range(3))
    names = {"takt": takt, "add": takt.add, "sum_": takt.sum,
             "exp": takt.exp, "a": a, "b": b, "out": out,
             "context": takt.Context(db="")}
    found = {
        "array: add(a, b, out=out)": loop("add(a, b, out=out)", dict(names)),
        "array: add(a, b)": loop("add(a, b)", dict(names)),
        "array: sum(a)": loop("sum_(a)", dict(names)),
        "array: context.add(a, b, out=out)":
            loop("context.add(a, b, out=out)", dict(names))}
    try:
        import numpy as np
    except ImportError:
        return found
    for name in "a", "b", "out":
        names[name] = np.ones(N, "f4")
    names["np"] = np
    for text in ("add(a, b, out=out)", "add(a, b)", "sum_(a)",
                 "exp(a, out=out)", "np.add(a, b, out=out)", "np.add(a, b)"):
        found["NumPy: " + text] = loop(text, dict(names))
    return found


def times():
    found = {"empty": loop("pass", {}), **kinds()}
    took = {name: [] for name in found}
    for _ in range(ROUNDS):
        for name, function in found.items():
            start = time.perf_counter_ns()
            function()
            took[name].append((time.perf_counter_ns() - start) / CALLS)
    median = {name: statistics.median(t) for name, t in took.items()}
    empty = median.pop("empty")
    print(f"{'call of 16 elements':40}{'ns':>8}")
    for name, ns in median.items():
        print(f"{name:40}{ns - empty:8.1f}")


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def leaks():
    a, b = (array("f", [1]) * N for _ in range(2))
    for _ in range(20_000):
        takt.add(a, b)
        takt.add(a, b, out=a)
    before = resident()
    for _ in range(500_000):
        takt.add(a, b)
        takt.add(a, b, out=a)
    print(f"a million calls: {resident() - before} bytes more")


if __name__ == "__main__":
    leaks() if "--leaks" in sys.argv else times()
