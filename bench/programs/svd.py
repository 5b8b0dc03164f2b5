# SPDX-License-Identifier: MIT
"""Singular values and a best approximation of rank 50: 700 x 500, f64."""
import numpy as np
from amount import tell, times

rng = np.random.default_rng(9)
total = 0.0
for _ in times(18):
    a = rng.standard_normal((700, 500))
    u, s, v = np.linalg.svd(a, full_matrices=False)
    near = (u[:, :50] * s[:50]) @ v[:50]
    total += s.sum() + float(np.abs(a - near).mean())
tell(total)
