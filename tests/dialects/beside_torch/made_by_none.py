from torch import nn


class Embed(nn.Module):
    def __init__(self, dim, norm_layer=None, act=None):
        super().__init__()
        self.proj = nn.Linear(dim, dim)
        if norm_layer is not None:
            self.norm = norm_layer(dim)
        else:
            self.norm = None
        self.act = act() if act is not None else None

    def forward(self, x):
        x = self.proj(x)
        if self.norm is not None:
            x = self.norm(x)
        if self.act is not None:
            x = self.act(x)
        return x

class Net(nn.Module):
    def __init__(self, embed_layer=Embed):
        super().__init__()
        self.embed = embed_layer(4)

    def forward(self, x, y):
        return self.embed(x) + y
