# A property whose setter calls a method of the model, while that is built.
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self._scale, self.doubled = 1.0, 2.0
        self.scale = 3.0

    @property
    def scale(self):
        return self._scale

    @scale.setter
    def scale(self, value):
        self._scale = value
        self.doubled = self.twice(value)

    def twice(self, value):
        return 2 * value

    def forward(self, x, y):
        return self.fc(x) * self.scale + y * self.doubled
