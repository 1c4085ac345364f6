import torch
import torch.nn.functional as F
from torch import nn


def fused():
    return hasattr(F, "scaled_dot_product_attention")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.flash = hasattr(torch.nn.functional, "scaled_dot_product_attention")
        self.flags = [hasattr(torch, "no_such_thing"), fused()]
        self.fc = nn.Linear(4, 4)

    def forward(self, x, y):
        if self.flash and self.flags[1] and not self.flags[0]:
            return self.fc(x)
        return y
