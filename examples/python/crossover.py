#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Where one expert begins to be faster than another: times of an op along its
sizes, one thread against all of them, and what Takt chooses.

usage: crossover.py [OP] [crossover.png]

The times are measured here, interleaved; where there is matplotlib and a name of
a picture, they are drawn, and printed in any case.
"""
import sys
import time
from array import array

import takt


def operands(op, n):
    if op in ("matmul", "gemm"):
        a = takt.reshape(array("f", [0.5]) * (n * n), (n, n))
        return (a, a), (n, n, n)
    inputs = 2 if op in ("add", "sub", "mul", "div", "dot") else 1
    return (array("f", [0.5]) * n,) * inputs, (n,)


def fastest(call, args):
    """Seconds of one call: the least of several rounds of 2 ms each."""
    least, rounds = float("inf"), 1
    for _ in range(8):
        start = time.perf_counter()
        for _ in range(rounds):
            call(*args)
        took = (time.perf_counter() - start) / rounds
        least, rounds = min(least, took), max(1, int(0.002 / max(took, 1e-7)))
    return least


def measure(op, sizes, contexts):
    rows = []
    for n in sizes:
        args, shape = operands(op, n)
        times = {name: fastest(getattr(context, op), args)
                 for name, context in contexts.items()}
        rows.append((n, times, takt.select(op, shape).expert))
    return rows


def draw(rows, op, path):
    try:
        import matplotlib
        matplotlib.use("Agg")
        import matplotlib.pyplot as plt
    except ImportError:
        print("there is no matplotlib: nothing was drawn")
        return
    for name in rows[0][1]:
        plt.loglog([n for n, _, _ in rows],
                   [times[name] * 1e6 for _, times, _ in rows], label=name)
    plt.xlabel(f"size of {op}")
    plt.ylabel("microseconds")
    plt.legend()
    plt.savefig(path)
    print(f"drawn in {path}")


def main():
    op = sys.argv[1] if len(sys.argv) > 1 else "exp"
    sizes = [2 ** k for k in (range(4, 10) if op in ("matmul", "gemm")
                              else range(8, 22, 2))]
    isa, threads = takt.machine().isa, takt.machine().threads
    experts = [f"simd.{isa}"] + [f"simd.{isa}x{threads}"] * (threads > 1)
    contexts = {name: takt.Context(expert=name, db="") for name in experts}
    rows = measure(op, sizes, contexts)
    print(f"{'n':>9}" + "".join(f"{name:>18}" for name in contexts) +
          "   Takt would choose")
    for n, times, chosen in rows:
        print(f"{n:>9}" + "".join(f"{t * 1e6:>15.2f} us" for t in
                                  times.values()) + f"   {chosen}")
    won = [n for n, times, _ in rows
           if len(times) > 1 and times[experts[1]] < times[experts[0]]]
    print(f"{threads} threads are faster from {won[0]} on" if won
          else "one thread is faster at all of these sizes")
    for context in contexts.values():
        context.close()
    if len(sys.argv) > 2:
        draw(rows, op, sys.argv[2])


if __name__ == "__main__":
    main()
