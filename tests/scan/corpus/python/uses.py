"""What names are, told by how they are used."""
import numpy as np


class Filter:
    def __init__(self, gain, state):
        self.gain = gain
        self.state = state

    def update(self, seen):
        size = self.state.shape[0]
        error = seen - self.state  #~ sub
        return error / size  #~ scale

    def total(self):
        return self.state.sum()  #~ sum


def centred(points):
    middle = points[:, 0].mean()  #~ mean
    return points - middle  #~ sub


def steps(knots):
    return knots[1:] - knots[:-1]  #~ sub


def project(a, b):
    return a.dot(b)  #~ matmul


def totals(table):
    return table["x"].sum(axis=0)  #~ sum


def length(v):
    size = np.linalg.norm(v)  #~ norm2
    return v / size  #~ scale


def log_of(share):
    if share < 0.0:
        raise ValueError(share)
    return np.log(share)  #~!


def grouped(frame):
    return frame.groupby("key"), frame.sum(), frame.dot(frame)  #~!


def doubled(n):
    return np.ones(n) * 2  #~ scale


def used(n):
    return doubled(n) + doubled(n)  #~ add


def draw(generator, n):
    return 0.5 * generator.randn(n)  #~ scale


def chance(generator):
    return np.log(generator.rand())  #~!
