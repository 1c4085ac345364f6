import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        begun = torch.Generator()
        self.register_buffer("zero", torch.randn(4, generator=begun) * 0.0)
        self.generator = torch.Generator(device="cpu")  # what only `sample` draws from
        self.fc = nn.Linear(4, 4)

    def forward(self, x, y):
        return self.fc(x) + y * self.zero + 0 * torch.rand(4, generator=self.generator)

    def sample(self, n, own=False):
        generator = None
        if own:
            generator = self.generator
        return torch.multinomial(self.zero + 1, n, generator=generator)
