#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How large a full page of `takt report` is, and how soon a browser shows it.

usage: page.py TAKT STORE MACHINE

STORE is one that `takt tune` filled here. Its records become those of a
recorded machine with a GPU (tests/fixtures/machines/xeon-h200-16): what one
expert on several threads took is told of all of them and of the GPU, with
operands on the host and on it, and there are 400 days and 40 programs. The
page of that is written, and opened in Chromium five times.
"""
import json
import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "tests", "cli"))
from browser import Browser  # noqa: E402

PAINT = ("performance.getEntriesByName('first-contentful-paint')"
         ".map(e => e.startTime)[0]")


def takt(*words, **env):
    return subprocess.run([sys.argv[1], *words], check=True, text=True,
                          capture_output=True, env=dict(
                              os.environ, TAKT_DB="", **env)).stdout


def spread(row, experts, gpu):
    """The rows that one becomes."""
    name = row[6]
    if not name.startswith("simd.") or "x" not in name[8:]:
        return [row]
    out = [row[:6] + [e] + row[7:] for e in experts
           if e.startswith(name.rsplit("x", 1)[0] + "x")]
    if name.startswith("simd.avx512"):
        out += [row[:1] + [gpu] + row[2:6] + ["cuda.0"] + row[7:8] +
                [situation] + row[9:] for situation in ("0", "4")]
    return out


def days_and_programs(row):
    for day in range(20000, 20400):
        for part, calls in (("calls", 1e6), ("trials", 99), ("budget", 0),
                            ("changes", 1), ("gain", 0)):
            yield row[:4] + ["takt:day", "", part, "0", "0", str(day % 400),
                             "1", "1", "9", "20.5" if part == "gain" else "0",
                             "0", "0", "0", "0", str(calls), "3",
                             str(day * 86400)]
    for i in range(40):
        for side, mean in (("baseline", "20.72"), ("routed", "20.5")):
            yield row[:4] + ["run.program%d.py-1234" % i, "", side, "0", "0",
                             "0", "1", "1", "9", mean, "0.1", "0", "1", "1",
                             "9", "9", "1"]


def full_store(folder, store, machine):
    lines = takt("history", "export", "--db", store).splitlines()
    prints = json.loads(takt("machine", "--from", machine, "--json"))
    gpu = (prints["gpus"][0].get("fingerprint") if prints["gpus"] else "") or ""
    rows = {}
    for line in lines[2:-1]:
        row = line.split("\t")
        row[0], row[2] = prints["hw_fingerprint"], prints["sw_fingerprint"]
        if not row[4].startswith(("takt:", "run.", "pace.", "expected.")):
            for made in spread(row, prints["experts"], gpu):
                rows[tuple(made[:10])] = made
    for made in days_and_programs(row):
        rows[tuple(made[:10])] = made
    text = os.path.join(folder, "full.tsv")
    with open(text, "w", encoding="ascii") as file:
        for line in lines[:2] + ["\t".join(r) for r in rows.values()] + [
                "end\t%d" % len(rows)]:
            file.write(line + "\n")
    full = os.path.join(folder, "full.db")
    takt("history", "import", text, "--db", full)
    print("%d records" % len(rows))
    return full


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        full = full_store(folder, sys.argv[2], sys.argv[3])
        page = os.path.join(folder, "page.html")
        start = time.monotonic()
        takt("report", "--machine", sys.argv[3], "--db", full, "-o", page)
        print("%.2f MB, written in %.2f s" % (
            os.path.getsize(page) / 1e6, time.monotonic() - start))
        with Browser() as browser:
            paints = []
            for _ in range(5):
                browser.open(page)
                paints.append(browser.ask(PAINT) or browser.ask(
                    "new Promise(r => setTimeout(() => r(%s), 500))" % PAINT))
            print("first paint after %s ms; errors: %s" % (
                ", ".join("%.0f" % p for p in paints), browser.errors))


if __name__ == "__main__":
    main()
