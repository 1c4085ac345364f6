"""Small programs with a marked expression, whose value is asked."""

from pathlib import PurePosixPath

from transpile.facts.values import Values, solve
from transpile.model import rule_files
from transpile.model.node import Expression
from transpile.model.program import Class, File, Function
from transpile.model.project import Project
from transpile.source.lower import lower

IMPORTS = (
    "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\nimport numpy as np\n"
)


class Program:
    """A project of some files, solved; `«…»` marks an expression of the first."""

    def __init__(self, text: str, **others: str) -> None:
        text = IMPORTS + text
        self.start = text.find("«")
        self.end = text.find("»") - 1
        self.project = Project()
        self.file = self._add("module", text.replace("«", "").replace("»", ""))
        for name, other in others.items():
            self._add(name, IMPORTS + other)
        self.project.link()
        self.values: Values = solve(self.project, rule_files.load())

    def _add(self, name: str, text: str) -> File:
        path = PurePosixPath(f"{name}.py")
        return self.project.add(path, lower(text, path))

    @property
    def marked(self) -> Expression:
        return next(
            n
            for n in self.file.walk()
            if isinstance(n, Expression) and (n.start, n.end) == (self.start, self.end)
        )

    @property
    def value(self):
        return self.values.of(self.marked)

    def function(self, name: str) -> Function:
        return next(f for f in self.project.functions() if f.qualified == name)

    def cls(self, name: str) -> Class:
        return next(c for c in self.project.classes() if c.name == name)
