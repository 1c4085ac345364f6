"""What torch's layers hold and do, asked for by classes below them that run them their own way."""

import torch
import torch.nn.functional as F
from torch import nn


class MyLayer(nn.TransformerEncoderLayer):
    def __init__(self, d_model, nhead, dim_feedforward=8, dropout=0.0, activation=F.relu, batch_first=False, norm_first=False, device=None, dtype=None):
        factory_kwargs = {"device": device, "dtype": dtype}
        super().__init__(d_model=d_model, nhead=nhead, dim_feedforward=dim_feedforward, dropout=dropout, activation=activation, batch_first=batch_first, norm_first=norm_first, device=device, dtype=dtype)
        self.gamma = nn.Linear(d_model, d_model)
        self.sparse = False
        self.src_mask = None

    def forward(self, src, src_mask=None, src_key_padding_mask=None):
        x = src
        if self.norm_first:
            x = x + self.gamma(self._sa_block(self.norm1(x), src_mask, src_key_padding_mask))
            x = x + self.gamma(self._ff_block(self.norm2(x)))
        else:
            x = self.norm1(x + self.gamma(self._sa_block(x, src_mask, src_key_padding_mask)))
            x = self.norm2(x + self.gamma(self._ff_block(x)))
        return x


class WSConv(nn.Conv1d):
    def forward(self, x):
        w = self.weight
        w = w - w.mean(dim=(1, 2), keepdim=True)
        return self._conv_forward(x, w, self.bias)


class Rnn(nn.LSTM):
    def forward(self, x):
        self.flatten_parameters()
        out, _ = super().forward(x)
        return out


class Dec(nn.TransformerDecoderLayer):
    def forward(self, tgt, memory):
        x = tgt
        x = x + self._sa_block(self.norm1(x), None, None)
        x = x + self._mha_block(self.norm2(x), memory, None, None, False)
        return x + self._ff_block(self.norm3(x))


class MyGroupNorm(nn.GroupNorm):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)

    def forward(self, x):
        x = x.transpose(1, 2)
        return super().forward(x).transpose(1, 2)

class Normed(nn.TransformerEncoderLayer):
    def __init__(self, d_model, nhead, group_norm=0, norm_out=False, device=None, dtype=None):
        factory_kwargs = {"device": device, "dtype": dtype}
        super().__init__(d_model=d_model, nhead=nhead, dim_feedforward=8, dropout=0.0, batch_first=True, norm_first=True, device=device, dtype=dtype)
        if group_norm:
            self.norm1 = MyGroupNorm(int(group_norm), d_model, **factory_kwargs)
            self.norm2 = MyGroupNorm(int(group_norm), d_model, **factory_kwargs)
        self.norm_out = None
        if self.norm_first & norm_out:
            self.norm_out = MyGroupNorm(num_groups=int(norm_out), num_channels=d_model)

    def forward(self, src, src_mask=None, src_key_padding_mask=None):
        x = src
        x = x + self._sa_block(self.norm1(x), src_mask, src_key_padding_mask)
        x = x + self._ff_block(self.norm2(x))
        if self.norm_out:
            x = self.norm_out(x)
        return x


class Gained(nn.Conv1d):
    def __init__(self):
        super().__init__(3, 3, 1)
        self.gain = nn.Parameter(torch.ones(1) * 2)

    def _conv_forward(self, x, weight, bias):
        return super()._conv_forward(x, weight * self.gain, bias)

class Doubled(nn.Conv1d):
    def forward(self, x):
        return self._conv_forward(x, self.weight * 2, self.bias)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.l = nn.ModuleList([MyLayer(4, 2, norm_first=f, batch_first=True) for f in (True, False)])
        self.c = nn.Sequential(WSConv(3, 3, 3, padding=1), Gained(), Doubled(3, 3, 1))
        self.r = Rnn(4, 4)
        self.d = Dec(4, 2, 8, dropout=0.0)
        self.n, self.m = Normed(4, 2), Normed(4, 2, group_norm=2, norm_out=True)

    def forward(self, x, y):
        for layer in self.l:
            x = layer(x[None])[0]
        x = self.c(self.m(self.n(x[None])))[0]
        return self.d(self.r(x), y)
