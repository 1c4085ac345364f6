from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.ins = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)])
        self.outs = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)])
        self.outs[0].weight = self.ins[1].weight
        self.outs[1].weight = self.ins[0].weight

    def forward(self, x, y):
        return self.outs[0](self.ins[0](x)) * self.outs[1](self.ins[1](y)) + self.outs[-1].weight[:3]
