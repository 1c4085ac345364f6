"""Loops that no scan is made of: they stay Python's."""

import pytest

from tests.passes.control_helper import shown, table
from transpile.passes import branches, loops, scans

PROGRAMS = table("""
### slice by the index
h = torch.zeros(6)
for t in range(x.size(0)):
    h = h + x[: t + 1].sum(0)
return h
---
h = jnp.zeros((6,))
for t in range(x.shape[0]):
    h = h + x[: t + 1].sum(axis=0)
return h

### asks for the index
h = torch.zeros(6)
for t in range(x.size(0)):
    if t % 2 == 0:
        h = h + x[t]
return h
---
h = jnp.zeros((6,))
for t in range(x.shape[0]):
    if t % 2 == 0:
        h = h + x[t]
return h

### list is returned
h = torch.zeros(6)
out = []
for row in x:
    h = h + row
    out.append(h)
return out, torch.stack(out)
---
h = jnp.zeros((6,))
out = []
for row in x:
    h = h + row
    out.append(h)
return out, jnp.stack(out)

### list is read
out = [x[0]]
for row in x:
    out.append(out[-1] + row)
return torch.stack(out)
---
out = [x[0]]
for row in x:
    out.append(out[-1] + row)
return jnp.stack(out)

### index afterwards
h = torch.zeros(6)
for t in range(x.size(0)):
    h = h + x[t]
return h * t
---
h = jnp.zeros((6,))
for t in range(x.shape[0]):
    h = h + x[t]
return h * t

### few turns
for i in range(3):
    y = y + x
return y
---
for i in range(3):
    y = y + x
return y
""")


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    body, outcome, ids = PROGRAMS[name]
    assert shown(body, branches, loops, scans) == (outcome, ids)
