# U-Nets: the parts of an encoder that is kept itself, in containers beside it.
from torch import nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.bn, self.relu = nn.Linear(4, 4), nn.BatchNorm1d(4), nn.ReLU()
        self.layer1 = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))
        self.layer2 = nn.Sequential(nn.Linear(4, 4), nn.Tanh())

    def forward(self, x):
        return self.layer2(self.layer1(self.relu(self.bn(self.conv(x)))))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder()
        self.first = nn.Sequential(self.encoder.conv, self.encoder.bn, self.encoder.relu)
        self.second = self.encoder.layer1
        self.third = nn.Sequential(self.encoder.layer2, nn.Linear(4, 4))
        self.stages = nn.ModuleList([self.encoder.layer1, nn.Linear(4, 4)])

    def forward(self, x, y):
        a = self.first(x)
        b = self.second(a)
        for stage in self.stages:
            y = stage(y)
        return self.third(b) + self.encoder(x) + y
