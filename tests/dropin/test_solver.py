#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""NumPy's linear algebra by other code computes and fails as it does without.

usage: test_solver.py LIBTAKT_BLAS FOLDER
What gained on a GPU in an earlier run is opened before it is called.
A program runs without the interposer, and with every call on the fake GPU, by
Takt's kernels or in the library, in turns; what it prints must not differ.
Skipped where there is no NumPy.
"""
import ctypes
import os
import subprocess
import sys
import tempfile
import unittest

PRELOAD = os.path.abspath(sys.argv[1])
PYTHON = "/usr/bin/python3"
FAKE = {"TAKT_DB": "", "TAKT_RUN_EAGER": "1", "TAKT_GPU": "all",
        "TAKT_CUDA": os.environ.get("TAKT_TEST_FAKE_CUDA", ""),
        "TAKT_CUBLAS": os.environ.get("TAKT_TEST_FAKE_CUBLAS", ""),
        "TAKT_CUSOLVER": os.environ.get("TAKT_TEST_FAKE_CUSOLVER", ""),
        "TAKT_VULKAN": "/nowhere", "TAKT_LOG": "off"}

PROGRAM = """
import ctypes, os, sys
import numpy as np
rng = np.random.default_rng(3)
lib = ctypes.CDLL(os.environ["TAKT_CUSOLVER"]) if "TAKT_CUSOLVER" in os.environ else None
def near(a, b, scale=1):
    return bool(np.abs(a - b).max() <= 200 * np.finfo(a.dtype).eps * a.shape[0] * scale)
def fails(function, *args):
    try:
        function(*args)
    except np.linalg.LinAlgError as error:
        return str(error)
