#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs of this folder where something is wrong or others are at work:
`takt run --compare` in each of these surroundings.

usage: surroundings.py [OPTIONS]        (--help lists them)

read-only   the store has what a run has learned, and cannot be written
full        the store is on a full one
half        a cgroup grants half a CPU
lost-gpu    the GPU fails after its first call (--fake-cuda names the driver)
together    four at once: what all of them take, with and without Takt in turns

All but the last two need root. What is not possible is left out, and a line
says so. '!' marks what is over its bar: see run.py.
"""
import json
import os
import random
import shlex
import statistics
import subprocess
import sys
import tempfile
import time

import run

NAMES = ("read-only", "full", "half", "lost-gpu", "together")
GROUP = "takt-bench"


def arguments():
    parser = run.parser_of(__doc__)
    parser.add_argument("--only", default=",".join(NAMES), metavar="LIST",
                        help="these surroundings, separated by commas")
    parser.add_argument("--programs", default="transformer", metavar="LIST",
                        help="of run.py (default: transformer)")
    parser.add_argument("--pairs", type=int, default=7, metavar="N")
    parser.add_argument("--factor", type=float, default=1.0, metavar="X",
                        help="that many times as much work in each program")
    parser.add_argument("--fake-cuda", metavar="FILE",
                        help="libfakecuda.so of a build with tests")
    return parser.parse_args()


# ---- surroundings: a shell's words before the command, and variables ----

def disk(folder, last):
    return f"mount -t tmpfs -o size=1m none {folder} && {last}", {}


def half():
    """A group below each that has a quota of its own."""
    for root, files in (
            ("/sys/fs/cgroup/cpu", {"cpu.cfs_quota_us": "50000"}),
            ("/sys/fs/cgroup", {"cpu.max": "50000 100000"})):
        group = os.path.join(root, GROUP)
        try:
            os.makedirs(group, exist_ok=True)
            for name, text in files.items():
                with open(os.path.join(group, name), "r+") as out:
                    out.write(text)
            return f"echo $$ > {group}/cgroup.procs", {}
        except OSError:
            continue
    return None


def lost_gpu(options):
    if not options.fake_cuda:
        return None
    return "true", {"TAKT_CUDA": os.path.abspath(options.fake_cuda),
                    "TAKT_CUBLAS": "", "TAKT_GPU": "all", "TAKT_LOG": "off",
                    "TAKT_VULKAN": "/nowhere/libvulkan.so.1",
                    "FAKE_CUDA_KILL": "1"}


def surroundings(options, name, folder, words):
    if name == "read-only":
        first = shlex.join([options.takt, "run", "--", *words])
        return disk(folder, f"{first} > /dev/null && "
                            f"mount -o remount,ro {folder}")
    if name == "full":
        return disk(folder,
                    f"{{ cat /dev/zero > {folder}/rest 2>/dev/null; true; }}")
    return half() if name == "half" else lost_gpu(options)


def compare(options, around, folder, words):
    setup, variables = around
    line = [options.takt, "run", f"--compare={options.pairs}", "--format",
            "json", "--", *words]
    ran = subprocess.run(
        ["unshare", "-m", "/bin/sh", "-c", f'{setup} && exec "$@"', "sh",
         *line], env={**os.environ, **variables, "TAKT_DB": os.path.join(folder, "db")},
        stdin=subprocess.DEVNULL,
        capture_output=True, text=True)
    try:
        return json.loads(ran.stdout)
    except ValueError:
        return {"trouble": ran.stderr.strip() or "takt ended"}


# ---- four at once ----

def take(lines):
    """Seconds until all have ended."""
    start = time.perf_counter()
    running = [subprocess.Popen(line, stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL) for line in lines]
    for child in running:
        if child.wait() != 0:
            sys.exit(f"surroundings.py: failed: {child.args}")
    return time.perf_counter() - start


def together(options, name, folder, words):
    store = os.path.join(folder, "together.db")
    ways = {"without": [words] * 4,
            "with": [[options.takt, "run", "--db", store, "--", *words]] * 4}
    taken = {way: [] for way in ways}
    for _ in range(options.pairs):
        for way in random.sample(list(ways), 2):
            taken[way].append(take(ways[way]))
    ratios = sorted(a / b for a, b in zip(taken["with"], taken["without"]))
    print(f"{name:<11} together  {statistics.median(ratios):.3f}  "
          f"{ratios[0]:.3f}-{ratios[-1]:.3f} (all)  "
          f"{statistics.median(taken['without']):.2f} s without", flush=True)


def measure(options, place, name, folder):
    words = run.command(options, run.PROGRAMS[name])
    if place == "together":
        together(options, name, folder, words)
        return
    around = surroundings(options, place, folder, words)
    told = {"trouble": "not possible here"} if around is None else \
        compare(options, around, folder, words)
    wrong = run.trouble(told)
    print(f"{name:<11} {place}: {wrong}" if wrong else
          run.row_text(name, place, told), flush=True)


def main():
    options = arguments()
    for place in options.only.split(","):
        if place not in NAMES:
            sys.exit(f"surroundings.py: no surroundings '{place}'")
    for name in options.programs.split(","):
        if name not in run.PROGRAMS:
            sys.exit(f"surroundings.py: no program '{name}'")
    for place in options.only.split(","):
        for name in options.programs.split(","):
            why = run.missing(options, run.PROGRAMS[name])
            with tempfile.TemporaryDirectory(prefix="takt-around-") as folder:
                if why:
                    print(f"{name:<11} left out: {why}")
                else:
                    measure(options, place, name, folder)
    for root in ("/sys/fs/cgroup/cpu", "/sys/fs/cgroup"):
        if os.path.isdir(os.path.join(root, GROUP)):
            os.rmdir(os.path.join(root, GROUP))


if __name__ == "__main__":
    main()
