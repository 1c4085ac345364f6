"""Runs the pass on a text, with values by a small evaluator, and spells the output in names."""

import ast
from pathlib import PurePosixPath
from types import SimpleNamespace

from transpile.facts.values.joins import sequence
from transpile.facts.values.lattice import (
    MISSING,
    NONE,
    SHAPE,
    UNKNOWN,
    External,
    Method,
    Sequence,
    Static,
    Tensor,
    Torch,
)
from transpile.model.effects import Key, New, Support, Unconverted
from transpile.model.expressions import Attribute, Call, Constant, Display, Name, Starred, Subscript
from transpile.model.names import dotted
from transpile.model.operators import Binary, Boolean, Compare, Conditional, Unary
from transpile.model.program import Function
from transpile.model.rule_files import load
from transpile.model.statements import Assign, Import
from transpile.passes import operations, simplify
from transpile.source.lower import lower
from transpile.source.splice import write

BUILTINS = {"float", "int", "isinstance", "type", "str", "repr", "getattr", "range", "list", "len"}
INT = Static(MISSING, "int")
SIZES = {"shape": SHAPE, "ndim": INT, "dtype": Static(MISSING, "dtype")}
METHODS = {
    "size": SHAPE,
    "dim": INT,
    "numel": INT,
    "item": Tensor(number=True),
    "argmax": Tensor(kind="i"),
    "long": Tensor(kind="i"),
    "bool": Tensor(kind="b"),
    "byte": Tensor(kind="u"),
}
WORDS = {
    "Tensor": Tensor(),
    "int": INT,
    "float": Static(MISSING, "float"),
    "Mask": Tensor(kind="b"),
}


class Facts:
    """The facts of a test: everything runs at one stage."""

    def __init__(self, stage=None):
        self.rulebook, self._stage = load(), stage
        self.values = SimpleNamespace(given_data=frozenset(), may_be_numpy=lambda scope, name: False)
        self.project = SimpleNamespace(by_star=lambda file: ())
        self.activity = SimpleNamespace(carries=lambda node: None)
        self.effects = SimpleNamespace(acts=lambda node: False)

    def stage(self, scope):
        return self._stage

    def layer(self, name):
        return None

    def in_forward(self, scope):
        return self._stage == "traced"


def evaluate(node, env):
    """A value for every expression: torch's names by imports, what is computed from tensors as
    tensors.
    """
    for child in node.children():
        evaluate(child, env)
    if hasattr(node, "value"):
        node.value = _value(node, env)


def _value(node, env):
    if isinstance(node, Name):
        return env.get(node.id, External(f"builtins.{node.id}") if node.id in BUILTINS else UNKNOWN)
    if isinstance(node, Constant):
        plain = NONE if node.constant is None else None
        return plain or Static(node.constant, type(node.constant).__name__)
    if isinstance(node, Display):
        return sequence([e.value for e in node.elements], node.kind == "tuple")
    if isinstance(node, Attribute):
        return _attribute(node)
    if isinstance(node, Call):
        return _call(node)
    if isinstance(node, Subscript):
        return (
            INT if node.object.value == SHAPE and node.index.value != UNKNOWN else node.object.value
        )
    if isinstance(node, (Compare, Boolean)):
        tensor = any(isinstance(o.value, Tensor) for o in node.children())
        return Tensor(kind="b") if tensor else Static(MISSING, "bool")
    if isinstance(node, (Binary, Unary, Conditional, Starred)):
        values = [c.value for c in node.children()]
        first = next((v for v in values if isinstance(v, Tensor)), values[0])
        return Static(MISSING, first.type) if isinstance(first, Static) and first.type else first
    return UNKNOWN


def _attribute(node):
    base, name = node.object.value, node.name
    if isinstance(base, Torch):
        return Torch(f"{base.name}.{name}")
    if isinstance(base, External):
        return External(f"{base.name}.{name}")
    if isinstance(base, Tensor):
        if name in SIZES:
            return SIZES[name]
        return Tensor() if name in ("T", "data", "grad") else Method(base, name)
    return UNKNOWN


