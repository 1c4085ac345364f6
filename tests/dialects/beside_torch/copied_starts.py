# Modules that begin with the values of others, which are built in the same words.
from torch import nn


class Encoder(nn.Module):
    def __init__(self, out):
        super().__init__()
        self.bn = nn.BatchNorm1d(4)
        self.fc = nn.Linear(4, out)

    def forward(self, x):
        return self.fc(self.bn(x))


class Net(nn.Module):
    def __init__(self, base=Encoder, mlp=True):
        super().__init__()
        self.q = base(4)
        self.k = base(4)
        if mlp:
            width = self.q.fc.weight.shape[1]
            self.q.fc = nn.Sequential(nn.Linear(width, width), nn.Tanh(), self.q.fc)
            self.k.fc = nn.Sequential(nn.Linear(width, width), nn.Tanh(), self.k.fc)
        for q, k in zip(self.q.parameters(), self.k.parameters()):
            k.data.copy_(q.data)
        self.target = nn.Linear(4, 4)
        self.online = nn.Linear(4, 4)
        self.target.load_state_dict(self.online.state_dict())

    def forward(self, x, y):
        return self.q(x) * self.k(y) + self.online(x) * self.target(x)
