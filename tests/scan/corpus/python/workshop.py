# SPDX-License-Identifier: MIT
"""Tools of a small workshop: fits, filters, clusters and a little network.

The classic way is ``np.dot(x, w)``; see also ``sum(x * y)``.
"""
from __future__ import annotations

import collections
import datetime as dt
import itertools
import math
import operator
import os
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Iterable, Optional, Sequence

import numpy
import numpy as np
import numpy.linalg as la
import torch
import torch.nn as nn
import torch.nn.functional as F
from numpy.typing import NDArray
from scipy import ndimage, signal

ROWS, COLS = 128, 64
LIMIT = 10 ** 6  #~!
BYTES = 4 * 1024 * 1024  #~!


# ---- fits -------------------------------------------------------------------

def normal_equations(design: np.ndarray, target: np.ndarray) -> np.ndarray:
    gram = design.T @ design  #~ matmul
    moment = design.T @ target  #~ matmul
    return la.solve(gram, moment)  #~ solve


def gradient_step(weights: np.ndarray, inputs: np.ndarray, target, rate=1e-3):
    error = np.subtract(np.matmul(inputs, weights), target)  #~ sub matmul
    slope = np.dot(inputs.T, error)  #~ matmul
    weights -= rate * slope  #~ axpy
    return weights, float(np.mean(error ** 2))  #~ mean


