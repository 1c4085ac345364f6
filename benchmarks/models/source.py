"""Five models as a researcher writes them in PyTorch; what is timed is their conversion."""

import torch
import torch.nn.functional as F
from torch import nn


class Attention(nn.Module):
    def __init__(self, dim, heads, causal):
        super().__init__()
        self.heads, self.causal = heads, causal
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        return self.proj(y.transpose(1, 2).reshape(B, T, C))


class Block(nn.Module):
    def __init__(self, dim, heads, causal=False):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attn = Attention(dim, heads, causal)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))

    def forward(self, x):
        x = x + self.attn(self.ln1(x))
        return x + self.mlp(self.ln2(x))


class GPT(nn.Module):
    def __init__(self, vocab=512, context=128, dim=256, heads=8, layers=6):
        super().__init__()
        self.tokens = nn.Embedding(vocab, dim)
        self.positions = nn.Embedding(context, dim)
        self.blocks = nn.ModuleList([Block(dim, heads, causal=True) for _ in range(layers)])
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, vocab, bias=False)

    def forward(self, idx):
        T = idx.shape[1]
        x = self.tokens(idx) + self.positions(torch.arange(T, device=idx.device))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


class ViT(nn.Module):
    def __init__(self, size=64, patch=8, dim=384, heads=6, layers=12, classes=100):
        super().__init__()
        self.patches = nn.Conv2d(3, dim, patch, stride=patch)
        self.cls = nn.Parameter(torch.zeros(1, 1, dim))
        self.positions = nn.Parameter(torch.randn(1, (size // patch) ** 2 + 1, dim) * 0.02)
        self.blocks = nn.Sequential(*[Block(dim, heads) for _ in range(layers)])
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, classes)

    def forward(self, images):
        x = self.patches(images).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls.expand(len(x), -1, -1), x], dim=1) + self.positions
        return self.head(self.norm(self.blocks(x))[:, 0])


class BasicBlock(nn.Module):
    def __init__(self, before, after, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(before, after, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(after)
        self.conv2 = nn.Conv2d(after, after, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(after)
        self.down = nn.Identity()
        if stride != 1 or before != after:
            self.down = nn.Sequential(
                nn.Conv2d(before, after, 1, stride, bias=False), nn.BatchNorm2d(after)
            )

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        return F.relu(y + self.down(x))


class ResNet18(nn.Module):
    def __init__(self, classes=10):
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, 64, 3, padding=1, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True)
        )
        stages, before = [], 64
        for width, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
            stages += [BasicBlock(before, width, stride), BasicBlock(width, width)]
            before = width
        self.stages = nn.Sequential(*stages)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(512, classes)

    def forward(self, x):
        x = self.pool(self.stages(self.stem(x)))
        return self.fc(torch.flatten(x, 1))


class DoubleConv(nn.Module):
    def __init__(self, before, after):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(before, after, 3, padding=1, bias=False),
            nn.BatchNorm2d(after),
            nn.ReLU(inplace=True),
            nn.Conv2d(after, after, 3, padding=1, bias=False),
            nn.BatchNorm2d(after),
            nn.ReLU(inplace=True),
        )

    def forward(self, x):
        return self.net(x)


class UNet(nn.Module):
    def __init__(self, width=16, depth=3, classes=2):
        super().__init__()
        widths = [width * 2**i for i in range(depth + 1)]
        self.pool = nn.MaxPool2d(2)
        self.first = DoubleConv(3, width)
        self.downs = nn.ModuleList([DoubleConv(a, b) for a, b in zip(widths, widths[1:])])
        pairs = list(zip(widths, widths[1:]))[::-1]
        self.ups = nn.ModuleList([nn.ConvTranspose2d(b, a, 2, stride=2) for a, b in pairs])
        self.convs = nn.ModuleList([DoubleConv(b, a) for a, b in pairs])
        self.head = nn.Conv2d(width, classes, 1)

    def forward(self, x):
        skips = [self.first(x)]
        for down in self.downs:
            skips.append(down(self.pool(skips[-1])))
        x = skips.pop()
        for up, conv in zip(self.ups, self.convs):
            x = conv(torch.cat([skips.pop(), up(x)], dim=1))
        return self.head(x)


class Tagger(nn.Module):
    def __init__(self, vocab=1000, dim=128, tags=16):
        super().__init__()
        self.tokens = nn.Embedding(vocab, dim)
        self.lstm = nn.LSTM(dim, dim, num_layers=2, batch_first=True)
        self.head = nn.Linear(dim, tags)

    def forward(self, idx):
        x, _ = self.lstm(self.tokens(idx))
        return self.head(x)
