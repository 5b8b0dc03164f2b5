#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the prior of a fleet is worth to a real machine: the mixed workload of
bench_learn from a cold start, with and without.

usage: bench/fleet_prior.py [--build FOLDER] [--rounds N] [--own STORE]
           [--other STORE [--machine RECORDING]] [--seed N]
           [--keep FOLDER]

    --build    where Takt was built (build/release)
    --own      a store of this machine; without it one is tuned now
    --other    another machine's store; with --machine its kind is known
               (a folder of 'takt machine --record'), without it counts as one
               of this kind: as if the two were mistaken for each other
    --keep     a folder for copies of the stores with priors

Beside them runs "tuned", with the store that the copies are made of: what a
prior could be worth at best. A fleet is made of copies of a store: each is a machine of its own, whose times
differ by a factor of its own and by one for each op and expert. Priors are
rolled up and pulled as files: no database. Everybody runs in one process, in
turns; N processes (5). Medians, and from the least to the most.
"""
import argparse
import json
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/fleet"))
from machines import COLUMNS, text_of  # noqa: E402

MACHINES = 12
LINE = re.compile(r"(\S+) +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+) s, (\d+) "
                  r"samples, (\d+) tries \(([\d.]+) s\)")


def run(*command, **settings):
    ran = subprocess.run([str(word) for word in command], text=True,
                         capture_output=True, **settings)
    if ran.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: {ran.stderr}")
    return ran.stdout


def fingerprint(takt, *words):
    return json.loads(run(takt, "machine", "--json", *words))[
        "hw_fingerprint"]


def rows(takt, store):
    text = run(takt, "history", "export", "--db", store)
    return [dict(zip(COLUMNS, line.split("\t")))
            for line in text.splitlines()[2:-1]]


def copy_of(records, machine, number, source, spread):
    """The same machine, somewhat slower or faster."""
    own = source.gauss(0, 0.05)
    factor = {}
    out = []
    for row in records:
        key = row["op"], row["dtype"], row["expert"]
        shift = factor.setdefault(key, source.gauss(0, spread))
        out.append(row | dict(machine=machine, writer=f"{number:032x}", mean=
                              float(row["mean"]) + own + shift +
                              source.gauss(0, 0.02)))
    return out


def fleet(takt, folder, name, records, machine, words, source):
    """A store with the prior of machines like that one."""
    stores = []
    for number in range(MACHINES):
        stores.append(folder / f"{name}{number}.db")
        run(takt, "history", "import", "-", "--db", stores[-1], input=text_of(
            copy_of(records, machine, number + 1, source, 0.08)))
    priors, store = folder / f"{name}.priors", folder / f"{name}.db"
    told = run(takt, "fleet", "roll-up", *stores, "--output", priors,
               "--unsigned", *words).strip()
    got = run(takt, "fleet", "pull", priors, "--unsigned", "--db",
              store).strip()
    print(f"{name}: {told}; {got}", flush=True)
    return store


def others(takt, options, here):
    """Records of the other machine, its fingerprint, and words for roll-up."""
    records = rows(takt, options.other)
    counts = {}
    for row in records:
        if not row["machine"].startswith("fleet."):
            counts[row["machine"]] = counts.get(row["machine"], 0) + 1
    most = max(counts, key=counts.get)
    records = [row for row in records if row["machine"] == most]
    if options.machine:
        return records, fingerprint(takt, "--from", options.machine), [
            "--machine", options.machine]
    return records, here, []


def told(name, values, digits=3):
    return (f"{name} {statistics.median(values):.{digits}f} "
            f"({min(values):.{digits}f} to {max(values):.{digits}f})")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default=ROOT / "build/release")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--own")
    parser.add_argument("--other")
    parser.add_argument("--machine")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", help="a folder for the stores with priors")
    options = parser.parse_args()
    takt = pathlib.Path(options.build) / "cli/takt"
    bench = pathlib.Path(options.build) / "bench/bench_learn"
    folder = pathlib.Path(tempfile.mkdtemp())
    source = random.Random(options.seed)
    here = fingerprint(takt)
    try:
        own = options.own
        if own is None:
            own = folder / "own.db"
            run(takt, "tune", "--anyway", "--db", own)
        stores = {"own": fleet(
            takt, folder, "own", [r for r in rows(takt, own)
                                  if r["machine"] == here], here, [], source)}
        if options.other:
            records, machine, words = others(takt, options, here)
            stores["other"] = fleet(takt, folder, "other", records, machine,
                                    words, source)
        for name, store in stores.items() if options.keep else ():
            shutil.copy(store, options.keep)
        results = {}
        for number in range(options.rounds):
            words = []
            for name, store in stores.items():
                copy = folder / f"{name}-{number}.db"
                shutil.copy(store, copy)
                words.append(f"{name}={copy}")
            copy = folder / f"tuned-{number}.db"
            shutil.copy(own, copy)
            words.append(f"tuned={copy}")
            for found in LINE.finditer(run(bench, *words)):
                results.setdefault(found[1], []).append(
                    [float(value) for value in found.groups()[1:]])
            print(json.dumps({name: values[-1] for name, values in
                              results.items()}), flush=True)
    finally:
        shutil.rmtree(folder)
    print(f"{options.rounds} rounds; time over that of the best expert per "
          "call, from a cold start")
    for name, values in results.items():
        columns = list(zip(*values))
        print(f"{name:8}", told("medians", columns[0]), "|",
              told("means", columns[1]), "|", told("tries", columns[5], 0),
              "|", told("their cost", [100 * c / s for c, s in zip(
                  columns[6], columns[3])], 1), "%", flush=True)


main()
