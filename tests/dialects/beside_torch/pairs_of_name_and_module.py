import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.c = nn.Linear(i, o)

    def forward(self, x):
        return torch.relu(self.c(x))


def make(block, sizes):
    stages = []
    info = []
    i = 4
    for k, s in enumerate(sizes):
        blocks = []
        for j in range(2):
            blocks.append(block(i, s))
            i = s
        stages.append((f"layer{k + 1}", nn.Sequential(*blocks)))
        info.append(dict(n=s, m=f"layer{k+1}"))
    return stages, info


class Net(nn.Module):
    def __init__(self, block=Block):
        super().__init__()
        self.info = []
        stages, info = make(block, [4, 5, 4])
        for stage in stages:
            self.add_module(*stage)
        self.info.extend(info)

    def forward(self, x):
        return self.layer3(self.layer2(self.layer1(x)))
