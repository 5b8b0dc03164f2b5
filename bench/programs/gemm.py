# SPDX-License-Identifier: MIT
"""60 products of two square matrices: usage gemm.py FACTOR SIZE DTYPE."""
import sys

import numpy as np
from amount import FACTOR, tell, times

SIZE = int(sys.argv[2]) if FACTOR > 0 else 64
rng = np.random.default_rng(12)
a, b = (rng.standard_normal((SIZE, SIZE)).astype(sys.argv[3])
        for _ in range(2))
total = 0.0
for _ in times(60):
    total += abs(float((a @ b)[-1, -1]))
tell(total)
