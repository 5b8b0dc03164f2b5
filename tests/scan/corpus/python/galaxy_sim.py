# SPDX-License-Identifier: MIT
"""A small particle and field simulation, with a solver and diagnostics.

Typical use::

    forces = masses[:, None] * acceleration  #~!
    energy = 0.5 * np.sum(masses * speed ** 2)  #~!
"""
import argparse
import logging
from dataclasses import dataclass
from typing import Dict, List, NamedTuple, Tuple

import numpy as np
from numpy import ndarray
from scipy import sparse
from scipy.ndimage import convolve as stencil

log = logging.getLogger(__name__)

G = 6.674e-11
SOFTENING = 1e-3
BODIES = 2048
LAPLACE = np.array([[0.0, 1.0, 0.0], [1.0, -4.0, 1.0], [0.0, 1.0, 0.0]])


class Options(NamedTuple):
    steps: int = 1000
    dt: float = 0.01
    label: str = "run"

    @property
    def duration(self) -> float:
        return self.steps * self.dt  #~!


class Cluster:
    def __init__(self, count: int = BODIES, seed: int = 7):
        rng = np.random.default_rng(seed)
        self.count = count
        self.position = rng.standard_normal((count, 3))
        self.velocity = np.zeros((count, 3))
        self.mass = np.ones(count)
        self.names = ["body" + str(i) for i in range(count)]  #~!

    def kick(self, acceleration: ndarray, dt: float) -> None:
        self.velocity += dt * acceleration  #~ axpy

    def drift(self, dt: float) -> None:
        self.position += self.velocity * dt  #~ axpy

    def momentum(self) -> ndarray:
        return self.mass @ self.velocity  #~ gemv

    def total_mass(self) -> float:
        return self.mass.sum()  #~ sum

    def half(self) -> int:
        return self.count // 2 + 1  #~!

    def describe(self) -> str:
        return self.names[0] + " .. " + self.names[-1]  #~!


def pairwise(position: ndarray) -> ndarray:
    delta = position[None, :, :] - position[:, None, :]  #~ sub
    distance = np.sqrt((delta ** 2).sum(axis=-1) + SOFTENING)  #~ sqrt sum add
    return distance


def kinetic(masses: ndarray, speeds: ndarray) -> float:
    return 0.5 * np.sum(masses * speeds)  #~ dot


def potential_by_hand(masses: List[float], radii: List[float]) -> float:
    energy = 0.0
    for m, r in zip(masses, radii):  #~!
        if r < SOFTENING:
            log.warning("close encounter at %g", r)
            continue
        energy -= G * m / r
    return energy


def diffuse(field: ndarray, rate: float, steps: int) -> ndarray:
    for _ in range(steps):
        change = stencil(field, LAPLACE, mode="wrap")  #~ conv2d
        field = field + rate * change  #~ axpy
    return field


def jacobi(a: ndarray, b: ndarray, x: ndarray, tolerance: float) -> ndarray:
    diagonal = np.diag(a)
    rest = a - np.diagflat(diagonal)  #~ sub
    while True:
        ahead = (b - rest @ x) / diagonal  #~ matmul div
        if np.linalg.norm(ahead - x) < tolerance:  #~ norm2 sub
            return ahead
        x = ahead


def conjugate(a: ndarray, b: ndarray):
    x = np.zeros_like(b)
    r = b - a.dot(x)  #~ matmul sub
    p = r.copy()  #~ copy
    before = np.vdot(r, r)  #~ dot
    for _ in range(len(b)):
        ap = a.dot(p)  #~ matmul
        alpha = before / np.inner(p, ap)  #~ dot
        x += alpha * p  #~ axpy
        r -= alpha * ap  #~ axpy
        after = np.vdot(r, r)  #~ dot
        if after < 1e-20:
            break
        p = r + (after / before) * p  #~ axpy
        before = after
    return x


def heat_by_hand(grid, kernel, rows: int, cols: int):
    out = [[0.0] * cols for _ in range(rows)]
    for r in range(1, rows - 1):  #~ conv2d
        for c in range(1, cols - 1):
            total = 0.0
            for i in range(-1, 2):
                for j in range(-1, 2):
                    total += grid[r + i][c + j] * kernel[i + 1][j + 1]
            out[r][c] = total
    return out


def rotate_all(points: List[List[float]], turn: List[List[float]]):
    turned = []
    for p in points:  #~ matmul
        turned.append([sum(t * c for t, c in zip(row, p)) for row in turn])
    return turned


def centre_of_mass(xs: List[float], masses: List[float]) -> float:
    weighted = sum(x * m for x, m in zip(xs, masses))  #~ dot
    return weighted / sum(masses)  #~ sum


def fastest(speeds: List[float]) -> float:
    top = float("-inf")
    for speed in speeds:  #~ max
        if speed > top:
            top = speed
    return top


def nearest(distances):
    best_i = 0
    best = distances[0]
    for i, d in enumerate(distances):  #~ argmin
        if d < best:
            best, best_i = d, i
    return best_i


def damp(velocities: List[float], factor: float) -> List[float]:
    return [v * factor for v in velocities]  #~ scale


def leapfrog(xs: List[float], vs: List[float], dt: float) -> None:
    for i in range(len(xs)):  #~ axpy
        xs[i] = xs[i] + vs[i] * dt


def drag(vx: List[float], vy: List[float]) -> List[float]:
    return [a + b for a, b in zip(vx, vy)]  #~ add


# ---- bookkeeping -------------------------------------------------------------

@dataclass(frozen=True)
class Cell:
    row: int
    col: int

    def __add__(self, other: "Cell") -> "Cell":
        return Cell(self.row + other.row, self.col + other.col)  #~!

    def __mul__(self, times: int) -> "Cell":
        return Cell(self.row * times, self.col * times)  #~!


def moved(cells: List[Cell], by: Cell) -> List[Cell]:
    return [cell + by for cell in cells]  #~!


def grown(cells: List[Cell], times: int) -> List[Cell]:
    out = []
    for cell in cells:  #~!
        out.append(cell * times)
    return out


def neighbours(counts: Dict[Cell, int], cell: Cell) -> int:
    return sum(counts.get(cell + Cell(i, j), 0) for i in (0, 1) for j in (0, 1))  #~!


def offsets(lengths: List[int]) -> List[int]:
    starts = [0]
    for length in lengths:  #~!
        starts.append(starts[-1] + length)
    return starts


def index_of(row: int, col: int, cols: int) -> int:
    return row * cols + col  #~!


def assemble(rows: int) -> sparse.csr_matrix:
    matrix = sparse.lil_matrix((rows, rows))
    for i in range(rows):  #~!
        matrix[i, i] = -2.0
    return matrix.tocsr()


def longest(names: List[str]) -> str:
    best = ""
    for name in names:  #~!
        if len(name) > len(best):
            best = name
    return best


def schedule(jobs: List[Tuple[str, int]]) -> int:
    clock = 0
    for name, ticks in jobs:  #~!
        log.info("%s starts at %d", name, clock)
        clock += ticks
    return clock


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(description="a @ b, np.dot(a, b)")  #~!
    parser.add_argument("--steps", type=int, default=10 * 100)  #~!
    known = parser.parse_args(argv)
    options = Options(steps=known.steps)
    cluster = Cluster()
    for step in range(options.steps):
        cluster.drift(options.dt)
        progress = 100.0 * step / options.steps  #~!
        log.debug("%.1f%% of %s", progress, "-" * 40)  #~!
    return 0
