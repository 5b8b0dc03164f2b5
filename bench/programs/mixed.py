# SPDX-License-Identifier: MIT
"""Products of 40 random shapes, sizes 32 to 3,100, f32 and f64."""
import numpy as np
from amount import tell, times

LARGEST = 3e9  # multiplications of one product
rng = np.random.default_rng(3)


def shape():
    while True:
        sizes = np.exp(rng.uniform(np.log(32), np.log(3100), 3)).astype(int)
        if sizes.prod() < LARGEST:
            return sizes


products = []
for i in range(40):
    m, n, k = shape()
    dtype = (np.float32, np.float64)[i % 2]
    products.append((rng.standard_normal((m, k)).astype(dtype),
                     rng.standard_normal((k, n)).astype(dtype)))
total = 0.0
for _ in times(30):
    for a, b in products:
        total += abs(float((a @ b)[-1, -1]))
tell(total)
