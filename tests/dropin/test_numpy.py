#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""NumPy computes, warns and fails as ever when its loops are cut.

usage: test_numpy.py LIBTAKT_BLAS FOLDER
Programs run without the interposer, with it, and with every loop cut, however
short; what they print must not differ. Skipped where there is no NumPy.
"""
import os
import platform
import subprocess
import sys
import tempfile
import unittest

import stats

PRELOAD = os.path.abspath(sys.argv[1])
PYTHON = "/usr/bin/python3"
EAGER = {"TAKT_RUN_EAGER": "1"}

HEAD = """
import hashlib, os, sys, threading, warnings
import numpy as np
def told(*arrays):
    print(*[hashlib.sha256(np.ascontiguousarray(a).tobytes()).hexdigest()[:16]
            for a in arrays])
x = np.linspace(-3, 3, 5003)
y = x[::-1].copy()
"""

# Every ufunc, every type: bits, and which exceptions were raised.
ALL = HEAD + """
umath = sys.modules.get("numpy._core._multiarray_umath") or sys.modules[
    "numpy.core._multiarray_umath"]
rng = np.random.default_rng(1)
def values(letter, n):
    real = rng.standard_normal(n) * 10 ** rng.uniform(-3, 6, n)
    a = real.astype(letter)
    if letter in "efdFD" and n > 3:
        a[n // 2], a[n // 3], a[1] = np.nan, np.inf, 0
    return a
np.seterr(all="ignore")
table = {(letter, n): values(letter, n)
         for letter in "?bBhHiIlLqQefdFD" for n in (2, 65, 1000)}
for name in sorted(vars(umath)):
    ufunc = vars(umath)[name]
    if not isinstance(ufunc, np.ufunc) or ufunc.signature or name[0] == "_":
        continue
    for types in ufunc.types:
        if set(types) & set("OgGmMSUT"):
            continue
        for n in (2, 65, 1000):
            seen = []
            args = [table[letter, n] if i == 0 else table[letter, n][::-1].copy()
                    for i, letter in enumerate(types.split("->")[0])]
            with np.errstate(all="call", call=lambda kind, _: seen.append(kind)):
                try:
                    out = ufunc(*args)
                except (TypeError, ValueError) as error:
                    out = np.frombuffer(str(error).encode(), "u1")
            print(name, types, n, sorted(seen), end=" ")
            told(*(out if isinstance(out, tuple) else (out,)))
"""

# Products of infinities: exceptions are raised if a result shows them.
INFINITE = HEAD + """
def seen(run):
    kinds = []
    with np.errstate(all="call", call=lambda kind, _: kinds.append(kind)):
        result = run()
    print(sorted(kinds), np.isnan(result).any(), np.isinf(result).any())
for letter in "fd":
    for m, n, k in (64, 12, 9), (7, 7, 70), (33, 1, 33), (1, 33, 33):
        a, b = np.ones((m, k), letter), np.ones((k, n), letter)
        seen(lambda: a @ b)
        a[m // 2, k // 2] = np.inf
        seen(lambda: a @ b)
        seen(lambda: (a @ b).T @ np.ones((m, 3), letter))
        a[m - 1, k - 1] = np.nan # in another row, and in the same
        seen(lambda: a @ b)
        seen(lambda: b.T @ a.T)
        a[m // 2, 0] = np.nan
        seen(lambda: a @ b)
        seen(lambda: a @ b[:, 0])
    x = np.ones(1003, letter)
    x[500] = np.inf
    seen(lambda: np.dot(x, x))
    x[900] = np.nan
    seen(lambda: x @ x)
print("invalid")
for letter in "fd":
    a, b = np.ones((40, 33), letter), np.ones((33, 300), letter)
    a[3], b[:, 4], a[20, 20], b[20, 299] = np.nan, np.nan, np.inf, 0
    seen(lambda: a @ b) # beside a NaN, which hides it from fused instructions
    seen(lambda: a[20:] @ b[:, 299])
    seen(lambda: a[20] @ b[:, 299].copy())
a, b = np.full((40, 40), np.inf), np.zeros((40, 40))
a[:] = np.inf
seen(lambda: a @ b)
"""

# Results of LAPACK within their tolerance, its errors, and the threads of the
# library as they were. What is printed does not depend on the last bits.
LINALG = HEAD + """
import ctypes
rng = np.random.default_rng(3)
def near(a, b, scale=1):
    eps = np.finfo(a.dtype).eps
    return bool(np.abs(a - b).max() <= 50 * eps * a.shape[0] * scale)
for letter in "fd":
    for n in 1, 2, 7, 40, 90:
        for _ in range(3):
            a = rng.standard_normal((n, n)).astype(letter) + n * np.eye(n, dtype=letter)
            b = rng.standard_normal((n, 3)).astype(letter)
            spd = a @ a.T
            lower = np.linalg.cholesky(spd)
            q, r = np.linalg.qr(a)
            w, v = np.linalg.eigh(spd)
            u, s, vt = np.linalg.svd(a)
            x = np.linalg.lstsq(a, b, rcond=None)[0]
            e, z = np.linalg.eig(a)
            print(letter, n, near(a @ np.linalg.solve(a, b), b, 8),
                  near(lower @ lower.T, spd, n * n),
                  near(np.linalg.inv(a) @ a, np.eye(n, dtype=letter), 8),
                  near(q @ r, a, n), near(q.T @ q, np.eye(n, dtype=letter)),
                  near((v * w) @ v.T, spd, n * n), near((u * s) @ vt, a, n),
                  near(a @ x, b, 50), near(a @ z, z * e, 8 * n))
def fails(run):
    try:
        run()
    except np.linalg.LinAlgError as error:
        print(error)
for _ in range(3):
    fails(lambda: np.linalg.solve(np.zeros((40, 40)), np.ones(40)))
    fails(lambda: np.linalg.cholesky(-np.eye(40)))
    fails(lambda: np.linalg.svd(np.full((40, 40), np.nan)))
    fails(lambda: np.linalg.eigh(np.full((40, 40), np.nan)))
print(np.linalg.solve(np.eye(0), np.ones((0, 2))).shape)
many = rng.standard_normal((50, 8, 8))
print(near(many @ np.linalg.inv(many), np.eye(8), 1e6))
def at_once():
    for _ in range(20):
        np.linalg.solve(a, b)
threads = [threading.Thread(target=at_once) for _ in range(4)]
[t.start() for t in threads]
[t.join() for t in threads]
if os.fork() == 0:
    np.linalg.solve(a, b)
    os._exit(0)
print(os.wait()[1])
library = [line.split()[-1] for line in open("/proc/self/maps")
           if "libopenblas" in line]
if library:
    print(ctypes.CDLL(library[0]).openblas_get_num_threads())
"""

WARNINGS = HEAD + """
def fails(run, **how):
    with np.errstate(**how):
        try:
            run()
        except FloatingPointError as error:
            print(error)
late = np.ones(4096)
late[-1] = 0
fails(lambda: 1 / late, divide="raise")
fails(lambda: np.log(late - 0.5), invalid="raise")
fails(lambda: np.exp(late * 1000), over="raise")
fails(lambda: np.exp(late.astype("f") * 1000), over="raise")
fails(lambda: (late * 6e4).astype("e") * np.float16(2), over="raise")
fails(lambda: np.arange(9000) // np.arange(-1, 8999), divide="raise")
fails(lambda: 1 / np.ones(4096), all="raise")  # nothing to complain about
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    told(1 / late, np.sqrt(-x))
    print([str(w.message) for w in caught])
try:
    np.arange(9000) ** np.arange(-1, 8999)
except ValueError as error:
    print(error)
"""

FORMS = HEAD + """
a = x.copy(); a += y; told(a)                               # in place
a = x.copy(); np.multiply(a, a, out=a); told(a)
a = x.copy(); np.add(a[1:], 1, out=a[:-1]); told(a)         # ahead
a = x.copy(); np.add(a[:-1], 1, out=a[1:]); told(a)         # behind
a = x.copy(); np.subtract(a, a[::-1], out=a); told(a)
a = x.copy(); np.add(a[:2500], a[2503:], out=a[1200:3700]); told(a)
a = np.zeros_like(x); np.exp(x, out=a, where=x > 0); told(a)
a = np.zeros((50, 100)); np.add(x[:5000].reshape(50, 100), y[:100], out=a)
told(a, a.T + a.T, a[:, ::3] * 2, np.maximum(a[::-1, ::-1], 0.5))
told(np.add.reduce(x), np.add.accumulate(x), np.multiply.reduce(x),
     np.add.reduceat(x, [0, 100, 4000]), np.add.outer(x[:100], y[:100]),
     np.maximum.reduce(a, axis=1), x.mean(), x.std(), x.cumsum(), x.argmax())
a = np.zeros(20); np.add.at(a, np.arange(5003) % 20, x); told(a)
told(np.add(x, 1, dtype="f"), x.astype("f") + y, np.clip(x, -1, 1),
     *np.divmod(x, 0.7), *np.modf(x), *np.frexp(x), x == y, ~(x < y),
     np.broadcast_to(np.float64(2), 5003) * x, x.astype(">f8") + 1)
told(np.array([x[i:i + 2000] for i in range(4)]).sum(0))
class Sub(np.ndarray):
    pass
print(type(x.view(Sub) * 2).__name__, np.add(np.array([1, None] * 0 + [2] * 99,
      dtype=object), 1).sum(), (x.astype("g") * 2).dtype)
b = np.frombuffer(bytes(8004), "f4", 2000, 1)               # not aligned
told(b + 1, np.exp(b))
"""

# Integers modulo a power of two; halves to the bit, as floats in NumPy's order.
PRODUCTS = HEAD + """
rng = np.random.default_rng(3)
def values(letter, *shape):
    if letter == "e":
        return rng.standard_normal(shape).astype("e")
    return rng.integers(-2**63, 2**63, shape).astype(letter)
class Sub(np.ndarray):
    pass
for wrong in ((), (1,), (np.ones((40, 40), int), np.ones((41, 40), int))):
    try:
        np.dot(*wrong)
    except (TypeError, ValueError) as error:
        print(error)
for letter in "?bBhHiIlLqQe":
    for m, k, n in ((1, 1, 1), (2, 3, 4), (33, 47, 29), (70, 130, 101)):
        a, b = values(letter, m, k), values(letter, k, n)
        out = np.zeros((n, m), letter).T
        np.matmul(a, b, out=out)
        told(a @ b, a @ b[:, 0], a[0] @ b, a[::-1] @ b[:, ::-1], out,
             np.asfortranarray(a) @ np.asfortranarray(b), a @ a.T,
             a[:, ::2] @ b[::2], np.dot(a, b), a.dot(b), np.dot(a, b[:, 0]),
             a.dot(b.astype("l") if letter not in "LQe" else b),  # not by BLAS
             np.dot(a.view(Sub), b),
             np.dot(a, b, out=np.zeros((m, n), letter)),
             a.astype(a.dtype.newbyteorder(">")).dot(b))
        print(type(np.dot(a.view(Sub), b)).__name__, a.dot(b).flags.c_contiguous)
    stack = values(letter, 3, 9, 9)
    told(stack @ stack, stack @ stack[0], stack[:, None] @ stack[None],
         np.broadcast_to(stack[0, :1], (9, 9)) @ stack[1])
    np.matmul(stack[0], stack[1], out=stack[0]); told(stack)     # overlapping
    told(np.zeros((3, 0), letter) @ np.zeros((0, 4), letter))
def seen(a, b):
    found = []
    with np.errstate(all="call", call=lambda kind, _: found.append(kind)):
        told(a @ b)
    print(sorted(found))
one = np.ones((40, 40), "e")
seen(one, one)
seen(one * 200, one * 300)                  # overflow
seen(one * 1e-4, one * 1e-4)                # underflow
one[30, 20] = np.inf
seen(one, one)                              # no zero meets it
seen(one, np.zeros((40, 41), "e"))          # invalid
"""

# NumPy 1.24 hands reductions over in pieces of its buffer, later ones whole.
REDUCTIONS = HEAD + """
np.setbufsize(1 << 16)
rng = np.random.default_rng(4)
for letter in "FDfde?bBhHiIlLqQ":
    real = rng.standard_normal(60011) * 10 ** rng.uniform(-3, 6, 60011)
    a = real.astype(letter)
    if letter in "FD":
        a += 1j * real[::-1].astype(letter)
    for v in (a, a[::-1], a[::3], a[:2000], a[:131], a[:60000].reshape(300, 200),
              a[:60000].reshape(2, 30000), np.zeros_like(a), -a * 0 if
              letter in "efdFD" else a):
        told(v.sum(), v.prod(), v.max(), v.min(), v.mean(), v.any(), v.all(),
             v.argmax(), v.argmin(), v.sum(-1), v.max(0), np.add.reduce(v),
             v.sum(initial=5), v.cumsum(), np.add.reduce(v, dtype=letter))
        if letter not in "FD":
            told(np.fmax.reduce(v, axis=None), np.fmin.reduce(v, axis=None))
        if letter not in "efdFD":
            told(np.bitwise_and.reduce(v, axis=None),
                 np.bitwise_or.reduce(v, axis=None),
                 np.bitwise_xor.reduce(v, axis=None))
    if letter in "efd":
        a[50000] = np.nan
        told(a.sum(), a.max(), a.min(), np.fmax.reduce(a), np.nanmax(a))
        found = []
        with np.errstate(all="call", call=lambda kind, _: found.append(kind)):
            a[50000], a[10] = np.inf, -np.inf
            told(a.sum(), a.max(), np.full(60000, 3e4, letter).sum())
        print(letter, sorted(found))
told(np.add.reduce(x, where=x > 0, initial=0), np.minimum.reduceat(x, [0, 99]))
with np.errstate(over="raise"):
    try:
        np.full(60000, 1e308).sum()
    except FloatingPointError as error:
        print(error)
"""

DOTS = HEAD + """
a = np.arange(2500).reshape(50, 50)
told(np.dot(a, a), a.dot(a), np.dot(a, b=a), np.dot(a, a, None))
h = a.astype("e"); told(h.dot(h))           # no warning: it is not matmul's
"""

THREADS = HEAD + """
whole = np.exp(x) * y
def work():
    for i in range(100):
        with np.errstate(divide="raise"):
            if (np.exp(x) * y != whole).any():
                print("wrong")
            try:
                1 / (x - x)
                print("not raised")
            except FloatingPointError:
                pass
threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
children = []
for i in range(3):
    child = os.fork()
    if child == 0:
        good = all((np.exp(x) * y == whole).all() for _ in range(20))
        os._exit(0 if good else 1)
    children.append(child)
print([os.waitpid(child, 0)[1] for child in children])
told(np.exp(x) * y)
"""

# Arrays that come and go: their content, tracemalloc's count, and who owns them.
MEMORY = HEAD + """
import tracemalloc
n = 1 << 18
a = np.arange(n, dtype="d")
b = a
for i in range(30):
    b = np.sqrt(b * b + 1) - 0.5                # temporaries
    c = np.zeros(n)                             # must be zero
    assert not c.any()
told(a, b)
np.ones(n); print(np.zeros(n).any(), np.empty(n).shape)
b = b.copy(); b.resize(3 * n); told(b)
b.resize(5); told(b)
tracemalloc.start()
c = np.empty(n); print(tracemalloc.get_traced_memory()[0] >= 8 * n)
del c; print(tracemalloc.get_traced_memory()[0] < 8 * n)
tracemalloc.stop()
print([np.frombuffer(bytes(range(256)) * 4000, "u1").copy().sum()])
def work(k):
    for i in range(50):
        x = np.full(n // 4 + 1000 * k, k, "d")
        y = x + x
        if (y != 2 * k).any():
            print("wrong")
threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
child = os.fork()
if child == 0:
    work(9); os._exit(0)
print(os.waitpid(child, 0)[1])
try:
    np.empty(1 << 59)
except MemoryError:
    print("none")
core = sys.modules.get("numpy._core.multiarray") or sys.modules[
    "numpy.core.multiarray"]
print(core.get_handler_name(a), core.get_handler_version())
"""

# What a loop of temporaries makes the system clear.
FAULTS = HEAD + """
import resource
a = np.linspace(0, 1, 1 << 19)
for i in range(100):
    a = a * 0.5 + 1
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt, file=sys.stderr)
"""

# Long enough to be opened, probed and chosen.
LONG = HEAD + """
a = np.linspace(0, 1, 1 << 18)
for i in range(200):
    b = np.tanh(np.exp(a))
told(b)
"""

# Exact products raise no flag at all, not even that of inexact results, which
# the library itself raises in longer ones. Taken by ctypes: nothing else
# computes between clearing and reading.
# How far apart operands are decides which code NumPy takes for the whole loop.
TOUCHING = HEAD + """
n = 20000
memory = np.zeros(3 * n)
values = np.random.default_rng(6).uniform(0.1, 9, n)
for function in np.log1p, np.expm1, np.exp2, np.cbrt, np.arctan, np.add:
    for gap in 0, 1, 2, 9:
        for first, second in (0, n + gap), (n + gap, 0):
            for step in 1, -1:
                given, out = memory[first:first + n][::step], memory[second:second + n]
                given[:] = values
                function(given, *[given] * (function.nin - 1), out=out)
                told(out)
"""

FLAGS = """
import ctypes
import numpy as np
m, blas = ctypes.CDLL("libm.so.6"), ctypes.CDLL(None)
pointer = lambda a: a.ctypes.data_as(ctypes.c_void_p)
number = lambda value: ctypes.byref(ctypes.c_int(value))
one, seen = ctypes.c_float(1), 0
for n, flags in (64, 0x3f), (200, 0x1f):
    a, c = np.ones((n, n), "f"), np.zeros((n, n), "f")
    for _ in range(400):
        m.feclearexcept(0x3f)
        blas.cblas_sgemm(101, 111, 111, n, n, n, one, pointer(a), n, pointer(a),
                         n, one, pointer(c), n)
        seen |= m.fetestexcept(flags)
        c[:] = 0
    for _ in range(50):
        d, b, pivots = np.eye(n) * 2, np.ones(n), np.empty(n, "i4")
        m.feclearexcept(0x3f)
        blas.dgesv_(number(n), number(1), pointer(d), number(n),
                    pointer(pivots), pointer(b), number(n), number(0))
        seen |= m.fetestexcept(0x1f)
print(seen)
"""

# A NaN in what is added to an infinite sum is no invalid operation, the other
# infinity is. (The kernels fill these shapes up with zeros.)
ADDED = """
import ctypes
import numpy as np
m, blas = ctypes.CDLL("libm.so.6"), ctypes.CDLL(None)
pointer = lambda a: a.ctypes.data_as(ctypes.c_void_p)
for letter, real in ("s", ctypes.c_float), ("d", ctypes.c_double):
    for rows, cols, k in (64, 12, 9), (7, 7, 70), (64, 64, 64):
        for value in np.nan, -np.inf:
            a, b = np.ones((rows, k), real), np.ones((k, cols), real)
            c = np.zeros((rows, cols), real)
            a[rows // 2, k // 2], c[rows // 2] = np.inf, value
            m.feclearexcept(0x3f)
            getattr(blas, f"cblas_{letter}gemm")(
                101, 111, 111, rows, cols, k, real(1), pointer(a), k,
                pointer(b), cols, real(1), pointer(c), cols)
            print(m.fetestexcept(1), np.isnan(c).sum() == cols)
"""


# Goes on until there was a slice in which Takt was off: page faults of
# temporaries, which are rare otherwise, are then those of plain NumPy again.
EFFECT = HEAD + f"""
import time
sys.path.insert(0, {os.path.dirname(os.path.abspath(__file__))!r})
import stats
path = os.environ["TAKT_RUN_STATS"]
a = np.linspace(-3, 3, 1 << 20)
end = time.monotonic() + 60
while stats.Stats(path).effect()["slices"] < 2 and time.monotonic() < end:
    for i in range(20):
        b = np.exp(a) + a
"""

# The same of a program that calls nothing but LAPACK.
FACTORS = HEAD + f"""
import time
sys.path.insert(0, {os.path.dirname(os.path.abspath(__file__))!r})
import stats
path = os.environ["TAKT_RUN_STATS"]
a = np.eye(256) * 256 + np.ones((256, 256))
end = time.monotonic() + 60
while time.monotonic() < end:
    effect = stats.Stats(path).effect()
    if effect["slices"] > 1 and effect["lapack_baseline_ns"] > 0:
        break
    for i in range(20):
        np.linalg.cholesky(a)
"""


def surroundings(changes):
    env = {name: value for name, value in os.environ.items()
           if not name.startswith(("TAKT_", "LD_", "OMP_", "OPENBLAS_"))}
    return {**env, "TAKT_DB": "", "TAKT_GPU": "", **changes}


def run(program, **changes):
    ran = subprocess.run([PYTHON, "-W", "ignore::DeprecationWarning", "-c",
                          program], capture_output=True,
                         text=True, timeout=600, env=surroundings(changes))
    return ran.returncode, ran.stdout, ran.stderr


class Loops(unittest.TestCase):
    maxDiff = 2000

    def preloaded(self, program, **changes):
        with tempfile.TemporaryDirectory(prefix="takt") as folder:
            path = stats.make(os.path.join(folder, "stats"))
            ran = run(program, LD_PRELOAD=PRELOAD, TAKT_RUN_STATS=path,
                      **changes)
            self.stats = stats.Stats(path)
            return ran, self.stats.loops()

    def check(self, program, least, **changes):
        """Returns the loops that were cut; at least so many."""
        plain = run(program)
        self.assertEqual(plain[0], 0, plain[2])
        ran, loops = self.preloaded(program, **EAGER, TAKT_THREADS="2",
                                    **changes)
        self.assertEqual(ran, plain)
        split = {name for name, (_, count) in loops.items() if count > 0}
        if os.cpu_count() > 1:
            self.assertGreaterEqual(len(split), least)
        return split

    def test_every_ufunc_gives_the_same_bits_and_flags(self):
        self.check(ALL, 95)  # of the statistics, the last is all others

    def test_products_raise_what_their_results_show(self):
        ran, _ = self.preloaded(INFINITE, **EAGER, TAKT_BLAS="",
                                OPENBLAS_NUM_THREADS="1")
        self.assertEqual((ran[0], ran[2]), (0, ""))
        finite, invalid = ran[1].split("invalid\n")
        self.assertEqual({line.split("]")[0] for line in finite.splitlines()},
                         {"["})
        self.assertEqual({line.split("]")[0] for line in invalid.splitlines()},
                         {"['invalid value'"})

    @unittest.skipUnless(platform.machine() == "x86_64",
                         "elsewhere NAN is what invalid operations make")
    def test_a_nan_that_is_added_to_is_no_invalid_operation(self):
        ran, _ = self.preloaded(ADDED, **EAGER, TAKT_BLAS="",
                                OPENBLAS_NUM_THREADS="1")
        self.assertEqual(ran, (0, "0 True\n1 True\n" * 6, ""))

    def test_lapack_gives_the_same_on_any_number_of_threads(self):
        plain = run(LINALG)
        self.assertEqual(plain[0], 0, plain[2])
        self.assertNotIn("False", plain[1])
        with tempfile.TemporaryDirectory(prefix="takt") as folder:
            path = stats.make(os.path.join(folder, "stats"))
            for changes, is_changed in ((EAGER, True), ({}, None),
                                        ({"TAKT_RUN_LAPACK": "off"}, False)):
                ran = run(LINALG, LD_PRELOAD=PRELOAD, TAKT_RUN_STATS=path,
                          **changes)
                self.assertEqual(ran, plain)
                found = stats.Stats(path).lapack()
                stats.make(path)
                self.assertLessEqual({"dgesv", "dpotrf", "dgeqrf",
                                      "dsyevd", "dgesdd"}, set(found))
                if is_changed is not None and os.cpu_count() > 1:
                    self.assertEqual(any(fewer > 0 for _, fewer
                                         in found.values()), is_changed)

    def test_exceptions_of_workers_are_those_of_the_caller(self):
        self.check(WARNINGS, 5)

    def test_what_is_learned_raises_no_exception(self):
        for changes in ({}, EAGER):
            ran, _ = self.preloaded(FLAGS, **changes)
            self.assertEqual(ran, (0, "0\n", ""))

    def test_forms_of_calls(self):
        self.check(FORMS, 10)

    def test_operands_that_touch(self):
        self.check(TOUCHING, 6)

    def test_products_of_integers_and_halves(self):
        split = self.check(PRODUCTS, 12)
        self.assertEqual(sum(name.startswith("matmul") for name in split), 12)

    def test_dot_is_a_product(self):
        plain = run(DOTS)
        ran, loops = self.preloaded(DOTS)
        self.assertEqual(ran, plain)
        self.assertEqual(sum(loops["matmul ll->l"]), 2)

    def test_reductions(self):
        split = self.check(REDUCTIONS, 50)
        self.assertIn("add.reduce dd->d", split)
        self.assertIn("add.reduce FF->F", split)
        self.assertIn("logical_or.reduce ??->?", split)

    def test_threads_and_forks(self):
        self.check(THREADS, 2)

    def test_same_bits_of_blas_do_not_matter(self):
        self.check(FORMS, 10, TAKT_RUN_SAME_BITS="1")

    def test_arrays_come_and_go(self):
        self.check(MEMORY, 3)

    def test_memory_of_temporaries_is_used_again(self):
        clean = int(run(FAULTS)[2])
        kept = int(self.preloaded(FAULTS)[0][2])
        self.assertLess(kept, clean)
        plain = int(self.preloaded(FAULTS, TAKT_RUN_NUMPY="off")[0][2])
        self.assertLess(kept, plain)

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "loops stay whole")
    def test_the_program_is_measured_with_takt_off(self):
        ran, _ = self.preloaded(EFFECT)
        self.assertEqual(ran, (0, "", ""))
        effect = self.stats.effect()
        self.assertGreaterEqual(effect["slices"], 2)
        self.assertGreater(effect["baseline_ns"], 0)
        self.assertGreater(effect["covered_ns"], 0)
        self.assertLess(abs(effect["gain_ns"]), effect["baseline_ns"])

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "there is no choice")
    def test_calls_of_lapack_are_steps_of_the_program(self):
        ran, _ = self.preloaded(FACTORS)
        self.assertEqual(ran, (0, "", ""))
        effect = self.stats.effect()
        self.assertGreaterEqual(effect["slices"], 2)
        self.assertGreater(effect["covered_ns"], 0)
        self.assertGreater(effect["lapack_baseline_ns"], 0)
        self.assertGreater(effect["lapack_instead_ns"], 0)

    def test_loops_are_counted(self):
        plain = run(LONG)
        ran, loops = self.preloaded(LONG)
        self.assertEqual(ran, plain)
        self.assertEqual(sum(loops["tanh d->d"]), 200)
        self.assertEqual(sum(loops["exp d->d"]), 200)

    def test_threads_are_those_of_the_process(self):
        _, loops = self.preloaded(FORMS, **EAGER)
        if len(os.sched_getaffinity(0)) > 1:
            self.assertGreater(sum(split for _, split in loops.values()), 0)

    def test_they_can_be_left_alone(self):
        plain = run(LONG)
        ran, loops = self.preloaded(LONG, TAKT_RUN_NUMPY="off")
        self.assertEqual((ran, loops), (plain, {}))

    def test_one_thread_cuts_nothing(self):
        plain = run(FORMS)
        ran, loops = self.preloaded(FORMS, **EAGER, OPENBLAS_NUM_THREADS="1",
                                    TAKT_THREADS="1")
        self.assertEqual(ran, plain)
        self.assertEqual(sum(split for _, split in loops.values()), 0)


if __name__ == "__main__":
    if run("import numpy")[0] != 0:
        print("there is no NumPy")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
