from torch import nn


class Net(nn.Module):
    def forward(self, x, y):
        for j in range(4):
            if y[0, j] > 0.5:
                x = x + j
        return x
