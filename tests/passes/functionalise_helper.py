"""Runs the pass on a text, with Reads made of the arrays of modules, and spells what comes out."""

import ast

from tests.facts.programs import IMPORTS, Program
from transpile.facts.calls import Calls
from transpile.facts.memory import Memory
from transpile.facts.values.lattice import Module, Tensor
from transpile.first import rulebook
from transpile.model.effects import Put, Read, Unconverted, Write
from transpile.model.expressions import Attribute, Call, Constant, Lambda, Name, Subscript
from transpile.model.program import Class, Function
from transpile.model.statements import ExpressionStatement
from transpile.passes import functionalise
from transpile.source.splice import write

RULES = rulebook.load()


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
    facts = Facts(values)
    changes = [
        functionalise.run(scope, facts) for file in project.ordered for scope in file.scopes()
    ]
    for one in sorted(changes, key=lambda c: -sum(1 for _ in c.scope.ancestors())):
        one.version = one.scope.version  # those inside have counted it up
        one.commit()
    texts = {}
    for file in project.ordered:
        spell(file)
        texts[file] = write(file)
        ast.parse(texts[file])
    return texts, [d for one in changes for d in one.diagnostics]


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
    for node in list(file.walk()):
        if isinstance(node, Read):
            node.become(Attribute(node.object, node.name))


def body(text, parameters="x: torch.Tensor, y: torch.Tensor"):
    """The statements of a function without mutation, and the ids of the diagnostics."""
    lines = "".join(f"    {line}\n" for line in text.splitlines())
    made, diagnostics = convert(f"def f({parameters}):\n{lines}")
    inner = made.partition(":\n")[2] if "\n\n" not in made else made
    return "\n".join(l.removeprefix("    ") for l in inner.strip("\n").splitlines()), {
        d.id for d in diagnostics
    }
