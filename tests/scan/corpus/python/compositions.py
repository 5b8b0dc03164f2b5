# SPDX-License-Identifier: MIT
"""Several steps that are one operation."""
import numpy
import numpy as np
import torch
from scipy import ndimage, signal, special
from scipy.signal import convolve2d as conv
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA


def softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)  #~ softmax


def softmax_calls(x):
    shifted = np.exp(x - x.max())
    return shifted / np.sum(shifted)  #~ softmax


def softmax_line(x):
    return np.exp(x) / np.exp(x).sum()  #~ softmax


def softmax_sum(x):
    return np.exp(x) / np.sum(np.exp(x), axis=0)  #~ softmax


def softmax_library(x):
    return special.softmax(x, axis=1)  #~ softmax


def sigmoid(x):
    return 1 / (1 + np.exp(-x))  #~ sigmoid


def sigmoid_library(x):
    return special.expit(x)  #~ sigmoid


def relu(x):
    return np.maximum(x, 0)  #~ relu


def relu_first(x):
    return np.maximum(0.0, x)  #~ relu


def gelu(x):
    x = np.asarray(x)
    return 0.5 * x * (1 + np.tanh(0.7978845608 * (x + 0.044715 * x ** 3)))  #~ gelu


def layer_norm(x, gain, bias, eps=1e-5):
    mean = x.mean(axis=-1, keepdims=True)
    var = x.var(axis=-1, keepdims=True)
    return gain * (x - mean) / np.sqrt(var + eps) + bias  #~ layernorm


def layer_norm_line(x):
    x = np.asarray(x)
    return (x - np.mean(x, axis=-1)) / np.sqrt(np.var(x, axis=-1) + 1e-6)  #~ layernorm


def attention(q, k, v):
    scores = np.matmul(q, k.T) / np.sqrt(k.shape[-1])
    return softmax(scores) @ v  #~ attention


def filtered(image, kernel):
    return conv(image, kernel, mode="same")  #~ conv2d


def correlated(image, kernel):
    return signal.correlate2d(image, kernel)  #~ conv2d


def smoothed(image, kernel):
    return ndimage.convolve(image, kernel)  #~ conv2d


def one_dimension(a, b):
    return signal.lfilter(a, 1.0, b)  #~!


def clusters(points):
    model = KMeans(n_clusters=8)  #~!
    reduced = PCA(n_components=2).fit_transform(points)  #~!
    return model.fit_predict(reduced)  #~!


def whole_name(x):
    return numpy.linalg.norm(x)  #~ norm2


def torch_norm(x):
    return torch.norm(x)  #~ norm2


def mean_square(a, b):
    a = np.asarray(a)
    return np.mean((a - b) ** 2)  #~ mean sub


def larger(a, b):
    return np.maximum(a, b)  #~!


def chosen(mask, a, b):
    return np.where(mask, a, b)  #~!


def stacked(a, b):
    return np.concatenate([a, b])  #~!


def solved(a, b):
    return np.linalg.solve(a, b)  #~ solve


def ordered(a):
    return np.sort(a)  #~!


def distance(a, b):
    return np.linalg.norm(np.subtract(a, b))  #~ norm2 sub


def dense(x, weights, bias):
    return np.dot(x, weights) + bias  #~ matmul add


def dense_relu(x, weights):
    hidden = np.maximum(x @ weights, 0)  #~ relu matmul
    return hidden.sum()  #~ sum


def sums_over_letters(a, b, x, y):
    square = np.einsum("ij,jk->ik", a, b)  #~ matmul
    gram = np.einsum("ni,nj->ij", a, a)  #~ matmul
    many = np.einsum("bij,bjk->bik", a, b)  #~ batched_matmul
    image = np.einsum("ij,j->i", a, x)  #~ gemv
    inner = np.einsum("i,i->", x, y)  #~ dot
    trace = np.einsum("ii->", a)  #~!
    outer = np.einsum("i,j->ij", x, y)  #~!
    return square, gram, many, image, inner, trace, outer