def _call(node):
    function, words = node.function.value, node.keywords
    if isinstance(function, Method):
        if function.name == "size" and node.arguments:
            return INT
        cast = [a.value.name for a in node.arguments if isinstance(a.value, Torch)]
        if function.name == "to" and cast:
            return Tensor(kind="f" if "float" in cast[0] else "i")
        return METHODS.get(function.name, Tensor(dims=int(function.name in ("view", "reshape"))))
    if isinstance(function, Torch):
        last = function.name.rpartition(".")[2]
        if last == "device":
            return Static(MISSING, "device")
        dtype = next((a.value for w, a in zip(words, node.arguments) if w == "dtype"), None)
        whole = isinstance(dtype, Torch) and dtype.name in ("torch.long", "torch.int64")
        first = node.arguments[0].value if node.arguments else None
        number = first.type if last == "tensor" and isinstance(first, Static) else ""
        return Tensor(kind="i" if whole or number == "int" else "f")
    if isinstance(function, External) and function.name == "builtins.range":
        return Static(MISSING, "range")
    if isinstance(function, External):
        plain = {"list": Sequence(INT), "float": Static(MISSING, "float"), "int": INT}
        arrays = any(isinstance(a.value, Tensor) for a in node.arguments)
        if function.name == "numpy.sqrt" and not arrays:
            return Static(MISSING, "float", wide=True)
        return plain.get(function.name.removeprefix("builtins."), UNKNOWN)
    return UNKNOWN


def _environment(file):
    env = {}
    for node in file.walk():
        if isinstance(node, Import):
            for name in node.names:
                full = f"{node.module}.{name.name}" if node.module else name.name
                full = full if name.alias or node.module else full.partition(".")[0]
                known = Torch if full.partition(".")[0] == "torch" else External
                env[name.bound] = known(full)
    return env


def convert(text, stage=None, more=None):
    """The text with torch's operations as JAX's, and the diagnostics."""
    file = lower(text, PurePosixPath("module.py"))
    _set_values(file, {**_environment(file), **(more or {})})
    diagnostics = []
    for scope in file.scopes():
        changes = operations.run(scope, Facts(stage))
        changes.commit()
        diagnostics += changes.diagnostics
    for scope in file.scopes():
        simplify.run(scope, Facts(stage)).commit()
    assert not [
        n for n in file.walk() if isinstance(getattr(n, "value", None), Torch) and n.start < 0
    ]
    spell(file)
    made = write(file)
    ast.parse(made)
    return made, diagnostics


def _set_values(file, env):
    evaluate(file, env)
    for function in file.functions():
        inner = dict(env)
        for p in function.parameters:
            word = (dotted(p.annotation) or "").rpartition(".")[2]
            inner[p.name] = WORDS.get(word, UNKNOWN)
        for statement in function.body.body:
            evaluate(statement, inner)
            if (
                isinstance(statement, Assign)
                and statement.expression is not None
                and isinstance(statement.targets[0], Name)
            ):
                inner[statement.targets[0].id] = statement.expression.value
                evaluate(statement, inner)


def spell(file):
    """The nodes that are no syntax as names: `nn.cross_entropy`, `key`."""
    for node in list(file.walk()):
        if isinstance(node, Support):
            node.replace(Attribute(Name("nn"), node.name))
        elif isinstance(node, Key):
            node.replace(Name("key"))
        elif isinstance(node, New):
            node.become(Call(node.function, node.arguments, node.keywords))
        elif isinstance(node, Unconverted):
            arguments = [Constant(node.id), Constant(node.source)]
            node.replace(Call(Attribute(Name("nn"), "unconverted"), arguments))


def line(text, stage=None, parameters="x: torch.Tensor, y: torch.Tensor, n: int"):
    """One expression converted, in a function with these parameters."""
    imports = "import torch\nimport torch.nn as nn_\nimport torch.nn.functional as F\nimport numpy as np\n"
    made, diagnostics = convert(f"{imports}\n\ndef f({parameters}):\n    return {text}\n", stage)
    return made.strip().rpartition("    return ")[2], diagnostics


def only_function(file):
    return next(f for f in file.functions() if isinstance(f, Function))
