#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""NumPy's own loops and reductions, one again and again: plain and under `takt
run`, in turns.

usage: loops.py [OPTIONS]        (--help lists them)

Prints how many times as fast a call is under `takt run`, by medians of the last
two thirds of the calls of a process, and of these the median over the rounds.
Operands are contiguous, the output is given. A reduction is named add.reduce;
NumPy 1.24 does not hand it over whole. '!' marks what is below 0.97.
"""
import json
import math
import random
import statistics
import subprocess
import sys
import time

UFUNCS = ("add", "multiply", "divide", "absolute", "sqrt", "exp", "log", "tanh",
          "sin", "maximum", "less", "square", "add.reduce", "maximum.reduce")
SIZES = (1, 1000, 1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24)
BAR = 0.97


# ---- in the child: it computes, and prints what it measured ----

def median_ns(function, operands, out, seconds):
    clock, taken = time.perf_counter_ns, []
    end = clock() + int(seconds * 1e9)
    while len(taken) < 9 or taken[-1][0] < end:
        start = clock()
        function(*operands, out=out)
        now = clock()
        taken.append((now, now - start))
    return statistics.median(ns for _, ns in taken[len(taken) // 3:])


def child(words):
    import numpy as np
    ufuncs, sizes, seconds = words
    rng, told = np.random.default_rng(1), {}
    for size in map(int, sizes.split(",")):
        for dtype in ("float32", "float64"):
            pair = [(rng.random(size) + 0.5).astype(dtype) for _ in range(2)]
            for name in ufuncs.split(","):
                ufunc, _, reduce = name.partition(".")
                function = getattr(np, ufunc)
                operands = pair[:1 if reduce else function.nin]
                function = getattr(function, reduce) if reduce else function
                told[f"{name} {dtype} {size}"] = median_ns(
                    function, operands, np.array(function(*operands)),
                    float(seconds))
    print(json.dumps(told))


# ---- in the parent ----

def arguments():
    from run import parser_of
    parser = parser_of(__doc__)
    parser.add_argument("--ufuncs", default=",".join(UFUNCS), metavar="LIST")
    parser.add_argument("--sizes", metavar="LIST",
                        default=",".join(map(str, SIZES)), help="of elements")
    parser.add_argument("--seconds", type=float, default=0.05, metavar="S",
                        help="of calls of each kind (default 0.05)")
    parser.add_argument("--rounds", type=int, default=3, metavar="N")
    return parser.parse_args()


def run_child(options, is_takt, words):
    """What a Python program prints as JSON, plain or under `takt run`."""
    line = [options.python, *words]
    if is_takt:
        line = [options.takt, "run", "--db", "", "--", *line]
    ran = subprocess.run(line, stdin=subprocess.DEVNULL, capture_output=True,
                         text=True)
    if ran.returncode != 0:
        sys.exit(f"{words[0]}: {' '.join(line)}: {ran.stderr.strip()[-300:]}")
    return json.loads(ran.stdout)


def measure(options, is_takt):
    return run_child(options, is_takt, [
        __file__, "--child", options.ufuncs, options.sizes,
        str(options.seconds)])


def geometric_mean(values):
    return math.exp(statistics.fmean(map(math.log, values)))


def print_table(options, faster):
    sizes = options.sizes.split(",")
    print(f"{'times as fast':<23}" + "".join(f"{size:>10}" for size in sizes))
    for name in options.ufuncs.split(","):
        for dtype in ("float32", "float64"):
            row = [faster[f"{name} {dtype} {size}"] for size in sizes]
            print(f"{name + ' ' + dtype:<23}" + "".join(
                f"{ratio:9.2f}{'!' if ratio < BAR else ' '}" for ratio in row))
    means = [geometric_mean([ratio for kind, ratio in faster.items()
                             if kind.split()[-1] == size]) for size in sizes]
    print(f"{'geometric mean':<23}" + "".join(f"{m:9.2f} " for m in means))


def main():
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2:])
        return
    options = arguments()
    told = {False: [], True: []}
    for _ in range(options.rounds):
        for is_takt in random.sample([False, True], 2):
            told[is_takt].append(measure(options, is_takt))
    print_table(options, {
        kind: statistics.median(one[kind] for one in told[False]) /
        statistics.median(one[kind] for one in told[True])
        for kind in told[True][0]})


if __name__ == "__main__":
    main()
