"""Runs a pass over control on a text in JAX's words, with values by a small evaluator."""

import ast
from pathlib import PurePosixPath

from transpile.facts.totality import Totality
from transpile.facts.values.joins import sequence
from transpile.facts.values.lattice import (
    MISSING,
    NONE,
    SHAPE,
    UNKNOWN,
    External,
    Module,
    Sequence,
    Static,
    Tensor,
)
from transpile.model.effects import Apply, Effects, Key, Support, Unconverted, Unset
from transpile.model.expressions import (
    Attribute,
    Call,
    Comprehension,
    Constant,
    Display,
    Name,
    NamedExpression,
    Starred,
    Subscript,
)
from transpile.model.names import dotted, target_names
from transpile.model.operators import Binary, Boolean, Compare, Conditional, Unary
from transpile.model.statements import Assign, For
from transpile.source.lower import lower
from transpile.source.splice import write

BUILTINS = frozenset("float int bool print range len any all min max abs sum enumerate zip".split())
INT, BOOL = Static(MISSING, "int"), Static(MISSING, "bool")
WORDS = {
    "Array": Tensor(),
    "Mask": Tensor(kind="b"),
    "Index": Tensor(kind="i"),
    "int": INT,
    "bool": BOOL,
    "float": Static(MISSING, "float"),
    "Layers": Module(element=Module(frozenset(["torch.nn.Linear"]))),
    "Optional": Tensor(none=True),
}
STATIC = {"shape": SHAPE, "ndim": INT, "size": INT, "dtype": Static(MISSING, "dtype")}


class Facts:
    """The facts of a test: everything runs at one stage; calls have the effects of their nodes."""

    def __init__(self, stage="traced"):
        self._stage, self.totality, self.effects = stage, Totality(), self

    def stage(self, scope):
        return self._stage

    def of_call(self, call):
        return call.effects


def evaluate(node, env):
    """A value for every expression, from those of names."""
    for child in node.children():
        evaluate(child, env)
    if isinstance(node, Comprehension):
        inner = dict(env)
        for clause in node.clauses:
            evaluate(clause.iterable, inner)
            _bind(clause.target, _element(clause.iterable.value), inner)
            for test in clause.conditions:
                evaluate(test, inner)
        evaluate(node.element, inner)
        node.value = Sequence(node.element.value)
    elif hasattr(node, "value"):
        node.value = _value(node, env)


def _bind(target, value, env):
    for name in target_names(target):
        env[name] = value
    evaluate(target, env)


def _element(value):
    if isinstance(value, (Sequence, Module)):
        return value.element or UNKNOWN
    if isinstance(value, Tensor):
        return Tensor()
    return INT if isinstance(value, Static) else UNKNOWN


def _value(node, env):
    if isinstance(node, Name):
        return env.get(node.id, External(f"builtins.{node.id}") if node.id in BUILTINS else UNKNOWN)
    if isinstance(node, Constant):
        return (
            NONE if node.constant is None else Static(node.constant, type(node.constant).__name__)
        )
    if isinstance(node, NamedExpression):
        return node.expression.value
    if isinstance(node, Display):
        return sequence([e.value for e in node.elements], node.kind == "tuple")
    if isinstance(node, Attribute):
        if isinstance(node.object.value, External):
            return External(f"{node.object.value.name}.{node.name}")
        if isinstance(node.object.value, Tensor):
            return STATIC.get(node.name, UNKNOWN)
        return env.get(dotted(node) or "", UNKNOWN)
    if isinstance(node, Call):
        return _called(node)
    if isinstance(node, Subscript):
        known = node.object.value
        return (
            _element(known) if isinstance(known, (Sequence, Tensor)) or known == SHAPE else UNKNOWN
        )
    if isinstance(node, Compare):
        data = any(isinstance(o.value, Tensor) for o in node.operands)
        asks = set(node.operators) & {"is", "is not"}
        return Tensor(kind="b") if data and not asks else BOOL
    if isinstance(node, Boolean):
        left, right = node.left.value, node.right.value
        if not isinstance(right, Tensor) and isinstance(left, Tensor):
            return left
        return right if not isinstance(left, Tensor) else Tensor(kind=right.kind)
    if isinstance(node, (Binary, Unary, Conditional, Starred)):
        values = [c.value for c in node.children()]
        first = next((v for v in values if isinstance(v, Tensor)), values[0])
        if isinstance(node, Unary) and node.operator == "not":
            return Tensor(kind="b") if isinstance(first, Tensor) else BOOL
        return Static(MISSING, first.type) if isinstance(first, Static) and first.type else first
    return UNKNOWN


