# SPDX-License-Identifier: MIT
"""Principal components of 6,000 x 400 samples: covariance (syrk), eigenvectors,
projection, reconstruction; f64."""
import numpy as np
from amount import tell, times

rng = np.random.default_rng(6)
basis = rng.standard_normal((40, 400))
total = 0.0
for _ in times(24):
    x = rng.standard_normal((6000, 40)) @ basis
    x += 0.1 * rng.standard_normal(x.shape)
    x -= x.mean(0)
    values, vectors = np.linalg.eigh(x.T @ x / (len(x) - 1))
    main = vectors[:, -40:]
    rest = x - (x @ main) @ main.T
    total += values[-40:].sum() + float((rest * rest).mean())
tell(total)
