# Arrays that are tied before all modules are begun, and a model that is begun by what holds it.
from torch import nn


class Language(nn.Module):
    def __init__(self, size=4):
        super().__init__()
        self.words = nn.Embedding(7, size)
        self.out = nn.Linear(size, 7)
        self.out.weight = self.words.weight
        self.apply(self.begin)

    def begin(self, m):
        if isinstance(m, nn.Linear):
            nn.init.normal_(m.weight, std=0.02)
            if m.bias is not None:
                nn.init.zeros_(m.bias)
        elif isinstance(m, nn.Embedding):
            m.weight.data.normal_(mean=0.0, std=0.02)

    def forward(self, ids):
        return self.out(self.words(ids))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = Language()
        for m in self.modules():
            if isinstance(m, nn.Linear):
                m.weight.data.mul_(0.5)

    def forward(self, x, y):
        return self.model((x > 0).long()).mean(1)[:, :4] * y
