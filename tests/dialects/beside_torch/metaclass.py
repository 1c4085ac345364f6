from torch import nn


class Registering(type):
    known = {}

    def __new__(mcs, name, bases, scope):
        made = super().__new__(mcs, name, bases, scope)
        mcs.known[name.lower()] = made
        return made


class Counting(Registering):
    made = 0

    def __call__(cls, *args, **kwargs):
        Counting.made += 1
        return super().__call__(*args, **kwargs)


class Base(nn.Module, metaclass=Counting):
    pass


class Net(Base):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x, y):
        return self.fc(x) + y
