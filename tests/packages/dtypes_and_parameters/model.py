
import torch
import torch.nn as nn

INPUTS = "f32[2,3]"
REPORTED = "parameter-write"


def pick(dtype: torch.dtype | None = None) -> torch.dtype:
    if dtype is None:
        dtype = torch.get_default_dtype()
    if dtype.is_floating_point and torch.finfo(dtype).bits < 32:
        return torch.float32
    return dtype


def pick2(dtype: torch.dtype):
    return dtype.is_complex


class Net(nn.Module):
    def __init__(self, n=3, dtype=None):
        super().__init__()
        self.norm = nn.LayerNorm(n)
        self.pos_embed = nn.Parameter(torch.randn(1, n))
        self.register_buffer("bands", torch.empty(n, dtype=pick(dtype)), persistent=False)
        self.register_buffer("mask", None, persistent=False)
        self.reset_parameters()

    def reset_parameters(self):
        self.bands.copy_(torch.arange(3))

    def resize(self, n):
        self.pos_embed = nn.Parameter(self.pos_embed[:, :n])

    def forward(self, x):
        if self.mask is not None:
            x = x * self.mask
        return self.norm(x + self.pos_embed) * self.bands
