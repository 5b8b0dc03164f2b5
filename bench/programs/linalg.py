#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""LAPACK through NumPy, one call again and again: plain and under `takt run`, in
turns.

usage: linalg.py [OPTIONS]        (--help lists them)

Prints how many times as fast a call is under `takt run`, by medians of the last
two thirds of the calls of a process, and of these the median over the rounds.
'!' marks what is below 0.98. The last result of each kind is checked. With a
GPU, give it time to be opened and tried:
  linalg.py --sizes 1024,2048,4096 --seconds 6 --calls 6 --rounds 1 --times
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

def median_ns(function, seconds, calls):
    """What a call takes, and the result of the last one."""
    clock, taken = time.perf_counter_ns, []
    end = clock() + int(seconds * 1e9)
    while len(taken) < calls or taken[-1][0] < end:
        start = clock()
        result = function()
        now = clock()
        taken.append((now, now - start))
    return statistics.median(ns for _, ns in taken[len(taken) // 3:]), result


def check(np, name, operands, result):
    """Whether a result is one of these operands, up to rounding."""
    a, n = operands[0], len(operands[0])
    parts = tuple(result) if name in ("qr", "eigh", "svd") else (result,)
    got, want = {
        "solve": lambda x: (a @ x, operands[-1]),
        "cholesky": lambda lower: (lower @ lower.T, a),
        "inv": lambda x: (x @ a, np.eye(n)),
        "qr": lambda q, r: (q @ r, a),
        "eigh": lambda w, v: ((v * w) @ v.T, a),
        "svd": lambda u, s, vt: ((u * s) @ vt, a)}[name](*parts)
    scale = np.abs(a).max() * n * max(np.abs(parts[0]).max(), 1)
    error = np.abs(got - want).max() / (np.finfo(a.dtype).eps * scale)
    if not error < 100:
        sys.exit(f"{name} {n}: is off by {error:.3g} roundings")


def child(words):
    import numpy as np
    functions, sizes, seconds, calls, dtype = words
    rng, told = np.random.default_rng(1), {}
    for n in map(int, sizes.split(",")):
        a = rng.standard_normal((n, n)).astype(dtype)
        b = rng.standard_normal((n, 1)).astype(dtype)
        spd = a @ a.T + n * np.eye(n, dtype=dtype)
        for name in functions.split(","):
            function = getattr(np.linalg, name)
            operands = {"solve": (a, b), "cholesky": (spd,),
                        "eigh": (spd,)}.get(name, (a,))
            told[f"{name} {n}"], result = median_ns(
                lambda: function(*operands), float(seconds), int(calls))
            check(np, name, operands, result)
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
    parser.add_argument("--calls", type=int, default=30, metavar="N",
                        help="of each kind at least (default 30)")
    parser.add_argument("--dtype", default="float64",
                        choices=("float32", "float64"))
    parser.add_argument("--times", action="store_true",
                        help="milliseconds, plain and under takt, too")
    parser.add_argument("--rounds", type=int, default=3, metavar="N")
    return parser.parse_args()


def measure(options, is_takt):
    from loops import run_child
    return run_child(options, is_takt, [
        __file__, "--child", options.functions, options.sizes,
        str(options.seconds), str(options.calls), options.dtype])


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
    took = {is_takt: {kind: statistics.median(one[kind] for one in rounds)
                      for kind in rounds[0]}
            for is_takt, rounds in told.items()}
    faster = {kind: took[False][kind] / ns for kind, ns in took[True].items()}
    for kind in faster if options.times else ():
        print(f"{kind:<15}{took[False][kind] / 1e6:12.3f} ms "
              f"{took[True][kind] / 1e6:12.3f} ms with takt")
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
