"""Containers of the module collections that a forward pass begins and empties itself."""

import collections
from collections import defaultdict, deque

from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x, y):
        self.queue = deque(maxlen=2)
        self.queue.append(y)
        self.queue.append(self.fc(x))
        self.queue.append(x)
        self.by_name = defaultdict(list)
        self.by_name["a"].append(self.fc(y))
        self.seen = set()
        self.seen.add("a")
        self.counts = collections.Counter()
        self.counts["a"] += 2
        if "a" in self.seen:
            x = self.queue.popleft() * self.counts["a"]
        return x + self.queue.pop() + self.by_name["a"][0]
