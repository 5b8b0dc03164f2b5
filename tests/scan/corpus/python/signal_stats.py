# SPDX-License-Identifier: MIT
"""Statistics of measured signals.

Example:

    >>> import numpy as np
    >>> np.sum(np.ones(3))  #~!
    3.0
"""
import math
from functools import reduce
import operator
import statistics

import numpy as np
from numpy import dot as d, linalg as LA
from numpy.linalg import norm

SAMPLES = 4096
RATE: float = 48000.0


def energy(signal):
    """The sum of squares: np.sum(signal ** 2), see `signal.sum()`."""  #~!
    signal = np.asarray(signal, dtype=np.float64)
    return np.sum(signal ** 2)  #~ dot


def moments(signal):
    # np.mean(signal) would do for the first  #~!
    centre = np.mean(signal)  #~ mean
    spread = np.var(signal)  #~ variance
    top = np.max(signal)  #~ max
    low = np.amin(signal)  #~ min
    where = np.argmax(signal)  #~ argmax
    return centre, spread, top, low, where


def spectrum_peak(signal):
    window = np.hanning(SAMPLES)
    shaped = window * signal  #~ mul
    power = np.abs(np.fft.rfft(shaped))  #~ abs
    return power.argmax()  #~ argmax


def decibels(power):
    reference = 1.0
    return 10.0 * np.log(power / reference)  #~ log scale


def root_mean_square(signal):
    samples = np.array(signal)
    return math.sqrt(samples.dot(samples) / len(samples))  #~ dot


def correlation(a, b):
    return d(a, b) / (norm(a) * LA.norm(b))  #~ matmul norm2 norm2


def projection(a: np.ndarray, b: np.ndarray):
    return a @ b  #~ matmul


def inner():
    a = np.ones(1000)
    b = np.arange(1000)
    return a @ b  #~ dot


def apply(weights):
    grid = np.zeros((512, 512))
    point = np.linspace(0.0, 1.0, 512)
    return grid.dot(point)  #~ gemv


def total_plain(values):
    return sum(values)  #~ sum


def exact_total(values):
    return math.fsum(values)  #~ sum


def folded(values):
    return reduce(operator.add, values, 0.0)  #~ sum


def folded_lambda(values):
    return reduce(lambda a, b: a + b, values)  #~ sum


def largest(values):
    return reduce(max, values)  #~ max


def average(values):
    return sum(values) / len(values)  #~ mean


def average_library(values):
    return statistics.fmean(values)  #~ mean


def joined(parts):
    return reduce(lambda a, b: a + b, parts, "")  #~!


def product(values):
    return reduce(operator.mul, values)  #~!


def message(values):
    count = len(values)
    return f"np.sum of {count} values is {np.sum(values)}"  #~ sum


def banner():
    return f"np.sum(x) and a @ b are not computed here"  #~!


def normalised(values: np.ndarray, axis: int = -1):
    length = np.linalg.norm(values, axis=axis, keepdims=True)  #~ norm2
    return values / length  #~ div


def quantised(values):
    clipped = np.clip(values, -1.0, 1.0)  #~ clamp
    scaled = clipped * 32767  #~ scale
    return scaled.astype(np.int16)


def mixed(left, right, gain: float):
    left = np.asarray(left)
    right = np.asarray(right)
    left += gain * right  #~ axpy
    return left


def combined(gain: float):
    x = np.random.rand(SAMPLES)
    y = np.random.rand(SAMPLES)
    return gain * x + y  #~ axpy


def geometry():
    # scalars, not arrays
    diagonal = np.sqrt(2.0)  #~!
    return np.exp(-0.5) * diagonal  #~!


def fan(inputs: int):
    return np.sqrt(2.0 / inputs)  #~!


def shapes(values):
    values = np.asarray(values)
    rows, columns = values.shape
    return rows * columns  #~!


def selected(values, index):
    values = np.asarray(values)
    return values[index] * 2 + 1  #~!


def reordered(values):
    return np.reshape(values, (-1, 2))  #~!


def duplicate(values):
    kept = np.copy(values)  #~ copy
    other = kept.copy()  #~ copy
    return other


def summed_products(a, b):
    a = np.asarray(a)
    b = np.asarray(b)
    return np.sum(a * b)  #~ dot


def manhattan(a, b):
    return np.sum(np.abs(np.subtract(a, b)))  #~ norm1 sub


def euclid(a):
    a = np.asarray(a)
    return np.sqrt(np.sum(a ** 2))  #~ norm2


def ufunc_reduce(values):
    return np.add.reduce(values)  #~ sum


def ufunc_outer(values):
    return np.multiply.outer(values, values)  #~!


def aliased(values):
    total = np.sum
    return total(values)  #~ sum


def rows_total():
    table = np.zeros((64, 128), dtype=np.float32)
    return table.sum(axis=1)  #~ sum


def turned(table):
    table = np.atleast_2d(table)
    return table.T  #~ transpose


def gram():
    table = np.random.randn(200, 50)
    return table.T @ table  #~ matmul


def flipped(values):
    values = np.array(values)
    return -values  #~ neg
