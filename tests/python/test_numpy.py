#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Arrays of NumPy's as operands and results, and NumPy's own loops. Skipped
where there is no NumPy.

usage: test_numpy.py (PYTHONPATH has the package)
"""
import os
import subprocess
import sys
import tempfile
import threading
import unittest

try:
    import numpy as np
except ImportError:
    print("there is no NumPy")
    sys.exit(77)
import takt

sys.path.append(os.path.join(os.path.dirname(__file__), "../dropin"))
import stats  # noqa: E402

RNG = np.random.default_rng(1)


def numbers(*shape, dtype="f4"):
    return RNG.uniform(0.5, 2, shape).astype(dtype)


class Arrays(unittest.TestCase):
    def same(self, got, want):
        self.assertIs(type(got), np.ndarray)
        self.assertEqual((got.dtype, got.shape), (want.dtype, want.shape))
        np.testing.assert_allclose(got, want, rtol=2e-5, atol=1e-6)

    def refuses(self, kind, pattern, function, *args, **words):
        with self.assertRaisesRegex(kind, pattern):
            function(*args, **words)

    def test_maps_of_every_rank(self):
        for dtype in "f4", "f8":
            for shape in (), (7,), (0,), (3, 0, 2), (2, 3, 4), (1,) * 20:
                a, b = numbers(*shape, dtype=dtype), numbers(*shape,
                                                             dtype=dtype)
                self.same(takt.add(a, b), np.asarray(a + b))
                self.same(takt.exp(a, out=b), np.asarray(np.exp(a)))

    def test_what_a_number_raises_is_raised(self):
        class Broken:
            def __float__(self):
                raise MemoryError("no room")
            __index__ = __float__

        a = numbers(1, 1, 4, 4)
        self.refuses(MemoryError, "no room", takt.scale, a, Broken())
        self.refuses(MemoryError, "no room", takt.pooling, a, Broken())

    @unittest.skipIf(sys.version_info < (3, 12), "__buffer__ is of 3.12")
    def test_memory_that_was_made_for_the_call_is_kept_by_the_result(self):
        class Maker:
            asked = released = 0

            def __buffer__(self, flags):
                self.asked += 1
                return memoryview(np.arange(6.0))

            def __release_buffer__(self, buffer):
                self.released += 1

        maker = Maker()
        result = takt.reshape(maker, (2, 3))
        self.assertEqual((maker.asked, maker.released), (1, 0))
        self.assertEqual(result.tolist(), [[0, 1, 2], [3, 4, 5]])
        del result
        self.assertEqual((maker.asked, maker.released), (1, 1))

    def test_an_array_that_changes_while_operands_are_read(self):
        class Meddler:  # __dlpack__() and __index__() run code of the program
            def __init__(self, data, meddle):
                self.data, self.meddle = data, meddle

            def __dlpack__(self, **_):
                self.meddle()
                return self.data.__dlpack__()

            def __index__(self):
                self.meddle()
                return self.data

        def turn(array, dtype):
            return lambda: setattr(array, "dtype", dtype)

        a, guard = np.ones(2000, "f4"), np.zeros(3000, "f4")
        self.refuses(ValueError, "out has shape", takt.exp, a,
                     out=Meddler(guard[1000:2000], turn(a, "f8")))
        self.assertEqual(np.count_nonzero(guard), 0)
        a = np.ones(1000, "f8")
        self.refuses(ValueError, "b has shape", takt.add, a,
                     Meddler(np.ones(2000, "f8"), turn(a, "f4")))
        a, b = numbers(10, 10), numbers(10, 10)
        want = a + b
        got = takt.add(a, Meddler(b, lambda: setattr(a, "shape", (100,))))
        self.same(got, want)
        a = np.ones(1000, "f8")
        view = takt.reshape(a, (Meddler(10, turn(a, "f4")), 200))
        self.assertEqual((view.dtype, view.nbytes), (np.float32, a.nbytes))

    def test_large_maps(self):
        a = numbers(300, 1000)
        self.same(takt.tanh(a), np.tanh(a))
        self.assertAlmostEqual(takt.sum(a) / a.size, a.mean(), 4)

    def test_products_of_transposed_matrices_and_blocks(self):
        for dtype in "f4", "f8":
            whole = numbers(40, 50, dtype=dtype)
            plain, block = numbers(12, 9, dtype=dtype), whole[3:15, 7:16]
            for a in plain, block, plain.T.copy().T, whole.T[7:19, 3:12]:
                for b in plain.T, block.T, numbers(9, 12, dtype=dtype):
                    self.same(takt.matmul(a, b), a @ b)
                self.same(takt.gemv(a, a[0].copy()), a @ a[0])
                self.same(takt.gemv(a.T, np.ascontiguousarray(a[:, 0])),
                          a.T @ a[:, 0])
            out = np.zeros((12, 30), dtype)
            self.assertIs(takt.matmul(plain, plain.T, out=out[:, 5:17]).base,
                          out)
            self.same(out[:, 5:17], plain @ plain.T)
            self.assertEqual(out[:, :5].any() or out[:, 17:].any(), False)
            self.same(takt.transpose(block), block.T.copy())
            for shape in (0, 3), (3, 0), (1, 1), (1, 3), (3, 1):
                a = numbers(*shape, dtype=dtype)
                self.same(takt.matmul(a, a.T), a @ a.T)

    def test_blocks_side_by_side_in_one_matrix(self):
        m = numbers(8, 24)
        want = m[:, :8] @ m[:, 8:16]
        self.same(takt.matmul(m[:, :8], m[:, 8:16], out=m[:, 16:]), want)

    def test_reshape_is_a_view(self):
        a = numbers(6)
        takt.reshape(a, (2, 3))[1, 2] = 7
        self.assertEqual(a[5], 7)

    def test_what_is_refused(self):
        a = numbers(4, 6)
        fixed = a.copy()
        fixed.flags.writeable = False
        before = a.copy()
        odd = np.frombuffer(bytes(9), "u1")[1:].view("f4")
        for kind, pattern, function, args, words in (
                (TypeError, "type int64", takt.exp, (np.arange(3),), {}),
                (TypeError, "type float16", takt.exp, (a.astype("f2"),), {}),
                (TypeError, "type >f4", takt.exp, (a.astype(">f4"),), {}),
                (TypeError, "b is f64, and a is f32", takt.add,
                 (a, a.astype("f8")), {}),
                (ValueError, "out is read-only", takt.exp, (a,),
                 {"out": fixed}),
                (ValueError, "another order than C's", takt.exp, (a.T,), {}),
                (ValueError, "a has gaps", takt.exp, (a[:, ::2],), {}),
                (ValueError, "out has gaps", takt.exp, (a[:, :3].copy(),),
                 {"out": a[:, ::2]}),
                (ValueError, "rows of a and its columns have gaps",
                 takt.matmul, (a[:, ::2], a.T), {}),
                (ValueError, "rows of a have gaps", takt.transpose, (a.T,),
                 {}),
                (ValueError, r"shape \(4, 6\), not \(6, 4\)", takt.transpose,
                 (a,), {"out": a}),
                (ValueError, "out overlaps a", takt.exp, (a[:2],),
                 {"out": a[1:3]}),
                (ValueError, "out overlaps b", takt.matmul,
                 (a.copy()[:, :4], a[:, :4]), {"out": a[:, 2:6]}),
                (TypeError, r"a has a mask.* a\.filled\(0\)", takt.sum,
                 (np.ma.masked_greater(a, 0),), {}),
                (TypeError, "out has a mask", takt.exp, (a,),
                 {"out": np.ma.array(a)}),
                (ValueError, "not aligned", takt.exp, (odd,), {})):
            self.refuses(kind, pattern, function, *args, **words)
        np.testing.assert_array_equal(a, before)

    def test_subclasses_go_through_the_buffer_protocol(self):
        class Mine(np.ndarray):
            pass

        a = numbers(5).view(Mine)
        self.same(takt.add(a, a), np.asarray(a + a))

    def test_experts_get_arrays(self):
        def add(a, b, *, out):
            self.assertIs(type(out), np.ndarray)
            self.assertFalse(a.flags.writeable)
            np.add(a, b, out=out)

        with takt.Context(db="", exploration=-1) as context:
            context.add_expert("add", add, name="numpy", is_usual=True)
            a = numbers(3, 5)
            self.same(context.add(a, a), a + a)


class Loops(unittest.TestCase):
    """With TAKT_RUN_EAGER every loop is cut, however short; the shared
    statistics tell whether it was."""

    def run_with_statistics(self, script):
        with tempfile.TemporaryDirectory() as folder:
            path = stats.make(os.path.join(folder, "stats"))
            done = subprocess.run(
                [sys.executable, "-c", script, path], capture_output=True,
                text=True, timeout=600,
                env={**os.environ, "TAKT_RUN_EAGER": "1", "TAKT_THREADS": "2",
                     "TAKT_RUN_STATS": path,
                     "PYTHONPATH": os.pathsep.join(sys.path)})
            return done.stdout + done.stderr

    def test_loops_are_cut_while_that_is_enabled(self):
        self.assertEqual(self.run_with_statistics("""
import numpy as np, stats, sys, takt.numpy, time
def cut():
    return stats.Stats(sys.argv[1]).loops().get("exp d->d", (0, 0))[1]
x = np.linspace(-3, 3, 50_003)
want, end = np.exp(x), time.monotonic() + 300
takt.numpy.enable()
while cut() == 0 and time.monotonic() < end:
    assert (np.exp(x) == want).all()
takt.numpy.disable()
before = cut()
assert (np.exp(x) == want).all()
print(before > 0, cut() == before)
takt.numpy.enable()
assert (np.exp(x) == want).all()
print(cut() > before)
"""), "True True\nTrue\n")


class Threads(unittest.TestCase):
    def test_eight_threads_at_once(self):
        wrong = []

        def work(seed):
            a = np.random.default_rng(seed).uniform(-1, 1, (64, 64))
            x = np.full(20_000, float(seed))
            for _ in range(20):
                if not np.allclose(takt.matmul(a, a), a @ a) or \
                        takt.sum(x) != seed * 20_000 or \
                        takt.add(x[:16], x[:16])[3] != 2 * seed:
                    wrong.append(seed)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


if __name__ == "__main__":
    unittest.main()
