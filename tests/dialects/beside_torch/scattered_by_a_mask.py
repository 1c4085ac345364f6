# A step of which a mask keeps some places, as in the sums of a conditional random field.
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x, y):
        total = x[:, :2].clone()
        for i in range(2):
            step = torch.logsumexp(total.unsqueeze(2) + self.fc(y[:, :4]).view(3, 2, 2), 1)
            mask = (y[:, i] > 0).unsqueeze(1).expand(3, 2)
            total.masked_scatter_(mask, step.masked_select(mask))
        return total
