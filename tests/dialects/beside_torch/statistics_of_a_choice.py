import torch.nn.functional as F
from torch import nn


class BatchNormAct(nn.BatchNorm1d):
    def __init__(self, n, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, act=nn.ReLU):
        super().__init__(n, eps=eps, momentum=momentum, affine=affine, track_running_stats=track_running_stats)
        self.act = act() if act is not None else nn.Identity()

    def forward(self, x):
        if self.momentum is None:
            exponential_average_factor = 0.0
        else:
            exponential_average_factor = self.momentum
        if self.training and self.track_running_stats:
            if self.num_batches_tracked is not None:
                self.num_batches_tracked.add_(1)
                if self.momentum is None:
                    exponential_average_factor = 1.0 / float(self.num_batches_tracked)
                else:
                    exponential_average_factor = self.momentum
        if self.training:
            bn_training = True
        else:
            bn_training = (self.running_mean is None) and (self.running_var is None)
        x = F.batch_norm(
            x,
            self.running_mean if not self.training or self.track_running_stats else None,
            self.running_var if not self.training or self.track_running_stats else None,
            self.weight,
            self.bias,
            bn_training,
            exponential_average_factor,
            self.eps,
        )
        return self.act(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.bn = BatchNormAct(4)

    def forward(self, x):
        return self.bn(self.fc(x))
