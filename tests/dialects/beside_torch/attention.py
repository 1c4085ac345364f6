import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.MultiheadAttention(4, 2)

    def forward(self, x, y):
        out, _ = F.multi_head_attention_forward(
            x[:, None], y[:, None], y[:, None], 4, 2, self.inner.in_proj_weight,
            self.inner.in_proj_bias, None, None, False, 0, self.inner.out_proj.weight,
            self.inner.out_proj.bias, training=self.training,
        )
        return out
