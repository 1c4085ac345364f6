"""Loops that data end, before and after."""

import pytest

from tests.passes.control_helper import shown, table
from transpile.passes import branches, loops

PROGRAMS = table("""
### while
while x.norm() > 1:
    x = x * 0.5
return x + y
---
Loop jnp.linalg.norm(x) > 1                                   carried x
    x = x * 0.5
return x + y

### bounded while
n = 0
err = x.norm()
while n < 10 and err > 1:
    x = x * 0.5
    err = x.norm()
    n += 1
return x + y, n
---
n = 0
err = jnp.linalg.norm(x)
Loop n < 10 and err > 1                                       carried x, err, n; same n; at most 10 turns
    x = x * 0.5
    err = jnp.linalg.norm(x)
    n += 1
return x + y, n

### bounded while, other order
n = 0
while x.norm() > 1 and n < 5:
    x = x * 0.5
    n = n + 1
return x * n
---
n = 0
Loop jnp.linalg.norm(x) > 1 and n < 5                         carried x, n; same n; at most 5 turns
    x = x * 0.5
    n = n + 1
return x * n

### temporaries
while x.norm() > 1:
    t = x.tanh()
    x = t * 0.5
return x
---
Loop jnp.linalg.norm(x) > 1                                   carried x
    t = jnp.tanh(x)
    x = t * 0.5
return x

### while with a branch
while x.norm() > 1:
    if x.mean() > 0:
        x = x * 0.5
    else:
        x = x * 0.25 + 0.01
return x
---
Loop jnp.linalg.norm(x) > 1                                   carried x
    Cond x.mean() > 0                                         in x; out x
        x = x * 0.5
    else
        x = x * 0.25 + 0.01
return x

### while with a tuple
a, b = x, y
while a.norm() > 1:
    a, b = a * 0.5, a + b
return a + b
---
a, b = x, y
Loop jnp.linalg.norm(a) > 1                                   carried a, b
    a, b = a * 0.5, a + b
return a + b

### not in a while
done = x.norm() < 1
while not done:
    x = x * 0.5
    done = x.norm() < 1
return x
---
done = jnp.linalg.norm(x) < 1
Loop not done                                                 carried x, done
    x = x * 0.5
    done = jnp.linalg.norm(x) < 1
return x

### range of an int
n = int((x > 0).sum())
z = y * 1
for i in range(n):
    z = z * 0.9 + 0.01 * i
return z
---
n = int((x > 0).sum())
z = y * 1
Repeat i over range(n)                                        carried z
    z = z * 0.9 + 0.01 * i
return z

### for with a range and a step [traced-loop]
n = int((x > 0).sum())
z = y * 1
for i in range(0, n, 2):
    z = z * 0.9 + i
return z
---
n = int((x > 0).sum())
z = y * 1
Unconverted(traced-loop, range(0, n, 2))
return z

### index read after a data loop [traced-loop]
n = int((x > 0).sum())
i = 0
z = y * 1
for i in range(n):
    z = z * 0.9
return z * i
---
n = int((x > 0).sum())
i = 0
z = y * 1
Unconverted(traced-loop, range(n))
return z * i

### a name that the test binds [traced-loop]
while (size := x.norm()) > 1:
    x = x / size
return x
---
Unconverted(traced-loop, (size := x.norm()) > 1)
return x

### list in a while [traced-loop]
parts = []
while x.norm() > 1:
    x = x * 0.5
    parts.append(x)
return torch.stack(parts)
---
parts = []
Unconverted(traced-loop, x.norm() > 1)
return jnp.stack(parts)

### a function in a loop [traced-loop]
def g(u):
    return u
while x.norm() > 1:
    def g(u):
        return -u
    x = x * 0.5
return g(x)
---
def g(u):
    return u
Unconverted(traced-loop, x.norm() > 1)
return g(x)

### a flag
n = 0
running = True
while running and x.sum() > 1:
    x = x * 0.5
    n += 1
    running = n < 20
return x
---
n = 0
Loop n < 20 and x.sum() > 1                                   carried x, n; same n; at most 20 turns
    x = x * 0.5
    n += 1
return x

### a flag that is read
n = 0
running = True
while running and x.sum() > 1:
    x = x * 0.5
    n += 1
    running = n < 20
return x, running
---
n = 0
running = True
Loop running and x.sum() > 1                                  carried x, n, running; same n
    x = x * 0.5
    n += 1
    running = n < 20
return x, running

### None before [traced-loop]
z = None
while x.sum() > 1:
    x = x * 0.5
    z = x
return z
---
z = None
while x.sum() > 1:
    x = x * 0.5
    z = x
return z

### set only inside [traced-loop]
while x.sum() > 1:
    x = x * 0.5
    z = x
return z
---
z = Unconverted(traced-loop, x.sum() > 1)
return z

### nothing changes [traced-loop]
while x.sum() > 1:
    y * 2
return x
---
Unconverted(traced-loop, x.sum() > 1)
return x

### a call for its effect [traced-loop]
while x.sum() > 1:
    x = x * 0.5
    save(x)
return x
---
while x.sum() > 1:
    x = x * 0.5
    save(x)
return x

### nested
while x.norm() > 1:
    x = x * 0.5
    while y.norm() > x.norm():
        y = y * 0.5
return x, y
---
Loop jnp.linalg.norm(x) > 1                                   carried x, y
    x = x * 0.5
    Loop jnp.linalg.norm(y) > jnp.linalg.norm(x)              carried y
        y = y * 0.5
return x, y

### at most, and from a number
n = 3
while n <= 10 and x.sum() > 1:
    x = x * 0.5
    n = n + 1
return x
---
n = 3
Loop n <= 10 and x.sum() > 1                                  carried x, n; same n; at most 8 turns
    x = x * 0.5
    n = n + 1
return x

### a counter that jumps
n = 0
while n < 10 and x.sum() > 1:
    x = x * 0.5
    n += 2
return x
---
n = 0
Loop n < 10 and x.sum() > 1                                   carried x, n; same n
    x = x * 0.5
    n += 2
return x
""")


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    body, outcome, ids = PROGRAMS[name]
    assert shown(body, branches, loops) == (outcome, ids)
