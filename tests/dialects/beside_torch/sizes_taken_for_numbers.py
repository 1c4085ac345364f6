import torch
from torch import nn


class Builder:
    def __init__(self, se=None):
        self.se = se
        self.in_chs = 4
        self.features = []

    def make(self, ba, s2d=0):
        kind = ba.pop("kind")
        ba["in_chs"] = self.in_chs
        ratio = ba.pop("se_ratio", None)
        if ratio and self.se is not None:
            ratio /= ba.get("exp_ratio", 1.0)
            if s2d == 1:
                ratio /= 4
            ba["rd"] = ratio
        made = self.se(ba.pop("in_chs"), ba["rd"])
        self.in_chs = made.n
        return made

    def __call__(self, args):
        blocks = []
        current = 2
        for i, ba in enumerate(args):
            if i >= 1:
                ba["stride"] = 1
            if ba["stride"] > 1:
                current = current * ba["stride"]
            ba["exp_ratio"] /= 2
            block = self.make(ba, 0)
            blocks.append(block)
        return nn.Sequential(*blocks), current


class Se(nn.Module):
    def __init__(self, n, ratio):
        super().__init__()
        self.n = n
        self.fc = nn.Linear(n, int(n * ratio))
        self.out = nn.Linear(int(n * ratio), n)

    def forward(self, x):
        return x * torch.sigmoid(self.out(torch.relu(self.fc(x))))


def decode(text):
    kind, *ops = text.split("_")
    options = {}
    for op in ops:
        options[op[0]] = op[1:]
    return dict(kind=kind, se_ratio=float(options["r"]) if "r" in options else 0.0, exp_ratio=float(options["e"]), stride=int(options["s"]))


class Net(nn.Module):
    def __init__(self, args=None):
        super().__init__()
        args = args if args is not None else [decode(t) for t in ("ir_r1.0_e4_s2", "ir_r0.5_e2_s1")]
        self.block, self.n = Builder(Se)(args)

    def forward(self, x):
        return self.block(x) * self.n
