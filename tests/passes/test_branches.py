"""Branches on data, before and after."""

import pytest

from tests.passes.control_helper import Facts, program, run, shown, table
from transpile.model.carry import Carried
from transpile.model.copy import clone
from transpile.model.effects import Cond, Read, Unset, Write
from transpile.model.expressions import Name
from transpile.model.statements import Assign
from transpile.passes import branches
from transpile.source.show import show
from transpile.source.splice import write

PROGRAMS = table("""
### both sides
if x.sum() > 0:
    z = x * 2
else:
    z = y.exp()
return z + x
---
Cond x.sum() > 0                                          out z
    z = x * 2
else
    z = jnp.exp(y)
return z + x

### one side
z = x * 1
if x.mean() > 0:
    z = z * y
return z
---
z = x * 1
Cond x.mean() > 0                                         in z; out z
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
Cond x.mean() > 1                                         out z
    z = x
else
    Cond x.mean() > 0                                     out z
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
Cond x.mean() > 0                                         out z
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
Cond x.mean() > 0                                         out loss; differs loss
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
Cond x.mean() > 0                                         in n; out n; differs n
    n = n + 1
Cond y.mean() > 0                                         in n; out n; same n
    n = n + 1
return x * n

### dead names
if x.mean() > 0:
    unused = x * 2
return x + y
---
return x + y

### list element
parts = [x, y]
if x.mean() > 0:
    w = parts[0] * 2
else:
    w = parts[1]
return w
---
parts = [x, y]
Cond x.mean() > 0                                         out w
    w = parts[0] * 2
else
    w = parts[1]
return w

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
    Cond z.mean() > 0.5                                   in z; out z
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
Cond x.mean() > 0                                         returns
    return jnp.exp(x)
else
    return y

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

### nan guard
z = torch.log(x.abs() + 1)
if torch.isnan(z).any() or torch.isinf(z).any():
    z = torch.zeros_like(z)
return z + y
---
z = jnp.log(jnp.where(x == 0, 0, jnp.abs(x)) + 1)
Cond jnp.isnan(z).any() or jnp.isinf(z).any()             in z; out z; same z
    z = jnp.zeros_like(z)
return z + y

### assignment of a tuple on both sides
if x.mean() > 0:
    a, b = x, y
else:
    a, b = y, x
return a * 2 + b
---
Cond x.mean() > 0                                         out a, b
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
Cond x.mean() > 0                                         in y; out y
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
Cond x.mean() > 0                                         out z
    def g(t):
        return t * 2
    z = g(x)
else
    z = y
return z

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

### a dict that both sides store into
d = {"a": x}
if x.sum() > 0:
    d["b"] = x
else:
    d["b"] = y
return d
---
d = {"a": x}
Cond x.sum() > 0                                          in d; out d
    d["b"] = x
else
    d["b"] = y
return d

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

### bound in the test
if (m := x.mean()) > 0:
    m = m * 2
    y = y * m
return y * m
---
Cond (m := x.mean()) > 0                                  in m, y; out m, y
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
Cond x.sum() > 0                                          in z; out z
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
    Cond row.sum() > 1                                    out item
        item = row
    else
        Cond row.sum() > 0                                out item
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
Cond x.sum() > 0                                          in n; out n
    n = n + 1
return n
""")


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    body, outcome, ids = PROGRAMS[name]
    assert shown(body, branches) == (outcome, ids)


BEGUN = """
def f(self, x: torch.Tensor):
    if x.sum() > 0:
        self.sum = x
    return x
"""


def written(place="sum"):
    """A program in which one side writes a buffer, as functionalise leaves it."""
    file = program(BEGUN, torch=True)
    store = next(n for n in file.walk() if isinstance(n, Assign))
    target = store.targets[0]
    store.replace(Write(Read(target.object, place, "buffer"), store.expression))
    return file


def test_an_array_that_one_side_begins_is_left_to_python():
    file = written()
    found = run(file, [branches], Facts(optional={"self.sum"}))
    assert [d.id for d in found] == ["traced-branch"] and "self.sum is None" in found[0].message
    assert not any(isinstance(n, Cond) for n in file.walk())


def test_what_is_written_comes_out_as_an_effect():
    file = written()
    assert not run(file, [branches])
    assert show(next(file.functions()).body).splitlines()[:2] == [
        "Cond x.sum() > 0                                          Writes{self.sum}",
        "    Write(self.sum, x)",
    ]


def test_the_text_stays_the_users():
    text = "if x.mean() > 0:  # why\n    t = ( x )*2\n    y = y + t\nreturn y"
    file = program(text, torch=True)
    before = write(file)
    run(file, [branches])
    assert any(isinstance(n, Cond) for n in file.walk())
    assert write(file) == before


def cond(body, **facts):
    file = program(body)
    run(file, [branches], Facts(**facts))
    return next(n for n in file.walk() if isinstance(n, Cond))


@pytest.mark.parametrize(
    "body, choosable",
    [
        ("x = torch.tanh(x).float()\nif y.sum() > 0:\n    x = x * 2\nreturn x", True),
        ("x = torch.tanh(x).float()\nif y.sum() > 0:\n    x = x * y\nreturn x", False),
        ("x = x > 0\nif y.sum() > 0:\n    x = x * 2\nreturn x", False),
    ],
)
def test_where_stands_for_it_only_where_no_shape_or_dtype_changes(body, choosable):
    made = cond(body, total=True)
    assert made.total and made.choosable is choosable
    assert not cond(body).choosable


def test_what_is_unset_needs_no_start():
    file = program("if x.sum() > 0:\n    z = x * 2\nreturn z", torch=True)
    function = next(file.functions())
    function.body.insert_before(function.body.body[0], [Assign([Name("z")], Unset())])
    assert not run(file, [branches])
    made = next(n for n in file.walk() if isinstance(n, Cond))
    assert made.carry.names["z"] == Carried("unset", None, False)
    assert made.carry.inputs == ["z"] and made.carry.reads == ["x"]


def test_copies_have_a_carry_of_their_own():
    made = cond("if x.sum() > 0:\n    y = x\nreturn y")
    copy = clone(made)
    copy.carry.outputs.append("z")
    assert isinstance(copy, Cond) and made.carry.outputs == ["y"]
