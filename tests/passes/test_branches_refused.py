"""Branches on data that cannot be carried, or are left to Python."""

import pytest

from tests.passes.control_helper import shown, table
from transpile.passes import branches

PROGRAMS = table("""
### a function under a branch [traced-branch]
def g(u):
    return u
if x.mean() > 0:
    def g(u):
        return -u
return g(y)
---
def g(u):
    return u
Unconverted(traced-branch, x.mean() > 0)
return g(y)

### another function under a branch [traced-branch]
g = torch.tanh
if x.mean() > 0:
    g = torch.relu
return g(y)
---
g = jnp.tanh
Unconverted(traced-branch, x.mean() > 0)
return g(y)

### None under a branch [traced-branch]
z = x
if x.mean() > 0:
    z = None
return x if z is None else z
---
z = x
Unconverted(traced-branch, x.mean() > 0)
return x if z is None else z

### append under a branch [traced-branch]
parts = [x]
if x.mean() > 0:
    parts.append(y)
return torch.cat(parts)
---
parts = [x]
Unconverted(traced-branch, x.mean() > 0)
return jnp.concatenate(parts, axis=0)

### append to different lists [traced-branch]
a, b = [x], [x]
if x.sum() > 0:
    a.append(y)
else:
    b.append(y)
return torch.cat(a) .sum() + torch.cat(b).sum()
---
a, b = [x], [x]
Unconverted(traced-branch, x.sum() > 0)
return jnp.concatenate(a, axis=0).sum() + jnp.concatenate(b, axis=0).sum()

### a dict whose order counts [traced-branch]
d = {"a": x}
if x.sum() > 0:
    d["b"] = x
for k in d:
    y = y + d[k]
return y
---
d = {"a": x}
Unconverted(traced-branch, x.sum() > 0)
for k in d:
    y = y + d[k]
return y

### a dict of an argument [traced-branch]
def f(x: torch.Tensor, found: dict):
    if x.sum() > 0:
        found["b"] = x
    return x
---
if x.sum() > 0:
    found["b"] = x
return x

### a function that reads what changes [traced-branch]
def g(t):
    return t * y
if x.sum() > 0:
    y = y + 1
    x = g(x)
return x + y
---
def g(t):
    return t * y
Unconverted(traced-branch, x.sum() > 0)
return x + y

### as long as the data say [traced-branch]
n = int(x.sum())
z = x
if x.sum() > 0:
    z = torch.zeros(n)
return z
---
n = int(x.sum())
z = x
if x.sum() > 0:
    z = jnp.zeros(n)
return z

### the user's None [traced-branch]
z = None
if x.sum() > 0:
    z = x
return z
---
z = None
if x.sum() > 0:
    z = x
return z

### called for its effect [traced-branch]
if x.sum() > 0:
    save(x)
    x = x * 2
return x
---
if x.sum() > 0:
    save(x)
    x = x * 2
return x

### an attribute [traced-branch]
def f(self, x: torch.Tensor):
    if x.sum() > 0:
        self.last = x
    return x
---
Unconverted(traced-branch, x.sum() > 0)
return x

### another is left to Python [traced-branch traced-branch]
z = y
if x.sum() > 0:
    if y.sum() > 0:
        save(x)
    z = x
return z
---
z = y
if x.sum() > 0:
    if y.sum() > 0:
        save(x)
    z = x
return z
""")


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    body, outcome, ids = PROGRAMS[name]
    assert shown(body, branches) == (outcome, ids)
