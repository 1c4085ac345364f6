from torch import nn


class Layer(nn.Module):
    def __init__(self, d, head):
        super().__init__()
        self.d, self.head = d, head
        self.fc = nn.Linear(d, d)

    def forward(self, x):
        return self.fc(x), x.mean()

class Decoder(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.d = layers[0].d
        self.head = layers[0].head
        self.layers = nn.ModuleList(layers)
        self.pred = nn.Linear(self.d, self.d)

    def forward(self, x):
        total = 0
        for i, layer in enumerate(self.layers):
            x, mean = layer(x)
            total = total + mean
        return self.pred(x) * total + self.head

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.decoder = Decoder([Layer(4, 2) for _ in range(2)])

    def forward(self, x, y):
        return self.decoder(x) + y
