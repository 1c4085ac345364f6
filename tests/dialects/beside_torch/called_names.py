import torch
import torch.nn.functional as F
from torch import nn
from functools import partial

import numpy as np


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        betas = torch.linspace(0.1, 0.5, 4, dtype=torch.float64)
        keep = lambda name, val: self.register_buffer(name, val.to(torch.float64))
        keep("betas", betas)
        keep("alphas", torch.cumprod(1.0 - betas, dim=0))
        to_torch = partial(torch.tensor, dtype=torch.float64)
        register = partial(self.register_buffer, persistent=False)
        register("gammas", to_torch(np.linspace(0.1, 0.5, 4)))
        add = self.add_module
        add("fc0", nn.Linear(4, 4))
        add("fc1", nn.Linear(4, 4))
        zero = lambda m: nn.init.ones_(m.weight)
        zero(self.fc1)

    def forward(self, x, y):
        up = partial(F.interpolate, scale_factor=2, mode="nearest")
        x = self.fc1(x * self.betas + self.alphas) * self.gammas
        return up(self.fc0(x)[None]) + up(y[None])
