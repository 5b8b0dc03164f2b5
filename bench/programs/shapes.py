#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""NumPy's a @ b, one shape again and again: plain, under `takt run`, and with
each expert fixed, in turns.

usage: shapes.py [OPTIONS]        (--help lists them)

Times are medians per call, in microseconds, and of these the median over the
rounds. 'first' is the first 2,000 calls or 2 s of a process, whichever ends
sooner, and its ratio is one of means: trials count. 'after' is what follows.
'best' is the shortest of plain and the fixed experts. '!' marks what is over
its bar: 1.10 of plain at first, 1.05 of plain and 1.03 of the best after.
The last shape alternates between four: geometric means of them.
"""
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time

SQUARES = (48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 2048)
SKINNY = ("4096x64x64", "64x4096x64", "64x64x4096", "2048x32x512",
          "256x2048x32", "1000x16x1000")
FOUR = "96x96x96+128x128x128+192x192x192+256x256x256"
SHAPES = [f"{n}x{n}x{n}" for n in SQUARES] + list(SKINNY) + [FOUR]
FIRST_CALLS, FIRST_S, AFTER_S = 2000, 2.0, 0.7
FIRST_BAR, PLAIN_BAR, BEST_BAR = 1.10, 1.05, 1.03


# ---- in the child: it multiplies, and prints what it measured ----

def operands(np, shape, dtype):
    m, n, k = map(int, shape.split("x"))
    rng = np.random.default_rng(1)
    return (rng.standard_normal((m, k)).astype(dtype),
            rng.standard_normal((k, n)).astype(dtype))


def window(pairs, calls, seconds):
    """Times of a call in ns, for each pair, until either is reached."""
    taken = [[] for _ in pairs]
    clock = time.perf_counter_ns
    end = clock() + int(seconds * 1e9)
    for _ in range(max(1, calls // len(pairs))):
        for (a, b), times in zip(pairs, taken):
            start = clock()
            a @ b
            times.append(clock() - start)
        if clock() > end:
            break
    return taken


def summary(taken):
    """Medians and means, geometric over the shapes, in us."""
    count = len(taken)
    return {"median": math.prod(map(statistics.median, taken)) **
            (1 / count) / 1e3,
            "mean": math.prod(map(statistics.fmean, taken)) **
            (1 / count) / 1e3, "calls": sum(map(len, taken))}


def child(words):
    import numpy as np
    shapes, dtype, first_s, after_s = words
    pairs = [operands(np, shape, dtype) for shape in shapes.split("+")]
    first = window(pairs, FIRST_CALLS, float(first_s))
    after = window(pairs, 100 * FIRST_CALLS, float(after_s))
    print(json.dumps({"first": summary(first), "after": summary(after)}))


# ---- in the parent ----

def arguments():
    from run import parser_of
    parser = parser_of(__doc__)
    parser.add_argument("--only", metavar="LIST",
                        help="these shapes, MxNxK or N, separated by commas")
    parser.add_argument("--dtypes", default="float32,float64", metavar="LIST")
    parser.add_argument("--experts", metavar="LIST",
                        help="to be fixed (default: SIMD of the best "
                             "instruction set, and CUDA)")
    parser.add_argument("--store", choices=("none", "own", "tuned"),
                        default="none",
                        help="of takt run; own: of the runs before, of which "
                             "one is not counted")
    parser.add_argument("--tuned", metavar="FILE", help="the tuned store")
    parser.add_argument("--rounds", type=int, default=3, metavar="N")
    parser.add_argument("--seconds", type=float, default=FIRST_S, metavar="S",
                        help="of the first window, at most (default 2)")
    parser.add_argument("--json", metavar="FILE",
                        help="all that was measured goes there")
    parser.add_argument("--list", action="store_true",
                        help="list shapes and experts and end")
    return parser.parse_args()


def experts(options):
    if options.experts is not None:
        return [name for name in options.experts.split(",") if name]
    told = json.loads(subprocess.run(
        [options.takt, "machine", "--json"], stdin=subprocess.DEVNULL,
        capture_output=True, text=True, check=True).stdout)["experts"]
    best = next((name for name in told if name.startswith("simd.")), None)
    return [name for name in told if name.startswith("cuda.") or
            (best and (name == best or name.startswith(best + "x")))]


def shapes(options):
    if not options.only:
        return SHAPES
    return [word if "x" in word else f"{word}x{word}x{word}"
            for word in options.only.split(",")]


def measure(options, variant, shape, dtype, store):
    """What a child measured; None: it failed, and why was said."""
    env = {name: value for name, value in os.environ.items()
           if not name.startswith("TAKT_")}
    first_s = options.seconds if variant in ("plain", "takt") else 0.1
    line = [options.python, os.path.abspath(__file__), "--child", shape, dtype,
            str(first_s), str(AFTER_S)]
    if variant != "plain":
        line = [options.takt, "run", "--db",
                store if variant == "takt" else "", "--", *line]
    if variant not in ("plain", "takt"):
        env["TAKT_EXPERT"] = variant
    ran = subprocess.run(line, env=env, stdin=subprocess.DEVNULL,
                         capture_output=True, text=True)
    if ran.returncode != 0:
        print(f"{shape} {dtype} {variant}: {ran.stderr.strip()[-300:]}",
              file=sys.stderr)
        return None
    return json.loads(ran.stdout)


def measure_all(options, variants, shape, dtype, store):
    """Of each variant what each round told, in random turns."""
    told = {variant: [] for variant in variants}
    if options.store == "own":
        measure(options, "takt", shape, dtype, store)
    for _ in range(options.rounds):
        turns = list(variants)
        random.shuffle(turns)
        for variant in turns:
            one = measure(options, variant, shape, dtype, store)
            if one is not None:
                told[variant].append(one)
    return told


def middle(rounds, part, kind):
    return statistics.median(one[part][kind] for one in rounds)


def judge(told):
    """The figures of a row; None: plain or takt did not run."""
    if not told["plain"] or not told["takt"]:
        return None
    fixed = {name: middle(rounds, "after", "median")
             for name, rounds in told.items() if rounds and name != "takt"}
    best = min(fixed, key=fixed.get)
    takt = middle(told["takt"], "after", "median")
    return {"plain": fixed["plain"], "takt": takt, "best": best,
            "best_us": fixed[best], "fixed": fixed,
            "first_mean": middle(told["takt"], "first", "mean") /
            middle(told["plain"], "first", "mean"),
            "to_plain": takt / fixed["plain"], "to_best": takt / fixed[best]}


def mark(ratio, bar):
    return f"{ratio:6.3f}{'!' if ratio > bar else ' '}"


def row_text(shape, dtype, row):
    name = "four shapes" if "+" in shape else shape
    times = " ".join(f"{row[key]:7.{1 if row[key] < 1e4 else 0}f}"
                     for key in ("plain", "takt", "best_us"))
    return (f"{name:<12} {dtype[0]}{dtype[-2:]} {times} {row['best']:<14} "
            f"{mark(row['first_mean'], FIRST_BAR)} "
            f"{mark(row['to_plain'], PLAIN_BAR)} "
            f"{mark(row['to_best'], BEST_BAR)}")


def store_of(options, folder, number):
    from run import copy_store
    path = os.path.join(folder, f"{number}.db")
    if options.store == "none":
        return ""
    if options.store == "tuned":
        copy_store(options.tuned, path)
    return path


def run_all(options, folder):
    variants, rows = ["plain", "takt", *experts(options)], []
    print(f"{'':<56} {'takt / plain':>13} {'/ best':>8}")
    print(f"{'shape':<12} {'':<3} {'plain':>7} {'takt':>7} {'best':>7} {'':<14} "
          f"{'first':>6}  {'after':>6}  {'after':>6}")
    for shape in shapes(options):
        for dtype in options.dtypes.split(","):
            store = store_of(options, folder, len(rows))
            told = measure_all(options, variants, shape, dtype, store)
            row = judge(told)
            rows.append({"shape": shape, "dtype": dtype, "row": row,
                         "rounds": told})
            print(row_text(shape, dtype, row) if row else
                  f"{shape} {dtype}: failed", flush=True)
    if options.json:
        with open(options.json, "w") as out:
            json.dump({"schema": 1, "store": options.store, "rows": rows}, out)


def main():
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2:])
        return
    options = arguments()
    if options.store == "tuned" and not options.tuned:
        sys.exit("shapes.py: --store tuned needs --tuned FILE, of takt tune")
    if options.list:
        print(*shapes(options), *experts(options), sep="\n")
        return
    with tempfile.TemporaryDirectory(prefix="takt-shapes-") as folder:
        run_all(options, folder)


if __name__ == "__main__":
    main()
