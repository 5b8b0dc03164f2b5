# SPDX-License-Identifier: MIT
"""The price of an Asian option by Monte Carlo: 200,000 paths of 64 steps, f64.
Random numbers are NumPy's own and on one thread; the rest is loops."""
import numpy as np
from amount import tell, times

PATHS, STEPS = 200000, 64
START, STRIKE, RATE, SPREAD, YEARS = 100.0, 105.0, 0.03, 0.25, 1.0
rng = np.random.default_rng(7)
step = YEARS / STEPS
drift, scale = (RATE - SPREAD * SPREAD / 2) * step, SPREAD * step ** 0.5


def simulate():
    price, total = np.full(PATHS, START), np.zeros(PATHS)
    for _ in range(STEPS):
        price = price * np.exp(drift + scale * rng.standard_normal(PATHS))
        total = total + price
    pays = np.maximum(total / STEPS - STRIKE, 0) * np.exp(-RATE * YEARS)
    return pays.mean(), pays.std() / PATHS ** 0.5


for _ in times(4):
    mean, error = simulate()
tell(mean, error)
