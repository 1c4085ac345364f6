import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(4, dtype=torch.float16))
        self.register_buffer("seen", torch.zeros(4, dtype=torch.uint8))

    def forward(self, x, y):
        self.mean += x.mean(0).detach() / 3
        self.mean.mul_(0.5).add_(y[0].detach(), alpha=0.5)
        self.seen += (x > 0).sum(0) + 130
        kept = torch.zeros(4, dtype=torch.bfloat16)
        kept += y.mean(0)
        kept.mul_(1 + x[0] / 7)
        kept *= 2
        return self.mean.float() * y + self.seen + kept.double()