la = np.linalg
for letter in "fd":
    for n in 1, 2, 7, 40:
        for turn in range(4):
            a = rng.standard_normal((n, n)).astype(letter) + n * np.eye(n, dtype=letter)
            a = a if turn < 3 else np.asfortranarray(a)
            b = rng.standard_normal((n, 3)).astype(letter)
            spd = a @ a.T
            kept = a.copy(), b.copy(), spd.copy()
            lower = la.cholesky(spd)
            print(letter, n, near(a @ la.solve(a, b), b, 20),
                  near(a @ la.solve(a, b[:, 0]), b[:, 0], 20),
                  near(la.inv(a) @ a, np.eye(n, dtype=letter), 20),
                  near(lower @ lower.T, spd, n * n), bool((np.triu(lower, 1) == 0).all()))
            for uplo in "LU":
                w, v = la.eigh(spd, uplo)
                print(near(spd @ v, v * w, n * n), near(la.eigvalsh(spd, uplo), w, n * n))
            for x in a, a[:, : n // 2 + 1], a[: n // 2 + 1]:
                q, r = la.qr(x)
                print(near(q @ r, x, n), near(q.T @ q, np.eye(q.shape[1], dtype=letter)))
                for full in True, False:
                    u, s, vt = la.svd(x, full_matrices=full)
                    k = len(s)
                    print(u.shape, vt.shape, near((u[:, :k] * s) @ vt[:k], x, n),
                          near(u.T @ u, np.eye(u.shape[1], dtype=letter)))
                print(near(la.svd(x, compute_uv=False), s, n))
            for power in (-100, 100) if letter == "f" else (-900, 900):  # squares are 0, or inf
                by = letter == "f" and np.float32(2.0 ** power) or 2.0 ** power
                x, sym = a * by, spd * by
                other = np.tril(sym) + np.triu(a, 1)  # what nobody asked for is no measure
                q, r = la.qr(x)
                u, s, vt = la.svd(x)
                w, v = la.eigh(other, "L")
                print(near(q @ r, x, n * by), near((u * s) @ vt, x, n * by),
                      near(sym @ v, v * w, n * n * by), near(la.eigvalsh(other, "L"), w, n * n * by))
            bad = a.copy()
            bad[n // 2, n // 2] = np.nan
            print(fails(la.solve, np.zeros_like(a), b), fails(la.cholesky, -spd),
                  fails(la.svd, bad), fails(la.inv, np.zeros_like(a)))
            print(all((x == y).all() for x, y in zip(kept, (a, b, spd))))
    stack = rng.standard_normal((3, 9, 9)).astype(letter)
    print(near(stack @ la.solve(stack, stack[:, :, :2]), stack[:, :, :2], 500))
a = rng.standard_normal((40, 40)) + 40 * np.eye(40)
child = os.fork()
if child == 0:
    os._exit(0 if near(a @ la.solve(a, a[0]), a[0], 20) and near(la.inv(a) @ a, np.eye(40), 20) else 1)
print(os.waitpid(child, 0)[1], near(a @ la.solve(a, a[1]), a[1], 20))
if lib is not None:
    print("solver calls", lib.fake_cusolver_calls() > int(sys.argv[1]), file=sys.stderr)
"""


# Solves of order 420 take milliseconds, so a GPU is tried for them; in all they
# take far less than what would open one.
LATER = """
import ctypes, os, time
import numpy as np
lib = ctypes.CDLL(os.environ["TAKT_CUSOLVER"])
for _ in range(3000):
    if lib.fake_cusolver_calls() > 0:
        break
    time.sleep(0.01)
warm = lib.fake_cusolver_calls()
a = np.random.default_rng(4).standard_normal((420, 420)) + 420 * np.eye(420)
for _ in range(30):
    near = np.abs(a @ np.linalg.solve(a, a[0]) - a[0]).max() < 1e-9
print(warm > 0, lib.fake_cusolver_calls() > warm, near)
"""

# By names, without NumPy, which has an xerbla() of its own: every distance
# between columns and every amount of working memory in turn is too small.
WRONG = """
import ctypes, itertools
lapack = ctypes.CDLL("liblapack.so.3", mode=ctypes.RTLD_GLOBAL)
routines = ctypes.CDLL(None)
def info_of(name, *given):
    options = sum(isinstance(value, str) for value in given)
    kept, info = [], ctypes.c_int(-99)
    for value in given:
        kept.append(ctypes.create_string_buffer(value.encode()) if isinstance(value, str)
                    else ctypes.c_int(value) if isinstance(value, int)
                    else (ctypes.c_double * 4096)(*([0.5, 3.0, 0.25, 7.0, 1.5] * 20)))
    getattr(routines, name)(*map(ctypes.byref, kept), ctypes.byref(info),
                            *[ctypes.c_size_t(1)] * options)
    return info.value
R = None
for n, turn in itertools.product((1, 4), range(4)):
    for ld in 0, n - 1, n:
        print(n, ld, info_of("dpotrf_", "L", n, R, ld), info_of("dgetrf_", n, n, R, ld, R),
              [info_of("dgesv_", n, 1, R, one, R, R, other) for one, other in ((ld, n), (n, ld))],
              [info_of("dgeqrf_", n, n, R, one, R, R, other) for one, other in ((ld, n), (n, ld))],
              [info_of("dorgqr_", n, n, n, R, one, R, R, other) for one, other in ((ld, n), (n, ld))],
              [info_of("dgesdd_", job, n, n, R, a, R, R, u, R, vt, R, 900, R) for job in "NSA"
               for a, u, vt in ((ld, n, n), (n, ld, n), (n, n, ld))],
              [info_of("dsyevd_", job, "U", n, R, ld, R, R, 900, R, 90) for job in "NV"],
              [info_of("dsyev_", job, "U", n, R, n, R, R, 3 * ld) for job in "NV"])
"""


class Request(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("policy", ctypes.c_int),
                ("op", ctypes.c_void_p), ("name", ctypes.c_char_p),
                ("complexity", ctypes.c_int), ("dtype", ctypes.c_int),
                ("rank", ctypes.c_size_t), ("dim", ctypes.c_size_t * 10),
                ("work", ctypes.POINTER(ctypes.c_double * 2)),
                ("flags", ctypes.c_uint), ("situation", ctypes.c_uint)]


class Measurement(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("request", ctypes.POINTER(Request)),
                ("expert", ctypes.c_char_p), ("seconds", ctypes.c_double),
                ("calls", ctypes.c_double), ("is_trial", ctypes.c_int)]


class Spec(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("name", ctypes.c_char_p),
                ("complexity", ctypes.c_int), ("work", ctypes.c_void_p),
                ("self", ctypes.c_void_p)]


def op_of(text):
    """The name of a program `python3 -c TEXT` in a store."""
    executable, number = os.path.realpath(PYTHON), 2166136261
    for byte in (executable + text).encode():
        number = (number ^ byte) * 16777619 & 0xffffffff
    return f"lapack.{os.path.basename(executable)}-{number:08x}"


def remember(text, *rows):
    """Has the store of this process know what an earlier run chose."""
    takt = ctypes.CDLL(os.path.join(os.path.dirname(PRELOAD), "libtakt.so"))
    op = ctypes.c_void_p()
    spec = Spec(ctypes.sizeof(Spec), op_of(text).encode())
    made = takt.takt_ctx_define_op(None, ctypes.byref(spec), ctypes.byref(op))
    for expert, work, seconds in rows:
        request = Request(ctypes.sizeof(Request), op=op.value, dtype=1, rank=1,
                          dim=(1,), work=ctypes.pointer(
                              (ctypes.c_double * 2)(work, work)))
        measured = Measurement(ctypes.sizeof(Measurement),
                               ctypes.pointer(request), expert.encode(),
                               seconds, 1)
        made = made or takt.takt_record(None, ctypes.byref(measured))
    return made or takt.takt_ctx_flush(None)


def run(least, **variables):
    environment = {key: value for key, value in os.environ.items()
                   if not key.startswith(("TAKT_", "FAKE_"))}
    environment.update(variables)
    return subprocess.run([PYTHON, "-c", PROGRAM, str(least)], env=environment,
                          capture_output=True, text=True, timeout=300,
                          check=False)


class Solver(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.plain = run(0)
        cls.assertFalse(cls, cls.plain.returncode, cls.plain.stderr)

    def compare(self, least, **variables):
        routed = run(least, LD_PRELOAD=PRELOAD, **FAKE, **variables)
        self.assertEqual(routed.returncode, 0, routed.stderr)
        self.assertEqual(routed.stdout, self.plain.stdout)
        self.assertIn("solver calls True", routed.stderr)

    def test_results_and_errors_are_those_of_numpy(self):
        self.compare(500)
        self.compare(500, FAKE_CUDA_LATE="1")

    def test_a_device_that_is_lost_half_way_changes_nothing(self):
        self.compare(100, FAKE_CUDA_FAIL="cuMemcpyDtoHAsync:300:700:sticky")
        self.compare(100, FAKE_CUDA_FAIL="cuMemcpyHtoDAsync:200:999:final")

    def test_without_the_loops_of_numpy_the_names_of_lapack_are_routed(self):
        self.compare(200, TAKT_RUN_NUMPY="off")

    def test_arguments_that_are_wrong_are_wrong_in_the_same_way(self):
        told = [subprocess.run([PYTHON, "-c", WRONG], capture_output=True,
                               text=True, timeout=300, check=False,
                               env=dict(os.environ, **variables)).stdout
                for variables in ({}, dict(FAKE, LD_PRELOAD=PRELOAD))]
        self.assertIn("\n", told[0])
        self.assertEqual(*(  # OpenBLAS and LAPACK word their complaints
            [line for line in text.splitlines() if "**" not in line]
            for text in told))

    def test_a_gpu_that_gained_before_is_open_and_warm_when_it_is_called(self):
        with tempfile.TemporaryDirectory(dir="/tmp", prefix="takt") as folder:
            store = os.path.join(folder, "store.db")
            child = os.fork()  # the store is its own
            if child == 0:
                os.environ.update(TAKT_DB=store, TAKT_GPU="", TAKT_LOG="off")
                os._exit(remember(LATER, ("gesv.--P.gpu", 420.0**3, 0.1),
                                  ("worth", 1.0, 5.0)))
            self.assertEqual(os.waitpid(child, 0)[1], 0)
            variables = {key: value for key, value in FAKE.items()
                         if key != "TAKT_RUN_EAGER"}
            variables.update(TAKT_DB=store)
            ran = subprocess.run(
                [PYTHON, "-c", LATER], capture_output=True, text=True,
                env=dict(os.environ, LD_PRELOAD=PRELOAD, **variables),
                timeout=300, check=False)
        self.assertEqual(ran.stdout, "True True True\n", ran.stderr)

    def test_a_library_that_cannot_be_opened_is_done_without(self):
        broken = dict(FAKE, TAKT_CUSOLVER="/nowhere")
        self.assertEqual(
            subprocess.run(
                [PYTHON, "-c", PROGRAM.replace("lib = ", "lib = None #"), "0"],
                env=dict(os.environ, LD_PRELOAD=PRELOAD, **broken),
                capture_output=True, text=True, timeout=300,
                check=False).stdout, self.plain.stdout)


if __name__ == "__main__":
    if subprocess.run([PYTHON, "-c", "import numpy"], capture_output=True,
                      check=False).returncode != 0:
        print("skipped: there is no NumPy")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1], verbosity=2)
