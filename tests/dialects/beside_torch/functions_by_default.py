import torch
from torch import nn


def sampled(samples, num):
    return samples[torch.randperm(samples.shape[0])[:num]]


def centred(samples, num):
    return sampled(samples, num) - samples.mean(0)


def kmeans(samples, num, sample_fn=sampled, measure=torch.abs):
    return measure(sample_fn(samples, num)).sum()


class Net(nn.Module):
    def __init__(self, centre=False):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.sample_fn = centred if centre else sampled

    def forward(self, x):
        y = self.fc(x)
        return y + kmeans(y, 2, sample_fn=self.sample_fn) * 0 + kmeans(y, 3) * 0
