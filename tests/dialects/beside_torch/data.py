from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(4, 4)
        w = self.proj.weight.data
        nn.init.xavier_uniform_(w.view([w.shape[0], -1]))
        self.reset()

    def reset(self):
        for m in self.modules():
            if isinstance(m, nn.Linear):
                m.weight = nn.init.kaiming_normal(m.weight, mode="fan_out")
                m.bias.data.zero_()

    def forward(self, x, y):
        z = self.proj(x) * 2
        w = z.data
        w.mul_(2)
        v = z.detach()
        v[0] = 0
        return z * y
