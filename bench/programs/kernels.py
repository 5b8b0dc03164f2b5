#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Takt's kernels beside NumPy's, one call again and again, in turns.

usage: kernels.py [OPTIONS]        (--help lists them)

Prints NumPy's time over Takt's, both on one thread: above 1 is a win, '!' marks
what is below 0.95. Times are the shortest of many calls on the same operands,
the call from Python included on both sides. Outputs are given.
"""
import argparse
import ctypes
import math
import os
import random
import sys
import time

BAR = 0.95
MAPS = ("exp", "exp2", "expm1", "log", "log2", "log1p", "sin", "cos", "tanh",
        "sqrt", "relu")
AXES = ("bias_add", "bias_mul", "row_sum", "row_mean", "row_max", "col_sum",
        "col_mean", "col_max")
DTYPES = {"f32": "float32", "f64": "float64"}
SIZES = "1000,65536,1048576,4194304"
SHAPES = "64x64,1000x1000,1024x1024,4096x1024,1024x4096,100000x8,8x100000"


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n\n")[0],
        epilog=__doc__.split("\n\n", 2)[2],
        formatter_class=argparse.RawDescriptionHelpFormatter)
    folder = os.path.dirname(os.path.abspath(__file__))
    parser.add_argument(
        "--library", metavar="PATH", help="default: that of build/release",
        default=os.path.join(folder, "../../build/release/libtakt.so"))
    parser.add_argument("--ops", default=",".join(MAPS + AXES), metavar="LIST")
    parser.add_argument("--sizes", default=SIZES, metavar="LIST")
    parser.add_argument("--shapes", default=SHAPES, metavar="LIST")
    parser.add_argument("--dtypes", default="f32,f64", metavar="LIST")
    parser.add_argument("--seconds", type=float, default=0.1, metavar="S",
                        help="for each op, dtype and size (default 0.1)")
    return parser.parse_args()


def shortest(ways, seconds):
    """The shortest time of each way, in turns of at least 20 us."""
    clock = time.perf_counter_ns
    best, calls = [math.inf] * len(ways), []
    for way in ways:
        way()
        start = clock()
        way()
        calls.append(1 + 20000 // max(1, clock() - start))
    end = clock() + int(seconds * 1e9)
    order = list(range(len(ways)))
    while clock() < end:
        random.shuffle(order)
        for i in order:
            start = clock()
            for _ in range(calls[i]):
                ways[i]()
            best[i] = min(best[i], (clock() - start) / calls[i])
    return best


def address(array):
    return ctypes.c_void_p(array.ctypes.data)


def map_ways(np, takt, op, dtype, n):
    x = (np.random.default_rng(1).random(n) + 0.5).astype(dtype)
    out, other = np.empty_like(x), np.empty_like(x)
    theirs = {"relu": lambda: np.maximum(x, 0, out=out)}.get(
        op, lambda f=getattr(np, op, None): f(x, out=out))
    words = (ctypes.c_size_t(n), address(x), address(other))
    return [theirs, lambda: takt(*words)], out, other


def axis_ways(np, takt, op, dtype, shape):
    rows, cols = map(int, shape.split("x"))
    rng = np.random.default_rng(1)
    x = (rng.random((rows, cols)) + 0.5).astype(dtype)
    sizes = (ctypes.c_size_t(rows), ctypes.c_size_t(cols))
    kind, what = op.split("_")
    if kind == "bias":
        b = (rng.random(cols) + 0.5).astype(dtype)
        out, other = np.empty_like(x), np.empty_like(x)
        f = {"add": np.add, "mul": np.multiply}[what]
        words = (*sizes, address(x), address(b), address(other))
        return [lambda: f(x, b, out=out), lambda: takt(*words)], out, other
    axis = 0 if kind == "col" else 1
    out = np.empty(cols if axis == 0 else rows, dtype)
    other = np.empty_like(out)
    words = (*sizes, address(x), address(other))
    f = getattr(x, what)
    return [lambda: f(axis=axis, out=out), lambda: takt(*words)], out, other


def main():
    options = arguments()
    os.environ.update(TAKT_THREADS="1", TAKT_DB="", TAKT_BLAS="", TAKT_GPU="",
                      OPENBLAS_NUM_THREADS="1")
    import numpy as np
    library = ctypes.CDLL(options.library)
    print(f"NumPy {np.__version__}; NumPy / Takt, one thread")
    for op in options.ops.split(","):
        is_map = op in MAPS
        for dtype in options.dtypes.split(","):
            takt = getattr(library, f"takt_{op}_{dtype}")
            line = f"{op:9} {dtype}"
            for at in (options.sizes if is_map else options.shapes).split(","):
                make = map_ways if is_map else axis_ways
                ways, out, other = make(np, takt, op, DTYPES[dtype],
                                        int(at) if is_map else at)
                theirs, ours = shortest(ways, options.seconds)
                if not np.allclose(out, other, rtol=1e-4):
                    sys.exit(f"{op} {dtype} {at}: results differ")
                ratio = theirs / ours
                line += f"  {at}:{ratio:.2f}{'!' if ratio < BAR else ''}"
            print(line, flush=True)


if __name__ == "__main__":
    main()
