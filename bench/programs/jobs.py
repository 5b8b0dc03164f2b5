# SPDX-License-Identifier: MIT
"""Two processes at a time, by joblib or, without it, by multiprocessing; each
job has a seed of its own."""
import numpy as np
from amount import tell, times

try:
    from joblib import Parallel, delayed
except ImportError:
    Parallel = None


def job(seed):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((1500, 200))
    y = rng.standard_normal(1500)
    found = 0.0
    for _ in range(6):
        rows = rng.integers(0, 1500, 1500)
        part = x[rows]
        found += float(np.linalg.solve(part.T @ part, part.T @ y[rows]).sum())
    return found


def run(seeds):
    if Parallel is not None:
        return Parallel(n_jobs=2)(delayed(job)(seed) for seed in seeds)
    from multiprocessing import get_context
    with get_context("spawn").Pool(2) as pool:
        return pool.map(job, seeds)


if __name__ == "__main__":
    tell(sum(run(list(times(40)))))
