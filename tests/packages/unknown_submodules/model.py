import torch.nn as nn

INPUTS = "f32[3,4,5,5]"


def get_norm(n):
    return {"bn": nn.BatchNorm2d, "gn": nn.GroupNorm}[n]


class ConvNorm(nn.Module):
    def __init__(self, d, norm="bn"):
        super().__init__()
        self.conv = nn.Conv2d(d, d, 1)
        layer = get_norm(norm)
        self.bn = layer(d)

    def forward(self, x):
        return self.bn(self.conv(x))


class Head(nn.Module):
    def __init__(self, d, n):
        super().__init__()
        self.fc = nn.Linear(d, n) if n > 0 else nn.Identity()

    def forward(self, x):
        return self.fc(x)


class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.conv2 = ConvNorm(d)

    def zero_init_last(self):
        nn.init.zeros_(self.conv2.bn.weight)

    def forward(self, x):
        return x + self.conv2(x)


def _init_weights(module, name, zero_init_last=False):
    if isinstance(module, nn.Conv2d):
        nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
    elif zero_init_last and hasattr(module, "zero_init_last"):
        module.zero_init_last()


class Net(nn.Module):
    def __init__(self, d=4, scale=0.1):
        super().__init__()
        self.a = Block(d)
        self.b = Block(d)
        self.head = Head(d, 3)
        for n, m in self.named_modules():
            _init_weights(m, n, zero_init_last=True)
        for m in self.modules():
            if isinstance(m, Block):
                nn.init.constant_(m.conv2.bn.bias, 0.5)
        if isinstance(self.head.fc, nn.Linear):
            self.head.fc.weight.data.mul_(scale)
            self.head.fc.bias.data.mul_(scale)

    def forward(self, x):
        return self.head(self.b(self.a(x)).mean((2, 3)))
