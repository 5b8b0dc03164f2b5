# SPDX-License-Identifier: MIT
"""Maths of a small game engine, and the scripts that clean its telemetry."""
from __future__ import annotations

import bisect
import heapq
import math
import operator
import random
import string
import typing as t
from collections import Counter, defaultdict
from fractions import Fraction
from functools import reduce
from pathlib import Path

import numpy as np
import numpy.linalg

Vec = t.List[float]
Matrix = t.List[t.List[float]]
TILE = 16


class Vec3:
    __slots__ = ("x", "y", "z")

    def __init__(self, x: float, y: float, z: float):
        self.x, self.y, self.z = x, y, z

    def dot(self, other: Vec3) -> float:
        return self.x * other.x + self.y * other.y + self.z * other.z  #~!

    def __sub__(self, other: Vec3) -> Vec3:
        return Vec3(self.x - other.x, self.y - other.y, self.z - other.z)  #~!

    def scale(self, by: float) -> Vec3:
        return Vec3(self.x * by, self.y * by, self.z * by)  #~!


# ---- matrices by hand --------------------------------------------------------

def mat_mul(a: Matrix, b: Matrix) -> Matrix:
    out = []
    for row in a:  #~ matmul
        line = []
        for col in zip(*b):
            acc = 0.0
            for x, y in zip(row, col):
                acc += x * y
            line.append(acc)
        out.append(line)
    return out


def mat_mul_short(a: Matrix, b: Matrix) -> Matrix:
    bt = list(zip(*b))
    return [[sum(x * y for x, y in zip(r, c)) for c in bt] for r in a]  #~ matmul


def mat_vec(m: Matrix, v: Vec) -> Vec:
    result = [0.0] * len(m)
    for i, row in enumerate(m):  #~ gemv
        for j, value in enumerate(row):
            result[i] += value * v[j]
    return result


def mat_vec_rows(m: Matrix, v: Vec) -> Vec:
    out = []
    for row in m:  #~ gemv
        s = 0.0
        for k in range(len(v)):
            s += row[k] * v[k]
        out.append(s)
    return out


def length(v: Vec) -> float:
    return math.sqrt(sum(map(operator.mul, v, v)))  #~ norm2


def unit(v: Vec) -> Vec:
    size = math.sqrt(sum(c * c for c in v))  #~ norm2
    return [c / size for c in v]  #~ scale


def lerp(a: Vec, b: Vec, share: float) -> Vec:
    return [x + share * (y - x) for x, y in zip(a, b)]  #~ axpy


def hadamard(a: Matrix, b: Matrix) -> Matrix:
    return [[x * y for x, y in zip(r, s)] for r, s in zip(a, b)]  #~ mul


def row_sums(m: Matrix) -> Vec:
    sums = []
    for row in m:
        total = 0.0
        for value in row:  #~ sum
            total += value
        sums.append(total)
    return sums


def running_rows(m: Matrix) -> Vec:
    total, out = 0.0, []
    for row in m:  #~!
        total += row[0]
        out.append(total)
    return out


def lowest(heights: t.List[float]) -> int:
    low, at = heights[0], 0
    for i in range(1, len(heights)):  #~ argmin
        if heights[i] < low:
            low, at = heights[i], i
    return at


def max_pool(grid: Matrix, size: int):
    rows, cols = len(grid) // size, len(grid[0]) // size
    out = [[0.0] * cols for _ in range(rows)]
    for r in range(rows):  #~ pooling
        for c in range(cols):
            best = -math.inf
            for i in range(size):
                for j in range(size):
                    best = max(best, grid[r * size + i][c * size + j])
            out[r][c] = best
    return out


def clip_speed(speeds: t.List[float], top: float) -> t.List[float]:
    return [min(max(s, -top), top) for s in speeds]  #~ clamp


# ---- with NumPy --------------------------------------------------------------

def project(points: np.ndarray, camera: np.ndarray) -> np.ndarray:
    seen = points @ camera.T  #~ matmul
    return seen[:, :2] / seen[:, 2:]  #~ div


def mahalanobis(x: np.ndarray, inverse: np.ndarray) -> float:
    return math.sqrt(x @ inverse @ x)  #~ matmul matmul


def fog(depth: np.ndarray, density: float) -> np.ndarray:
    return 1.0 - np.exp(-density * depth)  #~ exp sub scale


def lambert(normals: np.ndarray, light: np.ndarray) -> np.ndarray:
    return np.maximum(normals @ light, 0.0)  #~ relu matmul


