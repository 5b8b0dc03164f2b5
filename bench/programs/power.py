# SPDX-License-Identifier: MIT
"""Power iteration: matrix times vector, 2,000 x 2,000, f64."""
import numpy as np
from amount import tell, times

rng = np.random.default_rng(8)
a = rng.standard_normal((2000, 2000))
a = (a + a.T) / 2 + 3 * np.eye(2000)
x = rng.standard_normal(2000)
value = 0.0
for _ in times(2200):
    y = a @ x
    value = float(x @ y) / float(x @ x)
    x = y / np.linalg.norm(y)
tell(value)
