# SPDX-License-Identifier: MIT
"""Gaussian process regression: the length scale of 400 samples by the marginal
likelihood (Cholesky, solve, log determinant), then a prediction; f64."""
import numpy as np
from amount import tell, times

rng = np.random.default_rng(12)
x = rng.uniform(-3, 3, (400, 3))
y = np.sin(x).sum(1) + 0.1 * rng.standard_normal(400)
squares = ((x[:, None] - x[None]) ** 2).sum(-1)
best = (-np.inf, 1.0)
for i in times(120):
    scale = 0.2 + 0.02 * i
    kernel = np.exp(-0.5 * squares / scale**2) + 0.01 * np.eye(400)
    lower = np.linalg.cholesky(kernel)
    alpha = np.linalg.solve(lower.T, np.linalg.solve(lower, y))
    likelihood = -0.5 * y @ alpha - np.log(np.diag(lower)).sum()
    best = max(best, (likelihood, scale))
kernel = np.exp(-0.5 * squares / best[1]**2) + 0.01 * np.eye(400)
tell(best[0], best[1], np.abs(kernel @ np.linalg.solve(kernel, y)).sum())
