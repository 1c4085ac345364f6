"""Only what was changed is formatted, and a statement over several lines is one thing."""

import ast

import pytest

from transpile import convert_source

HEAD = "import torch\nimport torch.nn.functional as F\n\n"

# source, and what the value of the assignment comes out as
LINES = {
    "a list": ("ACTS = [\n    F.relu,\n    len,\n    torch.tanh,\n]\n", ["jax.nn.relu", "len", "jnp.tanh"]),
    "keywords": ("ACTS = dict(\n    relu=F.relu,\n    length=len,\n)\n", ["jax.nn.relu", "len"]),
    "a dict": ("ACTS = {\n    'a': F.relu,\n    'b': len,\n    'c': torch.exp,\n}\n", ["jax.nn.relu", "len", "jnp.exp"]),
}


@pytest.mark.parametrize("name", LINES)
def test_a_line_in_the_middle_stays_what_it_is(name):
    source, expected = LINES[name]
    value = ast.parse(convert_source(HEAD + source).code).body[-1].value
    parts = value.elts if isinstance(value, ast.List) else value.values if isinstance(value, ast.Dict) else [k.value for k in value.keywords]
    assert [ast.unparse(p) for p in parts] == expected


def test_a_header_over_several_lines():
    source = HEAD + "def f(\n    x: torch.Tensor,\n    y=1,\n):\n    return torch.exp(\n        x\n    ) + y\n"
    code = convert_source(source).code
    assert "def f(\n    x: jax.Array,\n    y=1,\n):\n" in code
    assert "return jnp.exp(\n        x\n    ) + y\n" in code


def test_blocks_of_other_depths_stay_as_they_are():
    source = (
        "import torch.nn as nn\n\n\nclass A(nn.Module):\n  def __init__(self):\n    super().__init__()\n    self.a = nn.Linear(2, 2)\n\n"
        "  def forward(self, x):\n    return self.a(x)\n\n\nclass B(nn.Module):\n    def __init__(self):\n      super().__init__()\n"
        "      self.w = nn.Parameter(torch.zeros(2))\n      self.fill()\n\n    def fill(self):\n      nn.init.ones_(self.w)\n\n"
        "    def forward(self, x):\n      y = x * 2\n      return y + self.w\n"
    )
    ast.parse(convert_source("import torch\n" + source).code)


def test_no_gap_is_left_where_a_first_statement_goes():
    source = (
        "import torch.nn as nn\n\n\nclass A(nn.Module):\n    def __init__(self):\n        super().__init__()\n\n        # a layer\n"
        "        self.a = nn.Linear(2, 2)\n\n    def own(self):\n\n        return 1\n\n    def forward(self, x):\n        return self.a(x)\n"
    )
    code = convert_source("import torch\n" + source).code
    assert "def __init__(self):\n        # a layer\n        self.a" in code
    assert "def own(self):\n\n        return 1\n" in code


def test_a_line_stands_between_a_new_method_and_the_next():
    source = (
        "import torch.nn as nn\n\n\nclass A(nn.Module):\n    def __init__(self, n):\n        super().__init__()\n        self.w = nn.Parameter(torch.ones(n))\n"
        "    def forward(self, x):\n        return self.w * x\n    def own(self):\n        return 1\n"
    )
    code = convert_source("import torch\n" + source).code
    assert "self.n)}\n\n    def __call__" in code
    assert "* x\n    def own" in code


@pytest.mark.parametrize("target", ["functional", "flax", "equinox"])
def test_a_line_that_stands_further_left_is_the_users(target):
    source = (
        "def f(model, batches):\n    with torch.no_grad():\n        for x in zip( *batches , batches):    # each\n"
        "            print('a',\n                  x)\n            y = torch.exp( x )\n    return y\n"
    )
    code = convert_source(HEAD + source, target).code
    expected = "    for x in zip( *batches , batches):    # each\n        print('a',\n              x)\n        y = "
    assert expected in code


@pytest.mark.parametrize("target", ["functional", "flax", "equinox"])
def test_the_comments_of_parameters_stay_beside_them(target):
    source = (
        "class A(torch.nn.Module):\n    def __init__(self, n):\n        super().__init__()\n        self.fc = torch.nn.Linear(n, n)\n"
        "        self.drop = torch.nn.Dropout(n)\n\n    def forward(\n        self,\n        x,   # (b d) - one\n        *,\n"
        "        y = None,     # (b)\n        z = False\n    ):\n        return self.drop( self.fc(x))\n"
    )
    code = convert_source(HEAD + source, target).code
    assert "        x,   # (b d) - one\n        *,\n        y = None,     # (b)\n        z = False" in code


SIGNATURES = {  # of a function that is handed a module, and of one that has parameters
    "self": ("self", "self, params, *, key=None, training=False"),
    "a star": ("self, *xs", "self, params, *xs, key=None, training=False"),
    "two stars": ("self, **xs", "self, params, *, key=None, training=False, **xs"),
    "a slash": ("self, x, /, y=1", "self, params, x, /, y=1, *, key=None, training=False"),
    "a slash behind all": ("self, x, /", "self, params, x, /, *, key=None, training=False"),
    "self alone before a slash": ("self, /, x", "self, /, params, x, *, key=None, training=False"),
    "by keyword": ("self, *, x", "self, params, *, x, key=None, training=False"),
    "lines": ("\n        self,\n        x,\n    ", "self, params, x, *, key=None, training=False"),
    "a comment behind the last": (
        "\n        self,\n        x  # one, of two\n    ",
        "self, params, x, *, key=None, training=False",
    ),
    "a comment behind a comma": (
        "\n        self,\n        x,  # one, of two\n    ",
        "self, params, x, *, key=None, training=False",
    ),
}


