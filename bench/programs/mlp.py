# SPDX-License-Identifier: MIT
"""Training of a classifier: 784-512-256-10, batches of 256, f32."""
import numpy as np
from amount import tell, times

SIZES, BATCH = (784, 512, 256, 10), 256
rng = np.random.default_rng(2)
inputs = rng.standard_normal((8 * BATCH, SIZES[0]), np.float32)
labels = np.abs(inputs[:, :10]).argmax(1)
weights = [rng.standard_normal(pair, np.float32) * (2 / pair[0]) ** 0.5
           for pair in zip(SIZES, SIZES[1:])]
biases = [np.zeros(size, np.float32) for size in SIZES[1:]]
losses = []
for step in times(450):
    rows = slice(step % 8 * BATCH, (step % 8 + 1) * BATCH)
    layers = [inputs[rows]]
    for w, b in zip(weights, biases):
        z = layers[-1] @ w + b
        layers.append(np.maximum(z, 0) if len(layers) < 3 else z)
    z = layers.pop()
    z = np.exp(z - z.max(1, keepdims=True))
    z /= z.sum(1, keepdims=True)
    wanted = labels[rows]
    losses.append(-np.log(z[range(BATCH), wanted]).mean())
    z[range(BATCH), wanted] -= 1
    slope = z / BATCH
    for i in (2, 1, 0):
        down = slope @ weights[i].T * (layers[i] > 0) if i > 0 else None
        weights[i] -= 0.01 * (layers[i].T @ slope)
        biases[i] -= 0.01 * slope.sum(0)
        slope = down
tell(losses[0], losses[-1])
