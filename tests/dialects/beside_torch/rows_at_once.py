# Rows of new arrays that a loop over several at once writes.
import torch
from torch import nn


def padded(images):
    made = images[0].new_zeros((len(images), 3, 5))
    mask = torch.ones((len(images), 3, 5), dtype=torch.bool)
    for image, row, m in zip(images, made, mask):
        row[: image.shape[0], : image.shape[1]].copy_(image)
        m[: image.shape[0], : image.shape[1]] = False
    return made, mask


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x, y):
        x, y = x.detach(), y.detach()
        made, mask = padded([x, y[:2], y[:, :3]])
        return self.fc(made[..., :4]), mask
