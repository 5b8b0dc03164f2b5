# SPDX-License-Identifier: MIT
"""A small model, as people write them."""
from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor
from torch.nn import functional, Linear
from torch.nn.functional import gelu as activation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    _example = torch.ones(3).sum()  #~!


class Block(nn.Module):
    """Calls F.relu(self.conv(x)) on the way."""  #~!

    def __init__(self, channels: int):
        super().__init__()
        self.conv = nn.Conv2d(channels, 64, kernel_size=3)  #~ conv2d
        self.norm = nn.LayerNorm(512)  #~ layernorm
        self.fc = nn.Linear(512, 10)  #~!
        self.act = nn.ReLU()  #~ relu
        self.pool = nn.MaxPool2d(2)  #~ pooling
        self.attend = nn.MultiheadAttention(512, 8)  #~ attention
        self.weight = nn.Parameter(torch.randn(512, 512))

    def forward(self, x: Tensor) -> Tensor:
        x = F.relu(x)  #~ relu
        x = functional.max_pool2d(x, 2)  #~ pooling
        x = activation(x)  #~ gelu
        x = F.layer_norm(x, (512,))  #~ layernorm
        return x @ self.weight  #~ matmul

    def probabilities(self, x: torch.Tensor) -> torch.Tensor:
        return F.softmax(x, dim=-1)  #~ softmax


def convolve(image, kernel):
    return F.conv2d(image, kernel, padding=1)  #~ conv2d


def attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    weights = F.softmax(scores, dim=-1)
    return weights @ v  #~ attention


def attention_inline(q, k, v, depth):
    return torch.matmul(torch.softmax(q @ k.transpose(-2, -1) / depth ** 0.5, dim=-1), v)  #~ attention


def attention_fused(q, k, v):
    return F.scaled_dot_product_attention(q, k, v)  #~ attention


def batched(a, b):
    return torch.bmm(a, b)  #~ batched_matmul


def products(a, b):
    first = torch.mm(a, b)  #~ matmul
    second = torch.mv(a, b[0])  #~ gemv
    return first, second


def fixed_products():
    a = torch.randn(64, 128)
    b = torch.randn(128, 256)
    return torch.matmul(a, b)  #~ matmul


def batch_of_products():
    a = torch.randn(8, 64, 128)
    b = torch.randn(8, 128, 256)
    return a @ b  #~ batched_matmul


def loss(predicted: Tensor, wanted: Tensor):
    difference = predicted - wanted  #~ sub
    squared = difference * difference  #~ mul
    return squared.mean()  #~ mean


def gate(x):
    x = torch.as_tensor(x)
    return x * torch.sigmoid(x)  #~ mul sigmoid


def swap(x: torch.Tensor):
    y = x.clone()  #~ copy
    return y.t()  #~ transpose


def saturate(x: torch.Tensor):
    return x.clamp(0.0, 1.0)  #~ clamp


def views(x: Tensor):
    x = x.view(-1, 64)  #~!
    x = x.permute(1, 0)  #~!
    return x.unsqueeze(0).contiguous()  #~!


def state(model, path):
    torch.save(model.state_dict(), path)  #~!
    model.eval()  #~!
    return torch.load(path)  #~!


def step(optimizer, criterion, batch):
    optimizer.zero_grad()  #~!
    value = criterion(batch)  #~!
    value.backward()  #~!
    return value.item()  #~!


def chained():
    x = torch.rand(32, 64, dtype=torch.float64)
    return x.exp().sum(dim=1).log()  #~ exp sum log


def mean_of(model, batch):
    return model(batch).mean()  #~!


def parameter_count(model):
    return sum(p.numel() for p in model.parameters())  #~!
