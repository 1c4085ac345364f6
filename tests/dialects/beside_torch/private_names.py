# Python calls `self.__fc` by another name in each class, and so does a checkpoint.
import torch
from torch import nn


class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.__fc = nn.Linear(4, 4)
        self.__scale = nn.Parameter(torch.full((4,), 2.0))
        nn.init.zeros_(self.__fc.bias)
        self.__norm = nn.BatchNorm1d(4)

    def forward(self, x):
        return self.__norm(self.__fc(x)) * self.__scale


class Net(Base):
    def __init__(self):
        super().__init__()
        self.__out = nn.Linear(4, 4)

    def forward(self, x, y):
        return self.__out(super().forward(x)) + y
