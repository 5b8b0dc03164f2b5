# SPDX-License-Identifier: MIT
"""Effects of an audio rack, picture filters, and the model that tunes them."""
import array
import cmath
import colorsys
import math
import struct
from typing import Callable, Optional

import numpy as np
import torch
from numpy import abs as magnitude, float32, sqrt as root
from torch import nn, Tensor, optim
from torch.utils.data import DataLoader

BLOCK = 512
CHANNELS = 2
_np = np


# ---- sound -------------------------------------------------------------------

class Gain:
    def __init__(self, decibels: float):
        self.amount = 10 ** (decibels / 20)  #~!

    def render(self, block: np.ndarray) -> np.ndarray:
        return block * self.amount  #~ scale


class Mixer:
    def __init__(self):
        self.bus = np.zeros((CHANNELS, BLOCK), dtype=np.float32)

    def add_track(self, track: np.ndarray, level: float) -> None:
        self.bus += level * track  #~ axpy 1024 f32

    def peak(self) -> float:
        return float(np.abs(self.bus).max())  #~ abs max

    def swap(self) -> None:
        self.bus, self.spare = self.spare, self.bus  #~!


def loudness(block: np.ndarray) -> float:
    return float(np.sqrt(np.mean(np.square(block))))  #~ mean mul


def distortion(block: np.ndarray, drive: float) -> np.ndarray:
    return np.tanh(drive * block)  #~ tanh scale


def ring(carrier: np.ndarray, voice: np.ndarray) -> np.ndarray:
    return np.multiply(carrier, voice)  #~ mul


def crossfade(a: np.ndarray, b: np.ndarray, share: float) -> np.ndarray:
    return (1 - share) * a + share * b  #~ axpy


def silence_gate(samples: list[float]) -> float:
    level = 0.0
    for sample in samples:  #~ norm1
        level += math.fabs(sample)
    return level / len(samples)


def to_floats(raw: bytes) -> list[float]:
    return [value / 32768.0 for (value,) in struct.iter_unpack("<h", raw)]  #~ scale


def clip_all(samples: array.array) -> None:
    for n in range(len(samples)):  #~ clamp
        samples[n] = max(-1.0, min(1.0, samples[n]))


def invert(samples: list[float]) -> list[float]:
    return [-s for s in samples]  #~ neg


def convolve_kernel(block, taps):
    return _np.convolve(block, taps)  #~!


def spectrum(block: np.ndarray):
    bins = np.fft.rfft(block)  #~!
    return magnitude(bins), root(block)  #~ abs sqrt


def echo(samples: list[float], delay: int) -> list[float]:
    for n in range(delay, len(samples)):  #~!
        samples[n] += 0.5 * samples[n - delay]
    return samples


def one_pole(samples: list[float], a: float) -> list[float]:
    state, out = 0.0, []
    for s in samples:  #~!
        state += a * (s - state)
        out.append(state)
    return out


def goertzel(samples: list[float], k: int) -> complex:
    turn = cmath.exp(-2j * cmath.pi * k / len(samples))  #~!
    s1 = s2 = 0.0
    for s in samples:  #~!
        s1, s2 = s + 2 * turn.real * s1 - s2, s1
    return s1 - s2 * turn  #~!


def note_frequency(note: int) -> float:
    return 440.0 * 2 ** ((note - 69) / 12)  #~!


def pan(angle: float) -> tuple[float, float]:
    return root(0.5 + angle / 2), root(0.5 - angle / 2)  #~!


# ---- pictures ----------------------------------------------------------------

def greyscale(picture: np.ndarray) -> np.ndarray:
    return picture @ np.array([0.299, 0.587, 0.114])  #~ gemv


def box_blur(picture, size: int):
    height, width = len(picture), len(picture[0])
    out = [[0.0] * (width - size + 1) for _ in range(height - size + 1)]
    for y in range(height - size + 1):  #~!
        for x in range(width - size + 1):
            cell = set()
            for dy in range(size):
                for dx in range(size):
                    cell.add(picture[y + dy][x + dx])
            out[y][x] = len(cell)
    return out


def shrink(picture, out):
    for y in range(len(out)):  #~ pooling
        for x in range(len(out[0])):
            brightest = picture[2 * y][2 * x]
            for dy in range(2):
                for dx in range(2):
                    brightest = max(brightest, picture[2 * y + dy][2 * x + dx])
            out[y][x] = brightest


def brighten(picture: list[list[float]], by: float):
    return [[pixel * by for pixel in row] for row in picture]  #~ scale


def quarter_turn(picture: list[list[float]]):
    height, width = len(picture), len(picture[0])
    return [[picture[y][x] for y in range(height)] for x in range(width)]  #~ transpose


def hues(colours: list[str]) -> list[float]:
    return [colorsys.rgb_to_hsv(*parse(c))[0] for c in colours]  #~!


def parse(colour: str) -> tuple[int, int, int]:
    value = int(colour.lstrip("#"), 16)
    return value >> 16, (value >> 8) & 255, value & 255  #~!


def stride_of(width: int, bits: int) -> int:
    return ((width * bits + 31) // 32) * 4  #~!


def palette(base: tuple, extra: tuple) -> tuple:
    return tuple(base) + tuple(extra)  #~!


# ---- the model ---------------------------------------------------------------

class Tuner(nn.Module):
    def __init__(self, inputs: int, heads: int = 4):
        super().__init__()
        self.query = nn.Linear(inputs, inputs)  #~!
        self.key = nn.Linear(inputs, inputs)  #~!
        self.conv = nn.Conv2d(1, 8, 3)  #~ conv2d
        self.pool = nn.MaxPool2d(2)  #~ pooling
        self.heads = heads
        self.scale = (inputs // heads) ** -0.5  #~!

    def forward(self, x: Tensor, mask: Optional[Tensor] = None) -> Tensor:
        q, k = self.query(x), self.key(x)
        scores = torch.matmul(q, k.transpose(-2, -1)) * self.scale
        weights = torch.softmax(scores, dim=-1)
        return torch.matmul(weights, x)  #~ attention


def huber(guess: Tensor, truth: Tensor) -> Tensor:
    error = torch.abs(guess - truth)  #~ abs sub
    return torch.clamp(error, max=1.0).mean()  #~ clamp mean


def train(model: Tuner, loader: DataLoader, rate: float) -> float:
    optimiser = optim.Adam(model.parameters(), lr=rate)
    running, seen = 0.0, 0
    for inputs, truth in loader:  #~!
        optimiser.zero_grad()
        loss = nn.functional.mse_loss(model(inputs), truth)  #~!
        loss.backward()
        optimiser.step()
        running += loss.item() * inputs.size(0)  #~!
        seen += inputs.size(0)
    return running / seen  #~!


def soft_update(target: nn.Module, source: nn.Module, tau: float) -> None:
    for old, new in zip(target.parameters(), source.parameters()):
        old.data.mul_(1.0 - tau)  #~ mul
        old.data.add_(new.data)  #~ add


def accuracy(logits: torch.Tensor, truth: torch.Tensor) -> float:
    guess = logits.argmax(dim=1)  #~ argmax
    return (guess == truth).sum().item() / len(truth)  #~!


def parameters_of(model: nn.Module) -> int:
    return sum(p.numel() for p in model.parameters())  #~!


def learning_rate(step: int, warmup: int) -> float:
    return min(step ** -0.5, step * warmup ** -1.5)  #~!


def chained(steps: list[Callable], value):
    for step in steps:  #~!
        value = step(value)
    return value


def as_float(value: Tensor) -> float:
    return float32(value.item()) * 2.0  #~!
