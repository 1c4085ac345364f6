# First values by the names of what is saved.
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(3, 3, 1, bias=False)
        self.bn = nn.BatchNorm1d(4)
        self.fc = nn.Linear(4, 4)
        for key in self.state_dict():
            if key.split(".")[-1] == "weight":
                if "conv" in key:
                    nn.init.kaiming_normal_(self.state_dict()[key], mode="fan_out")
                if "bn" in key:
                    self.state_dict()[key][...] = 2
            elif key.split(".")[-1] == "bias":
                self.state_dict()[key][...] = 0

    def forward(self, x, y):
        return self.fc(self.bn(self.conv(x))) * y
