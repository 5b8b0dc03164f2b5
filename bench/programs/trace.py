#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What it takes to convert a trace of a million calls, and how much memory.

usage: trace.py TAKT
"""
import os
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "tests", "cli"))
import trace_records as records  # noqa: E402


def measure(takt, words):
    """CPU seconds, wall seconds, megabytes: of one run."""
    ran = subprocess.run(
        ["/usr/bin/time", "-f", "%U %S %e %M", takt, *words], check=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    user, system, wall, size = ran.stderr.splitlines()[-1].split()
    return float(user) + float(system), float(wall), int(size) / 1e3


def a_call(i):
    """Times in nanoseconds; predictions are floats, with all their digits."""
    took = 1_000_003 + 7919 * i
    expected, = struct.unpack("<f", struct.pack("<f", took * 1.07e-9))
    confidence, = struct.unpack("<f", struct.pack("<f", 1 - 1 / (i + 3)))
    return records.event(at=5 + i % 900, took=took / 1e9, expected=expected,
                         confidence=confidence)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "million.trace")
        some = b"".join(a_call(i) for i in range(1000))
        with open(path, "wb") as file:
            file.write(records.header() + some * 1000 + records.totals() +
                       records.end())
        page = os.path.join(folder, "page.html")
        for words in (("trace", "--format", "chrome", path),
                      ("trace", "--format", "otlp", path),
                      ("trace", "--format", "json", path),
                      ("trace", "--summary", path),
                      ("report", path, "-o", page)):
            print("takt %-22s %5.1f s of CPU, %5.1f s, %4.1f MB" % (
                (" ".join(words[:-1] if words[0] == "trace" else words[:1]),)
                + measure(sys.argv[1], words)))


if __name__ == "__main__":
    main()
