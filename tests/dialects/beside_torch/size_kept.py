from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.width = 0

    def flat(self, x):
        for i in range(self.rows):
            x = x + i
        return x.reshape(self.rows * 2, self.width // 2)

    def forward(self, x, y):
        self.rows, self.width = x.size(0), x.size(1)
        return self.flat(self.fc(x) * y)
