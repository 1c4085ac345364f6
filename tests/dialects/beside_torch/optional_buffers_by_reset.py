import torch
import torch.nn.functional as F
from torch import nn


class Attn(nn.Module):
    def __init__(self, n, qkv_bias=True, window=None):
        super().__init__()
        self.n = n
        self.qkv = nn.Linear(n, n * 3, bias=False)
        if qkv_bias:
            self.q_bias = nn.Parameter(torch.empty(n))
            self.register_buffer("k_bias", torch.empty(n), persistent=False)
            self.v_bias = nn.Parameter(torch.empty(n))
        else:
            self.q_bias = None
            self.k_bias = None
            self.v_bias = None
        if window:
            self.window = window
            self.table = nn.Parameter(torch.empty(window, n))
            self.register_buffer("index", torch.empty((window,), dtype=torch.long), persistent=False)
        else:
            self.window = None
            self.table = None
            self.index = None
        self.reset_parameters()

    def forward(self, x):
        if self.q_bias is None:
            qkv = self.qkv(x)
        else:
            bias = torch.cat((self.q_bias, self.k_bias, self.v_bias))
            qkv = F.linear(x, weight=self.qkv.weight, bias=bias)
        if self.table is not None:
            qkv = qkv + self.table[self.index.view(-1)].sum()
        return qkv

    def reset_parameters(self):
        if self.q_bias is not None:
            nn.init.zeros_(self.q_bias)
            nn.init.zeros_(self.v_bias)
        if self.table is not None:
            nn.init.zeros_(self.table)
        self._init_buffers()

    def _init_buffers(self):
        if self.k_bias is not None:
            self.k_bias.zero_()
        if self.index is not None:
            self.index.copy_(torch.arange(self.window, device=self.index.device))

    def init_non_persistent_buffers(self):
        self._init_buffers()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = Attn(4)
        self.b = Attn(4, window=3)
        self.c = Attn(4, False)

    def forward(self, x):
        return self.a(x) + self.b(x) + self.c(x)
