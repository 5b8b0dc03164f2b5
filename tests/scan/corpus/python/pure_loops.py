# SPDX-License-Identifier: MIT
"""The same things, by hand."""
import math

N = 256


def multiply(a, b, n):
    c = [[0.0] * n for _ in range(n)]
    for i in range(n):  #~ matmul
        for j in range(n):
            for k in range(n):
                c[i][j] += a[i][k] * b[k][j]
    return c


def multiply_accumulator(a, b):
    rows, inner, columns = len(a), len(b), len(b[0])
    c = [[0.0 for _ in range(columns)] for _ in range(rows)]
    for i in range(rows):  #~ matmul
        for j in range(columns):
            acc = 0.0
            for k in range(inner):
                acc += a[i][k] * b[k][j]
            c[i][j] = acc
    return c


def multiply_ikj(a, b, c):
    for i in range(N):  #~ matmul
        for k in range(N):
            aik = a[i, k]
            for j in range(N):
                c[i, j] += aik * b[k, j]


def multiply_fixed(a, b, c):
    for i in range(512):  #~ matmul
        for j in range(512):
            for k in range(512):
                c[i, j] = c[i, j] + a[i, k] * b[k, j]


def multiply_comprehension(a, b):
    return [[sum(x * y for x, y in zip(row, column)) for column in zip(*b)] for row in a]  #~ matmul


def apply(matrix, vector):
    result = [0.0] * len(matrix)
    for i in range(len(matrix)):  #~ gemv
        for j in range(len(vector)):
            result[i] += matrix[i][j] * vector[j]
    return result


def apply_comprehension(matrix, vector):
    return [sum(x * y for x, y in zip(row, vector)) for row in matrix]  #~ gemv


def convolve(image, kernel, out):
    for y in range(len(image) - 2):  #~ conv2d
        for x in range(len(image[0]) - 2):
            acc = 0.0
            for dy in range(3):
                for dx in range(3):
                    acc += image[y + dy][x + dx] * kernel[dy][dx]
            out[y][x] = acc


def total(values):
    s = 0.0
    for v in values:  #~ sum
        s += v
    return s


def total_indexed(values):
    s = 0
    for i in range(len(values)):  #~ sum
        s += values[i]
    return s


def total_enumerated(values):
    s = 0.0
    for i, v in enumerate(values):  #~ sum
        s = s + v
    return s


def dot(a, b):
    s = 0.0
    for i in range(len(a)):  #~ dot
        s += a[i] * b[i]
    return s


def dot_zip(a, b):
    s = 0.0
    for x, y in zip(a, b):  #~ dot
        s += x * y
    return s


def length(v):
    s = 0.0
    for x in v:  #~ dot
        s += x ** 2
    return math.sqrt(s)


def manhattan(v):
    s = 0.0
    for x in v:  #~ norm1
        s += abs(x)
    return s


def largest(values):
    best = values[0]
    for v in values:  #~ max
        if v > best:
            best = v
    return best


def smallest(values):
    best = math.inf
    for v in values:  #~ min
        best = min(best, v)
    return best


def position(values):
    best, where = values[0], 0
    for i in range(len(values)):  #~ argmax
        if values[i] > best:
            best = values[i]
            where = i
    return where


def add(a, b, out):
    for i in range(len(a)):  #~ add
        out[i] = a[i] + b[i]


def scale(a, alpha):
    for i in range(len(a)):  #~ scale
        a[i] *= alpha


def scaled(a, alpha, out):
    for i in range(1024):  #~ scale
        out[i] = alpha * a[i]


def axpy(alpha, x, y):
    for i in range(len(x)):  #~ axpy
        y[i] += alpha * x[i]


def roots(a, out):
    for i, v in enumerate(a):  #~ sqrt
        out[i] = math.sqrt(v)


def rectify(a):
    for i in range(len(a)):  #~ relu
        a[i] = max(0.0, a[i])


def transpose(a, out):
    for i in range(len(a)):  #~ transpose
        for j in range(len(a[0])):
            out[j][i] = a[i][j]


def matrix_add(a, b, out):
    for i in range(len(a)):  #~ add
        for j in range(len(a[0])):
            out[i][j] = a[i][j] + b[i][j]


def appended(a, b):
    out = []
    for x, y in zip(a, b):  #~ mul
        out.append(x * y)
    return out


# What follows looks like it and is not.

def count(values):
    n = 0
    for _ in values:  #~!
        n += 1
    return n


def count_if(values):
    n = 0
    for v in values:  #~!
        if v:
            n += 1
    return n


def characters(lines):
    n = 0
    for line in lines:  #~!
        n += len(line)
    return n


def text(parts):
    s = ""
    for part in parts:  #~!
        s += part
    return s


def flatten(lists):
    out = []
    for items in lists:  #~!
        out += items
    return out


def sizes(files):
    total_size = 0
    for f in files:  #~!
        total_size += f.stat().st_size
    return total_size


def histogram(values):
    bins = {}
    for v in values:  #~!
        bins[v] = bins.get(v, 0) + 1
    return bins


def labels(names, out):
    for i in range(len(names)):  #~!
        out[i] = names[i] + ".txt"


def prefixed(names):
    out = []
    for name in names:  #~!
        out.append("x_" + name)
    return out


def triple(a, b, c):
    for x in a:  #~!
        for y in b:
            for z in c:
                print(x, y, z)


def search(cubes, wanted):
    for i in range(len(cubes)):  #~!
        for j in range(len(cubes)):
            for k in range(len(cubes)):
                if cubes[i][j][k] == wanted:
                    return i, j, k
    return None


def fibonacci(n):
    a, b = 0, 1
    for _ in range(n):  #~!
        a, b = b, a + b
    return a


def running(values):
    out = [0.0] * len(values)
    for i in range(1, len(values)):  #~!
        out[i] = out[i - 1] + values[i]
    return out


def newest(versions):
    best = None
    for v in versions:  #~!
        if best is None or v.date > best.date:
            best = v
    return best


def retries(connect):
    for attempt in range(5):  #~!
        delay = 2 ** attempt * 0.1
        if connect(delay):
            return True
    return False


def powers(base, n):
    value = 1
    for _ in range(n):  #~!
        value *= base
    return value