def residual_norm(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    return numpy.linalg.norm(a - b)  #~ norm2 sub


def manhattan(a, b):
    return sum(abs(x - y) for x, y in zip(a, b))  #~ norm1


def euclid(p: Sequence[float], q: Sequence[float]) -> float:
    return math.sqrt(sum((x - y) ** 2 for x, y in zip(p, q)))  #~ norm2


def weighted(values: list[float], weights: list[float]) -> float:
    total = 0.0
    for value, weight in zip(values, weights):  #~ dot
        total += value * weight
    return total / len(values)


def scatter(samples: list[float]) -> float:
    centre = sum(samples) / len(samples)  #~ mean
    return sum((s - centre) ** 2 for s in samples) / len(samples)  #~ variance


def running_peak(trace: list[float]) -> float:
    peak = trace[0]
    for value in trace:  #~ max
        if value > peak:
            peak = value
    return peak


def position_of_peak(trace):
    trace = np.asarray(trace)
    return int(trace.argmax()), trace.min()  #~ argmax min


# ---- plain products ---------------------------------------------------------

def by_hand(a, b):
    rows, inner, cols = len(a), len(b), len(b[0])
    out = [[0.0] * cols for _ in range(rows)]
    for i in range(rows):  #~ matmul
        for j in range(cols):
            acc = 0.0
            for k in range(inner):
                acc += a[i][k] * b[k][j]
            out[i][j] = acc
    return out


def apply(matrix, vector):
    return [sum(m * v for m, v in zip(row, vector)) for row in matrix]  #~ gemv


def flip(grid):
    return [list(column) for column in zip(*grid)]  #~ transpose


def blend(a, b, share):
    out = [0.0] * len(a)
    for i in range(len(a)):  #~ add
        out[i] = a[i] + b[i]
    for i in range(len(a)):  #~ scale
        out[i] = share * out[i]
    return out


def rectify(values):
    return [max(0.0, v) for v in values]  #~ relu


def roots(values):
    return [math.sqrt(v) for v in values]  #~ sqrt


def squash(values):
    return [1.0 / (1.0 + math.exp(-v)) for v in values]  #~ sigmoid


# ---- images -----------------------------------------------------------------

KERNEL = np.array([[1.0, 2.0, 1.0], [2.0, 4.0, 2.0], [1.0, 2.0, 1.0]])


def smooth(image):
    once = ndimage.convolve(image, KERNEL)  #~ conv2d
    return signal.convolve2d(once, KERNEL, mode="same")  #~ conv2d


def stretch(image: np.ndarray) -> np.ndarray:
    low, high = image.min(), image.max()  #~ min max
    return np.clip((image - low) / (high - low), 0.0, 1.0)  #~ clamp scale


def gamma(image: np.ndarray):
    return np.exp(np.log(image) * 0.45)  #~ exp log scale


def edges(image: np.ndarray):
    horizontal = np.abs(image[:, 1:] - image[:, :-1])  #~ abs sub
    vertical = np.abs(image[1:, :] - image[:-1, :])  #~ abs sub
    return horizontal.sum() + vertical.sum()  #~ sum sum


def mirror(image: np.ndarray):
    return np.transpose(image).copy()  #~ transpose copy


# ---- clusters ---------------------------------------------------------------

def assign(points: np.ndarray, centres: np.ndarray):
    distances = la.norm(points[:, None] - centres[None], axis=2)  #~ norm2 sub
    return np.argmin(distances, axis=1)  #~ argmin


def centre_of(points: np.ndarray, labels, which):
    members = points[labels == which]
    return members.mean(axis=0)  #~ mean


def spread(points):
    points = np.asarray(points, dtype=np.float32)
    return points.var(axis=0).max()  #~ variance max


def whiten(points: np.ndarray):
    points = points - points.mean(axis=0)
    scale = np.sqrt(np.var(points, axis=0))
    return points / scale  #~ layernorm


# ---- a little network -------------------------------------------------------

class Head(nn.Module):
    def __init__(self, width: int, classes: int):
        super().__init__()
        self.out = nn.Linear(width, classes)  #~!
        self.norm = nn.LayerNorm(width)  #~ layernorm
        self.act = nn.GELU()  #~ gelu

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.relu(x)  #~ relu
        x = torch.tanh(x)  #~ tanh
        return F.softmax(x, dim=-1)  #~ softmax


def attend(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor):
    return F.scaled_dot_product_attention(q, k, v)  #~ attention


def pooled(x: torch.Tensor, filters: torch.Tensor):
    y = F.conv2d(x, filters)  #~ conv2d
    y = F.max_pool2d(y, 2)  #~ pooling
    return torch.sigmoid(y)  #~ sigmoid


def unseen(x):
    filters = torch.zeros(16, 3, 5, 5)
    return F.conv2d(x, filters)  #~ conv2d 0x3x0x0x16x5x5 f32


def batches(a: torch.Tensor, b: torch.Tensor):
    first = torch.bmm(a, b)  #~ batched_matmul
    return first.sum(), torch.norm(first)  #~ sum norm2


def update(w: torch.Tensor, g: torch.Tensor, rate: float):
    with torch.no_grad():
        w.sub_(g)  #~ sub
        w.mul_(rate)  #~ mul
    return w


# ---- and what only looks like it --------------------------------------------

@dataclass
class Line:
    """One line of an order; its total is price * count."""  #~!
    price: Decimal
    count: int
    tags: list[str] = field(default_factory=list)

    def total(self) -> Decimal:
        return self.price * self.count  #~!


class Ledger:
    def __init__(self, lines: list[Line]):
        self.lines = lines

    def sum(self) -> Decimal:
        return sum((line.total() for line in self.lines), Decimal(0))  #~!

    def max(self):
        return max(self.lines, key=lambda line: line.price)  #~!

    def dot(self, other: "Ledger") -> str:
        return f"{self!r} -> {other!r}"  #~!


def ledger_report(ledger: Ledger, other: Ledger):
    print(ledger.sum(), ledger.max())  #~!
    return ledger.dot(other)  #~!


def count_words(text: str) -> Counter:
    words = Counter(text.split())
    print(sum(words.values()))  #~!
    print(sum(1 for word in words if word))  #~!
    print(max(len(word) for word in words))  #~!
    return words + Counter(["more"])  #~!


def sizes(paths: Iterable[Path]) -> int:
    total = 0
    for path in paths:  #~!
        total += path.stat().st_size
    return total


def joined(root: Path, names: list[str]) -> list[Path]:
    return [root / name for name in names]  #~!


def shout(names: list[str]) -> list[str]:
    return [name + "!" for name in names]  #~!


def stars(counts: list[int]) -> list[str]:
    return ["*" * count for count in counts]  #~!


def flatten(parts: list[list[str]]) -> list[str]:
    return sum(parts, [])  #~!


def chain(parts: list[list[str]]) -> list[str]:
    out: list[str] = []
    for part in parts:  #~!
        out += part
    return out


def waited(stops: list[tuple[dt.datetime, dt.datetime]]) -> dt.timedelta:
    total = dt.timedelta()
    for start, end in stops:  #~!
        total += end - start
    return total


def shares(parts: list[Fraction]) -> Fraction:
    return math.prod(parts, start=Fraction(1))  #~!


def newest(files: list[str]) -> str:
    return max(files, key=os.path.getmtime)  #~!


def bounds(boxes) -> tuple:
    return min(box.left for box in boxes), max(box.right for box in boxes)  #~!


def fold(values: list[str]) -> str:
    import functools
    return functools.reduce(lambda a, b: a + "," + b, values)  #~!


def flags(values: list[int]) -> int:
    bits = 0
    for value in values:  #~!
        bits |= 1 << value
    return bits


def checksum(block: bytes) -> int:
    state = 0
    for byte in block:  #~!
        state = (state * 31 + byte) % 65521
    return state


def fibonacci(n: int) -> int:
    a, b = 0, 1
    for _ in range(n):  #~!
        a, b = b, a + b
    return a


def triangle(n: int) -> int:
    return sum(range(n))  #~!


def is_large(n: int) -> bool:
    return math.sqrt(n) > 100 and abs(n) > 5  #~!


def step_size(total: int, parts: int) -> float:
    return np.sqrt(total / parts) * 0.5  #~!


def side(area: float) -> float:
    return np.sqrt(2.0) * float(np.exp(1))  #~!


def level(index: int) -> float:
    return np.log(len(str(index))) + np.abs(-3)  #~!


def limits(count: int, values: np.ndarray):
    lower = np.maximum(count, 3) + np.clip(count, 0, 10)  #~!
    width = np.sqrt(values.shape[-1]) * np.add(count, 1)  #~!
    noise = np.sqrt(np.random.rand()) * np.power(2, count)  #~!
    return lower, width, noise, np.maximum(values, lower)


def ladder(steps: int):
    for i in range(steps):  #~!
        print(np.sqrt(i), np.exp(float(i)))  #~!


def table(grid: np.ndarray):
    rows, cols = grid.shape
    cells = rows * cols  #~!
    half = cells // 2  #~!
    return grid.reshape(cells), half  #~!


def picks(grid: np.ndarray, keys: dict[str, int]):
    first = grid[keys["a"] + 1, 2 * keys["b"]]  #~!
    names = {key: value + 1 for key, value in keys.items()}  #~!
    return first, names


def settings(env: dict[str, str]) -> dict[str, float]:
    return {key: float(value) for key, value in env.items()}  #~!


def zipped(names: list[str], ages: list[int]) -> dict[str, int]:
    return dict(zip(names, ages))  #~!


def pairs(names: list[str]) -> list[tuple[str, str]]:
    return [(a, b) for a, b in itertools.product(names, names)]  #~!


def groups(rows: list[tuple[str, str]]) -> dict[str, list[str]]:
    out = defaultdict(list)
    for key, value in rows:  #~!
        out[key].append(value)
    return out


def union(a: set[int], b: set[int]) -> set[int]:
    return (a - b) | (b - a)  #~!


def query(session, model):
    total = session.query(model).sum(model.price)  #~!
    best = session.query(model).max()  #~!
    return total, best, session.mean("price")  #~!


def patched(mock):
    mock.matmul(1, 2)  #~!
    mock.softmax("a")  #~!
    mock.transpose()  #~!
    return mock.conv2d


def shadowed(np, values):
    return np.sum(values), np.dot(values, values)  #~!


def local_sum(values):
    def sum(parts):
        return "+".join(parts)
    return sum(values)  #~!


class Vector2:
    def __init__(self, x: float, y: float):
        self.x, self.y = x, y

    def __matmul__(self, other: "Vector2") -> float:
        return self.x * other.x + self.y * other.y  #~!

    def __add__(self, other: "Vector2") -> "Vector2":
        return Vector2(self.x + other.x, self.y + other.y)  #~!


def walk(position: Vector2, step: Vector2):
    return position + step, Vector2(1, 0) @ Vector2(0, 1)  #~!


def menu(choices: Sequence[str], width: int = 40) -> str:
    rule = "-" * width  #~!
    body = "\n".join(f"{i + 1}. {c}" for i, c in enumerate(choices))  #~!
    return rule + "\n" + body + "\n" + rule  #~!


def retry(attempts: int) -> float:
    delay = 0.1
    for _ in range(attempts):  #~!
        delay *= 2
    return min(delay, 30.0)  #~!


def bisect(f, low: float, high: float) -> float:
    for _ in range(60):  #~!
        middle = (low + high) / 2
        if f(low) * f(middle) <= 0:
            high = middle
        else:
            low = middle
    return low


def newton(x: float) -> float:
    guess = x
    while abs(guess * guess - x) > 1e-12:  #~!
        guess = 0.5 * (guess + x / guess)
    return guess


def interest(balance: float, rates: list[float]) -> float:
    for rate in rates:  #~!
        balance = balance * (1 + rate)
    return balance


def parse(line: str) -> Optional[tuple[int, int]]:
    left, _, right = line.partition("*")
    return (int(left), int(right)) if right else None  #~!
