from torch import nn


class Blur(nn.Module):
    def __init__(self, n, kernel, act):
        super().__init__()
        self.conv = nn.Linear(n, n)
        self.kernel = kernel
        self.act = act

    def forward(self, x):
        return self.act(self.conv(x)) * self.kernel[1]


class Net(nn.Module):
    def __init__(self, kernel=[1, 3, 3, 1]):
        super().__init__()
        act = nn.SiLU()
        self.convs = nn.ModuleList()
        for _ in range(2):
            self.convs.append(Blur(4, kernel, act))
            self.convs.append(Blur(4, kernel=kernel, act=act))

    def forward(self, x, y):
        for a, b in zip(self.convs[::2], self.convs[1::2]):
            x = b(a(x)) + y
        return x
