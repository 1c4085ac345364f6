"""One line of torch, one line of JAX."""

import pytest

from tests.passes.operations_helper import convert, line
from tests.programs.test_lines import LINES
from transpile.facts.values.lattice import Tensor

IMPORTS = "import torch\nimport torch.nn.functional as F\nfrom torch import nn as tnn\n\n"


@pytest.mark.parametrize(("torch_line", "jax_line"), LINES, ids=[row[0] for row in LINES])
def test_line(torch_line, jax_line):
    # what is written in place is functional by now
    assert line(torch_line.replace(".triu_(", ".triu(")) == (jax_line, [])


# Of an input x, a mask m, a number n and an unknown u; in a function that is traced.
MORE = [
    # what is asked of dtypes and types
    ("x.dtype is torch.bool", "x.dtype == bool"),
    ("x.dtype == torch.long", "x.dtype == jnp.result_type(int)"),
    ("x.dtype in {torch.half, torch.float}", "x.dtype in [jnp.float16, jnp.float32]"),
    ("x.type() == 'torch.DoubleTensor'", "x.dtype == jnp.float64"),
    ("x.type() == m.type()", "x.dtype == m.dtype"),
    ("'Double' in x.type()", "x.dtype == jnp.float64"),
    ("str(x.dtype) == 'torch.float16'", "x.dtype == jnp.float16"),
    ("isinstance(x, torch.LongTensor)", "x.dtype == jnp.result_type(int)"),
    (
        "isinstance(u, (torch.FloatTensor, str))",
        "isinstance(u, str) or isinstance(u, jax.Array) and u.dtype == jnp.float32",
    ),
    (
        "type(x.item()) != int",
        "not jnp.issubdtype(jnp.result_type(lax.stop_gradient(x).reshape(())), jnp.integer)",
    ),
    ("isinstance(x, torch.Tensor)", "isinstance(x, jax.Array)"),
    # indices
    ("x[range(n)]", "x[jnp.arange(n)]"),
    ("x[m.byte()]", "x[m.astype(jnp.uint8) != 0]"),
    # bytes, which wrap in torch
    ("(x * 10).to(torch.uint8)", "(x * 10).astype(int).astype(jnp.uint8)"),
    ("x.clamp(0, 1).mul(255).byte()", "(jnp.clip(x, 0, 1) * 255).astype(int).astype(jnp.uint8)"),
    ("(x.clamp(0, 1) * 255).byte()", "(jnp.clip(x, 0, 1) * 255).astype(jnp.uint8)"),
    ("torch.triu(torch.ones(n, n)).byte()", "jnp.triu(jnp.ones((n, n), dtype=jnp.uint8))"),
    ("x.max(1)[0]", "nn.max_values(x, 1)"),
    ("x.max(1).indices", "x.argmax(axis=1)"),
    ("x.data.size(0)", "x.shape[0]"),
    # what is drawn
    ("torch.rand(n)", "jax.random.uniform(key, (n,))"),
    ("F.dropout(x, 0.5)", "nn.drop(x, 0.5, x.shape, key)"),
    # names as values
    ("[F.relu, torch.float32, torch.tanh]", "[jax.nn.relu, jnp.float32, jnp.tanh]"),
    ("getattr(torch, 'compiler', None)", "None"),
    # numbers beside arrays
    ("x * torch.tensor(2.0)", "x * 2.0"),
    ("torch.where(m, x, torch.tensor(0.0))", "jnp.where(m, x, 0.0)"),
    ("np.sqrt(x)", "jnp.sqrt(x)"),
    ("x * np.sqrt(5)", "x * float(np.sqrt(5))"),
    ("int(np.sqrt(n))", "int(np.sqrt(n))"),
    ("x + torch.finfo(torch.float32).eps", "x + float(jnp.finfo(jnp.float32).eps)"),
    ("x + torch.finfo(x.dtype).eps", "x + jnp.finfo(x.dtype).eps"),
    ("torch.exp(x / np.sqrt(n))", "jnp.exp(x / float(np.sqrt(n)))"),
    # sizes that are spread
    ("torch.zeros(*u)", "jnp.zeros(u)"),
    ("torch.ones(2, *u)", "jnp.ones((2, *u))"),
    ("torch.rand(*u)", "jax.random.uniform(key, u)"),
    ("torch.rand(u)", "jax.random.uniform(key, nn.as_shape(u))"),
    ("torch.rand(u) * (u - 1)", "jax.random.uniform(key, (u,)) * (u - 1)"),
    ("torch.zeros(*(a for a in u))", "jnp.zeros(tuple(a for a in u))"),
    # arguments are moved, and nothing is evaluated twice or lost
    ("torch.flatten(f(x), 1)", "lax.collapse(f(x), 1)"),
    ("torch.add(x, m, alpha=(n + 1))", "x + (n + 1) * m"),
    ("torch.exp(  x  [0]  )", "jnp.exp(  x  [0]  )"),
    ("(x if n else m).view(-1)", "(x if n else m).reshape(-1)"),
    ("x.view(*u, 3)", "x.reshape(*u, 3)"),
    ("lambda a: torch.exp(a)", "lambda a: jnp.exp(a)"),
    ("[torch.exp(a) for a in u]", "[jnp.exp(a) for a in u]"),
]


