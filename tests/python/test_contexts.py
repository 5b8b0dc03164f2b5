#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Contexts, questions, tuning and experts that are written in Python.

usage: test_contexts.py FIXTURES (PYTHONPATH has the package)
"""
import gc
import os
import pathlib
import sys
import tempfile
import threading
import unittest
import weakref
from array import array

import takt

FIXTURES = pathlib.Path(sys.argv.pop(1))


class Contexts(unittest.TestCase):
    def test_an_expert_fixes_the_policy(self):
        with takt.Context(expert="scalar", db="") as context:
            decision = context.select("add", 1000, policy="fixed")
            self.assertEqual((decision.expert, decision.reason),
                             ("scalar", "forced"))

    def test_threads_and_libraries(self):
        with takt.Context(threads=1, blas="", db="") as context:
            self.assertFalse([name for name in context.machine().experts
                              if name == "simd.sse2x2" or "blas" in name])

    def test_a_closed_context_refuses(self):
        context = takt.Context(db="")
        self.assertFalse(context.closed)
        context.close()
        context.close()
        self.assertTrue(context.closed)
        a = array("d", [1])
        for use in (lambda: context.add(a, a), lambda: context.machine(),
                    lambda: context.select("add", 1), lambda: context.flush(),
                    lambda: context.add_expert("add", print, name="p"),
                    lambda: context.tune("add"), context.__enter__,
                    lambda: context.define_op("op")):
            with self.assertRaisesRegex(ValueError, "the context is closed"):
                use()

    def test_options_that_make_no_sense(self):
        for words, kind, pattern in (
                ({"policy": "fast"}, ValueError, "'fast' is not one of adaptive, moe"),
                ({"expert": "magic"}, takt.Error, "a context with magic"),
                ({"recording": "/nowhere"}, takt.Error, "/nowhere: not found"),
                ({"threads": -1}, ValueError, "threads is -1"),
                ({"threads": 2 ** 32 + 1}, ValueError, "threads is 4294967297"),
                ({"threads": 2 ** 70}, ValueError, "threads is 1180591620717411"),
                ({"exploration": 10 ** 400}, ValueError, "000 is too large"),
                ({"exploration": "2"}, TypeError, ""),
                ({"threads": "2"}, TypeError, "")):
            with self.assertRaisesRegex(kind, pattern):
                takt.Context(**words)
        with self.assertRaises(TypeError):
            takt.Context("adaptive")

    def test_a_recorded_machine_answers_and_runs_nothing(self):
        recording = str(FIXTURES / "machines/xeon-h200-16")
        with takt.Context(recording=recording, db="") as context:
            self.assertEqual(context.machine().logical_cpus, 16)
            with self.assertRaises(takt.Error) as caught:
                context.sum(array("d", [1]))
            self.assertEqual(caught.exception.status, 4)

    def test_what_was_learned_is_stored(self):
        a = array("f", bytes(4 * 100_000))
        with tempfile.TemporaryDirectory() as folder:
            db = os.path.join(folder, "learned.db")
            with takt.Context(db=db) as context:
                for _ in range(20):
                    context.exp(a)
                context.flush()
                rows = context.history("exp")
                self.assertTrue(rows)
                self.assertEqual({row.op for row in rows}, {"exp"})
            with takt.Context(db=db) as context:
                context.exp(a)
                context.flush()
                self.assertTrue(context.history())
                context.forget()
                self.assertEqual(context.history(), [])


class Questions(unittest.TestCase):
    def test_select(self):
        decision = takt.select("matmul", (64, 64, 64), dtype="f64")
        self.assertEqual(decision.flops, 2 * 64 ** 3)
        self.assertIn(decision.expert, takt.machine().experts)
        self.assertEqual(takt.select("sum", 50_000, policy="moe").backend,
                         "simd")
        self.assertEqual(takt.select("bmm", (2, 8, 8, 8)).elements, 128)

    def test_explain_has_the_chosen_one_first(self):
        rows = takt.explain("add", 1_000_000, situation=("repeat", "asleep"))
        self.assertEqual([row.is_chosen for row in rows].count(True), 1)
        self.assertTrue(rows[0].is_chosen)
        self.assertEqual(rows[0].expert, takt.select(
            "add", 1_000_000, situation=("repeat", "asleep")).expert)

    def test_map(self):
        self.assertEqual([p.shape for p in takt.map("gemm")][:2],
                         [(8, 8, 8), (16, 16, 16)])
        self.assertEqual(takt.map("add")[-1].shape, (2 ** 24,))
        places = takt.map("conv2d", [(1, 3, 32, 32, 8, 3, 3)])
        self.assertTrue(places[0].decision.expert)
        with self.assertRaisesRegex(ValueError, "needs shapes"):
            takt.map("conv2d")

    def test_recommend(self):
        answer = takt.recommend("numpy.add", 2_000_000)
        self.assertEqual((answer.framework, answer.op, answer.backend),
                         ("NumPy", "add", "simd"))
        with self.assertRaisesRegex(takt.Error, "'numpy.Add' is near") as seen:
            takt.recommend("numpy.adf", 1)
        self.assertEqual(seen.exception.status, 8)

    def test_questions_that_make_no_sense(self):
        for kind, pattern, use in (
                (takt.Error, "no op 'ad'; 'add' is near",
                 lambda: takt.select("ad", 1)),
                (ValueError, "matmul takes sizes MxNxK",
                 lambda: takt.select("matmul", (1, 2))),
                (ValueError, "'f16' is not", lambda: takt.select(
                    "add", 1, dtype="f16")),
                (ValueError, "'fast' is not", lambda: takt.select(
                    "add", 1, policy="fast")),
                (ValueError, "'cold' is not", lambda: takt.select(
                    "add", 1, situation="cold")),
                (ValueError, "a size is -1", lambda: takt.select("add", -1)),
                (ValueError, "a size is 1180591620717411303424",
                 lambda: takt.explain("add", 2 ** 70)),
                (ValueError, "a size is 1180591620717411303424",
                 lambda: takt.recommend("numpy.add", 2 ** 70)),
                (ValueError, "a size is 1180591620717411303424",
                 lambda: takt.reshape(array("d", [1]), 2 ** 70)),
                (TypeError, "", lambda: takt.select("add", "x"))):
            with self.assertRaisesRegex(kind, pattern):
                use()


class Tuning(unittest.TestCase):
    def test_progress_is_told_and_can_stop(self):
        seen = []

        def progress(what):
            seen.append(what)
            return what.stage == "measuring"

        with takt.Context(db="", gpu="") as context:
            result = context.tune("add", shapes=[1000], effort="quick",
                                  ignore_load=True, progress=progress)
        self.assertEqual(result.end, "stopped")
        self.assertEqual((seen[-1].op, seen[-1].shape), ("add", (1000,)))

    def test_it_measures(self):
        with takt.Context(db="", gpu="", blas="") as context:
            result = context.tune(["add"], dtypes="f32", shapes=[(1000,)],
                                  experts=["scalar"], budget_s=0.3,
                                  ignore_load=True)
            self.assertIn(result.end, ("complete", "time is up"))
            self.assertGreater(result.samples, 0)
            self.assertEqual({row.expert for row in context.history("add")},
                             {"scalar"})

    def test_an_exception_ends_it(self):
        def progress(what):
            raise KeyError(what.stage)

        with takt.Context(db="", gpu="") as context:
            with self.assertRaises(KeyError):
                context.tune("add", shapes=[1000], ignore_load=True,
                             progress=progress)

    def test_what_makes_no_sense(self):
        for kind, words in ((ValueError, {"effort": "great"}),
                            (ValueError, {"ops": []}),
                            (ValueError, {"budget_s": 10 ** 400}),
                            (takt.Error, {"experts": "magic"}),
                            (takt.Error, {"ops": "magic"}),
                            (ValueError, {"dtypes": "f16"}),
                            (ValueError, {"ops": "add", "shapes": [(1, 2)]}),
                            (TypeError, {"ops": [1]})):
            with self.assertRaises(kind):
                takt.tune(**words)


class Experts(unittest.TestCase):
    def setUp(self):
        self.context = takt.Context(db="", gpu="", exploration=-1)
        self.addCleanup(self.context.close)

    def use(self, op, run):
        """Adds the expert that runs all calls, as far as it can."""
        self.context.add_expert(op, run, name="mine", is_usual=True)

    def test_it_gets_the_operands(self):
        seen = []

        def add(a, b, *, out):
            seen.append((type(a), a.readonly, out.shape))
            for i in range(len(a)):
                out[i] = a[i] + b[i] + 100

        self.use("add", add)
        a, b = array("d", [1, 2]), array("d", [3, 4])
        self.assertEqual(self.context.add(a, b).tolist(), [104, 106])
        self.assertEqual(seen, [(memoryview, True, (2,))])

    def test_it_gets_factors_and_layouts(self):
        def matmul(a, b, *, alpha, beta, out):
            for i in range(out.shape[0]):
                for j in range(out.shape[1]):
                    out[i, j] = alpha * sum(
                        a[i, k] * b[k, j] for k in range(a.shape[1])) + \
                        beta * out[i, j]

        def pooling(a, *, window, stride, pad, mean, out):
            self.assertEqual((window, stride, pad, mean, out.shape),
                             (2, 1, 0, True, (1, 1, 1, 2)))
            out[0, 0, 0, 0] = out[0, 0, 0, 1] = 5

        def layernorm(a, gain, bias, *, epsilon, out):
            self.assertEqual((gain, bias.shape, epsilon), (None, (3,), 0.5))

        m = takt.reshape(array("f", [1, 2, 3, 4, 5, 6]), (2, 3))
        turned = takt.transpose(m)
        self.use("matmul", matmul)
        out = takt.reshape(array("f", [1, 1, 1, 1]), (2, 2))
        self.context.matmul(m, turned, alpha=2, beta=-1, out=out)
        self.assertEqual(out.tolist(), [[27, 63], [63, 153]])
        self.use("pooling", pooling)
        image = takt.reshape(m, (1, 1, 2, 3))
        self.assertEqual(self.context.pooling(
            image, 2, stride=1, mean=True).tolist(), [[[[5, 5]]]])
        self.use("layernorm", layernorm)
        self.context.layernorm(m, None, array("f", [1, 2, 3]), epsilon=0.5)

    def test_an_objective_is_taken_or_refused(self):
        for text in "p99", "time, p99 < 2 ms", "throughput":
            with takt.Context(db="", gpu="", objective=text) as context:
                self.assertEqual(context.sum(array("f", [1, 2])), 3)
        with self.assertRaisesRegex(ValueError, "'fast' is no measure"):
            takt.Context(db="", objective="fast")
        with self.assertRaisesRegex(ValueError, "p99 is the goal"):
            takt.Context(db="", objective="p99, p99 < 1 ms")

    def test_an_exception_is_raised_by_the_call(self):
        def fails(a, *, out):
            raise KeyError("of mine")

        for n in 2, 100_000:  # with Python's lock, and without
            with takt.Context(db="", exploration=-1) as self.context:
                self.use("exp", fails)
                with self.assertRaisesRegex(KeyError, "of mine"):
                    self.context.exp(array("d", bytes(8 * n)))

    def test_it_may_refuse(self):
        calls = []

        def refuses(a, *, out):
            calls.append(len(a))
            return NotImplemented

        self.use("exp", refuses)
        self.assertEqual(self.context.exp(array("d", [0])).tolist(), [1])
        self.assertEqual(calls, [1])

    def test_it_is_asked_beforehand(self):
        asked = []

        def can_run(shape, dtype):
            asked.append((shape, dtype))
            return False

        self.context.add_expert("exp", lambda a, *, out: 1 / 0, name="mine",
                                is_usual=True, can_run=can_run)
        self.assertEqual(self.context.exp(array("f", [0])).tolist(), [1])
        self.assertEqual(asked[0], ((1,), "f32"))

    def test_it_must_not_keep_operands(self):
        kept = []
        self.use("exp", lambda a, *, out: kept.append(a))
        with self.assertRaisesRegex(BufferError, "kept an operand"):
            self.context.exp(array("d", [0]))

    def test_it_must_not_keep_operands_when_it_raises(self):
        kept = []

        def raises(a, *, out, error):
            kept.append(memoryview(a))
            raise error

        for error in (ValueError("mine"), KeyboardInterrupt()):
            context = takt.Context(db="")
            context.add_expert("exp", lambda a, *, out: raises(
                a, out=out, error=error), name="mine", is_usual=True)
            is_error = isinstance(error, Exception)
            with self.assertRaises(
                    BufferError if is_error else KeyboardInterrupt) as raised:
                context.exp(array("d", [0]))
            if is_error:
                self.assertIs(raised.exception.__cause__, error)

    def test_an_op_of_ones_own(self):
        op = self.context.define_op("sort", complexity="High")
        op.add_expert(sorted, name="sorted")
        self.assertEqual(op([3, 1, 2], reverse=True), [3, 2, 1])
        self.assertEqual(op((2, 1), shape=(1, 2)), [1, 2])
        with self.assertRaises(TypeError):
            op([1, "a"])
        self.context.flush()
        self.assertEqual(self.context.select("sort", 3).expert, "user.sorted")
        with self.assertRaisesRegex(takt.Error, "name is taken|exist"):
            self.context.define_op("sort")
        lonely = self.context.define_op("lonely")
        with self.assertRaisesRegex(takt.Error, "no expert of op 'lonely'"):
            lonely([1])

    def test_names_that_make_no_sense(self):
        add = self.context.add_expert
        with self.assertRaises(TypeError):
            add("add", None)
        with self.assertRaisesRegex(takt.Error, "no op"):
            add("nothing", print)
        with self.assertRaisesRegex(ValueError, "takes no experts"):
            add("argmax", print)
        with self.assertRaisesRegex(ValueError, "not one of scalar, simd, gpu"):
            add("add", print, backend="magic")

    def test_a_context_that_its_expert_uses_is_collected(self):
        class Marker:
            pass

        def make():
            context, marker = takt.Context(db=""), Marker()
            context.add_expert("exp", lambda a, *, out: (context, marker),
                               name="round")
            return weakref.ref(marker)

        marker = make()
        gc.collect()
        self.assertIsNone(marker())

    def test_eight_threads_share_a_context(self):
        def double(a, *, alpha, out):
            for i in range(len(a)):
                out[i] = alpha * a[i]

        self.use("scale", double)
        wrong = []

        def work(factor):
            a = array("d", [1, 2, 3])
            for _ in range(100):
                if self.context.scale(a, factor).tolist() != \
                        [factor, 2 * factor, 3 * factor] or \
                        self.context.dot(a, a) != 14:
                    wrong.append(factor)

        threads = [threading.Thread(target=work, args=(float(i),))
                   for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_closing_waits_for_calls_inside(self):
        inside, go_on = threading.Event(), threading.Event()

        def wait(a, *, out):
            inside.set()
            go_on.wait(60)
            out[0] = 7

        self.use("exp", wait)
        results = []
        thread = threading.Thread(target=lambda: results.append(
            self.context.exp(array("d", [0])).tolist()))
        thread.start()
        inside.wait(60)
        self.context.close()
        with self.assertRaisesRegex(ValueError, "closed"):
            self.context.exp(array("d", [0]))
        go_on.set()
        thread.join(60)
        self.assertEqual(results, [[7]])


if __name__ == "__main__":
    unittest.main()
