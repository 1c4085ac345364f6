import torch
from torch import nn


class Blur(nn.Module):
    def __init__(self, n, device=None):
        super().__init__()
        self.n = n
        self.register_buffer("filt", torch.empty(n, 4, device=device), persistent=False)
        self.reset_parameters()

    def reset_parameters(self):
        self._init_buffers()

    def _init_buffers(self):
        coeffs = torch.tensor([float(k) for k in range(4)])
        self.filt.copy_(coeffs.repeat(self.n, 1))

    def init_non_persistent_buffers(self):
        self._init_buffers()

    def forward(self, x):
        return x * self.filt


def init_weights(module, name="", needs_reset=True):
    if isinstance(module, nn.Linear):
        nn.init.trunc_normal_(module.weight, std=0.02)
        if module.bias is not None:
            nn.init.zeros_(module.bias)
    elif hasattr(module, "init_weights"):
        module.init_weights()
    elif needs_reset and hasattr(module, "reset_parameters"):
        module.reset_parameters()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blur = Blur(3)
        self.lin = nn.Linear(4, 4)
        self.apply(init_weights)

    def forward(self, x):
        return self.lin(self.blur(x))
