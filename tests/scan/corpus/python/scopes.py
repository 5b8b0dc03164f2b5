# SPDX-License-Identifier: MIT
"""Who is who: aliases, shadows, look-alikes."""
import numpy as np
import numpy as other_name
from numpy import sum as add_up, exp
from . import torch
from .numpy import dot

try:
    import torch.nn.functional as F
except ImportError:
    F = None

XP = np


def by_alias(x):
    return other_name.sum(x)  #~ sum


def by_function(x):
    return add_up(exp(x))  #~ sum exp


def by_assignment(x):
    return XP.mean(x)  #~ mean


def optional(x):
    if F is None:
        return None
    return F.gelu(x)  #~ gelu


def relative(a, b):
    return dot(a, b)  #~!


def relative_module(a, b):
    return torch.matmul(a, b)  #~!


def parameter(np, x):
    return np.sum(x)  #~!


def replaced(x):
    np = Recorder()
    return np.sum(x)  #~!


def loop_name(modules, x):
    for np in modules:
        np.sum(x)  #~!


def caught(x):
    try:
        return np.sum(x)  #~!
    except ValueError as np:
        return np.args


def local_import(x):
    import numpy
    return numpy.max(x)  #~ max


def local_shadow(x):
    from statistics_of_mine import exp
    return exp(x)  #~!


def inner_function(values):
    def sum(items):
        return items[0]

    return sum(values)  #~!


def in_lambda(values):
    key = lambda np: np.sum(values)  #~!
    return key


def in_comprehension(modules, x):
    return [np.sum(x) for np in modules]  #~!


def unknown(frame):
    frame.sum()  #~!
    frame.mean()  #~!
    frame.dot(frame)  #~!
    return frame.groupby("key").sum()  #~!


def names_alike(values):
    checksum(values)  #~!
    summary(values)  #~!
    values.summarize()  #~!
    dotted(values)  #~!
    maximize(values)  #~!
    np_sum(values)  #~!
    return my.np.sum(values)  #~!


def words(table):
    table["np.sum"] = "a @ b"  #~!
    matmul = table.get("matmul")  #~!
    return matmul


class Vector:
    """A vector whose sum() and dot() are its own."""  #~!

    def __init__(self, items):
        self.items = items
        self.values = np.asarray(items)

    def sum(self):
        return self.items  #~!

    def dot(self, other):
        return self.items, other.items  #~!

    def __matmul__(self, other):
        return self.dot(other)  #~!

    def total(self):
        return self.sum()  #~!

    def numeric_total(self):
        return self.values.sum()  #~ sum

    def doubled(self):
        return 2 * self.values  #~ scale

    def builtin(self, xs):
        return sum(xs)  #~ sum


@np.vectorize
def decorated(x):
    return x + 1  #~!


def vector_sum(xs):
    return Vector(xs).sum()  #~!


def rebound(x):
    x = np.asarray(x)
    x = Vector(x)
    return x.sum()  #~!


def was_list(x):
    values = [1, 2, 3]
    twice = values * 2  #~!
    more = values + [4]  #~!
    return twice, more


def was_text():
    name = "a" + "b"  #~!
    return name * 3  #~!


def numbers():
    width = 640
    height = 480
    area = width * height  #~!
    return area + 1  #~!


def not_called(run):
    return run(np.sum, key=np.dot)  #~!


def unreachable(x):
    if False:
        return np.sum(x)  #~!
    return None


def annotated(x: "np.sum", y: int = 3) -> "np.ndarray":  #~!
    return y


def later(x):
    result = x.total()  #~!
    x = np.ones(10)
    return result, x.sum()  #~ sum
