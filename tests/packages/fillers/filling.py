import math

import torch


def scaled_(tensor, scale=1.0):
    with torch.no_grad():
        tensor.normal_(std=math.sqrt(scale / tensor.shape[1]))


def filled_(tensor):
    scaled_(tensor, scale=2.0)
