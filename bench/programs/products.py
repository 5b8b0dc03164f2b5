#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Products of integers and halves, for which NumPy calls no BLAS: plain and
under `takt run`.

usage: products.py [OPTIONS]        (--help lists them)

Prints microseconds by medians, and how many times as fast `takt run` is. Of the
integers, the results are compared: they are the same to the bit, or it fails.
"""
import hashlib
import json
import statistics
import subprocess
import sys
import time

TYPES = ("int64", "int32", "int16", "uint8", "float16")
SIZES = (4, 16, 64, 256, 512)


def child(words):
    import numpy as np
    rng, told = np.random.default_rng(1), {}
    for size in map(int, words[0].split(",")):
        for dtype in TYPES:
            a, b = ((rng.random((size, size)) * 100).astype(dtype)
                    for _ in range(2))
            if dtype == "float16":
                a /= 1000
            taken, end = [], time.perf_counter() + float(words[1])
            while len(taken) < 3 or time.perf_counter() < end:
                start = time.perf_counter()
                c = a @ b
                taken.append(time.perf_counter() - start)
            told[f"{dtype} {size}"] = [
                1e6 * statistics.median(taken),
                hashlib.sha256(c.tobytes()).hexdigest()]
    print(json.dumps(told))


def arguments():
    from run import parser_of
    parser = parser_of(__doc__)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)),
                        metavar="LIST", help="of square matrices")
    parser.add_argument("--seconds", type=float, default=0.2, metavar="S",
                        help="of calls of each kind (default 0.2)")
    return parser.parse_args()


def measure(options, before):
    line = [*before, options.python, __file__, "--child", options.sizes,
            str(options.seconds)]
    ran = subprocess.run(line, stdin=subprocess.DEVNULL, capture_output=True,
                         text=True)
    if ran.returncode != 0:
        sys.exit(f"products.py: {' '.join(line)}: {ran.stderr.strip()[-300:]}")
    return json.loads(ran.stdout)


def main():
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2:])
        return
    options = arguments()
    plain = measure(options, [])
    routed = measure(options, [options.takt, "run", "--db", "", "--"])
    print(f"{'product':<14} {'plain us':>12} {'takt us':>12} {'times':>8}")
    for kind, (took, result) in plain.items():
        instead, same = routed[kind]
        if same != result and not kind.startswith("float"):
            sys.exit(f"products.py: {kind}: another result")
        print(f"{kind:<14} {took:12.1f} {instead:12.1f} {took / instead:8.2f}")


if __name__ == "__main__":
    main()
