import torch
import torch.nn as nn

INPUTS = "f32[2,3]"


def start(module, name):
    for child_name, child in module.named_children():
        start(child, child_name)
    if isinstance(module, nn.Linear):
        nn.init.normal_(module.weight, std=2.0)


class Net(nn.Module):
    def __init__(self, n=3):
        super().__init__()
        self.pos = nn.Parameter(torch.zeros(1, n))
        self.last = nn.Parameter(torch.zeros(1, n)) if n > 5 else None
        self.fc = nn.Linear(n, 40)
        self.init_weights()

    def init_weights(self):
        if self.pos is not None:
            nn.init.normal_(self.pos, std=0.5)
        if self.last is not None:
            nn.init.normal_(self.last)
        start(self, "")

    def forward(self, x):
        return self.fc(x + self.pos)
