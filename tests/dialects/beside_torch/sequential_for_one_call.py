# A Sequential that stands for one call is what its layers make, one after the other.
from torch import nn


def kept_layers(layers, p):
    if p == 1:
        return layers
    drops = [False, True, False]
    layers = [layer for (layer, drop) in zip(layers, drops) if not drop]
    return layers


class Net(nn.Module):
    def __init__(self, p=0.5):
        super().__init__()
        self.p = p
        self.layers = nn.ModuleList([nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4)])

    def forward(self, x, y):
        layers = self.layers if self.training else kept_layers(self.layers, self.p)
        h = nn.Sequential(*layers)(x + y)
        x = nn.Sequential(*self.layers[1:])(x + h)
        if y.shape[0] == 1:
            return nn.Sequential(
                *layers  # those that are kept
            )(y)
        return x * nn.Sequential(self.layers[0], nn.ReLU(), self.layers[2])(y)
