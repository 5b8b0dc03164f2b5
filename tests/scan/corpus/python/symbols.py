# SPDX-License-Identifier: MIT
"""Formulas: what is added and multiplied here are symbols, not numbers."""
import numpy as np
from sympy import Matrix, Symbol, diff, exp, symbols


def gradient(formula, names: str):
    xs = symbols(names)
    return [diff(formula, x) for x in xs]  #~!


def scaled(terms, factor):
    return [factor * term for term in terms]  #~!


def polynomial(coefficients, x: Symbol):
    return sum(c * x ** i for i, c in enumerate(coefficients))  #~!


def inner(a, b):
    return sum(x * y for x, y in zip(a, b))  #~!


def hamiltonian(momenta, masses):
    energy = 0
    for p, m in zip(momenta, masses):  #~!
        energy += p ** 2 / (2 * m)
    return energy


def product(a, b, n: int):
    out = [[0] * n for _ in range(n)]
    for i in range(n):  #~!
        for j in range(n):
            for k in range(n):
                out[i][j] += a[i][k] * b[k][j]
    return Matrix(out)


def weights(potentials):
    return [exp(-p) for p in potentials]  #~!


def columns(table: dict):
    return [list(part) for part in zip(*table.items())]  #~!


def sampled(values: list[float], gains: list[float]) -> float:
    return sum(v * g for v, g in zip(values, gains))  #~ dot


def evaluated(points: np.ndarray) -> float:
    return np.sum(points * points)  #~ dot
