import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(2, 4))
        self.register_buffer("var", torch.ones(2, 4))
        self.weight = nn.Parameter(torch.ones(2, 4))

    def forward(self, x, y, step=1):
        x = F.batch_norm(x, self.mean[step], self.var[step], self.weight[step], training=True)
        return F.batch_norm(x, self.mean[0], self.var[0], training=self.training) * y