def _called(node):
    name = dotted(node.function) or ""
    arguments = [a.value for a in node.arguments]
    if isinstance(node.function, Attribute) and isinstance(node.function.object.value, Tensor):
        last = node.function.name
        kind = {"any": "b", "all": "b", "argmax": "i"}.get(last)
        return Tensor(kind=kind)
    data = any(isinstance(v, (Tensor, Sequence)) for v in arguments)
    if isinstance(node.function.value, External):
        last = name.rpartition(".")[2]
        if last == "range":
            return Static(MISSING, "range")
        if last in ("bool", "any", "all"):
            return Tensor(kind="b") if data or not arguments else BOOL
        if last in ("float", "int", "min", "max", "abs"):
            return Tensor() if data else INT
        return Tensor(kind="b") if name.startswith("math.") and data else UNKNOWN
    if isinstance(node, Apply) or name.startswith(("jnp.", "self.")):
        return Tensor(kind="b" if "any" in name else None)
    return Tensor() if data and name else UNKNOWN


def evaluated(file, env=None):
    """Give all expressions of a file their values; calls of `self.x` and `layer` become Apply."""
    env = {"math": External("math"), **(env or {})}
    for call in [n for n in file.walk() if n.__class__ is Call]:
        name = dotted(call.function) or ""
        if name.startswith("self.") or name in ("layer", "block"):
            writes = frozenset(["norm"]) if "norm" in name else frozenset()
            made = Effects(writes=writes, draws="drop" in name)
            call.become(Apply(call.function, call.arguments, call.keywords, made))
    evaluate(file, env)
    for function in file.functions():
        inner = dict(env)
        for p in function.parameters:
            word = (dotted(p.annotation) or "").rpartition(".")[2]
            inner[p.name] = WORDS.get(word, UNKNOWN)
        for _ in range(2):
            _statements(function.body, inner)


def _statements(block, env):
    """Names have the values that they are given, data where they may."""
    for statement in block.walk():
        if isinstance(statement, For):
            evaluate(statement.iterable, env)
            _bind(statement.target, _element(statement.iterable.value), env)
        elif isinstance(statement, Assign) and statement.expression is not None:
            evaluate(statement.expression, env)
            for target in statement.targets:
                given = statement.expression
                pairs = [(target, given.value)]
                if isinstance(target, Display) and isinstance(given, Display):
                    pairs = [(t, g.value) for t, g in zip(target.elements, given.elements)]
                for one, value in pairs:
                    if isinstance(one, Name) and not isinstance(env.get(one.id), Tensor):
                        env[one.id] = value
                    elif isinstance(one, Display):
                        _bind(one, _element(value), env)
    evaluate(block, env)


def convert(run, text, facts=None, env=None):
    """The text after a pass, and the diagnostics."""
    file = lower(text, PurePosixPath("module.py"))
    evaluated(file, env)
    facts, diagnostics = facts or Facts(), []
    for scope in file.scopes():
        changes = run(scope, facts)
        changes.commit()
        diagnostics += changes.diagnostics
    spell(file)
    made = write(file)
    ast.parse(made)
    return made, diagnostics


def spell(file):
    """The nodes that are no syntax as names: `nn.choose`, `key`."""
    for node in list(file.walk()):
        if isinstance(node, Support):
            node.replace(Attribute(Name("nn"), node.name))
        elif isinstance(node, Key):
            node.replace(Name("key"))
        elif isinstance(node, Apply):
            node.become(Call(node.function, node.arguments, node.keywords))
        elif isinstance(node, Unset):
            node.replace(Name("unset"))
        elif isinstance(node, Unconverted):
            arguments = [Constant(node.id), Constant(node.source)]
            node.replace(Call(Attribute(Name("nn"), "unconverted"), arguments))


PARAMETERS = "self, x: jax.Array, y: jax.Array, m: Mask, i: Index, n: int, flag: bool, u=None, o: Optional=None, layers: Layers=None"


def function(run, body, facts=None, env=None):
    """The body of a function after a pass, and the ids of the diagnostics."""
    lines = "".join(f"    {line}\n" if line else "\n" for line in body.splitlines())
    made, diagnostics = convert(run, f"def f({PARAMETERS}):\n{lines}", facts, env)
    body = made.partition("\n")[2].splitlines()
    return "\n".join(line.removeprefix("    ") for line in body), [d.id for d in diagnostics]
