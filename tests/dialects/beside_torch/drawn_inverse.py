# A buffer that is made of one that is drawn; a fill that asks whether there is a tensor.
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("order", torch.randperm(4))
        self.register_buffer("inverse", torch.argsort(self.order))
        self.fc = nn.Linear(4, 4)
        for m in self.modules():
            if isinstance(m, nn.Linear):
                if hasattr(m, "bias") and isinstance(m.bias, torch.Tensor):
                    nn.init.constant_(m.bias, 0)

    def forward(self, x, y):
        return self.fc(x[:, self.order])[:, self.inverse] + y
