from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)])

    def forward(self, x, y):
        steps, outs = [lambda t, block=block: block(t) + 1 for block in self.blocks], []
        for block in self.blocks:

            def run(t, block=block):
                return block(t) * 2

            outs.append(run(y))
        return steps[0](x) * steps[1](y) + outs[0] - outs[1]
