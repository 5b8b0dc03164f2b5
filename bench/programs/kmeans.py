# SPDX-License-Identifier: MIT
"""k-means (Lloyd) of 40,000 points in 64 dimensions, 128 centres, f32."""
import numpy as np
from amount import tell, times

POINTS, WIDTH, CENTRES = 40000, 64, 128
rng = np.random.default_rng(5)
means = 4 * rng.standard_normal((CENTRES, WIDTH), np.float32)
x = means[rng.integers(CENTRES, size=POINTS)]
x += rng.standard_normal(x.shape, np.float32)
squares = (x * x).sum(1)
centres = x[:CENTRES].copy()
inertia = 0.0
for _ in times(60):
    distance = (centres * centres).sum(1) - 2 * (x @ centres.T)
    nearest = distance.argmin(1)
    inertia = float((distance[np.arange(POINTS), nearest] + squares).mean())
    members = np.zeros((POINTS, CENTRES), np.float32)
    members[np.arange(POINTS), nearest] = 1
    counts = np.maximum(members.sum(0), 1)
    centres = (members.T @ x) / counts[:, None]
tell(inertia)