def leaky(x: np.ndarray) -> np.ndarray:
    return np.where(x > 0, x, 0.01 * x)  #~ scale


def saturate(x: np.ndarray) -> np.ndarray:
    return np.minimum(1.0, np.maximum(0.0, x))  #~ clamp


def outliers(values: np.ndarray) -> int:
    z = (values - values.mean()) / values.std()  #~ layernorm
    return int(np.sum(np.abs(z) > 3.0))  #~ abs


def fill(values: np.ndarray) -> np.ndarray:
    centre = np.nanmean(values)
    return np.where(np.isnan(values), centre, values)  #~!


def softmax(v: np.ndarray, heat: float) -> np.ndarray:
    e = np.exp(v / heat)
    return e / np.sum(e)  #~ softmax


def blend(layers: list[np.ndarray], weights: list[float]):
    out = np.zeros_like(layers[0])
    for layer, weight in zip(layers, weights):
        out += weight * layer  #~ axpy
    return out


def smallest_gap(times: np.ndarray) -> float:
    return np.diff(np.sort(times)).min()  #~ min


# ---- bookkeeping and cleaning ------------------------------------------------

def longest_line(path: Path) -> int:
    return max(len(line) for line in path.read_text().splitlines())  #~!


def repeated(text: str) -> list[str]:
    words = text.lower().split()
    return [word * 2 for word in words]  #~!


def joined(text: str) -> str:
    parts, out = text.split(";"), ""
    for part in parts:  #~!
        out = out + part
    return out


def halves(parts: t.List[Fraction]) -> list[Fraction]:
    return [part / 2 for part in parts]  #~!


def worth(parts: list[Fraction]) -> Fraction:
    return sum(parts)  #~!


def first_name(names: t.Sequence[str]) -> str:
    return min(names)  #~!


def paths(vectors: list[Vec3], eye: Vec3) -> list[Vec3]:
    return [v - eye for v in vectors]  #~!


def shade(a: Vec3, b: Vec3) -> float:
    return a.dot(b)  #~!


def all_true(flags: list[bool]) -> int:
    return sum(flags)  #~!


def grid_transpose(names: list[str], width: int):
    return [[names[x] for y in range(width)] for x in range(width)]  #~!


def visits(log: list[tuple[str, int]]) -> dict[str, int]:
    out: dict[str, int] = defaultdict(int)
    for page, times in log:  #~!
        out[page] += times
    return out


def shortest(graph: dict[str, dict[str, float]], start: str):
    queue, seen = [(0.0, start)], {}
    while queue:
        cost, node = heapq.heappop(queue)
        if node in seen:
            continue
        seen[node] = cost
        for other, weight in graph[node].items():  #~!
            heapq.heappush(queue, (cost + weight, other))
    return seen


def floyd(d: Matrix) -> None:
    n = len(d)
    for k in range(n):  #~!
        for i in range(n):
            for j in range(n):
                d[i][j] = min(d[i][j], d[i][k] + d[k][j])


def reachable(a, b, n: int):
    out = [[False] * n for _ in range(n)]
    for i in range(n):  #~!
        for j in range(n):
            for k in range(n):
                out[i][j] |= a[i][k] and b[k][j]
    return out


def edit_distance(a: str, b: str) -> int:
    row = list(range(len(b) + 1))
    for i, ch in enumerate(a, 1):  #~!
        previous, row[0] = row[0], i
        for j, other in enumerate(b, 1):
            previous, row[j] = row[j], min(
                row[j] + 1, row[j - 1] + 1, previous + (ch != other))  #~!
    return row[-1]


def password(size: int) -> str:
    return "".join(random.choice(string.ascii_letters) for _ in range(size))  #~!


def tile_of(x: int, y: int) -> tuple[int, int]:
    return x // TILE * TILE, y // TILE * TILE  #~!


def rank(scores: list[int], mine: int) -> int:
    return len(scores) - bisect.bisect_right(sorted(scores), mine) + 1  #~!


def entropy(text: str) -> float:
    counts = Counter(text)
    return -sum(c / len(text) * math.log2(c / len(text)) for c in counts.values())  #~!


def factorial(n: int) -> int:
    return reduce(operator.mul, range(1, n + 1), 1)  #~!


class Builder:
    def add_(self, part: str) -> "Builder":
        return self

    def build(self, parts: list[str], sink):
        for part in parts:
            self.add_(part)  #~!
            sink.add_(part)  #~!
        return self
