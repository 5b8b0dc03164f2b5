# SPDX-License-Identifier: MIT
"""Sines and cosines, of arrays and of single angles."""
import numpy as np


def sphere(lon: np.ndarray, lat: np.ndarray):
    x = np.cos(lon[:, np.newaxis])  #~ cos
    y = np.sin(lat)  #~ sin
    return x, y


def growth(rates: np.ndarray):
    return np.log1p(rates)  #~ log1p


def rotation(angle):
    angle = np.asarray(angle)
    return np.array([
        [np.cos(-angle[0]), -np.sin(-angle[0])],  #~!
        [np.sin(angle[0]), np.cos(angle[0])],  #~!
    ])


def heading(yaw, speed):
    return speed * np.cos(yaw)  #~!
