# SPDX-License-Identifier: MIT
"""A Kalman filter with eight states and four measurements, 20,000 steps: solves
and inverses of small matrices; f64."""
import numpy as np
from amount import tell, times

rng = np.random.default_rng(13)
step = np.eye(8) + 0.1 * np.eye(8, k=4)
seen = np.eye(4, 8)
noise, error = 0.01 * np.eye(8), 0.5 * np.eye(4)
state, spread, total = np.zeros(8), np.eye(8), 0.0
for _ in times(20000):
    state, spread = step @ state, step @ spread @ step.T + noise
    told = rng.standard_normal(4)
    inner = seen @ spread @ seen.T + error
    gain = np.linalg.solve(inner, seen @ spread).T
    state = state + gain @ (told - seen @ state)
    spread = spread - gain @ seen @ spread
    total += float(np.linalg.det(inner))
tell(total, np.abs(state).sum(), np.trace(np.linalg.inv(spread)))
