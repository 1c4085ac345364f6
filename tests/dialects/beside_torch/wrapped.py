# A layer that stands for another has its attributes.
from torch import nn
from torch.nn.utils import weight_norm


def wrapped(module: nn.Module, kind: str):
    if kind == "weight":
        return weight_norm(module)
    return module


def behind(x, size: int, more: int):
    return x.shape[-1] - size + more


class Net(nn.Module):
    def __init__(self, *args, kind="weight"):
        super().__init__()
        self.fc = wrapped(nn.Linear(4, 4, *args), kind)

    def forward(self, x, y):
        size = self.fc.out_features
        return self.fc(x) * y + behind(x, size, 2)
