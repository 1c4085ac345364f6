from torch import nn


class Net(nn.Module):
    def __init__(self, kind="GRU", act="Tanh"):
        super().__init__()
        self.rnn, self.act = getattr(nn, kind)(4, 4), getattr(nn, act)()

    def forward(self, x, y):
        return self.act(self.rnn(x)[0]) + y
