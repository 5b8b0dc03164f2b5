# SPDX-License-Identifier: MIT
"""Scripts as people write them at the end of a long day."""
import argparse
import math
import random
import time

import numpy as np
import torch
import torch.nn.functional as F

BATCH, WIDTH = 32, 784


def load(path):
    table = np.loadtxt(path, delimiter=",")
    x, y = table[:, :-1], table[:, -1]
    x = (x - x.mean(axis=0)) / (x.std(axis=0) + 1e-9)  #~ layernorm
    return x, y


def linear_regression(x, y, steps=100, rate=0.1):
    x = np.asarray(x)
    weights = np.zeros(x.shape[1])
    bias = 0.0
    for step in range(steps):
        predicted = x @ weights + bias  #~ gemv add
        error = predicted - y  #~ sub
        gradient = x.T @ error / len(y)  #~ matmul scale
        weights -= rate * gradient  #~ axpy
        bias -= rate * error.mean()  #~ mean
        if step % 10 == 0:
            print("loss", np.mean(error ** 2))  #~ mean
    return weights, bias


def k_means(points, k, rounds=10):
    points = np.asarray(points, dtype=np.float32)
    centres = points[np.random.choice(len(points), k, replace=False)]
    for _ in range(rounds):
        distances = np.linalg.norm(points[:, None] - centres[None], axis=2)  #~ norm2 sub
        labels = distances.argmin(axis=1)  #~ argmin
        centres = np.stack([points[labels == i].mean(axis=0) for i in range(k)])  #~ mean
    return labels


def network(x, params):
    w1, b1, w2, b2 = params
    hidden = np.maximum(0, np.dot(x, w1) + b1)  #~ relu matmul add
    scores = np.dot(hidden, w2) + b2  #~ matmul add
    exps = np.exp(scores - np.max(scores, axis=1, keepdims=True))
    return exps / np.sum(exps, axis=1, keepdims=True)  #~ softmax


def train(model, loader, optimizer):
    model.train()  #~!
    running = 0.0
    for images, targets in loader:
        optimizer.zero_grad()  #~!
        output = model(images)  #~!
        value = F.cross_entropy(output, targets)  #~!
        value.backward()  #~!
        optimizer.step()  #~!
        running += value.item()  #~!
    return running / len(loader)  #~!


def evaluate(model, x: torch.Tensor, y: torch.Tensor):
    with torch.no_grad():
        guesses = torch.argmax(model(x), dim=1)  #~ argmax
    return (guesses == y).float().mean()  #~!


def self_attention(x: torch.Tensor, wq: torch.Tensor, wk: torch.Tensor, wv: torch.Tensor):
    q, k, v = x @ wq, x @ wk, x @ wv  #~ matmul matmul matmul
    scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(q.shape[-1])
    scores = scores.masked_fill(x == 0, -1e9)
    return torch.matmul(scores.softmax(dim=-1), v)  #~ attention


def blur(image, size=3):
    height, width = image.shape
    out = np.zeros((height, width))
    kernel = np.ones((size, size)) / size ** 2  #~ scale
    for y in range(height - size):  #~ conv2d
        for x in range(width - size):
            for i in range(size):
                for j in range(size):
                    out[y, x] += image[y + i, x + j] * kernel[i, j]
    return out


def grey(image):
    image = np.asarray(image, dtype=float)
    red, green, blue = image[..., 0], image[..., 1], image[..., 2]
    return 0.299 * red + 0.587 * green + 0.114 * blue  #~ axpy


class Matrix:
    def __init__(self, rows):
        self.rows = rows

    def __mul__(self, other):
        n, m, p = len(self.rows), len(other.rows), len(other.rows[0])
        result = [[0] * p for _ in range(n)]
        for i in range(n):  #~ matmul
            for j in range(p):
                for k in range(m):
                    result[i][j] += self.rows[i][k] * other.rows[k][j]
        return Matrix(result)

    def __add__(self, other):
        return Matrix([[a + b for a, b in zip(r, s)] for r, s in zip(self.rows, other.rows)])  #~ add

    def trace(self):
        return sum(self.rows[i][i] for i in range(len(self.rows)))  #~ sum

    def __str__(self):
        return "\n".join(" ".join(str(v) for v in row) for row in self.rows)  #~!


def monte_carlo(n):
    inside = 0
    for _ in range(n):  #~!
        x, y = random.random(), random.random()
        if x * x + y * y < 1.0:
            inside += 1
    return 4.0 * inside / n  #~!


def monte_carlo_numpy(n):
    points = np.random.rand(n, 2)
    return 4 * np.mean((points ** 2).sum(axis=1) < 1.0)  #~ mean sum


def cosine_similarity(a, b):
    dot = sum(x * y for x, y in zip(a, b))  #~ dot
    size_a = math.sqrt(sum(x * x for x in a))  #~ norm2
    size_b = math.sqrt(sum(y ** 2 for y in b))  #~ norm2
    return dot / (size_a * size_b)  #~!


def standard_deviation(values):
    mean = sum(values) / len(values)  #~ mean
    return math.sqrt(sum((v - mean) ** 2 for v in values) / len(values))  #~ variance


def normalise(values):
    total = sum(values)  #~ sum
    return [v / total for v in values]  #~ scale


def min_max(values):
    low, high = min(values), max(values)
    return [(v - low) / (high - low) for v in values]  #~ scale


def moving_average(values, window):
    kernel = np.ones(window) / window  #~ scale
    return np.convolve(values, kernel, mode="valid")  #~!


def distance_matrix(points):
    n = len(points)
    d = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            d[i, j] = np.linalg.norm(points[i] - points[j])  #~ norm2
    return d


def timed(function, *arguments):
    start = time.time()
    result = function(*arguments)
    elapsed = time.time() - start  #~!
    return result, elapsed * 1000.0  #~!


def main():
    parser = argparse.ArgumentParser(description="sum(x) / len(x)")  #~!
    parser.add_argument("--n", type=int, default=1000)
    options = parser.parse_args()
    x = torch.randn(BATCH, WIDTH)
    w = torch.randn(WIDTH, 10, dtype=torch.float32)
    print((x @ w).relu().sum().item())  #~ matmul relu sum
    print(monte_carlo(options.n * 2))  #~!
    print(f"{x.mean():.3f} is x.mean()")  #~ mean


if __name__ == "__main__":
    main()
