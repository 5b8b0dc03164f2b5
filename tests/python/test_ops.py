#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every function of takt, on arrays of Python's own: nothing here needs NumPy,
and results are memoryviews.

usage: test_ops.py (PYTHONPATH has the package)
"""
import ast
import ctypes
import doctest
import inspect
import math
import pathlib
import sys
import unittest
from array import array

import takt

TOLERANCE = {"f": 1e-5, "d": 1e-12}
UNARY = {
    "abs": abs, "neg": lambda v: -v, "sqrt": math.sqrt, "exp": math.exp,
    "exp2": lambda v: 2 ** v, "expm1": math.expm1, "log": math.log,
    "log2": math.log2, "log1p": math.log1p, "sin": math.sin, "cos": math.cos,
    "sigmoid": lambda v: 1 / (1 + math.exp(-v)), "tanh": math.tanh,
    "relu": lambda v: max(v, 0),
    "gelu": lambda v: v * (1 + math.erf(v / math.sqrt(2))) / 2,
    "copy": lambda v: v}
BINARY = {"add": lambda a, b: a + b, "sub": lambda a, b: a - b,
          "mul": lambda a, b: a * b, "div": lambda a, b: a / b}
REDUCTIONS = {
    "sum": math.fsum, "mean": lambda v: math.fsum(v) / len(v), "max": max,
    "min": min, "norm1": math.fsum, "norm2": lambda v: math.hypot(*v),
    "variance": lambda v: math.fsum((x - math.fsum(v) / len(v)) ** 2
                                    for x in v) / len(v)}


def values(letter, n, first=0.25):
    return array(letter, [first + (i * 7 % 11) / 4 for i in range(n)])


def matrix(letter, rows, cols, first=0.25):
    return takt.reshape(values(letter, rows * cols, first), (rows, cols))


def flat(nested):
    return [v for row in nested for v in flat(row)] \
        if isinstance(nested, list) else [nested]


class Case(unittest.TestCase):
    def close(self, got, want, letter):
        got, want = flat(getattr(got, "tolist", lambda: got)()), flat(want)
        self.assertEqual(len(got), len(want))
        for g, w in zip(got, want):
            self.assertLessEqual(abs(g - w), TOLERANCE[letter] * (1 + abs(w)),
                                 (got, want))

    def refuses(self, kind, pattern, function, *args, **words):
        with self.assertRaisesRegex(kind, pattern):
            function(*args, **words)


class Functions(Case):
    def test_every_op_of_the_catalogue_has_a_function(self):
        for name in [row.name for row in takt.ops()]:
            self.assertIn(name, takt.__all__)
            self.assertTrue(callable(getattr(takt.Context, name)), name)

    def test_unary_maps(self):
        for letter in "fd":
            for n in 1, 7, 5000:
                a = values(letter, n)
                for name, reference in UNARY.items():
                    with self.subTest(name=name, letter=letter, n=n):
                        self.close(getattr(takt, name)(a),
                                   [reference(v) for v in a], letter)

    def test_maps_of_several_operands(self):
        for letter in "fd":
            a, b = values(letter, 9), values(letter, 9, 1)
            for name, reference in BINARY.items():
                self.close(getattr(takt, name)(a, b),
                           [reference(*pair) for pair in zip(a, b)], letter)
            self.close(takt.fma(a, b, a), [x * y + x for x, y in zip(a, b)],
                       letter)
            self.close(takt.scale(a, 0), [0] * 9, letter)
            self.close(takt.scale(a, -2.5), [-2.5 * v for v in a], letter)
            self.close(takt.clamp(a, 1, 2), [min(max(v, 1), 2) for v in a],
                       letter)

    def test_axpy_changes_y_and_returns_it(self):
        for letter in "fd":
            x, y = values(letter, 9), values(letter, 9, 1)
            want = [3 * a + b for a, b in zip(x, y)]
            self.assertIs(takt.axpy(x, y, 3), y)
            self.close(y, want, letter)

    def test_reductions_return_numbers(self):
        for letter in "fd":
            for n in 1, 7, 5000:
                a = values(letter, n)
                for name, reference in REDUCTIONS.items():
                    got = getattr(takt, name)(a)
                    self.assertIs(type(got), float)
                    self.close([got], [reference(list(a))], letter)
            self.close([takt.dot(a, a)], [math.fsum(v * v for v in a)], letter)
            self.assertEqual(takt.argmax(a), list(a).index(max(a)))
            self.assertEqual(takt.argmin(a), list(a).index(min(a)))

    def test_rows_and_columns(self):
        for letter in "fd":
            m = matrix(letter, 3, 4)
            rows, b = m.tolist(), values(letter, 4, 2)
            columns = [list(c) for c in zip(*rows)]
            for name, reference in ("sum", math.fsum), ("max", max), \
                    ("mean", lambda v: math.fsum(v) / len(v)):
                self.close(getattr(takt, "row_" + name)(m),
                           [reference(r) for r in rows], letter)
                self.close(getattr(takt, "col_" + name)(m),
                           [reference(c) for c in columns], letter)
            self.close(takt.bias_add(m, b),
                       [[v + w for v, w in zip(r, b)] for r in rows], letter)
            self.close(takt.bias_mul(m, b),
                       [[v * w for v, w in zip(r, b)] for r in rows], letter)
            self.close(takt.transpose(m), columns, letter)

    def test_softmax_and_layernorm(self):
        m = matrix("f", 3, 4)
        gain, bias = values("f", 4, 1), values("f", 4, -1)
        soft, norm = [], []
        for row in m.tolist():
            powers = [math.exp(v) for v in row]
            soft.append([p / sum(powers) for p in powers])
            mean = sum(row) / 4
            root = math.sqrt(sum((v - mean) ** 2 for v in row) / 4 + 0.5)
            norm.append([(v - mean) / root * g + b
                         for v, g, b in zip(row, gain, bias)])
        self.close(takt.softmax(m), soft, "f")
        self.close(takt.layernorm(m, gain, bias, epsilon=0.5), norm, "f")

    def test_products(self):
        for letter in "fd":
            a, b, x = matrix(letter, 3, 4), matrix(letter, 4, 5, 1), \
                values(letter, 4)
            columns = list(zip(*b.tolist()))
            product = [[sum(p * q for p, q in zip(r, c)) for c in columns]
                       for r in a.tolist()]
            self.close(takt.matmul(a, b), product, letter)
            self.close(takt.gemv(a, x), [sum(p * q for p, q in zip(r, x))
                                         for r in a.tolist()], letter)
            out = matrix(letter, 3, 5)
            want = [[2 * p - o for p, o in zip(*rows)]
                    for rows in zip(product, out.tolist())]
            self.assertIs(takt.matmul(a, b, alpha=2, beta=-1, out=out), out)
            self.close(out, want, letter)
            self.close(takt.batched_matmul(
                takt.reshape(a, (1, 3, 4)), takt.reshape(b, (1, 4, 5))),
                [product], letter)

    def test_linear_algebra(self):
        for letter in "fd":
            a = takt.reshape(array(letter, [4, 99, 2, 5]), (2, 2))
            self.close(takt.cholesky(a), [[2, 0], [1, 2]], letter)
            s = takt.reshape(array(letter, [0, 2, 4, 2]), (2, 2))
            self.close(takt.solve(s, array(letter, [6, 10])), [1, 3], letter)
            b = takt.reshape(array(letter, [6, 2, 10, 6]), (2, 2))
            out = matrix(letter, 2, 2)
            self.assertIs(takt.solve(s, b, out=out), out)
            self.close(out, [[1, 1], [3, 1]], letter)
            zero = takt.reshape(array(letter, [0] * 4), (2, 2))
            for call, status in ((lambda: takt.cholesky(zero), 13),
                                 (lambda: takt.solve(zero, b), 12)):
                with self.assertRaises(takt.Error) as raised:
                    call()
                self.assertEqual(raised.exception.status, status)
            line = takt.reshape(array(letter, [1, 0, 1, 1, 1, 2]), (3, 2))
            self.close(takt.lstsq(line, array(letter, [1, 3, 5])), [1, 2],
                       letter)
            q, r = takt.qr(line)
            self.close(takt.matmul(q, r), line.tolist(), letter)
            self.close(takt.matmul(takt.transpose(q), q), [[1, 0], [0, 1]],
                       letter)
            self.assertEqual(r.tolist()[1][0], 0)
            both = takt.reshape(array(letter, [1, 2, 3, 2, 5, 2]), (3, 2))
            self.close(takt.lstsq(line, both), [[1, 2], [2, 0]], letter)
            with self.assertRaises(ValueError):
                takt.lstsq(takt.transpose(line), array(letter, [1, 3]))
            with self.assertRaisesRegex(ValueError, "not square"):
                takt.cholesky(matrix(letter, 2, 3))
            with self.assertRaisesRegex(ValueError, "rows"):
                takt.solve(s, matrix(letter, 3, 2))

    def test_layers(self):
        image = takt.reshape(values("f", 18), (1, 2, 3, 3))
        pixels = image.tolist()[0]
        filters = takt.reshape(array("f", [1, 2]), (1, 2, 1, 1))
        self.close(takt.conv2d(image, filters, array("f", [10])),
                   [[[[p + 2 * q + 10 for p, q in zip(*rows)]
                      for rows in zip(*pixels)]]], "f")
        self.assertEqual(takt.conv2d(image, filters, stride=2).shape,
                         (1, 1, 2, 2))
        grouped = takt.reshape(array("f", [1, 2]), (2, 1, 1, 1))
        self.close(takt.conv2d(image, grouped, groups=2, pad=0),
                   [pixels[0], [[2 * v for v in row] for row in pixels[1]]],
                   "f")
        whole = [flat(plane) for plane in pixels]
        self.close(takt.pooling(image, 3), [max(p) for p in whole], "f")
        self.close(takt.pooling(image, 3, mean=True),
                   [sum(p) / 9 for p in whole], "f")
        one = takt.reshape(values("f", 4), (1, 1, 2, 2))
        mask = takt.reshape(array("f", [0, -1e30, 0, -1e30]), (2, 2))
        first = one.tolist()[0][0][0]
        self.close(takt.attention(one, one, one, mask), [first, first], "f")
        causal = takt.attention(one, one, one, causal=True).tolist()[0][0]
        self.close(causal[0], first, "f")

    def test_results_without_numpy_are_memoryviews(self):
        self.assertNotIn("numpy", sys.modules)
        result = takt.transpose(matrix("f", 2, 3))
        self.assertIs(type(result), memoryview)
        self.assertEqual((result.shape, result.format), ((3, 2), "f"))
        self.assertEqual(takt.add(result, result).tolist()[0][0], 0.5)

    def test_reshape_shares_memory_and_keeps_it(self):
        a = array("d", range(6))
        m = takt.reshape(a, (2, 3))
        m[1, 2] = 7
        self.assertEqual(a[5], 7)
        with self.assertRaises(BufferError):  # it would move
            a.append(1)
        fixed = memoryview(bytes(8)).cast("f")
        self.assertTrue(takt.reshape(fixed, (2, 1)).readonly)
        del m
        a.append(1)

    def test_nothing_is_computed_of_nothing(self):
        empty = array("d")
        self.assertEqual(takt.add(empty, empty).tolist(), [])
        self.assertEqual(takt.sum(empty), 0)
        self.refuses(ValueError, "max", takt.max, empty)

    def test_out_may_be_an_operand_of_maps(self):
        a = array("d", [1, 2])
        self.assertIs(takt.add(a, a, out=a), a)
        self.assertEqual(list(a), [2, 4])

    def test_a_context_has_the_same_functions(self):
        a = values("d", 9)
        with takt.Context(expert="scalar", db="") as context:
            for name, reference in UNARY.items():
                self.close(getattr(context, name)(a),
                           [reference(v) for v in a], "d")


class Refusals(Case):
    """Nothing is touched, and the message says what is wrong."""

    def test_types(self):
        f, d = array("f", [1, 2]), array("d", [1, 2])
        cases = [
            ("add: b is f64, and a is f32", takt.add, (f, d), {}),
            ("add: out is f32, and a is f64", takt.add, (d, d), {"out": f}),
            ("format 'i'", takt.exp, (array("i", [1]),), {}),
            ("format 'B'", takt.exp, (b"1234",), {}),
            ("neither the buffer protocol nor __dlpack__", takt.exp,
             ([1.0],), {}),
            ("softmax: there is no code for f64", takt.softmax, (d,), {}),
            ("alpha is 'x', not a number", takt.scale, (d, "x"), {}),
            ("add needs 'b'", takt.add, (d,), {}),
            ("takes 2 arguments without a name, not 3", takt.add,
             (d, d, d), {}),
            ("has no parameter 'into'", takt.add, (d, d), {"into": d}),
            ("'a' is given twice", takt.exp, (d,), {"a": d}),
        ]
        for pattern, function, args, words in cases:
            self.refuses(TypeError, pattern, function, *args, **words)
        self.assertEqual((list(f), list(d)), ([1, 2], [1, 2]))

    def test_shapes(self):
        m = matrix("f", 2, 3)
        v = array("f", [1, 2])
        cases = [
            (r"b has shape \(2, 3\), not \(2,\)", takt.add, (v, m), {}),
            (r"out has shape \(2,\), not \(2, 3\)", takt.exp, (m,),
             {"out": v}),
            ("a has 3 columns, and b 2 rows", takt.matmul, (m, m), {}),
            ("b has 1 dimensions, not 2", takt.matmul, (m, v), {}),
            ("beta needs an out", takt.matmul, (m, takt.transpose(m)),
             {"beta": 1}),
            (r"6 elements do not have the shape \(4,\)", takt.reshape,
             (m, 4), {}),
            ("a size is -1", takt.reshape, (m, (-1, 2)), {}),
            ("stride is -1, not a size", takt.pooling, (m, 2),
             {"stride": -1}),
            ("stride is 0", takt.conv2d,
             [takt.reshape(m, (1, 1, 2, 3))] * 2, {"stride": 0}),
            ("a has 1 dimensions, not 2 or more", takt.row_sum, (v,), {}),
            ("clamp: invalid argument", takt.clamp, (v, 2, 1), {}),
            ("gaps", takt.exp, (memoryview(array("f", range(6)))[::2],), {}),
        ]
        before = m.tolist()
        for pattern, function, args, words in cases:
            self.refuses(ValueError, pattern, function, *args, **words)
        self.assertEqual((m.tolist(), list(v)), (before, [1, 2]))

    def test_read_only_and_overlapping_outputs(self):
        data = array("f", range(10))
        m = takt.reshape(array("f", range(9)), (3, 3))
        fixed = memoryview(bytes(8)).cast("f")
        view = memoryview(data)
        self.refuses(ValueError, "out is read-only", takt.exp, fixed,
                     out=fixed)
        self.refuses(ValueError, "y is read-only", takt.axpy, fixed, fixed)
        self.refuses(ValueError, "out overlaps a, .* or the same array",
                     takt.exp, view[0:4], out=view[2:6])
        self.refuses(ValueError, "out overlaps b", takt.add, view[0:2],
                     view[2:4], out=view[3:5])
        self.refuses(ValueError, "out overlaps a, .*it$", takt.matmul, m, m,
                     out=m)
        self.assertEqual(list(data), list(range(10)))
        self.assertEqual(flat(m.tolist()), list(range(9)))

    def test_unaligned_elements(self):
        memory = (ctypes.c_char * 17)()
        odd = memoryview(memory)[1:].cast("B").cast("f")
        self.refuses(ValueError, "not aligned", takt.exp, odd)


class Tensor:
    """What a tensor on a device says of itself, by the first DLPack."""

    class Dl(ctypes.Structure):
        _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32),
                    ("device_id", ctypes.c_int32), ("rank", ctypes.c_int32),
                    ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                    ("lanes", ctypes.c_uint16),
                    ("shape", ctypes.POINTER(ctypes.c_int64)),
                    ("strides", ctypes.POINTER(ctypes.c_int64)),
                    ("offset", ctypes.c_uint64), ("self", ctypes.c_void_p),
                    ("drop", ctypes.c_void_p)]

    def __init__(self, data, shape, device=1, bits=32, strides=None):
        self.memory, self.dropped = data, 0
        self.shape = (ctypes.c_int64 * len(shape))(*shape)
        self.drop = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(self.count)
        self.tensor = self.Dl(
            data.buffer_info()[0], device, 0, len(shape), 2, bits, 1,
            self.shape, strides and (ctypes.c_int64 * len(shape))(*strides), 0,
            None, ctypes.cast(self.drop, ctypes.c_void_p))

    def count(self, _):
        self.dropped += 1

    def __dlpack__(self, *, stream=None):
        make = ctypes.pythonapi.PyCapsule_New
        make.restype = ctypes.py_object
        make.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return make(ctypes.addressof(self.tensor), b"dltensor", None)


class Versioned(Tensor):
    """By a later DLPack, which says whether it may be written."""

    class Managed(ctypes.Structure):
        pass

    Managed._fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32),
                        ("self", ctypes.c_void_p), ("drop", ctypes.c_void_p),
                        ("flags", ctypes.c_uint64), ("tensor", Tensor.Dl)]

    def __init__(self, *args, flags=0, major=1):
        super().__init__(*args)
        self.managed = self.Managed(major, 0, None, self.tensor.drop, flags,
                                    self.tensor)

    def __dlpack__(self, *, stream=None, max_version=None):
        make = ctypes.pythonapi.PyCapsule_New
        make.restype = ctypes.py_object
        make.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return make(ctypes.addressof(self.managed), b"dltensor_versioned",
                    None)


class Tensors(Case):
    def test_tensors_of_a_later_version(self):
        data = array("f", range(6))
        a = Versioned(data, (2, 3))
        fixed = Versioned(data, (2, 3), flags=1)
        self.assertIs(takt.add(a, fixed, out=a), a)
        self.assertEqual(list(data), [0, 2, 4, 6, 8, 10])
        self.refuses(ValueError, "out is read-only", takt.exp, a, out=fixed)
        self.refuses(BufferError, "DLPack 2", takt.exp,
                     Versioned(data, (6,), major=2))
        self.assertEqual((a.dropped, fixed.dropped), (3, 2))

    def test_tensors_of_the_host(self):
        data = array("f", range(6))
        a = Tensor(data, (2, 3))
        turned = Tensor(data, (3, 2), strides=(1, 3))
        self.assertEqual(takt.row_sum(a).tolist(), [3, 12])
        self.assertEqual(takt.matmul(a, turned).tolist(), [[5, 14], [14, 50]])
        self.assertIs(takt.scale(a, 2, out=a), a)
        self.assertEqual(list(data), [0, 2, 4, 6, 8, 10])
        self.assertEqual((a.dropped, turned.dropped), (4, 1))

    def test_a_reshaped_tensor_is_kept_as_long_as_the_result(self):
        a = Tensor(array("f", range(6)), (6,))
        result = takt.reshape(a, (2, 3))
        self.assertEqual(a.dropped, 0)
        self.assertEqual(result.tolist(), [[0, 1, 2], [3, 4, 5]])
        del result
        self.assertEqual(a.dropped, 1)
        self.refuses(ValueError, "do not have the shape", takt.reshape, a,
                     (4,))
        self.assertEqual(a.dropped, 2)

    def test_what_asking_for_a_tensor_raises_is_raised(self):
        broken = type("", (), {"__dlpack__": property(lambda _: [][0])})()
        self.refuses(IndexError, "out of range", takt.exp, broken)

    def test_tensors_of_a_gpu_are_refused(self):
        data = array("f", range(6))
        self.refuses(ValueError, r"a is in the memory of CUDA device 0.*"
                     r"a\.cpu\(\)", takt.exp, Tensor(data, (6,), device=2))
        self.refuses(TypeError, "neither f32 nor f64", takt.exp,
                     Tensor(data, (6,), bits=16))

    def test_tensors_whose_sizes_make_no_sense_are_refused(self):
        data = array("f", range(6))
        for tensor in (Tensor(data, (-6,)), Tensor(data, (2, -3)),
                       Tensor(data, (2 ** 32, 2 ** 32)),
                       Tensor(data, (6,), strides=(2 ** 62,))):
            self.refuses(ValueError, "makes no sense", takt.exp, tensor)
        for rank in -1, 1000:
            tensor = Tensor(data, (6,))
            tensor.tensor.rank = rank
            self.refuses(ValueError, f"a has {rank} dimensions", takt.exp,
                         tensor)
        nowhere = Tensor(data, (6,))
        nowhere.tensor.data = None
        self.refuses(ValueError, "makes no sense", takt.exp, nowhere)


class Documents(Case):
    def test_examples(self):
        names = {"takt": takt, "array": array}
        runner = doctest.DocTestRunner(verbose=False)
        parser = doctest.DocTestParser()
        runner.run(parser.get_doctest(takt.__doc__, names, "takt", None, 0),
                   clear_globs=False)
        names = dict(runner.test.globs)
        names["y"] = array("d", [4, 5, 6])
        for name in takt.__all__:
            doc = getattr(takt, name).__doc__
            self.assertTrue(doc, name)
            runner.run(parser.get_doctest(doc, dict(names), name, None, 0))
        result = runner.summarize(verbose=False)
        self.assertEqual(result.failed, 0)
        self.assertGreater(result.attempted, 60)

    def test_the_guide(self):
        guide = pathlib.Path(__file__).parents[2] / \
            "docs/how-to/use-from-python.md"
        text = guide.read_text().replace("\n```", "\n\n")
        test = doctest.DocTestParser().get_doctest(text, {}, "guide", None, 0)
        result = doctest.DocTestRunner().run(test)
        self.assertEqual(result.failed, 0)
        self.assertGreater(result.attempted, 10)

    def test_every_function_has_an_example_and_a_signature(self):
        for name in [row.name for row in takt.ops()]:
            function = getattr(takt, name)
            self.assertIn(">>> takt.", function.__doc__)
            self.assertTrue(inspect.signature(function).parameters, name)

    def test_stubs_have_the_same_parameters(self):
        path = pathlib.Path(takt.__file__).with_suffix(".pyi")
        tree = ast.parse(path.read_text())
        stubs = {node.name: node for node in tree.body
                 if isinstance(node, ast.ClassDef)}["Context"]
        methods = {node.name: node.args for node in stubs.body
                   if isinstance(node, ast.FunctionDef)}
        aliases = {node.targets[0].id for node in tree.body
                   if isinstance(node, ast.Assign)}
        for name in takt.__all__:
            if inspect.isclass(getattr(takt, name)) or name == "ops":
                continue
            self.assertIn(name, aliases)
            args = methods[name]
            got = inspect.signature(getattr(takt, name)).parameters.values()
            positional = [a.arg for a in args.posonlyargs + args.args][1:]
            self.assertEqual([p.name for p in got
                              if p.kind != p.KEYWORD_ONLY], positional, name)
            self.assertEqual([p.name for p in got if p.kind == p.KEYWORD_ONLY],
                             [a.arg for a in args.kwonlyargs], name)


if __name__ == "__main__":
    unittest.main()
