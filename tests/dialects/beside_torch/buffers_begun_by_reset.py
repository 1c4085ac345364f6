import torch
from torch import nn


class Attn(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.n = n
        self.qkv = nn.Linear(n, n, bias=False)
        self.q_bias = nn.Parameter(torch.empty(n))
        self.register_buffer("k_bias", torch.empty(n), persistent=False)
        self.table = nn.Parameter(torch.empty(n))
        self.reset_parameters()

    def reset_parameters(self):
        nn.init.zeros_(self.q_bias)
        nn.init.trunc_normal_(self.table, std=0.02)
        self._init_buffers()

    def _init_buffers(self):
        self.k_bias.copy_(torch.arange(self.n).float())

    def init_non_persistent_buffers(self):
        self._init_buffers()

    def forward(self, x):
        return self.qkv(x) + self.q_bias * self.table + self.k_bias


class Scale(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.g = nn.Parameter(torch.empty(n))
        self.reset_parameters()

    def reset_parameters(self):
        nn.init.constant_(self.g, 0.5)

    def forward(self, x):
        return x * self.g


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
        self.attn = Attn(4)
        self.s = Scale(4)
        self.norm = nn.LayerNorm(4)
        self.apply(init_weights)

    def forward(self, x):
        return self.norm(self.s(self.attn(x)))
