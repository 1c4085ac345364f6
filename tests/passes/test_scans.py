"""Loops that carry arrays, before and after."""

import pytest

from tests.passes.control_helper import shown, table
from transpile.passes import branches, loops, scans

PROGRAMS = table("""
### rows
h = torch.zeros(6)
for row in x:
    h = torch.tanh(row + h)
return h
---
h = jnp.zeros((6,))
Scan row over x                                               carried h
    h = jnp.tanh(row + h)
return h

### picked
h = torch.zeros(6)
out = []
for t in range(x.size(0)):
    h = torch.tanh(x[t] + h)
    out.append(h)
return torch.stack(out), h
---
h = jnp.zeros((6,))
Scan x_t over x                                               carried h
    h = jnp.tanh(x_t + h)
    Collect(out, h)
return out, h

### picked by the second axis
B, T = x.shape
h = torch.zeros(B)
out = []
for t in range(T):
    h = h * 0.5 + x[:, t]
    out.append(h)
return torch.stack(out, dim=1) * 2, h
---
B, T = x.shape
h = jnp.zeros((B,))
Scan x_t over x.swapaxes(0, 1)                                carried h
    h = h * 0.5 + x_t
    Collect(out, h)
return out.swapaxes(0, 1) * 2, h

### two arrays
h = torch.zeros(6)
for a, b in zip(x, y):
    h = torch.tanh(a * b + h)
return h
---
h = jnp.zeros((6,))
Scan a, b over zip(x, y)                                      carried h
    h = jnp.tanh(a * b + h)
return h

### two carried
h, c = torch.zeros(6), torch.ones(6)
for row in x:
    c = c * row.sigmoid() + h
    h = c.tanh()
return h, c
---
h, c = jnp.zeros((6,)), jnp.ones((6,))
Scan row over x                                               carried c, h
    c = c * jax.nn.sigmoid(row) + h
    h = jnp.tanh(c)
return h, c

### part of the rows
T = x.size(0)
h = torch.zeros(6)
for t in range(T - 1):
    h = h + x[t] * y[t]
return h
---
T = x.shape[0]
h = jnp.zeros((6,))
Scan t over range(T - 1)                                      carried h
    h = h + x[t] * y[t]
return h

### backwards
T = x.size(0)
h = torch.zeros(6)
out = []
for t in reversed(range(T)):
    h = h * 0.5 + x[t]
    out.append(h)
return torch.stack(out)[0], h
---
T = x.shape[0]
h = jnp.zeros((6,))
Scan x_t over reversed(x)                                     carried h
    h = h * 0.5 + x_t
    Collect(out, h)
return out[::-1][0], h

### branch inside
h = torch.zeros(6)
for row in x:
    if row.sum() > 0:
        h = h + row
    else:
        h = h * 0.5
return h
---
h = jnp.zeros((6,))
Scan row over x                                               carried h
    Cond row.sum() > 0                                        in h; out h
        h = h + row
    else
        h = h * 0.5
return h

### two lists
h = torch.zeros(6)
a, b = [], []
for row in x:
    h = h + row
    a.append(h)
    b.append(h * 2)
return torch.stack(a), torch.stack(b, 1)
---
h = jnp.zeros((6,))
Scan row over x                                               carried h
    h = h + row
    Collect(a, h)
    Collect(b, h * 2)
return a, b.swapaxes(0, 1)

### enumerated
h = torch.zeros(6)
for t, row in enumerate(x):
    h = h + row * y[t]
return h
---
h = jnp.zeros((6,))
Scan t, row over enumerate(x)                                 carried h
    h = h + row * y[t]
return h

### cat of the index
h = torch.zeros(1)
for t in range(x.size(0)):
    h = torch.cat([h, x[t, :1]])
return h
---
h = jnp.zeros((1,))
Scan t over range(x.shape[0])                                 carried h
    h = jnp.concatenate([h, x[t, :1]], axis=0)
return h

### power iteration
a = x @ x.t() + torch.eye(4)
v = torch.ones(4)
for _ in range(20):
    w = a @ v
    v = w / w.norm()
return v * (v @ a @ v)
---
a = x @ x.T + jnp.eye(4)
v = jnp.ones((4,))
Scan _ over range(20)                                         carried v
    w = a @ v
    v = w / jnp.linalg.norm(w)
return v * (v @ a @ v)

### few turns with a branch
for i in range(3):
    if x.sum() > 0:
        x = x * 0.5
    y = y + x
return y
---
Scan i over range(3)                                          carried x, y
    Cond x.sum() > 0                                          in x; out x
        x = x * 0.5
    y = y + x
return y

### the index and the rows
h = torch.zeros(6)
for t in range(x.size(0)):
    h = torch.tanh(x[t] + h) * y[t, 0]
return h
---
h = jnp.zeros((6,))
Scan t, x_t over enumerate(x)                                 carried h
    h = jnp.tanh(x_t + h) * y[t, 0]
return h

### a running flag
running = x.sum() > 0
for i in range(20):
    if running:
        x = x * 0.5
        running = x.sum() > 1
return x
---
running = x.sum() > 0
Scan i over range(20)                                         carried x, running
    Cond running                                              in x, running; out x, running
        x = x * 0.5
        running = x.sum() > 1
return x

### stacked under its own name
h = x[0]
out = []
for row in x:
    h = h + row
    out.append(h)
out = torch.stack(out)
return out * 2
---
h = x[0]
Scan row over x                                               carried h
    h = h + row
    Collect(out, h)
return out * 2

### rebound length
h = torch.zeros(6)
T = x.size(0)
x = x[1:]
for t in range(T):
    h = h + x[t]
return h
---
h = jnp.zeros((6,))
T = x.shape[0]
x = x[1:]
Scan t over range(T)                                          carried h
    h = h + x[t]
return h

### a made array's own length
z = x * 2
h = torch.zeros(6)
for t in range(z.size(0)):
    h = h + z[t]
return h
---
z = x * 2
h = jnp.zeros((6,))
Scan z_t over z                                               carried h
    h = h + z_t
return h
""")


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    body, outcome, ids = PROGRAMS[name]
    assert shown(body, branches, loops, scans) == (outcome, ids)
