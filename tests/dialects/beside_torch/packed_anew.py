from torch import nn
import torch.nn.utils.rnn as rnn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn, self.fc = nn.GRU(4, 4), nn.Linear(4, 4)

    def forward(self, x, y):
        packed = rnn.pack_sequence([y, x[:2]])
        packed = packed._replace(data=self.fc(packed.data))
        return rnn.pad_packed_sequence(self.rnn(packed)[0], total_length=3)[0].sum(1) + y
