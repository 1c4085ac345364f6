import torch
from torch import nn
from dataclasses import dataclass
from functools import partial
from typing import Optional, Type


class Scale(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.w = nn.Parameter(torch.randn(d))

    def forward(self, x):
        return x * self.w


TABLE = {"drop": nn.Dropout, "norm": nn.LayerNorm, "scale": Scale}


class ConvNormAct(nn.Module):
    def __init__(self, i, o, act_layer=nn.ReLU, apply_act=True):
        super().__init__()
        self.c = nn.Linear(i, o)
        self.act = act_layer() if apply_act else nn.Identity()

    def forward(self, x):
        return self.act(self.c(x))


@dataclass
class LayerFn:
    conv_norm_act: Type[nn.Module] = ConvNormAct
    act: Type[nn.Module] = nn.ReLU
    norm: Type[nn.Module] = Scale
    attn: Optional[Type[nn.Module]] = None


def get_layer_fns(tanh):
    act = nn.Tanh if tanh else nn.ReLU
    norm = TABLE["norm" if tanh else "norm"]
    conv_norm_act = partial(ConvNormAct, act_layer=act)
    return LayerFn(conv_norm_act=conv_norm_act, act=act, norm=norm)


class Block(nn.Module):
    def __init__(self, i, o, layers: Optional[LayerFn] = None, **kwargs):
        super().__init__()
        layers = layers or LayerFn()
        self.conv1 = layers.conv_norm_act(i, o)
        self.conv2 = layers.conv_norm_act(o, o, apply_act=False)
        self.act = layers.act()
        self.norm = layers.norm(o)

    def forward(self, x):
        return self.norm(self.act(self.conv2(self.conv1(x))))


def create_block(block, **kwargs):
    return dict(block=Block)[block](**kwargs)


class Net(nn.Module):
    def __init__(self, tanh=True):
        super().__init__()
        layers = get_layer_fns(tanh)
        self.stem = Block(4, 4, layers=layers)
        self.b = create_block("block", i=4, o=5, layers=layers)

    def forward(self, x):
        return self.b(self.stem(x))
