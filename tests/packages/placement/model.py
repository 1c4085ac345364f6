import torch.nn as nn

from . import layers

INPUTS = "f32[2,3,5,5]"


class Net(nn.Module):
    def __init__(self, norm_layer=layers.Norm1, device=None, dtype=None):
        dd = {"device": device, "dtype": dtype}
        super().__init__()
        self.conv = layers.conv(3, 4, 3, **dd)
        self.act = layers.NormAct(4, **dd)
        self.norm = norm_layer(4, **dd)
        self.last = layers.Norm1(4, eps=1e-3, **dd)
        self.checkpointing = False
        self.num_features = 4
        self.head = nn.Linear(self.num_features, 2)

    def set_checkpointing(self, enable=True):
        self.checkpointing = enable

    def prune(self, n):
        self.num_features = n

    def forward(self, x):
        x = self.act(self.conv(x))
        x = self.last(x) if self.checkpointing else self.norm(self.last(x))
        return self.head(x.mean((2, 3)))
