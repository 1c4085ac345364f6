"""Functions that make models and run none are the same in the output: no params, no state, no key."""

import pytest

from transpile import convert_source

from ..small_programs import HEAD

MODELS = """
class Backbone(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.bn = nn.BatchNorm1d(n)
        self.width = n

    def forward(self, x):
        return self.bn(x)


class Position(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.lin = nn.Linear(n, n)

    def forward(self, x):
        return self.lin(x)


class Joiner(nn.Sequential):
    def __init__(self, backbone, position):
        super().__init__(backbone, position)

    def forward(self, x):
        return self[1](self[0](x))


class Net(nn.Module):
    def __init__(self, backbone, n):
        super().__init__()
        self.backbone = backbone
        self.head = nn.Linear(n, n)

    def forward(self, x):
        return self.head(self.backbone(x))


def build_position(args):
    if args.learned:
        return Position(args.hidden)
    return nn.Identity()


def build_backbone(args):
    position = build_position(args)
    backbone = Backbone(args.hidden)
    model = Joiner(backbone, position)
    model.width = backbone.width
    return model


"""
FACTORIES = {
    "one": "def build(args):\n    backbone = build_backbone(args)\n    return Net(backbone, backbone.width)\n",
    "two, and a device": "def build(args):\n    device = torch.device(args.device)\n    backbone = build_backbone(args)\n    net = Net(backbone, backbone.width)\n    loss = nn.MSELoss()\n    return net, loss, device\n",
    "a static method": "class Maker(Net):\n    @staticmethod\n    def build(args):\n        backbone = Backbone(args.hidden)\n        return Maker(backbone, args.hidden)\n",
    "a class method": "class Maker(Net):\n    @classmethod\n    def build(cls, args):\n        backbone = Backbone(args.hidden)\n        return cls(backbone, args.hidden)\n",
    "a list": "def build(args):\n    nets = []\n    for n in args.sizes:\n        backbone = Backbone(n)\n        nets.append(Net(backbone, n))\n    return nets\n",
}


@pytest.mark.parametrize("name", FACTORIES)
def test_it_stays_as_it_is(name):
    result = convert_source(HEAD + MODELS + FACTORIES[name])
    assert not result.diagnostics, result.diagnostics
    assert "def build_backbone(args):" in result.code
    assert "params" not in result.code.partition("def build_position")[2], result.code


def test_what_runs_its_model_says_so():
    source = HEAD + MODELS + "def run(args, x):\n    net = Net(Backbone(args.hidden), args.hidden)\n    return net, net(x)\n"
    assert [d.id for d in convert_source(source).diagnostics] == ["module-value"]
