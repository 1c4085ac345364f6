"""Runs the passes of control on a torch program, with the values that are solved for it, and shows
what they make of it."""

from pathlib import PurePosixPath
from types import SimpleNamespace

from transpile.facts.values import solve
from transpile.model import rule_files
from transpile.model.carry import NO_EFFECTS
from transpile.model.effects import Apply, Key, Write
from transpile.model.project import Project
from transpile.model.rule_files import load
from transpile.passes import operations
from transpile.source.lower import lower
from transpile.source.show import show

HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n\n"
RULES = rule_files.load()
NEW_RULES = load()


class Effects:
    """What nodes do: applies say it themselves, of nodes it is plain."""

    def __init__(self, host=None):
        self._host = host

    def of_block(self, block):
        found = NO_EFFECTS
        for node in block.walk():
            if isinstance(node, Apply):
                found |= node.effects
            elif isinstance(node, Write):
                found |= type(found)(writes=frozenset([f"self.{node.target.name}"]))
            elif isinstance(node, Key):
                found |= type(found)(draws=True)
        return found

    def of_call(self, call):
        return call.effects

    def convolves(self, call):
        return False

    def host(self, node, besides=frozenset()):
        return self._host


class Modules:
    def __init__(self, optional=(), equal=False):
        self.optional, self._equal = optional, equal

    def may_be_none(self, scope, place):
        return place in self.optional

    def equal(self, layers):
        return self._equal


class Facts:
    """The facts of a test."""

    def __init__(self, total=False, host=None, optional=(), equal=False):
        self._total, self.effects = total, Effects(host)
        self.modules, self.rulebook = Modules(optional, equal), NEW_RULES
        self.project = None  # that of the program
        self.activity = SimpleNamespace(carries=lambda node: False)

    def total(self, block):
        return self._total

    def stage(self, scope):
        return "traced"

    def in_forward(self, scope):
        return True


def source_of(body):
    if "def f(" in body:
        return HEAD + body + "\n"
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return f"{HEAD}def f(x: torch.Tensor, y: torch.Tensor):\n{lines}"


def program(body, facts=None, torch=False):
    """The file of a program, with its values, and JAX's words unless it stays torch's."""
    path = PurePosixPath("module.py")
    project = Project()
    file = project.add(path, lower(source_of(body), path))
    project.link()
    solve(project, RULES)
    if not torch:
        facts = facts or Facts()
        facts.project = project
        for scope in file.scopes():
            operations.run(scope, facts).commit()
    return file


def run(file, passes, facts=None):
    """The diagnostics of passes on all scopes of a file."""
    found = []
    for one in passes:
        for scope in list(file.scopes()):
            changes = one.run(scope, facts or Facts())
            changes.commit()
            found += changes.diagnostics
    return found


def shown(body, *passes, facts=None):
    """The function f after some passes, and the ids of the diagnostics."""
    file = program(body, facts)
    found = run(file, passes, facts)
    f = next(n for n in file.functions() if n.name == "f")
    return show(f.body), [d.id for d in found]


def table(text):
    """Programs and what is made of them: `### name [ids]`, a program, `---`, the outcome."""
    found = {}
    for case in text.split("\n### ")[1:]:
        head, _, rest = case.partition("\n")
        name, _, ids = head.rstrip("]").partition(" [")
        body, _, outcome = rest.partition("\n---\n")
        found[name] = body, outcome.rstrip("\n") + "\n", ids.split()
    return found
