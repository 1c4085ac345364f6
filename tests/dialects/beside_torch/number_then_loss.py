from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.loss, self.hidden = 0, 0
        self.fc = nn.Linear(4, 4)

    def forward(self, x, y):
        h = self.fc(x)
        if y.sum() > 100:
            self.loss = 0
        else:
            self.loss = h.mean()
        self.hidden = (h * 2).mean(0)
        return h + self.loss + self.hidden
