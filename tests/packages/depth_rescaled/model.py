import math

import torch
import torch.nn as nn

INPUTS = "f32[2,3]"


class Attn(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.proj = nn.Linear(d, d)

    def forward(self, x):
        return self.proj(x)


class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.attn = Attn(d)
        self.norm1 = nn.LayerNorm(d)
        self.register_buffer("mask", None, persistent=False)
        self.reset_parameters()

    def reset_parameters(self):
        device = self.norm1.weight.device
        dtype = self.norm1.weight.dtype
        self.register_buffer("mask", self.get_mask(device=device, dtype=dtype), persistent=False)

    def get_mask(self, device=None, dtype=None):
        return torch.full((3,), 0.5, device=device, dtype=dtype)

    def forward(self, x):
        if self.mask is not None:
            x = x * self.mask
        return self.norm1(self.attn(x))


class Net(nn.Module):
    def __init__(self, d=3, use_abs=True, fix=True):
        super().__init__()
        self.pos = nn.Parameter(torch.zeros(1, d)) if use_abs else None
        self.blocks = nn.ModuleList([Block(d) for _ in range(2)])
        self.init_weights()
        if fix:
            self.fix_init_weight()

    def init_weights(self):
        if self.pos is not None:
            nn.init.normal_(self.pos)
        for m in self.modules():
            if isinstance(m, nn.Linear):
                nn.init.normal_(m.weight, std=2.0)

    def fix_init_weight(self):
        def rescale(param, layer_id):
            param.div_(math.sqrt(2.0 * layer_id))

        for layer_id, layer in enumerate(self.blocks):
            rescale(layer.attn.proj.weight.data, layer_id + 1)

    def forward(self, x):
        for b in self.blocks:
            x = b(x)
        return x + self.pos
