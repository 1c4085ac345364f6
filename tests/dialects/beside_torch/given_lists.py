# Lists of modules that are given, kept and taken apart.
from torch import nn


class Att(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.q = nn.Linear(n, n)
        self.drop = nn.Dropout(0.0)

    def forward(self, x, y):
        return self.drop(self.q(x)) * y


class Layer(nn.Module):
    def __init__(self, attention, n):
        super().__init__()
        self.attention = attention
        self.norm = nn.LayerNorm(n)

    def forward(self, x, y):
        return self.norm(x + self.attention(x, y))


class Encoder(nn.Module):
    def __init__(self, layers, conv_layers=None, norm=None):
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.convs = nn.ModuleList(conv_layers) if conv_layers is not None else None
        self.norm = norm

    def forward(self, x, y):
        if self.convs is not None:
            for layer, conv in zip(self.layers, self.convs):
                x = conv(layer(x, y))
            x = self.layers[-1](x, y)
        else:
            for layer in self.layers:
                x = layer(x, y)
        if self.norm is not None:
            x = self.norm(x)
        return x


class Net(nn.Module):
    def __init__(self, n=4, distil=True):
        super().__init__()
        self.a = Encoder([Layer(Att(n), n) for _ in range(2)], [nn.Linear(n, n)] if distil else None, norm=nn.LayerNorm(n))
        self.b = Encoder([Layer(Att(n), n), Layer(Att(n), n)])

    def forward(self, x, y):
        return self.b(self.a(x, y), y)
