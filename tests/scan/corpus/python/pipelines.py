# SPDX-License-Identifier: MIT
"""Code as it grows: branches, classes, chains, odd formatting."""
import logging
import os
import numpy as np, sys
import numpy.random as npr
import torch as th
from torch import nn, matmul as mm
from collections import Counter
from typing import Optional, List
import numpy.typing as npt

log = logging.getLogger(__name__)
EPS = 1e-8


def branches(x, kind):
    if kind == "sum":
        return np.sum(x, axis=0)  #~ sum
    elif kind == "max":
        return np.max(x, axis=0, keepdims=True)  #~ max
    raise ValueError("np.mean(x) is not known")  #~!


def multi_line(a, b):
    return np.matmul(  #~ matmul
        a,
        b,
    )


def walrus(x):
    if (total := np.sum(x)) > 0:  #~ sum
        return total
    return 0


def keywords(model, x):
    return model(x, reduce="sum", op=np.sum, mode="dot")  #~!


def conditional(x, flip):
    return np.exp(-x) if flip else np.exp(x)  #~ exp exp


def comprehension_of_calls(rows):
    return [np.mean(row) for row in rows]  #~ mean


def lambda_call(rows):
    return sorted(rows, key=lambda r: np.linalg.norm(r))  #~ norm2


def optional(x: Optional[np.ndarray], w: npt.NDArray[np.float64]):
    return x @ w  #~ matmul


def optional_method(x: Optional[np.ndarray] = None):
    return x.mean()  #~ mean


def lists_of(xs: List[np.ndarray]):
    return xs.sum()  #~!


def counter(words):
    c = Counter(words)
    return sum(c.values())  #~!


def assert_line(x):
    assert np.sum(x) == 1, "np.sum(x) must be 1"  #~ sum


def logged(x):
    log.info("max %s", np.max(x))  #~ max


def logged_text(x):
    log.info("np.max(x)")  #~!


def path_join(base, parts):
    return os.path.join(base, *[p + os.sep for p in parts])  #~!


def decorated():
    @np.vectorize
    def inner(v):
        return v * 2  #~!

    return inner


def closures(n: int):
    weights = np.random.rand(n, n)

    def apply(x):
        return weights @ x  #~ matmul

    return apply


def rebinding(x):
    y = np.asarray(x)
    y = y.tolist()
    return y * 2  #~!


def deleted(x):
    y = np.asarray(x)
    z = y.shape[0] * 2  #~!
    return z + len(y)  #~!


class Layer:
    scale = 2.0

    def __init__(self, n):
        self.w = npr.randn(n, n)
        self.b = np.zeros(n)
        self.name = "layer" + str(n)  #~!
        self.steps = 0

    def __call__(self, x):
        return x @ self.w + self.b  #~ matmul add

    def update(self, grad, rate=0.01):
        self.w -= rate * grad  #~ sub
        self.steps += 1  #~!

    def label(self):
        return self.name * 2  #~!

    def norm(self):
        return np.sqrt((self.w ** 2).sum())  #~ norm2

    @property
    def total(self):
        return self.b.sum()  #~ sum

    @staticmethod
    def sum(items):
        return len(items)  #~!


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.seq = nn.Sequential(
            nn.Conv2d(3, 8, 3),  #~ conv2d
            nn.ReLU(),  #~ relu
            nn.MaxPool2d(2),  #~ pooling
            nn.Linear(128, 10),  #~!
        )

    def forward(self, x):
        return self.seq(x)  #~!


def aliased_function(a, b):
    return mm(a, b)  #~ matmul


def in_place(x: th.Tensor, y: th.Tensor):
    x.add_(y)  #~ add
    x.mul_(2.0)  #~ mul
    return x.relu_()  #~ relu


def chained_methods(x):
    return th.tensor(x).float().softmax(dim=-1)  #~ softmax


def device(x: th.Tensor):
    return x.to("cuda").cpu().numpy()  #~!


def sliced(x: np.ndarray):
    return x[1:] - x[:-1]  #~ sub


def masked(x: np.ndarray):
    return x[x > 0].sum()  #~ sum


def compared(x: np.ndarray):
    return (x > 0).sum()  #~!


def tuples():
    a, b = np.ones(3), np.zeros(3)
    return a * b  #~ mul


def swapped(a, b):
    a, b = b, a  #~!
    return a


def string_format(x):
    return "%d" % sum([1, 2]) + "np.dot(a, b)"  #~!


async def awaited(queue):
    x = await queue.get()
    return x.sum()  #~!


def generator(xs):
    for x in xs:
        yield np.dot(x, x)  #~ dot


def tries(x):
    try:
        import cupy as xp
    except ImportError:
        import numpy as xp
    return xp.sum(x)  #~ sum


def other_library(x):
    import tensorflow as tf
    return tf.reduce_sum(x)  #~ sum


def mine(x):
    import numpy_helpers as np
    return np.sum(x)  #~!


def whiles(a):
    i, s = 0, 0.0
    while i < len(a):
        s += a[i]  #~!
        i += 1
    return s


def early(a):
    s = 0.0
    for x in a:  #~!
        if x < 0:
            break
        s += x
    return s


def distances(points, centre):
    out = []
    for p in points:
        out.append(np.linalg.norm(p - centre))  #~ norm2
    return out


def nested_sum(rows):
    s = 0.0
    for i in range(len(rows)):  #~ sum
        for j in range(len(rows[i])):
            s += rows[i][j]
    return s


def bills(items):
    total = 0.0
    for item in items:  #~!
        total += item.price * item.quantity
    return total


def words(text):
    return max(text.split(), key=len)  #~!


def money(prices, taxes):
    return sum(p * (1 + t) for p, t in zip(prices, taxes))  #~ dot


def gauss(x, mu: float, sigma: float):
    x = np.asarray(x)
    return np.exp(-((x - mu) ** 2) / (2 * sigma ** 2))  #~ exp scale


def cosine(a: np.ndarray, b: np.ndarray):
    return a.dot(b) / (np.linalg.norm(a) * np.linalg.norm(b) + EPS)  #~ matmul norm2 norm2


def standard(x: np.ndarray):
    return (x - x.mean(axis=0)) / x.std(axis=0)  #~ layernorm


def batched_einsum(a, b):
    return np.einsum("bij,bjk->bik", a, b)  #~ batched_matmul


def booleans(flags):
    return sum(flag is True for flag in flags)  #~!


def counted(x, limit):
    return np.sum(x > limit)  #~!


def corner(x: np.ndarray):
    return x.T[0, 0]  #~!


def one_element(a, x):
    a[3] /= np.exp(4 * x)  #~ exp
    return a


def quadratic(z, d, radius):
    a = np.dot(d, d)  #~ dot
    b = 2 * np.dot(z, d)  #~ matmul
    return b * b - 4 * a * radius  #~!


def shapes_of(x, y):
    return [i + j - 1 for i, j in zip(x.shape, y.shape)]  #~!


def next_positions(positions):
    return [p + 1 for p in positions]  #~!


def cumulative(values):
    out = [0.0]
    for i in range(len(values)):  #~!
        out.append(out[i] + values[i])
    return out


def power(A):
    return np.dot(A, A)  #~ matmul


def pairwise(x: th.Tensor, y: th.Tensor):
    return th.max(x, y)  #~!


class Operator:
    def __init__(self, apply):
        self.apply = apply

    def __matmul__(self, x):
        return self.apply(x)  #~!

    def power(self, n):
        return self if n == 1 else self @ self.power(n - 1)  #~!


if __name__ == "__main__":
    print(np.sum(np.arange(10)))  #~ sum
