from torch import nn


class Net(nn.Module):
    dims = [4, 4]
    kinds = ("a", "b")
    names = []
    scales = {}

    def __init__(self, scaled=False):
        super().__init__()
        self.dims = self.dims + [4]
        self.kinds = self.kinds + ("c",)
        self.names = ["fc", "fc"]
        if scaled:
            self.scales = {"fc": 2.0}
        self.fc = nn.Linear(4, 4)

    def forward(self, x, y):
        for name in self.names:
            x = getattr(self, name)(x) * self.scales.get(name, 0.5)
        return x + y * len(self.dims) + len(self.kinds)
