"""Runs the pass on a text, with Reads made of the arrays of modules, and spells what comes out."""

import ast
import operator

import torch

from tests.facts.programs import IMPORTS, Program
from transpile.facts.calls import Calls
from transpile.facts.memory import Memory
from transpile.facts.values.lattice import Method, Module, Tensor, Torch
from transpile.model import rule_files
from transpile.model.copy import clone
from transpile.model.effects import Put, Read, Unconverted, Write
from transpile.model.expressions import (
    Attribute,
    Call,
    Constant,
    Display,
    Lambda,
    Name,
    Slice,
    Subscript,
)
from transpile.model.operators import Binary
from transpile.model.program import Class, Function
from transpile.model.statements import Assign, ExpressionStatement
from transpile.passes import functionalise
from transpile.source.splice import write

RULES = rule_files.load()


class Facts:
    """The facts of a test: what is in a constructor builds, all else is traced."""

    def __init__(self, values, stage=None):
        self.memory = Memory(Calls(values), RULES)
        self._stage = stage

    def stage(self, scope):
        building = isinstance(scope, Function) and scope.name == "__init__"
        return self._stage or ("building" if building else "traced")


def recognise(project, names=()):
    """Reads of what is an array of a module: by its value, or by its name."""
    for file in project.ordered:
        for node in list(file.walk()):
            if node.__class__ is not Attribute or not isinstance(node.object.value, Module):
                continue
            classes = [c for c in node.object.value.refs if isinstance(c, Class)]
            if any(project.find(c, node.name) is not None for c in classes):
                continue
            if node.name in names or isinstance(node.value, Tensor):
                kind = "param" if getattr(node.value, "param", False) else "buffer"
                node.become(Read(node.object, node.name, kind))


def convert(text, names=(), **others):
    """The text without mutation, and the diagnostics."""
    program = Program(text, **others)
    made, diagnostics = functionalised(program.project, program.values, names)
    return made[program.file].removeprefix(IMPORTS), diagnostics


def functionalised(project, values, names=()):
    """The texts of all files, and the diagnostics."""
    recognise(project, names)
    diagnostics = _run(project, Facts(values))
    texts = {}
    for file in project.ordered:
        spell(file)
        texts[file] = write(file)
        ast.parse(texts[file])
    return texts, diagnostics


def _run(project, facts):
    """All scopes are looked at before any is changed."""
    changes = [
        functionalise.run(scope, facts) for file in project.ordered for scope in file.scopes()
    ]
    for one in sorted(changes, key=lambda c: -sum(1 for _ in c.scope.ancestors())):
        one.version = one.scope.version  # those inside have counted it up
        one.commit()
    return [d for one in changes for d in one.diagnostics]


def spell(file):
    """The nodes that are no syntax as calls: `x.at[i].set(v)`, `Write(self.hits, v)`."""
    for node in reversed(list(file.walk())):
        if isinstance(node, Put) and isinstance(node.index, Lambda):
            node.replace(Call(Name("put"), [node.base, node.index, Constant(node.how), node.new]))
        elif isinstance(node, Put):
            at = Subscript(Attribute(node.base, "at"), node.index)
            node.replace(Call(Attribute(at, node.how), [node.new]))
        elif isinstance(node, Unconverted):
            node.replace(Call(Name("unconverted"), [Constant(node.id)]))
        elif isinstance(node, Write):
            word = [None, None, "detached"][: 2 + node.detached]
            arguments = [node.target, node.value, *([Constant(True)] if node.detached else [])]
            node.replace(ExpressionStatement(Call(Name("Write"), arguments, word)))
    _plain(file)


def body(text, parameters="x: torch.Tensor, y: torch.Tensor"):
    """The statements of a function without mutation, and the ids of the diagnostics."""
    lines = "".join(f"    {line}\n" for line in text.splitlines())
    made, diagnostics = convert(f"def f({parameters}):\n{lines}")
    inner = made.partition(":\n")[2] if "\n\n" not in made else made
    made = "\n".join(line.removeprefix("    ") for line in inner.strip("\n").splitlines())
    return made, {d.id for d in diagnostics}


# --- running what comes out, in torch itself ------------------------------------------------------


def put(base, index, how, new):
    """What a Put means."""
    made = base.clone()
    if callable(index):
        index(made).copy_(torch.as_tensor(new))
    elif how == "data":
        made = base + (torch.as_tensor(new) - base).detach()
    elif how == "item":
        if made[index].data_ptr() != made[index].data_ptr():  # a copy: nothing is written
            return base
        made[index] = new
    elif how == "set":
        made[index] = new
    else:
        made[index] = OPERATORS[how](made[index], new)
    return made


def store(module, name, value):
    """What a Write means."""
    held = getattr(module, name)
    if isinstance(held, torch.nn.Parameter):
        held.data = value.detach().clone()
    else:
        setattr(module, name, value)


OPERATORS = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "power": operator.pow,
}


def runnable(file):
    """Spell a file so that torch runs it, and shows what is written in place still: a method that
    ends in `_` gets a copy, and what is augmented is made anew."""
    for node in reversed(list(file.walk())):
        if isinstance(node, Put):
            node.replace(
                Call(Name("put"), [node.base, _index(node.index), Constant(node.how), node.new])
            )
        elif isinstance(node, Write):
            where = [node.target.object, Constant(node.target.name)]
            node.replace(ExpressionStatement(Call(Name("store"), [*where, node.value])))
        elif isinstance(node, Unconverted):
            node.replace(Call(Name("unconverted"), [Constant(node.id)]))
        elif isinstance(node, Call):
            function, name = node.function, getattr(node.function.value, "name", "")
            name = name.removesuffix("__")
            first = None
            if isinstance(function, Attribute) and isinstance(function.value, Method):
                first = function.object if name.endswith("_") else None
            elif isinstance(function.value, Torch) and name.endswith("_") and node.arguments:
                first = node.arguments[0]
            if first is not None:
                first.wrap(lambda n: Call(Attribute(n, "clone")))
        elif isinstance(node, Assign) and node.operator and isinstance(node.targets[0], Name):
            target = node.targets[0]
            made = Binary(clone(target), node.operator, node.expression)
            node.replace(Assign([target], made))
    _plain(file)


def _plain(file):
    for node in list(file.walk()):
        if isinstance(node, Read):
            node.become(Attribute(node.object, node.name))


def _index(index):
    if isinstance(index, Slice):
        parts = [p if p is not None else Constant(None) for p in (index.lower, index.upper)]
        return Call(Name("slice"), [*parts, *([index.step] if index.step is not None else [])])
    if isinstance(index, Display) and index.kind == "tuple":
        return Display("tuple", [_index(p) for p in index.elements])
    return index


def executed(text):
    """torch's f of a program, and f of what the pass makes of it, and its text."""
    program = Program(text)
    recognise(program.project)
    facts = Facts(program.values)
    reported = _run(program.project, facts)
    runnable(program.file)
    made = write(program.file)
    sides = []
    for one in (IMPORTS + text, made):
        scope = {"put": put, "store": store}
        exec(compile(one, "program.py", "exec"), scope)
        sides.append(scope)
    return *sides, made, reported
