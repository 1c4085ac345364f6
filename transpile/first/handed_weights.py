"""A weight that is handed to constructors in order to be shared is tied by the one that hands it, before facts are gathered.

    self.head = Head(d, self.embed.weight)        self.head = Head(d, (self.embed.num_embeddings, self.embed.embedding_dim))
                                                  self.head.decoder.weight = self.embed.weight
    # in Head, which has                    ->
    self.decoder = nn.Linear(w.size(1), w.size(0))        self.decoder = nn.Linear(w_shape[1], w_shape[0])
    self.decoder.weight = w

A module has no arrays while it is built here. A parameter whose sizes nobody asks for goes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import libcst as cst

from . import tree
from .project import ClassInfo, Project

_SHAPES = {"torch.nn.Embedding": ("num_embeddings", "embedding_dim"), "torch.nn.Linear": ("out_features", "in_features")}


@dataclass(frozen=True)
class _Taken:
    """What a constructor does with a weight: the paths below it that share it, and whether it asks for its sizes."""

    ties: tuple[tuple[str, ...], ...]
    sized: bool


@dataclass(frozen=True)
class _Handed:
    """`self.head = Head(d, w)` in a constructor: the name of the attribute, the class, the parameter, and the argument."""

    name: str
    cls: ClassInfo
    parameter: str
    argument: cst.Arg


def run(project: Project) -> bool:
    """Tie them in the files of a linked project. Returns whether there were any: the project is then to be linked again."""
    classes = [c for m in project.modules.values() for c in m.all_classes if c.is_module and "__init__" in c.methods]
    found = _Weights(project)
    given = [(c, h) for c in classes for _, h in _handed(project, c) if _weight(h.argument.value) is not None]
    roots = [(c, h) for c, h in given if (t := found.taken(h.cls, h.parameter)) is not None and t.ties]
    shapes = {id(h.argument): found.shape(c, h) for c, h in roots}
    if not roots or None in shapes.values() or not found.known(classes, [h for _, h in roots]):
        return False
    concerned = {c for c, _ in roots} | {c for c, _ in found.chain()}
    made = {id(c.methods["__init__"].node): _rebuilt(found, c, shapes) for c in concerned}
    for module in {c.module for c in concerned}:
        project.add(module.path, tree.rewrite(module.tree, lambda n: made.get(id(n))), module.source)
    return True


def _statements(cls: ClassInfo) -> list[Any]:
    return list(tree.body_statements(cls.methods["__init__"].node))


def _handed(project: Project, cls: ClassInfo) -> Iterator[tuple[Any, _Handed]]:
    """The statements at the top level of a constructor that make a module of the user's, with each of their arguments."""
    init = cls.methods["__init__"]
    for statement in _statements(cls):
        small = tree.only_small(statement)
        if not isinstance(small, cst.Assign) or len(small.targets) != 1 or not isinstance(small.value, cst.Call) or any(a.star for a in small.value.args):
            continue
        holder, _, name = (tree.dotted(small.targets[0].target) or "").partition(".")
        made = project.resolve(cls.module, tree.dotted(small.value.func) or "")
        if holder != init.self_name or not name or "." in name or not isinstance(made, ClassInfo) or "__init__" not in made.methods:
            continue
        names = [p.name.value for p in made.methods["__init__"].parameters()]
        for i, argument in enumerate(small.value.args):
            parameter = argument.keyword.value if argument.keyword is not None else names[i] if i < len(names) else ""
            yield statement, _Handed(name, made, parameter, argument)


def _weight(node: Any) -> list[str] | None:
    """The path of `self.bert.embeddings.weight`."""
    parts = (tree.dotted(node) or "").split(".")
    return parts[1:] if parts[0] == "self" and len(parts) > 2 and parts[-1] == "weight" else None


