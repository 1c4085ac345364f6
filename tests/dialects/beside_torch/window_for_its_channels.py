# A window for the channels of the last images, kept beside their number.
import torch
import torch.nn.functional as F
from torch import nn


def create_window(size, channel):
    line = torch.arange(1.0, size + 1).unsqueeze(1)
    return line.mm(line.t())[None, None].expand(channel, 1, size, size).contiguous()


class Similarity(nn.Module):
    def __init__(self, width=3):
        super().__init__()
        self.width = width
        self.channel = 1
        self.window = create_window(width, self.channel)

    def forward(self, x, y):
        _, channel, _, _ = x.size()
        if channel == self.channel and self.window.data.type() == x.data.type():
            window = self.window
        else:
            window = create_window(self.width, channel)
            if x.is_cuda:
                window = window.cuda(x.get_device())
            window = window.type_as(x)
            self.window = window
            self.channel = channel
        means = [F.conv2d(z, window, padding=self.width // 2, groups=channel) for z in (x, y)]
        return means[0] * means[1]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.similarity = Similarity()

    def forward(self, x, y):
        one = self.similarity(x.view(1, 1, 3, 4), y.view(1, 1, 3, 4))
        return one, self.similarity(x.view(1, 3, 2, 2), y.view(1, 3, 2, 2))
