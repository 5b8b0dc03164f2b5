#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""LAPACK through NumPy, one call again and again: plain and under `takt run`, in
turns.

usage: linalg.py [OPTIONS]        (--help lists them)

Prints how many times as fast a call is under `takt run`, by medians of the last
two thirds of the calls of a process, and of these the median over the rounds.
'!' marks what is below 0.98.
"""
import json
import random
import statistics
import sys
import time

FUNCTIONS = ("solve", "cholesky", "inv", "qr", "eigh", "svd")
SIZES = (8, 16, 32, 64, 96, 128, 192, 256, 384, 512)
BAR = 0.98


# ---- in the child: it computes, and prints what it measured ----

def median_ns(function, seconds):
    clock, taken = time.perf_counter_ns, []
    end = clock() + int(seconds * 1e9)
    while len(taken) < 30 or taken[-1][0] < end:
        start = clock()
        function()
        now = clock()
        taken.append((now, now - start))
    return statistics.median(ns for _, ns in taken[len(taken) // 3:])


def child(words):
    import numpy as np
    functions, sizes, seconds = words
    rng, told = np.random.default_rng(1), {}
    for n in map(int, sizes.split(",")):
        a, b = rng.standard_normal((n, n)), rng.standard_normal((n, 1))
        spd = a @ a.T + n * np.eye(n)
        for name in functions.split(","):
            function = getattr(np.linalg, name)
            operands = {"solve": (a, b), "cholesky": (spd,),
                        "eigh": (spd,)}.get(name, (a,))
            told[f"{name} {n}"] = median_ns(lambda: function(*operands),
                                            float(seconds))
    print(json.dumps(told))


# ---- in the parent ----

def arguments():
    from run import parser_of
    parser = parser_of(__doc__)
    parser.add_argument("--functions", default=",".join(FUNCTIONS),
                        metavar="LIST")
    parser.add_argument("--sizes", metavar="LIST",
                        default=",".join(map(str, SIZES)), help="orders")
    parser.add_argument("--seconds", type=float, default=0.2, metavar="S",
                        help="of calls of each kind (default 0.2)")
    parser.add_argument("--rounds", type=int, default=3, metavar="N")
    return parser.parse_args()


def measure(options, is_takt):
    from loops import run_child
    return run_child(options, is_takt, [
        __file__, "--child", options.functions, options.sizes,
        str(options.seconds)])


def main():
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2:])
        return
    from loops import geometric_mean
    options = arguments()
    told = {False: [], True: []}
    for _ in range(options.rounds):
        for is_takt in random.sample([False, True], 2):
            told[is_takt].append(measure(options, is_takt))
    faster = {kind: statistics.median(one[kind] for one in told[False]) /
              statistics.median(one[kind] for one in told[True])
              for kind in told[True][0]}
    sizes, functions = options.sizes.split(","), options.functions.split(",")
    print(f"{'times as fast':<15}" + "".join(f"{size:>9}" for size in sizes) +
          "     mean")
    for name in functions:
        row = [faster[f"{name} {size}"] for size in sizes]
        print(f"{name:<15}" + "".join(
            f"{ratio:8.2f}{'!' if ratio < BAR else ' '}" for ratio in row) +
            f"{geometric_mean(row):8.2f}")


if __name__ == "__main__":
    main()
