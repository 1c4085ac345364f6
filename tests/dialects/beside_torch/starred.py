import torch
from torch.nn import *
from torch.nn.functional import *


class Net(Module):
    def __init__(self):
        super(Net, self).__init__()
        self.net = Sequential(Linear(4, 4), ReLU())
        self.scale = Parameter(torch.ones(4))

    def forward(self, x, y):
        return softmax(self.net(x), dim=1) * self.scale + y
