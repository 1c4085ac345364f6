"""Branches on data, before and after."""

import pytest

from tests.passes.control_helper import shown, table
from transpile.passes import branches

PROGRAMS = table("""
### both sides
if x.sum() > 0:
    z = x * 2
else:
    z = y.exp()
return z + x
---
Cond x.sum() > 0                                              out z
    z = x * 2
else
    z = jnp.exp(y)
return z + x

### results of another structure [traced-branch]
if x.sum() > 0:
    return torch.exp(x), None
return torch.exp(y)
---
if x.sum() > 0:
    return jnp.exp(x), None
return jnp.exp(y)

### one of them None [traced-branch]
if x.sum() > 0:
    return torch.exp(x), None
return torch.exp(y), torch.exp(x)
---
if x.sum() > 0:
    return jnp.exp(x), None
return jnp.exp(y), jnp.exp(x)

### a mask of nothing [taken-for-granted]
m = x > 0
if not m.any():
    m = None
return y if m is None else y.masked_fill(m, 0)
---
m = x > 0
return y if m is None else jnp.where(m, 0, y).astype(y.dtype)

### one side
z = x * 1
if x.mean() > 0:
    z = z * y
return z
---
z = x * 1
Cond x.mean() > 0                                             in z; out z
    z = z * y
return z

### elif
if x.mean() > 1:
    z = x
elif x.mean() > 0:
    z = y
else:
    z = x + y
return z
---
Cond x.mean() > 1                                             out z
    z = x
else
    Cond x.mean() > 0                                         out z
        z = y
    else
        z = x + y
return z

### nested
while x.norm() > 1:
    x = x * 0.5
    while y.norm() > x.norm():
        y = y * 0.5
return x, y
---
while jnp.linalg.norm(x) > 1:
    x = x * 0.5
    while jnp.linalg.norm(y) > jnp.linalg.norm(x):
        y = y * 0.5
return x, y

### static inside
if x.mean() > 0:
    if x.size(0) > 2:
        z = x
    else:
        z = y
else:
    z = x * y
return z
---
Cond x.mean() > 0                                             out z
    if x.shape[0] > 2:
        z = x
    else:
        z = y
else
    z = x * y
return z

### number and tensor
if x.mean() > 0:
    loss = x.sum()
else:
    loss = 0.0
return loss + y.mean()
---
Cond x.mean() > 0                                             out loss; differs loss
    loss = x.sum()
else
    loss = 0.0
return loss + y.mean()

### counter
n = 0
if x.mean() > 0:
    n = n + 1
if y.mean() > 0:
    n = n + 1
return x * n
---
n = 0
Cond x.mean() > 0                                             in n; out n; differs n
    n = n + 1
Cond y.mean() > 0                                             in n; out n; same n
    n = n + 1
return x * n

### dead names
if x.mean() > 0:
    unused = x * 2
return x + y
---
return x + y

### in a static loop
z = x * 1
for i in range(3):
    if z.mean() > 0.5:
        z = z - y
    else:
        z = z + i
return z
---
z = x * 1
for i in range(3):
    Cond z.mean() > 0.5                                       in z; out z
        z = z - y
    else
        z = z + i
return z

### return on both sides
if x.mean() > 0:
    return x.exp()
else:
    return y
---
Cond x.mean() > 0                                             returns
    return jnp.exp(x)
else
    return y

### nan guard
z = torch.log(x.abs() + 1)
if torch.isnan(z).any() or torch.isinf(z).any():
    z = torch.zeros_like(z)
return z + y
---
z = jnp.log(jnp.abs(x) + 1)
Cond jnp.isnan(z).any() or jnp.isinf(z).any()                 in z; out z; same z
    z = jnp.zeros_like(z)
return z + y

### assignment of a tuple on both sides
if x.mean() > 0:
    a, b = x, y
else:
    a, b = y, x
return a * 2 + b
---
Cond x.mean() > 0                                             out a, b
    a, b = x, y
else
    a, b = y, x
return a * 2 + b

### one side, never read after
if x.mean() > 0:
    t = x * 2
    y = y + t
return y
---
Cond x.mean() > 0                                             in y; out y
    t = x * 2
    y = y + t
return y

### nested function under a branch
if x.mean() > 0:
    def g(t):
        return t * 2
    z = g(x)
else:
    z = y
return z
---
Cond x.mean() > 0                                             out z
    def g(t):
        return t * 2
    z = g(x)
else
    z = y
return z

### a dict that both sides store into
d = {"a": x}
if x.sum() > 0:
    d["b"] = x
else:
    d["b"] = y
return d
---
d = {"a": x}
Cond x.sum() > 0                                              in d; out d
    d["b"] = x
else
    d["b"] = y
return d

### bound in the test
if (m := x.mean()) > 0:
    m = m * 2
    y = y * m
return y * m
---
Cond (m := x.mean()) > 0                                      in m, y; out m, y
    m = m * 2
    y = y * m
return y * m

### a print
z = x * 1
if x.sum() > 0:
    print("small {}", 1)
    z = z * 2
return z
---
z = x * 1
Cond x.sum() > 0                                              in z; out z
    jax.debug.print("small {{}} {}", 1)
    z = z * 2
return z

### a warning
def f(x: torch.Tensor):
    if x.sum() > 0:
        logger.warning(f"{x}")
    return x
---
Cond x.sum() > 0
    jax.debug.callback(lambda x: logger.warning(f"{x}"), x)
return x

### appended on three sides
out = []
for row in x:
    if row.sum() > 1:
        out.append(row)
    elif row.sum() > 0:
        t = row * 2
        out.append(t + 1)
    else:
        out.append(-row)
return torch.stack(out) + y
---
out = []
for row in x:
    Cond row.sum() > 1                                        out item
        item = row
    else
        Cond row.sum() > 0                                    out item
            t = row * 2
            item = t + 1
        else
            item = -row
    out.append(item)
return jnp.stack(out) + y

### a sum of one kind
def f(x: torch.Tensor):
    n = (x > 0).sum()
    if x.sum() > 0:
        n = n + 1
    return n
---
n = (x > 0).sum()
Cond x.sum() > 0                                              in n; out n; same n
    n = n + 1
return n
""")


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    body, outcome, ids = PROGRAMS[name]
    assert shown(body, branches) == (outcome, ids)
