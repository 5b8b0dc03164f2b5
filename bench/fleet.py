#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What `takt fleet` takes with a PostgreSQL on this machine: cells a second that
a sync sends, what a sync of a day and a pull take, and a roll-up.

usage: bench/fleet.py [TAKT [ROUNDS]]     (build/release/cli/takt, 7)

The server is started by the script, on a socket, and writes to its disk at
every commit. Sending and reading are what the commands say they took (--json).
"""
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/fleet"))
import machines  # noqa: E402
from database import Database  # noqa: E402

TAKT = str(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else
                        ROOT / "build/release/cli/takt").resolve())
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 7
HASWELL = ROOT / "tests/fixtures/machines/haswell-4"
OPS = "add sub mul div sqrt exp log sin cos tanh sum dot abs neg".split()
EXPERTS = ["scalar"] + [f"simd.{isa}{team}" for isa in ("sse2", "avx2")
                        for team in ("", "x2", "x4")]


def records(count, bins, shift=0.0):
    """So many lines."""
    lines = [(op, dtype, situation, expert) for op in OPS for dtype in (0, 1)
             for situation in range(4) for expert in EXPERTS][:count]
    return [dict(op=op, dtype=dtype, situation=situation, expert=expert,
                 bin=20 + b, mean=8 + b / 3 + shift, bytes=2.0 ** (10 + b),
                 flops=2.0 ** (8 + b)) for op, dtype, situation, expert in lines
            for b in range(bins)]


def seconds(command):
    began = time.perf_counter()
    ran = subprocess.run(command, capture_output=True, text=True)
    if ran.returncode != 0:
        sys.exit(ran.stderr)
    return time.perf_counter() - began, ran.stdout


def told(name, values, unit):
    values = sorted(values)
    print(f"{name}: {statistics.median(values):.4g} {unit} (from "
          f"{values[0]:.4g} to {values[-1]:.4g}, {len(values)} rounds)",
          flush=True)


def sending(database, folder):
    machine = machines.Machine(TAKT, HASWELL, folder / "large.db", 1)
    machine.learn(records(len(OPS) * 56, 20))
    rates = []
    for _ in range(ROUNDS):
        _, text = seconds(machine.command("sync", database.address(),
                                          "--json"))
        rates.append(len(OPS) * 56 * 20 / json.loads(text)["sending_ms"] * 1e3)
        os.unlink(f"{machine.store}-fleet")
    told(f"sending {len(OPS) * 56} pages of 20 cells", rates, "cells/s")


def day(database, folder):
    machine = machines.Machine(TAKT, HASWELL, folder / "day.db", 2)
    machine.learn(records(462, 6))
    seconds(machine.command("sync", database.address()))
    took = []
    for number in range(ROUNDS):
        machine.learn(records(462, 6, number / 100 + 0.01))
        one, text = seconds(machine.command("sync", database.address()))
        took.append(one)
    told("a sync in which all of 462 lines changed", took, "s")
    print(" ", text.strip())


def kinds(database, folder):
    for number in range(20):
        machine = machines.Machine(TAKT, HASWELL, folder / f"{number}.db",
                                   number)
        machine.learn(records(462, 6, number / 100))
        seconds(machine.command("sync", database.address()))
    took = [seconds(machine.command("roll-up", database.address("sums")))
            for _ in range(3)]
    told("a roll-up of 21 machines with 462 lines", [t for t, _ in took], "s")
    print(" ", took[0][1].strip())
    pulls, reading = [], []
    for number in range(ROUNDS):
        new = machines.Machine(TAKT, HASWELL, folder / f"new{number}.db", 99)
        one, text = seconds(new.command("pull", database.address("guest"),
                                        "--json"))
        pulls.append(1e3 * one)
        reading.append(json.loads(text)["reading_ms"])
    told("connecting and reading the priors of a machine", reading, "ms")
    told("a pull into a new store, the whole command", pulls, "ms")
    again = [1e3 * seconds(new.command("pull", database.address("guest")))[0]
             for _ in range(ROUNDS)]
    told("a pull into a store that has it", again, "ms")


def main():
    folder = pathlib.Path(tempfile.mkdtemp())
    database = Database(TAKT)
    try:
        sending(database, folder)
        day(database, folder)
        database.sql("DELETE FROM takt_fleet.page")
        kinds(database, folder)
    finally:
        database.close()
        shutil.rmtree(folder)


main()
