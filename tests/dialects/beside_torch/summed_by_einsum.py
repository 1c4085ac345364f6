# An einsum of one operand that is not of floats is its sum, in whole numbers; what it does not sum keeps its dtype.
import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x, y):
        mask = y > 0
        pixels = (y.abs() * 100).to(torch.uint8)
        equation = "ij->j"
        scale = torch.einsum("ij->i", mask)[:, None] + torch.einsum(equation, pixels) - 300
        diagonal = torch.einsum("ii->i", mask[:, :3]).to(x.dtype)
        counts = torch.einsum("ij->j", x > 0) + torch.einsum("ij->j", [x < y]) + torch.einsum("ij->j", (mask,))
        scale = scale + counts + torch.einsum("ij,ij->i", [x, y])[:, None]
        return x * scale + torch.einsum("ij", [pixels]) + (~torch.einsum("ij -> ji", mask)).sum(0)[:, None] + diagonal[:, None]
