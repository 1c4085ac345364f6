import torch.nn as nn


class NormAct(nn.BatchNorm2d):
    def __init__(self, n, act=nn.PReLU, drop=None, device=None, dtype=None):
        super().__init__(n, device=device, dtype=dtype)
        self.drop = drop() if drop is not None else nn.Identity()
        self.act = act()

    def forward(self, x):
        mean = self.running_mean if not self.training or self.track_running_stats else None
        x = nn.functional.batch_norm(
            x,
            self.running_mean if not self.training or self.track_running_stats else None,
            self.running_var if not self.training or self.track_running_stats else None,
            self.weight,
            self.bias,
            self.training or mean is None,
            0.2,
            self.eps,
        )
        return self.act(self.drop(x))


class Norm1(nn.GroupNorm):
    def __init__(self, n, **kwargs):
        super().__init__(1, n, **kwargs)


def padded(i, o, k, **kwargs):
    kwargs.setdefault("bias", False)
    return nn.Conv2d(i, o, k, padding=k // 2, **kwargs)


def conv(i, o, k, **kwargs):
    groups = kwargs.pop("groups", 1)
    return padded(i, o, k, groups=groups, **kwargs)