@pytest.mark.parametrize(("torch_line", "jax_line"), MORE, ids=[row[0] for row in MORE])
def test_more(torch_line, jax_line):
    made, diagnostics = line(torch_line, "traced", "x: torch.Tensor, m: Mask, n: int, u")
    assert made == jax_line
    assert {d.id for d in diagnostics} <= {"data-dependent-shape"}


def converted(text, stage=None):
    """Some statements, and the ids of what was reported of them with their lines, counted from 1."""
    made, diagnostics = convert(IMPORTS + text, stage)
    return made.removeprefix(IMPORTS), [(d.id, d.line - 4) for d in diagnostics]


def test_layers_keep_their_layout_and_lose_placement():
    text = """def make(d):
    return tnn.Sequential(
        tnn.Linear(3, 4),  # first
        tnn.ReLU(True),
        tnn.Linear(4, 5, device=d, bias=False),
    )
"""
    made, found = converted(text)
    expected = text.replace("tnn.", "nn.").replace("True", "").replace(", device=d", "")
    assert (made, found) == (expected, [])


def test_what_python_says_of_a_layer_is_asked_of_ours():
    made, found = converted("class A(tnn.Linear):\n    __doc__ = tnn.Linear.__doc__\n")
    assert (made, found) == ("class A(nn.Linear):\n    __doc__ = nn.Linear.__doc__\n", [])
    made, found = converted("class A:\n    __doc__ = tnn.DataParallel.__doc__\n")
    assert (made, found) == ("class A:\n    __doc__ = None\n", [])


def test_a_layer_is_one_whatever_its_flags_say():
    made, _ = converted("a = tnn.InstanceNorm2d(3, track_running_stats=True)\n")
    assert made == "a = nn.InstanceNorm2d(3, track_running_stats=True)\n"


def test_layers_refuse_what_they_do_not_have():
    _, found = converted("a = tnn.GRU(3, 4, dtype=torch.half)\nb = tnn.Linear(3, 4, speed=2)\n")
    assert found == [("unsupported", 1), ("unsupported", 2)]


def test_the_constructor_of_a_layer_that_a_class_extends():
    text = """class A(tnn.Linear):
    def __init__(self, n, d):
        tnn.Linear.__init__(self, n, n, device=d)
"""
    made, found = converted(text)
    assert (made, found) == (text.replace("tnn.", "nn.").replace(", device=d", ""), [])


def test_what_has_no_rule_raises_where_its_value_is_needed():
    text = "def f(x: torch.Tensor):\n    y = torch.no_such(x)  # why\n    return y\n"
    made, found = converted(text)
    assert '    y = nn.unconverted("no-rule", "torch.no_such(x)")  # why\n    return y' in made
    assert found == [("no-rule", 2)]


def test_what_an_import_computes_with_it_raises_as_a_whole():
    made, diagnostics = convert("import torch\n\ny = x.grad.abs()\n", "import", {"x": Tensor()})
    assert made.endswith('y = nn.unconverted("no-rule", "x.grad.abs()")\n')
    assert [d.id for d in diagnostics] == ["no-rule"]


def test_a_form_that_a_rule_refuses():
    _, found = converted("def f(x: torch.Tensor):\n    return torch.lobpcg(x)\n")
    assert found == [("unsupported", 2)]


def test_what_writes_its_argument_is_no_value():
    made, found = converted("a = tnn.utils.clip_grad_norm_\nc = F.relu\n")
    assert found == [("unsupported", 1)]
    assert made.endswith("c = jax.nn.relu\n")


def test_an_initialiser_is_a_value():
    made, found = converted("a = tnn.init.zeros_\nb = tnn.init.xavier_normal\n")
    assert not found
    assert made.endswith("a = nn.init_zeros\nb = nn.xavier_normal\n")


def test_arguments_that_fit_no_rule():
    _, found = converted("def f(x: torch.Tensor):\n    return torch.exp(x, 1, 2)\n")
    assert found == [("arguments", 2)]


