import torch
import torch.nn.functional as F
from torch import nn


class FF(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(d, 8), nn.Linear(8, d), nn.Linear(d, 8)

    def forward(self, x):
        return self.b(F.silu(self.a(x)) * self.c(x))


class Moe(nn.Module):
    def __init__(self):
        super().__init__()
        self.experts = nn.ModuleList(FF(4) for _ in range(3))
        self.gate = nn.Linear(4, 3)

    def forward(self, inputs):
        weights, selected = torch.topk(self.gate(inputs), 2)
        weights = F.softmax(weights, dim=1)
        results = torch.zeros_like(inputs)
        for i, expert in enumerate(self.experts):
            batch_idx, nth_expert = torch.where(selected == i)
            results[batch_idx] += weights[batch_idx, nth_expert, None] * expert(inputs[batch_idx])
        return results


class Sparse(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(4, 3)
        self.experts = nn.ModuleList([FF(4) if i < 3 else None for i in range(3)])

    def forward(self, x):
        x = x.view(-1, 4)
        b, hidden_dim = x.shape
        weights, selected = torch.topk(F.softmax(self.gate(x), dim=-1), 2, dim=-1)
        out = torch.zeros((b, hidden_dim), dtype=x.dtype, device=x.device)
        mask = F.one_hot(selected, num_classes=3).permute(2, 1, 0)
        for e in range(3):
            layer = self.experts[e]
            idx, top_x = torch.where(mask[e])
            if top_x.shape[0] == 0:
                continue
            state = x[None, top_x].reshape(-1, hidden_dim)
            state = layer(state) * weights[top_x, idx, None]
            out.index_add_(0, top_x, state.to(x.dtype))
        return out


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.moe = Moe()
        self.sparse = Sparse()

    def forward(self, x, y):
        return self.moe(x) + self.sparse(y)
