# SPDX-License-Identifier: MIT
"""The classifier of mlp.py in PyTorch, on the CPU."""
import torch
from amount import tell, times

torch.manual_seed(11)
model = torch.nn.Sequential(
    torch.nn.Linear(784, 512), torch.nn.ReLU(), torch.nn.Linear(512, 256),
    torch.nn.ReLU(), torch.nn.Linear(256, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
inputs = torch.randn(2048, 784)
labels = inputs[:, :10].abs().argmax(1)
losses = []
for step in times(250):
    rows = slice(step % 8 * 256, (step % 8 + 1) * 256)
    loss = torch.nn.functional.cross_entropy(model(inputs[rows]), labels[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
tell(losses[0], losses[-1])
