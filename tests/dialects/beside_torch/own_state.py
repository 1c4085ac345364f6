# A state of the user's own keeps its name where nothing else is called so.
import torch
from torch import nn


class Actor(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.fc = nn.Linear(n, 4)
        self.drop = nn.Dropout(0.0)

    def forward(self, state, action=None):
        out = torch.tanh(self.drop(self.fc(state)))
        return out if action is None else out + action


class Critic(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.bn = nn.BatchNorm1d(n)
        self.fc = nn.Linear(n, 4)

    def forward(self, state, action):
        return self.fc(self.bn(state)) * action


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.actor, self.critic = Actor(4), Critic(4)
        self.nets = nn.ModuleList([Actor(4), Actor(4)])

    def forward(self, x, y):
        a = self.actor(state=x)
        for net in self.nets:
            a = a + net(x, action=y)
        return self.critic(x, a), self.value(state=y, net=self.actor)

    def value(self, state, net):
        return net(state, action=state)
