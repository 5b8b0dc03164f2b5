# SPDX-License-Identifier: MIT
"""Lists, generators, builtins."""
import math
import operator
from pathlib import Path


def elementwise(a, b, alpha):
    total = [x + y for x, y in zip(a, b)]  #~ add
    rest = [x - y for x, y in zip(a, b)]  #~ sub
    both = [x * y for x, y in zip(a, b)]  #~ mul
    ratio = [x / y for x, y in zip(a, b)]  #~ div
    double = [2.0 * x for x in a]  #~ scale
    scaled = [alpha * x for x in a]  #~ scale
    halves = [x / 2 for x in a]  #~ scale
    roots = [math.sqrt(x) for x in a]  #~ sqrt
    sizes = [abs(x) for x in a]  #~ abs
    mirrored = [-x for x in a]  #~ neg
    positive = [max(0.0, x) for x in a]  #~ relu
    indexed = [a[i] + b[i] for i in range(len(a))]  #~ add
    axpy = [alpha * x + y for x, y in zip(a, b)]  #~ axpy
    return total, rest, both, ratio, double, scaled, halves, roots, sizes, mirrored, positive, indexed, axpy


def activations(values):
    logistic = [1.0 / (1.0 + math.exp(-v)) for v in values]  #~ sigmoid
    hyperbolic = [math.tanh(v) for v in values]  #~ tanh
    grown = [math.exp(v) for v in values]  #~ exp
    return logistic, hyperbolic, grown


def mapped(a, b):
    both = list(map(operator.mul, a, b))  #~ mul
    sizes = list(map(abs, a))  #~ abs
    roots = list(map(math.sqrt, a))  #~ sqrt
    double = list(map(lambda x: 2 * x, a))  #~ scale
    return both, sizes, roots, double


def reductions(a, b):
    inner = sum(x * y for x, y in zip(a, b))  #~ dot
    inner_indexed = sum(a[i] * b[i] for i in range(len(a)))  #~ dot
    inner_mapped = sum(map(operator.mul, a, b))  #~ dot
    squares = sum(x * x for x in a)  #~ dot
    absolute = sum(abs(x) for x in a)  #~ norm1
    length = math.sqrt(sum(x ** 2 for x in a))  #~ norm2
    other = sum(x * x for x in b) ** 0.5  #~ norm2
    top = max(abs(x) for x in a)  #~ max
    low = min(x * 2.0 for x in a)  #~ min
    mean = sum(a) / len(a)  #~ mean
    spread = sum((x - mean) ** 2 for x in a) / len(a)  #~ variance
    where = max(range(len(a)), key=lambda i: a[i])  #~ argmax
    return inner, inner_indexed, inner_mapped, squares, absolute, length, other, top, low, spread, where


def turned(matrix):
    return [list(row) for row in zip(*matrix)]  #~ transpose


def turned_indexed(matrix):
    return [[row[i] for row in matrix] for i in range(len(matrix[0]))]  #~ transpose


def matrix_sum(a, b):
    return [[x + y for x, y in zip(p, q)] for p, q in zip(a, b)]  #~ add


def softmax(values):
    top = max(values)
    exps = [math.exp(v - top) for v in values]
    total = sum(exps)
    return [e / total for e in exps]  #~ softmax


# What follows looks like it and is not.

def counts(values, lines, words):
    ones = sum(1 for v in values if v > 0)  #~!
    hits = sum(v > 0 for v in values)  #~!
    flags = sum(word.startswith("a") for word in words)  #~!
    width = sum(len(line) for line in lines)  #~!
    width_mapped = sum(map(len, lines))  #~!
    members = sum([len(w) for w in words])  #~!
    both = sum(a in b for a, b in zip(words, lines))  #~!
    known = sum(not w for w in words)  #~!
    flat = sum(lines, [])  #~!
    pairs = sum((tuple(w) for w in words), ())  #~!
    return ones, hits, flags, width, width_mapped, members, both, known, flat, pairs


def choices(a, b, names, people):
    larger = max(a, b)  #~!
    smaller = min(a, 10)  #~!
    longest = max(names, key=len)  #~!
    last = max(names)  #~!
    oldest = max(p.age for p in people)  #~!
    widest = max(len(n) for n in names)  #~!
    return larger, smaller, longest, last, oldest, widest


def strings(names, folder: Path, suffix):
    files = [name + ".py" for name in names]  #~!
    others = [name + suffix for name in names]  #~!
    paths = [folder / name for name in names]  #~!
    below = [p / "src" for p in paths]  #~!
    lines = ["-" * len(name) for name in names]  #~!
    texts = ["%s" % name for name in names]  #~!
    groups = [[name] * 3 for name in names]  #~!
    plain = [name.upper() for name in names]  #~!
    indices = [i + 1 for i in range(len(names))]  #~!
    squares = [i * i for i in range(10)]  #~!
    kept = [name for name in names if name]  #~!
    keyed = {name: 2 * n for n, name in enumerate(names)}  #~!
    return files, others, paths, below, lines, texts, groups, plain, indices, squares, kept, keyed


def lists(rows):
    return [row + [0] for row in rows]  #~!


def parsed(words):
    return list(map(int, words))  #~!


def unzipped(pairs):
    return list(zip(*pairs))  #~!


def sizes_of(folder):
    return sum(f.stat().st_size for f in folder.iterdir())  #~!
