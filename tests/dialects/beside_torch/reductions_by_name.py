# Which method of a tensor it is only the run tells; it takes torch's arguments.
from torch import nn


class Net(nn.Module):
    def __init__(self, reduction="mean"):
        super().__init__()
        self.reduction = reduction
        self.fc = nn.Linear(4, 4)

    def forward(self, x, y):
        h, other = self.fc(x), "amax" if x.ndim > 1 else "amin"
        return getattr(h, self.reduction)(dim=1, keepdim=True) * getattr(h, other)(0) + y
