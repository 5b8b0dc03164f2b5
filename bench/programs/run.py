#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whole programs with and without Takt: `takt run --compare` of each program of
this folder, with each kind of store.

usage: run.py [OPTIONS]        (--help lists them)

stores: none    no run learns from another
        own     a new file: the first pair, which is told apart, fills it
        tuned   a copy of what `takt tune` left

Needs no packages itself. A program whose interpreter or package is missing is
left out, and a line says so. '!' marks what is over its bar: wall time above
1.02, unless its interval contains 1 and is no wider than 0.08; CPU time above
1.05; a claim that is off by more than 3% of wall time.
"""
import argparse
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
STORES = ("none", "own", "tuned")
WALL_BAR, WALL_WIDTH, CPU_BAR, CLAIM_BAR = 1.02, 0.08, 1.05, 0.03


def python(script, *words, needs="numpy", large=False):
    return {"script": script, "words": words, "needs": needs, "large": large}


PROGRAMS = {
    "transformer": python("transformer.py"),
    "mlp": python("mlp.py"),
    "mixed": python("mixed.py"),
    "tiny": python("tiny.py"),
    "black_scholes": python("black_scholes.py"),
    "image": python("image.py"),
    "monte_carlo": python("monte_carlo.py"),
    "kmeans": python("kmeans.py"),
    "pca": python("pca.py"),
    "regression": python("regression.py"),
    "power": python("power.py"),
    "svd": python("svd.py"),
    "gaussian": python("gaussian.py"),
    "kalman": python("kalman.py"),
    "jobs": python("jobs.py"),
    "torch_mlp": python("torch_mlp.py", needs="torch"),
    "r": {"script": "regression.R", "tool": ["Rscript"], "large": False},
    "effects": {"script": "effects.R", "tool": ["Rscript"], "large": False},
    "octave": {"script": "regression.m", "large": False,
               "tool": ["octave-cli", "--quiet", "--norc"]},
    "gemm2048": python("gemm.py", "2048", "float64", large=True),
    "gemm4096": python("gemm.py", "4096", "float32", large=True),
}


def parser_of(text):
    """The options that programs of this folder share; `text`: what one does."""
    parser = argparse.ArgumentParser(
        description=text.split("\n\n")[0],
        epilog=text.split("\n\n", 2)[2],
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--takt", default=default_takt(), metavar="PATH",
                        help="the tool (default: of build/release or check)")
    parser.add_argument("--python", default=sys.executable, metavar="PATH",
                        help="runs the programs (default: this one)")
    return parser


def arguments():
    parser = parser_of(__doc__)
    parser.add_argument("--only", metavar="LIST",
                        help="these programs, separated by commas")
    parser.add_argument("--stores", default=",".join(STORES), metavar="LIST",
                        help="of none, own and tuned")
    parser.add_argument("--pairs", type=int, default=7, metavar="N",
                        help="of each program and store (default 7)")
    parser.add_argument("--factor", type=float, default=1.0, metavar="X",
                        help="that many times as much work in each program")
    parser.add_argument("--limit", type=float, default=240, metavar="SECONDS",
                        help="for one row; what is known then counts "
                             "(default 240)")
    parser.add_argument("--tuned", metavar="FILE",
                        help="the tuned store (default: takt tune makes one)")
    parser.add_argument("--tune", default="--anyway", metavar="OPTIONS",
                        help="of takt tune (default --anyway)")
    parser.add_argument("--run", default="", metavar="OPTIONS",
                        help="of takt run, such as --no-gpu")
    parser.add_argument("--large", action="store_true",
                        default=(os.cpu_count() or 1) >= 8,
                        help="the large programs too (default: from 8 CPUs)")
    parser.add_argument("--json", metavar="FILE",
                        help="all that was measured goes there")
    parser.add_argument("--list", action="store_true",
                        help="list the programs and end")
    return parser.parse_args()


def default_takt():
    for build in ("release", "check"):
        path = os.path.join(ROOT, "build", build, "cli", "takt")
        if os.path.exists(path):
            return path
    return shutil.which("takt") or "takt"


# ---- programs ----

def command(options, program):
    tool = program.get("tool", [options.python])
    return [*tool, os.path.join(HERE, program["script"]),
            f"{options.factor:g}", *program.get("words", ())]


def missing(options, program):
    """Why a program cannot be run; None: it can be."""
    tool = program.get("tool", [options.python])[0]
    if shutil.which(tool) is None:
        return f"there is no {tool}"
    needs = program.get("needs")
    if needs and subprocess.run([tool, "-c", f"import {needs}"],
                                stdin=subprocess.DEVNULL,
                                capture_output=True).returncode != 0:
        return f"{tool} has no {needs}"
    return None


def chosen(options):
    names = options.only.split(",") if options.only else [
        name for name, program in PROGRAMS.items()
        if options.large or not program["large"]]
    for name in names:
        if name not in PROGRAMS:
            sys.exit(f"run.py: no program '{name}' (see --list)")
    return names


def stores(options):
    names = options.stores.split(",")
    for name in names:
        if name not in STORES:
            sys.exit(f"run.py: no kind of store '{name}'")
    return names


def list_programs(options):
    for name, program in PROGRAMS.items():
        why = missing(options, program)
        note = why or ("large" if program["large"] else "")
        print(f"{name:<12} {program['script']:<16} {note}")


# ---- stores ----

def copy_store(source, target):
    for end in ("", "-wal"):
        if os.path.exists(source + end):
            shutil.copy(source + end, target + end)
    return target


def tune(options, folder):
    """A tuned store; None: it cannot be made."""
    if options.tuned:
        return options.tuned
    path = os.path.join(folder, "tuned.db")
    print("takt tune ...", file=sys.stderr, flush=True)
    ran = subprocess.run([options.takt, "tune", "--db", path,
                          *options.tune.split()], stdin=subprocess.DEVNULL,
                         capture_output=True, text=True)
    if ran.returncode != 0 or not os.path.exists(path):
        print(f"tuned: left out: {ran.stderr.strip()}")
        return None
    return path


class Stores:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.tuned = tune(options, folder) if "tuned" in stores(options) \
            else None

    def path(self, kind, name):
        """The value of --db; None: there is no such store."""
        if kind == "none":
            return ""
        path = os.path.join(self.folder, f"{kind}-{name}.db")
        if kind == "own":
            return path
        return copy_store(self.tuned, path) if self.tuned else None


# ---- runs ----

def compare(options, store, words):
    """The object of `takt run --compare`. After the limit it is interrupted,
    and tells what it knows."""
    line = [options.takt, "run", f"--compare={options.pairs}", "--format",
            "json", "--db", store, *options.run.split(), "--", *words]
    child = subprocess.Popen(line, stdin=subprocess.DEVNULL, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        out, error = child.communicate(timeout=options.limit)
    except subprocess.TimeoutExpired:
        child.send_signal(signal.SIGINT)
        out, error = child.communicate()
    try:
        return json.loads(out)
    except ValueError:
        return {"trouble": error.strip() or f"takt ended: {child.returncode}"}


def trouble(told):
    """What is wrong with a comparison; None: there is one."""
    if "trouble" in told:
        return told["trouble"]
    if told["failure"]:
        how = told["failure"]
        return (f"failed {'with' if how['with_takt'] else 'without'} Takt: "
                f"{how['stderr'][-200:]}")
    if told["pairs"] == 0:
        return "the time was up before the first pair"
    return None


def is_slow(wall):
    if wall["low"] is None or wall["ratio"] <= WALL_BAR:
        return wall["ratio"] > WALL_BAR
    return not (wall["low"] <= 1 <= wall["high"] and
                wall["high"] - wall["low"] <= WALL_WIDTH)


def ratio_text(times, is_over):
    text = f"{times['ratio']:.3f}{'!' if is_over else ' '}"
    if times["low"] is not None:
        text += f" {times['low']:.3f}-{times['high']:.3f}"
    return text


def claim_text(told):
    if told["claimed"] is None:
        return f"{'-':>7} {'-':>7}"
    off = told["claimed"]["share"] - told["measured_share"]
    mark = "!" if abs(off) > CLAIM_BAR else " "
    return (f"{100 * told['claimed']['share']:+6.1f}% {100 * off:+6.1f}{mark} "
            f"{told['claimed']['right']}/{told['claimed']['runs']}")


def row_text(name, kind, told):
    wall, cpu = told["wall"], told["cpu"]
    output = {"same": "", "varies": " varies", "differs": " digits"}
    note = output[told["output"]["runs"]]
    if note and told["output"]["number_difference"] is None:
        note = " OUTPUT"
    return (f"{name:<11} {kind:<5} {ratio_text(wall, is_slow(wall)):<19} "
            f"{ratio_text(cpu, cpu['ratio'] > CPU_BAR):<19} "
            f"{claim_text(told)}{note}")


def print_means(rows):
    for kind in STORES:
        ratios = [row["told"]["wall"]["ratio"] for row in rows
                  if row["store"] == kind]
        if ratios:
            mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
            print(f"geometric mean, {kind}: {mean:.3f} of {len(ratios)}")


def run_all(options, folder):
    shelf, rows = Stores(options, folder), []
    print(f"{'program':<11} {'store':<5} {'wall ratio':<19} {'CPU ratio':<19} "
          f"{'claimed':>7} {'off by':>7} within")
    for name in chosen(options):
        why = missing(options, PROGRAMS[name])
        if why:
            print(f"{name:<11} left out: {why}")
            continue
        for kind in stores(options):
            store = shelf.path(kind, name)
            if store is None:
                continue
            told = compare(options, store, command(options, PROGRAMS[name]))
            wrong = trouble(told)
            if wrong:
                print(f"{name:<11} {kind:<5} {wrong}", flush=True)
            else:
                rows.append({"program": name, "store": kind, "told": told})
                print(row_text(name, kind, told), flush=True)
            if options.json:
                write(options.json, rows)
    print_means(rows)


def write(path, rows):
    with open(path + ".new", "w") as out:
        json.dump({"schema": 1, "rows": rows}, out)
    os.replace(path + ".new", path)


def main():
    options = arguments()
    if options.list:
        list_programs(options)
        return
    chosen(options), stores(options)
    with tempfile.TemporaryDirectory(prefix="takt-programs-") as folder:
        run_all(options, folder)


if __name__ == "__main__":
    main()
