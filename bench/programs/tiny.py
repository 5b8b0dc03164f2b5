# SPDX-License-Identifier: MIT
"""Products of tiny matrices, 2 to 32: what is passed through must cost
nothing."""
import numpy as np
from amount import tell, times

rng = np.random.default_rng(4)
matrices = [rng.standard_normal((n, n)).astype(dtype) / n ** 0.5
            for n in (2, 3, 4, 6, 8, 12, 16, 24, 32)
            for dtype in (np.float32, np.float64)]
results = list(matrices)
for _ in times(110000):
    results = [a @ b for a, b in zip(matrices, matrices)]
tell(sum(abs(float(x.sum())) for x in results))
