from functools import partial

import torch
from torch import nn


class Scale(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.g = nn.Parameter(torch.empty(n))
        self.reset_parameters()

    def reset_parameters(self):
        nn.init.constant_(self.g, 0.5)

    def forward(self, x):
        return x * self.g


def init_weights(module, name="", head_bias=0.0, needs_reset=True):
    if isinstance(module, nn.Linear):
        if name.startswith("head"):
            nn.init.zeros_(module.weight)
            nn.init.constant_(module.bias, head_bias)
        else:
            nn.init.trunc_normal_(module.weight, std=0.02)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
    elif hasattr(module, "init_weights"):
        module.init_weights()
    elif needs_reset and hasattr(module, "reset_parameters"):
        module.reset_parameters()


def named_apply(fn, module, name="", depth_first=True, include_root=False):
    if not depth_first and include_root:
        fn(module=module, name=name)
    for child_name, child_module in module.named_children():
        child_name = ".".join((name, child_name)) if name else child_name
        named_apply(fn=fn, module=child_module, name=child_name, depth_first=depth_first, include_root=True)
    if depth_first and include_root:
        fn(module=module, name=name)
    return module


def get_init(mode, head_bias, needs_reset=True):
    if "x" in mode:
        return partial(init_weights, head_bias=head_bias, needs_reset=needs_reset)
    else:
        return partial(init_weights, needs_reset=needs_reset)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.s = Scale(4)
        self.norm = nn.BatchNorm1d(4)
        self.head = nn.Linear(4, 4)
        self.init_weights()

    def init_weights(self, mode=""):
        head_bias = -1.0 if "nlhb" in mode else 0.0
        named_apply(get_init(mode, head_bias, needs_reset=False), self)

    def forward(self, x):
        return self.head(self.norm(self.s(x)))