@pytest.mark.parametrize("name", SIGNATURES)
def test_what_a_method_takes_more(name):
    given, expected = SIGNATURES[name]
    source = (
        "class A(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.w = torch.nn.Parameter(torch.ones(3))\n"
        f"        self.drop = torch.nn.Dropout(0.5)\n\n    def forward({given}):\n        return self.drop(self.w)\n"
    )
    module = ast.parse(convert_source(HEAD + source).code)
    (call,) = (n for n in ast.walk(module) if isinstance(n, ast.FunctionDef) and n.name == "__call__")
    assert ast.unparse(call.args) == expected


LAYOUTS = {
    "an element a line": (
        "        self.net = torch.nn.Sequential(\n            torch.nn.Linear(n, n),\n            torch.nn.Tanh()\n        )\n",
        "nn.Sequential(\n            nn.Linear(n, n, {rngs}),\n            nn.Tanh()\n        )\n",
    ),
    "brackets that open together": (
        "        self.net = torch.nn.Sequential(*[\n            torch.nn.Linear(n, n, bias = False),\n            A(n,\n              2 * n)\n        ])\n",
        "nn.Sequential(*[\n            nn.Linear(n, n, bias = False, {rngs_}),\n            A(n,\n              2 * n)\n        ])\n",
    ),
    "an argument a line": (
        "        self.net = torch.nn.Linear(\n            n,\n            out_features = 4\n        )\n",
        "nn.Linear(\n            n,\n            out_features = 4,\n            {rngs_}\n        )\n",
    ),
    "a line that grows too long": (
        "        self.net = torch.nn.Sequential(*[\n            torch.nn.Linear(n, n if n > 1 and n > 2 and n > 3 and n > 4 and n > 5 and n > 6"
        " and n > 7 and n > 8 and n > 9 else 1),\n            torch.nn.Tanh()\n        ])\n",
        "nn.Sequential(*[\n            nn.Linear(\n                n,\n                n if n > 1",
    ),
    "what stood below a bracket that moves": (
        "        self.net = torch.nn.Sequential(torch.nn.Linear(n, n),\n                                       torch.nn.Tanh())\n",
        "nn.Sequential(nn.Linear(n, n, {rngs}), nn.Tanh())\n",
    ),
    "a comment that makes a line too long": (
        "        self.net = torch.nn.Linear(n, n, bias=False)  # the projection, which has no bias since what follows it takes away the mean\n",
        "        # the projection, which has no bias since what follows it takes away the mean\n        self.net = nn.Linear(n, n, bias=False, {rngs})\n",
    ),
    "a comment beside the last parameter": ("", "        n=4,  # how wide\n        *,\n        rngs: nnx.Rngs\n    ):\n"),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_the_layout_of_what_changes(name):
    given, expected = LAYOUTS[name]
    source = (
        "import torch\n\n\nclass A(torch.nn.Module):\n    def __init__(self, n, m):\n        super().__init__()\n\n\n"
        "class Net(torch.nn.Module):\n    def __init__(\n        self,\n        n=4  # how wide\n    ):\n        super().__init__()\n"
        f"        self.first = torch.nn.Linear(4, n)\n{given}\n    def forward(self, x):\n        return self.first(x)\n"
    )
    made = convert_source(source, "flax").code
    assert expected.format(rngs="rngs=rngs", rngs_="rngs = rngs") in made, made
    ast.parse(made)


CARRIED = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(3)
        self.drop = nn.Dropout()

    def forward(self, x, many):
        for _ in range(3):
            y = self.step(
                x
            )
            print(y)
        z = self.steps(
            x, many.of_the_arguments, many.of_which_none, many.stands_alone_on_its_line, many.nor_does_the_last
        )
        print(z)
        return x

    def step(self, x):
        return self.norm(x)

    def steps(self, x, a, b, c, d):
        return self.drop(self.norm(x))
"""


def test_calls_over_several_lines_in_a_new_statement():
    code = convert_source("import torch.nn as nn\n\n" + CARRIED, "equinox").code
    assert "            y, state = self.step(\n                x,\n                state\n            )\n" in code
    call = next(n for n in ast.walk(ast.parse(code)) if isinstance(n, ast.Call) and ast.unparse(n.func) == "self.steps")
    assert [ast.unparse(a) for a in call.args[2:]] == ["many.of_which_none", "many.stands_alone_on_its_line", "many.nor_does_the_last", "state"]


def test_what_is_given_behind_a_keyword_of_another_name():
    text = (
        "import torch.nn as nn\n\n\nclass A(nn.Module):\n    def __init__(self, n):\n        super().__init__()\n"
        "        self.a = nn.Dropout(p=n)\n        self.b = nn.Dropout(\n            p=n,\n        )\n\n"
        "    def forward(self, x):\n        return self.b(self.a(x))\n"
    )
    code = convert_source(text, "flax").code
    assert "self.a = nnx.Dropout(rate=n, rngs=rngs)\n" in code
    assert "            rate=n,\n            rngs=rngs,\n        )\n" in code
