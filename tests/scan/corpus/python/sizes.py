# SPDX-License-Identifier: MIT
"""What the sizes come from."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

N = 512
HALF = N // 2
COUNTER = 0
COUNTER = COUNTER + 1


def literal():
    return np.zeros((512, 256)) @ np.ones((256, 128))  #~ matmul 512x128x256 f64


def constant():
    a = np.random.rand(N, N)
    b = np.random.rand(N, HALF)
    return np.dot(a, b)  #~ matmul 512x256x512 f64


def vector():
    return np.random.rand(1000).sum()  #~ sum 1000 f64


def single():
    x = torch.zeros(64, 32, dtype=torch.float64)
    return torch.sum(x)  #~ sum 2048 f64


def kept(x):
    x = np.ones(2048, dtype=np.float32)
    y = x * 2.0 + 1.0  #~ add 2048 f32
    return np.exp(y)  #~ exp 2048 f32


def bounded(a, b):
    s = 0.0
    for i in range(4096):  #~ dot 4096
        s += a[i] * b[i]
    return s


def moving():
    x = np.zeros(COUNTER)
    return x.sum()  #~ sum


def batched(x):
    q = torch.randn(4, 8, 64)
    k = torch.randn(4, 64, 16)
    return torch.bmm(q, k)  #~ batched_matmul 4x8x16x64 f32


def rows():
    scores = torch.rand(32, 100)
    return torch.softmax(scores, dim=1)  #~ softmax 32x100 f32


def turned():
    grid = np.empty((30, 40), dtype="float32")
    return np.transpose(grid)  #~ transpose 30x40 f32


def cast():
    points = np.linspace(0, 1, 2 ** 10).astype(np.float32)
    return np.mean(points)  #~ mean 1024 f32


def listed():
    taps = np.array([0.25, 0.5, 0.25])
    return taps.sum()  #~ sum 3


def partly(other):
    left = np.ones((N, 64))
    return left @ other  #~ matmul


def reshaped(x):
    table = np.asarray(x).reshape(128, 64)
    return table @ np.ones(64)  #~ gemv 128x64


def generator(seed):
    rng = np.random.default_rng(seed)
    noise = rng.standard_normal((16, 16))
    return np.abs(noise)  #~ abs 256 f64


def loops(a, b, c):
    for i in range(N):  #~ matmul 512x256x64
        for j in range(HALF):
            for k in range(64):
                c[i][j] += a[i][k] * b[k][j]


def grid(a, out):
    for i in range(0, 100):  #~ scale 2000
        for j in range(20):
            out[i][j] = 3.0 * a[i][j]


def image():
    batch = torch.randn(8, 3, 32, 32)
    filters = torch.randn(16, 3, 5, 5)
    return F.conv2d(batch, filters)  #~ conv2d 8x3x32x32x16x5x5 f32


def windows():
    batch = torch.zeros(4, 16, 28, 28)
    return F.max_pool2d(batch, 2)  #~ pooling 4x16x28x28x2 f32


def heads():
    q = torch.randn(2, 8, 100, 64)
    k = torch.randn(2, 8, 50, 64)
    return F.scaled_dot_product_attention(q, k, k)  #~ attention 2x8x100x50x64 f32


def layers():
    filters = nn.Conv2d(3, 64, kernel_size=3)  #~ conv2d
    norm = nn.LayerNorm(512)  #~ layernorm
    return filters, norm
