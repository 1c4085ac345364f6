from torch import nn


class Basic(nn.Module):
    def __init__(self, n, norm=nn.LayerNorm, drop=None):
        super().__init__()
        self.fc = nn.Linear(n, n)
        self.norm = norm(n)
        self.drop = drop() if drop is not None else nn.Identity()

    def forward(self, x):
        return self.drop(self.norm(self.fc(x)))


class Bottle(Basic):
    pass


def make_blocks(fns, sizes, n, **kwargs):
    stages = []
    for i, (fn, size) in enumerate(zip(fns, sizes)):
        blocks = []
        for j in range(size):
            blocks.append(fn(n, **kwargs))
        stages.append((f"layer{i}", nn.Sequential(*blocks)))
    return stages


class Res(nn.Module):
    def __init__(self, block, sizes, n=4, norm=nn.LayerNorm):
        super().__init__()
        if not isinstance(block, (list, tuple)):
            block = (block,) * len(sizes)
        for name, stage in make_blocks(block, sizes, n, norm=norm):
            self.add_module(name, stage)

    def forward(self, x):
        return self.layer1(self.layer0(x))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.r = Res(Basic, [1, 2])
        self.s = Res((Basic, Bottle), [1, 1])

    def forward(self, x):
        return self.r(x) + self.s(x)
