from torch import nn


MAP = {"a": nn.LayerNorm, "b": nn.RMSNorm}


class NormAct(nn.LayerNorm):
    def __init__(self, n, drop=None, act=None):
        super().__init__(n)
        self.fc = nn.Linear(n, n)

    def forward(self, x):
        return self.fc(super().forward(x))


MAP["c"] = NormAct


def get(norm):
    import functools
    kwargs = {}
    if isinstance(norm, functools.partial):
        norm = norm.func
    if isinstance(norm, str):
        layer = MAP[norm]
    else:
        layer = MAP.get(norm.__name__.lower(), None)
        if layer is None:
            layer = norm
    if kwargs:
        layer = functools.partial(layer, **kwargs)
    return layer


class Block(nn.Module):
    def __init__(self, n, norm="a", apply_norm=True, drop=None, norm_kwargs=None):
        super().__init__()
        norm_kwargs = norm_kwargs or {}
        self.fc = nn.Linear(n, n)
        if apply_norm:
            norm_act = get(norm)
            if drop:
                norm_kwargs["drop"] = drop
            self.bn = norm_act(n, **norm_kwargs)
        else:
            self.bn = nn.Sequential()
            if drop:
                self.bn.add_module("drop", drop())

    @property
    def in_channels(self):
        return self.fc.in_features

    def forward(self, x):
        x = self.fc(x)
        x = self.bn(x)
        aa = getattr(self, "aa", None)
        if aa is not None:
            x = self.aa(x)
        return x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = Block(4)
        self.b = Block(4, norm="c")
        self.c = Block(4, apply_norm=False)

    def forward(self, x):
        return self.c(self.b(self.a(x)))
