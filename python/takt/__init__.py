# SPDX-License-Identifier: MIT
"""Takt runs each numeric operation where it finishes first.

Operands are anything that has the buffer protocol (arrays of NumPy's, array.array,
memoryview) or that __dlpack__ hands out in host memory (PyTorch on the CPU), of
f32 or f64. A result goes to `out`, or into a new array: of NumPy's if that is
imported, else a memoryview. Reductions return a number.

>>> from array import array
>>> import takt
>>> x, y = array("d", [1, 2, 3]), array("d", [4, 5, 6])
>>> takt.add(x, y).tolist()
[5.0, 7.0, 9.0]
>>> takt.add(x, y, out=y) is y
True

The examples of the functions use x and y, and in f32

>>> f = array("f", [1, 2, 3])
>>> m = takt.reshape(array("f", [1, 2, 3, 4, 5, 6]), (2, 3))

Where a call would run, and why:

>>> takt.select("matmul", (256, 256, 256)).expert   # doctest: +SKIP
'simd.avx512x2'

What is called here runs in the default context, which learns from every call. A
context of one's own has its own policy, threads and memory, and the same
functions:

>>> with takt.Context(threads=1, db="") as context:
...     context.dot(x, x)
14.0

Arguments that make no sense raise TypeError or ValueError, and nothing is
touched. Whatever else fails raises takt.Error.
"""
import functools
import inspect

from takt import _takt, numpy
from takt._context import (Context, Decision, Estimate, HistoryRow, Machine,
                           Op, OpInfo, Place, Progress, Recommendation,
                           TuneResult, ops)
from takt._takt import Error, __version__


def _of_default(method):
    """A method of contexts as a function, of the default context."""
    @functools.wraps(method)
    def function(*args, **words):
        return method(_takt, *args, **words)
    signature = inspect.signature(method)
    function.__signature__ = signature.replace(
        parameters=list(signature.parameters.values())[1:])
    function.__qualname__, function.__module__ = method.__name__, "takt"
    del function.__wrapped__
    return function


for _shown in (Context, Decision, Estimate, HistoryRow, Machine, Op, OpInfo,
               Place, Progress, Recommendation, TuneResult, ops):
    _shown.__module__ = "takt"
_QUESTIONS = ("select", "explain", "map", "tune", "history", "forget", "flush",
              "machine", "recommend")
_FUNCTIONS = [row.name for row in ops() if hasattr(_takt, row.name)]
globals().update({name: getattr(_takt, name) for name in _FUNCTIONS})
globals().update({name: _of_default(getattr(Context, name))
                  for name in _QUESTIONS})

__all__ = ["Context", "Decision", "Error", "Estimate", "HistoryRow", "Machine",
           "Op", "OpInfo", "Place", "Progress", "Recommendation", "TuneResult",
           "ops", *_QUESTIONS, *_FUNCTIONS]
