import torch
import torch.nn as nn

INPUTS = "f32[3,2]"


class Bias(nn.Module):
    def __init__(self, n, heads=2):
        super().__init__()
        self.n = n
        self.table = nn.Parameter(torch.empty(n, heads))
        self.register_buffer("index", torch.empty(n, dtype=torch.long), persistent=False)
        self.cache = {}
        # initial values
        self.reset_parameters(1.5)

    def reset_parameters(self, value, other=2):
        """Give initial values."""
        nn.init.constant_(self.table, value)
        self._init_buffers()

    def _places(self):
        return torch.arange(self.n).flip(0)

    def _init_buffers(self):
        self.index.copy_(self._places())
        self.cache = {}

    def train(self, mode=True):
        super().train(mode)
        return self

    def forward(self, x):
        return x + self.table[self.index]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.bias = Bias(3)

    def forward(self, x):
        return self.bias(x)
