# torch chooses by numbers before it does by arrays: the dim of the array stays where it stands.
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x, y):
        h = torch.stack([self.fc(x), y, x * y])
        j, cubes = torch.tensor([2, 0, 1]), torch.stack([h, h + 1])
        put = cubes.clone()
        for b in range(2):
            put[b, 0, :, j] = cubes[b, ..., [1, 2, 0], 0]
            put[b, :, :, j] -= h[..., :3] * 2
        put[..., j, :, 0] = x[:, :1]
        front = cubes[j[:2] % 2, :, 0], cubes[0, j], cubes[:, j, 0, j]
        return put, h[0, :, j], cubes[:, j, :, 0], h[0, ..., j], h[0, None, j], cubes[..., 1, :, j], front
