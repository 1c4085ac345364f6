import torch
import torch.nn as nn
import torch.nn.functional as F

INPUTS = "f32[3,2,5,5]"


class ScaledConv(nn.Conv2d):
    def __init__(self, i, o, gamma=1.0):
        super().__init__(i, o, 3)
        self.gain = nn.Parameter(torch.full((self.out_channels, 1, 1, 1), 0.5))
        self.scale = gamma * self.weight[0].numel() ** -0.5
        self.n = self.weight.numel()

    def forward(self, x):
        return F.conv2d(x, self.weight * self.gain * self.scale, self.bias)


class Block(nn.Module):
    def __init__(self, d, norm_layer=nn.BatchNorm2d):
        super().__init__()
        self.conv = nn.Conv2d(d, d, 1)
        self.norm = norm_layer(d)
        self.pos = nn.Parameter(torch.zeros(d, 1, 1)) if d > 2 else None
        self.init_weights()

    def init_weights(self):
        if self.pos is not None:
            nn.init.normal_(self.pos, std=3.0)
        nn.init.constant_(self.norm.weight, 2.0)

    def forward(self, x):
        x = self.norm(self.conv(x))
        return x + self.pos if self.pos is not None else x


def init_weights(module):
    if isinstance(module, nn.BatchNorm2d):
        nn.init.zeros_(module.weight)
    elif isinstance(module, nn.Linear):
        nn.init.ones_(module.weight)
        module.reset_parameters()
    elif not isinstance(module, nn.Conv2d) and hasattr(module, "reset_parameters"):
        module.reset_parameters()
    elif hasattr(module, "init_weights"):
        module.init_weights()


class Net(nn.Module):
    def __init__(self, d=4, scale=0.1):
        super().__init__()
        self.stem = ScaledConv(2, 4)
        self.a = Block(d)
        self.norm = nn.GroupNorm(2, d)
        nn.init.ones_(self.norm.bias)
        self.fc = nn.Linear(3, 3)
        nn.init.ones_(self.fc.weight)
        self.fc.reset_parameters()
        self.apply(init_weights)

    def forward(self, x):
        return self.fc(self.norm(self.a(self.stem(x))))