def test_headers():
    text = """def f(x, act=F.relu):
    return x


class A(torch.utils.data.Dataset):
    kind: int = torch.float32
"""
    made, found = converted(text)
    assert (
        made
        == """def f(x, act=jax.nn.relu):
    return x


class A(object):
    kind: int = jnp.float32
"""
    )
    assert found == [("no-rule", 5)]


def test_names_of_the_users_own_are_left():
    text = "def f(relu, x: torch.Tensor):\n    exp = torch.exp\n    return relu(exp(x))\n"
    made, _ = converted(text)
    assert made == "def f(relu, x: torch.Tensor):\n    exp = jnp.exp\n    return relu(jnp.exp(x))\n"


def test_arguments_over_several_lines_keep_their_comments():
    text = """def f(x: torch.Tensor):
    return torch.cat([
        x,  # the first
        x.view(-1),
    ], dim=1)
"""
    made, _ = converted(text)
    assert (
        made
        == """def f(x: torch.Tensor):
    return jnp.concatenate([
        x,  # the first
        x.reshape(-1),
    ], axis=1)
"""
    )


def test_calls_that_stay_calls_keep_their_layout():
    text = """def f(x: torch.Tensor, y: torch.Tensor, n: int):
    a = torch.where(
        x > 0,  # why
        x, y,
    )
    b = torch.softmax(x.sum( dim = 1 ), dim=n, dtype=None)
    c = F.gelu( x )
    d = x.view(
        n,  # rows
        -1,
    )
    return torch.zeros( n , n, device=x.device )
"""
    made, _ = converted(text)
    assert (
        made
        == """def f(x: torch.Tensor, y: torch.Tensor, n: int):
    a = jnp.where(
        x > 0,  # why
        x, y,
    )
    b = jax.nn.softmax(x.sum( axis=1 ), axis=n)
    c = jax.nn.gelu( x, approximate=False )
    d = x.reshape(
        n,  # rows
        -1,
    )
    return jnp.zeros((n, n))
"""
    )


@pytest.mark.parametrize("name, word", [("shape", "reshape"), ("size", "reshape"), ("new_dtype", "view")])
def test_a_view_by_the_name_of_what_it_is_given(name, word):
    made, found = converted(f"def f(x: torch.Tensor, {name}):\n    return x.view({name})\n")
    assert f"return x.{word}({name})" in made and not found


RESULTS = [
    ("_, y = x.max(1)  # where", "return y", "y = x.argmax(axis=1)  # where"),
    ("y, _ = torch.sort(x)", "return y", "y = jnp.sort(x)"),
    ("y, _ = torch.max(x, 1)", "return y, _", "y, _ = nn.max_dim(x, 1)"),
    ("y, _ = torch.max(x, 1)", "return lambda: _ + y", "y, _ = nn.max_dim(x, 1)"),
    ("global _; y, _ = x.max(1)", "return y", "global _; y, _ = nn.max_dim(x, 1)"),
    ("_, y = torch.mode(x)", "return y", "_, y = nn.mode(x)"),
]


@pytest.mark.parametrize("unpacked, given, expected", RESULTS)
def test_a_result_that_nobody_reads_is_not_made(unpacked, given, expected):
    made, found = converted(f"def f(x: torch.Tensor):\n    {unpacked}\n    {given}\n")
    assert made == f"def f(x: torch.Tensor):\n    {expected}\n    {given}\n" and not found


def test_sizes_that_follow_from_data_are_reported():
    text = "def f(x: torch.Tensor, m: Mask):\n    n = x.sum()\n    return torch.zeros(n), x[m]\n"
    assert converted(text, "traced")[1] == [("data-dependent-shape", 3)] * 2


def test_a_slice_that_begins_where_the_data_tell():
    text = "def f(x: torch.Tensor, i: torch.Tensor):\n    return x[:, i : i + 3], x[i:]\n"
    made, found = converted(text, "traced")
    assert "lax.dynamic_slice_in_dim(x, i, 3, 1)" in made
    made, _ = converted(text.replace("3]", "3, :2]"), "traced")
    assert "lax.dynamic_slice_in_dim(x, i, 3, 1)[:, :, :2]" in made
    assert found == [("data-dependent-shape", 2)]


def test_numbers_that_become_whole():
    text = "def f(n: int):\n    a = torch.linspace(0, 1, n)\n    return a.long()\n"
    made, _ = converted(text)
    assert "nn.linspace_exact" in made or "jnp.linspace" not in made


def test_what_is_unbound_and_what_is_matched():
    text = """def f(x):
    from torch import no_such
    match x:
        case torch.Tensor() as v: return torch.exp(v)
        case no_such(): return 0
    del no_such
"""
    made, found = converted(text)
    expected = text.replace("torch.Tensor()", "jax.Array()").replace("torch.exp", "jnp.exp")
    assert (made, found) == (expected, [("no-rule", 5)])
