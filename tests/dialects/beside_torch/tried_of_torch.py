from torch import nn


try:
    from torch.nn import SiLU
    from torch.nn.functional import scaled_dot_product_attention as attend
except ImportError:
    SiLU = None

    def attend(query, key, value, scale=None):
        return (query * scale @ key.transpose(-2, -1)).softmax(-1) @ value


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = SiLU()

    def forward(self, x, y):
        return attend(self.act(x), y, x, scale=0.5)