class _Weights:
    """What the constructors of a project do with the weights that they are given."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.reached: dict[tuple[ClassInfo, str], _Taken | None] = {}

    def taken(self, cls: ClassInfo, parameter: str) -> _Taken | None:
        """What a constructor does with a parameter; None where that is anything else than sharing it and asking for its sizes."""
        key = cls, parameter
        if key not in self.reached:
            self.reached[key] = None  # a constructor that makes its own class
            self.reached[key] = self._taken(cls, parameter)
        return self.reached[key]

    def _taken(self, cls: ClassInfo, parameter: str) -> _Taken | None:
        body = cls.methods["__init__"].node.body
        understood, ties, sized = 0, list[tuple[str, ...]](), False
        for statement in _statements(cls):
            if (path := _tied(statement, parameter)) is not None:
                ties.append(path)
                understood += 1
        for _, handed in _handed(self.project, cls):
            if tree.dotted(handed.argument.value) == parameter:
                below = self.taken(handed.cls, handed.parameter)
                if below is None or not below.ties:
                    return None
                ties += [(handed.name, *path) for path in below.ties]
                sized = sized or below.sized
                understood += 1
        sizes = sum(_size(n, parameter) is not None for n in tree.nodes(body, cst.Call, cst.Subscript))
        reads = sum(_reads(n, parameter) for n in tree.walk(body))
        return _Taken(tuple(ties), sized or sizes > 0) if understood + sizes == reads else None

    def chain(self) -> dict[tuple[ClassInfo, str], _Taken]:
        """The parameters that share what they are given."""
        return {key: taken for key, taken in self.reached.items() if taken is not None and taken.ties}

    def shape(self, cls: ClassInfo, handed: _Handed) -> str | None:
        """The sizes of a weight that a constructor hands on, as source text; None where they cannot be told."""
        path, taken = _weight(handed.argument.value) or [], self.reached[handed.cls, handed.parameter]
        names = _SHAPES.get(_layer_of(self.project, cls, path[:-1]) or "")
        holder = ".".join(["self", *path[:-1]])
        if taken is not None and not taken.sized:
            return ""
        return f"({', '.join(f'{holder}.{name}' for name in names)})" if names is not None else None

    def known(self, classes: list[ClassInfo], roots: list[_Handed]) -> bool:
        """Whether nobody else makes what is given a weight, and the sizes of that can be told."""
        chain = self.chain()
        handed = [(c, h) for c in classes for _, h in _handed(self.project, c) if (h.cls, h.parameter) in chain]
        given = {id(h.argument) for h in roots} | {id(h.argument) for c, h in handed if (c, tree.dotted(h.argument.value)) in chain}
        makers = {c for c, _ in chain}
        calls = [n for m in self.project.modules.values() for n in tree.nodes(m.tree, cst.Call) if self.project.resolve(m, tree.dotted(n.func) or "") in makers]
        return all(any(id(a) in given for a in n.args) for n in calls) and {id(h.argument) for _, h in handed} <= given


def _tied(statement: Any, parameter: str) -> tuple[str, ...] | None:
    """The path of `self.decoder.weight = w`."""
    small = tree.only_small(statement)
    if not isinstance(small, cst.Assign) or len(small.targets) != 1 or tree.dotted(small.value) != parameter:
        return None
    parts = (tree.dotted(small.targets[0].target) or "").split(".")
    return tuple(parts[1:]) if parts[0] == "self" and len(parts) > 2 else None


def _size(node: Any, parameter: str) -> str | None:
    """The index in `w.size(1)` and `w.shape[1]`."""
    if isinstance(node, cst.Call):
        return tree.code(node.args[0].value) if tree.dotted(node.func) == f"{parameter}.size" and len(node.args) == 1 else None
    return tree.code(node.slice[0].slice) if tree.dotted(node.value) == f"{parameter}.shape" and len(node.slice) == 1 else None


def _reads(node: Any, name: str) -> int:
    """How often a node holds a name as an expression of its own: `w`, and the w of `w.shape`."""
    return int(isinstance(node, cst.Name) and node.value == name) - int(isinstance(node, cst.Attribute) and node.attr.value == name) - int(isinstance(node, cst.Arg) and node.keyword is not None and node.keyword.value == name)


def _layer_of(project: Project, cls: ClassInfo, path: list[str]) -> str | None:
    """The layer of torch's that a path below a module leads to, where each of its steps is made in one place."""
    found: Any = cls
    for name in path:
        inits = [c.methods["__init__"] for c in found.ancestors() if "__init__" in c.methods] if isinstance(found, ClassInfo) else []
        made = [(f, n.value) for f in inits for n in tree.nodes(f.node.body, cst.Assign) for t in n.targets if tree.dotted(t.target) == f"self.{name}"]
        if len(made) != 1 or not isinstance(made[0][1], cst.Call):
            return None
        found = project.resolve(made[0][0].module, tree.dotted(made[0][1].func) or "")
    return found if isinstance(found, str) else None


def _rebuilt(found: _Weights, cls: ClassInfo, shapes: dict[int, str | None]) -> cst.FunctionDef:
    """A constructor as it is from then on."""
    init, chain = cls.methods["__init__"], found.chain()
    own = {p: taken for (c, p), taken in chain.items() if c is cls}
    handed = {id(h.argument): (h, s) for s, h in _handed(found.project, cls) if (h.cls, h.parameter) in chain}

    def before(node: Any) -> Any:
        if isinstance(node, cst.Arg) and id(node) in handed:
            one = handed[id(node)][0]
            if not chain[one.cls, one.parameter].sized:
                return cst.RemoveFromParent()
            text = shapes.get(id(node)) or f"{tree.dotted(node.value)}_shape"
            keyword = cst.Name(f"{one.parameter}_shape") if node.keyword is not None else None
            return tree.replace(node, value=tree.expression(text), keyword=keyword)
        for parameter in own if isinstance(node, (cst.Call, cst.Subscript)) else ():
            if (index := _size(node, parameter)) is not None:
                return tree.expression(f"{parameter}_shape[{index}]")
        if isinstance(node, cst.Param) and node.name.value in own:
            name = node.name.value
            return tree.replace(node, name=cst.Name(f"{name}_shape"), annotation=None) if own[name].sized else cst.RemoveFromParent()
        return None

    body: list[Any] = []
    for statement in _statements(cls):
        if any(_tied(statement, p) is not None for p in own):
            continue
        body.append(tree.rewrite(statement, before))
        for key, (one, made) in handed.items():
            if made is statement and key in shapes:
                weights = tree.dotted(one.argument.value)
                body += [tree.statement(f"{init.self_name}.{'.'.join([one.name, *path])} = {weights}") for path in chain[one.cls, one.parameter].ties]
    return tree.with_body(tree.replace(init.node, params=tree.rewrite(init.node.params, before)), body)
