# SPDX-License-Identifier: MIT
"""The forward pass of a transformer: 12 layers, width 768, 12 heads, f32,
sequences of 64 to 512 tokens."""
import numpy as np
from amount import tell, times

WIDTH, HEADS, LAYERS, KINDS = 768, 12, 12, 3
rng = np.random.default_rng(1)


def weights(rows, columns):
    return rng.standard_normal((rows, columns), np.float32) / rows ** 0.5


def norm(x):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)


def softmax(x):
    x = np.exp(x - x.max(-1, keepdims=True))
    return x / x.sum(-1, keepdims=True)


def gelu(x):
    return 0.5 * x * (1 + np.tanh(0.79788456 * (x + 0.044715 * x ** 3)))


def split(x):
    return x.reshape(len(x), HEADS, -1).transpose(1, 0, 2)


def attend(x, layer):
    q, k, v = (split(x @ w) for w in layer["qkv"])
    scores = softmax(q @ k.transpose(0, 2, 1) / (WIDTH / HEADS) ** 0.5)
    return (scores @ v).transpose(1, 0, 2).reshape(len(x), WIDTH)


layers = [{"qkv": [weights(WIDTH, WIDTH) for _ in range(3)],
           "out": weights(WIDTH, WIDTH), "up": weights(WIDTH, 4 * WIDTH),
           "down": weights(4 * WIDTH, WIDTH)} for _ in range(KINDS)]
total = 0.0
for i in times(5):
    x = rng.standard_normal((64 << i % 4, WIDTH), np.float32)
    for number in range(LAYERS):
        layer = layers[number % KINDS]
        x = x + attend(norm(x), layer) @ layer["out"]
        x = x + gelu(norm(x) @ layer["up"]) @ layer["down"]
    total += float(np.abs(x).mean())
tell(total)
