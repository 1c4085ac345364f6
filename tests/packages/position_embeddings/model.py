import torch
import torch.nn as nn

INPUTS = "f32[2,3]"
REPORTED = "parameter-write"


def trunc_(t, std):
    with torch.no_grad():
        return t.normal_(std=std)


class Net(nn.Module):
    def __init__(self, pos_embed="learn", n=3, reg=True):
        super().__init__()
        self.norm = nn.LayerNorm(n)
        if not pos_embed or pos_embed == "none":
            self.pos_embed = None
        else:
            self.pos_embed = nn.Parameter(torch.randn(1, n) * 0.02)
        self.reg = nn.Parameter(torch.zeros(1, n)) if reg else None
        self.init_weights()

    def init_weights(self):
        if self.pos_embed is not None:
            trunc_(self.pos_embed, std=0.5)
        if self.reg is not None:
            nn.init.normal_(self.reg)
        for m in self.modules():
            if isinstance(m, nn.LayerNorm):
                nn.init.constant_(m.weight, 2.0)

    def resize(self, n):
        if self.pos_embed is not None:
            self.pos_embed = nn.Parameter(self.pos_embed[:, :n])

    def forward(self, x):
        if self.pos_embed is not None:
            x = x + self.pos_embed
        return self.norm(x) + self.reg
