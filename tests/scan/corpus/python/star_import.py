# SPDX-License-Identifier: MIT
"""Everything of a module: its names hide those of the language."""
from math import *
from numpy import *


def star_names(x):
    y = zeros(10)
    return dot(y, x)  #~ gemv


def star_shadow(log, x):
    return log(x)  #~!


def star_sum(x):
    return sum(x, axis=0)  #~ sum


def star_builtin(a, b):
    return max(a, b)  #~!


def own(x):
    def dot(y):
        return y

    return dot(x)  #~!
