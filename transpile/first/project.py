"""The user's files as modules, classes and functions, with imports resolved between them."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

import libcst as cst

from . import tree


@dataclass(eq=False)
class FunctionInfo:
    """A function or method of the user's."""

    name: str
    node: cst.FunctionDef
    module: ModuleInfo
    owner: ClassInfo | None = None
    outer: FunctionInfo | None = None

    @property
    def decorators(self) -> list[str]:
        found = []
        for decorator in self.node.decorators:
            target = decorator.decorator
            found.append(tree.dotted(target.func if isinstance(target, cst.Call) else target) or "?")
        return found

    @property
    def is_static(self) -> bool:
        return "staticmethod" in self.decorators

    @property
    def is_classmethod(self) -> bool:
        return "classmethod" in self.decorators

    @property
    def is_property(self) -> bool:
        return any(d == "property" or d.endswith("cached_property") for d in self.decorators)

    @property
    def takes_self(self) -> bool:
        return self.owner is not None and not self.is_static

    @property
    def method(self) -> FunctionInfo | None:
        """The method that it is, or stands in; None of a function that is in no class."""
        info: FunctionInfo | None = self
        while info is not None and info.owner is None:
            info = info.outer
        return info

    @property
    def outermost(self) -> FunctionInfo:
        """The function around it that is in no other."""
        info = self
        while info.outer is not None:
            info = info.outer
        return info

    @property
    def self_name(self) -> str | None:
        positional = [*self.node.params.posonly_params, *self.node.params.params]
        return positional[0].name.value if self.takes_self and positional else None

    @functools.cached_property
    def superseded(self) -> frozenset[int]:
        """In a constructor, the targets `self.name` of assignments that a later one, made on all ways from there, replaces.

        `self.stages = []` before `self.stages = nn.ModuleList(…)` is a local list in all but name.
        """
        if self.name != "__init__":
            return frozenset()
        blocks = [n for n in [self.node.body, *tree.walk_scope(self.node.body)] if isinstance(n, cst.IndentedBlock)]
        tried = {id(n.body) for n in tree.walk_scope(self.node.body) if isinstance(n, cst.Try)}
        return frozenset().union(*(self._replaced_later(block) for block in blocks if id(block) not in tried))

    def _replaced_later(self, block: cst.IndentedBlock) -> set[int]:
        """The targets `self.name` in a block that its own later statements replace."""
        found: set[int] = set()
        before: dict[str, set[int]] = {}
        for statement in block.body:
            nodes = list(tree.walk_scope(cst.IndentedBlock([statement])))
            targets = [n.target for n in nodes if isinstance(n, (cst.AssignTarget, cst.AnnAssign, cst.AugAssign))]
            own = [t for t in targets if isinstance(t, cst.Attribute) and isinstance(t.value, cst.Name) and t.value.value == self.self_name]
            if isinstance(statement, cst.SimpleStatementLine) and not isinstance(statement.body[0], cst.AugAssign):
                for target in own:
                    found |= before.pop(target.attr.value, set())
            for target in own:
                before.setdefault(target.attr.value, set()).add(id(target))
            if any(isinstance(n, (cst.Return, cst.Break, cst.Continue)) for n in nodes):
                before.clear()
        return found

    def given_back(self, callers: frozenset[FunctionInfo] = frozenset()) -> str | None:
        """The name that every return gives back, if it is one: `return x`, or `return x.normal_()`."""
        returns = [n.value for n in tree.walk_scope(self.node.body) if isinstance(n, cst.Return)]
        names = {p.name.value for p in self.parameters()}
        found = {"" if value is None else tree.written_first(value, names) or self._through(value, callers | {self}) or tree.code(value) for value in returns}
        return next(iter(found)) if len(found) == 1 else None

    def _through(self, value: Any, callers: frozenset[FunctionInfo]) -> str | None:
        """The argument that another function of the file gives back: `return _trunc_normal_(tensor, std)`."""
        called = self.module.functions.get(value.func.value) if isinstance(value, cst.Call) and isinstance(value.func, cst.Name) else None
        back = called.given_back(callers) if called is not None and called not in callers else None
        if called is None or back is None or any(a.star for a in value.args):
            return None
        given = called.given(value)
        return tree.dotted(given[back]) if back in given and isinstance(given[back], cst.Name) else None

    def parameters(self) -> list[cst.Param]:
        """All parameters that can be bound by name, self left out."""
        p = self.node.params
        positional = [*p.posonly_params, *p.params]
        return [*(positional[1:] if self.takes_self else positional), *p.kwonly_params]

    def given(self, call: cst.Call) -> dict[str, Any]:
        """What a call without stars gives for each parameter."""
        names = [p.name.value for p in self.parameters()]
        return {a.keyword.value if a.keyword is not None else names[i] if i < len(names) else "": a.value for i, a in enumerate(call.args)}

    @property
    def qualname(self) -> str:
        return f"{self.owner.name}.{self.name}" if self.owner else self.name

    def __repr__(self) -> str:
        return f"<function {self.qualname}>"


@dataclass(eq=False)
class ClassInfo:
    """A class of the user's."""

    name: str
    node: cst.ClassDef
    module: ModuleInfo
    methods: dict[str, FunctionInfo] = field(default_factory=dict)
    assigned: dict[str, cst.BaseExpression] = field(default_factory=dict)  # class attributes
    bases: list[Any] = field(default_factory=list)  # ClassInfo, or a dotted name
    subclasses: list[ClassInfo] = field(default_factory=list)

    def ancestors(self) -> Iterator[ClassInfo]:
        """The user's classes it inherits from, itself first, nearest first."""
        seen: list[ClassInfo] = []
        todo: list[ClassInfo] = [self]
        while todo:
            current = todo.pop(0)
            if current not in seen:
                seen.append(current)
                yield current
                todo[0:0] = [b for b in current.bases if isinstance(b, ClassInfo)]

    def overriding(self, name: str) -> list[FunctionInfo]:
        """The methods of a name in the classes below."""
        return [c.methods[name] for c in self.descendants() if name in c.methods]

    def descendants(self) -> Iterator[ClassInfo]:
        seen: set[int] = set()
        todo = list(self.subclasses)
        while todo:
            current = todo.pop(0)
            if id(current) not in seen:
                seen.add(id(current))
                yield current
                todo.extend(current.subclasses)

    def family(self) -> list[ClassInfo]:
        return [*self.ancestors(), *self.descendants()]

    def foreign_bases(self) -> list[str]:
        """Dotted names of the classes outside the project that it inherits from."""
        return [b for c in self.ancestors() for b in c.bases if isinstance(b, str)]

    @property
    def is_module(self) -> bool:
        """Whether it is an nn.Module, or a mixin of one: its methods run on the module's params."""
        return any(
            b.startswith("torch.nn.") or b.startswith("torch.jit.ScriptModule") for c in (self, *self.descendants()) for b in c.foreign_bases()
        )

    def find(self, method: str) -> FunctionInfo | None:
        """A method, own or inherited from the user's classes."""
        found = _first(self.order(), method)
        return found if isinstance(found, FunctionInfo) else None

    def order(self) -> list[ClassInfo | str]:
        """The classes in the order in which Python looks for a method: a base that several share comes after all of them."""
        found: list[ClassInfo | str] = []

        def visit(cls: ClassInfo | str) -> None:
            if cls in found:
                found.remove(cls)
            found.append(cls)
            for base in cls.bases if isinstance(cls, ClassInfo) else ():
                visit(base)

        visit(self)
        return found

    def above(self, method: str) -> FunctionInfo | str | None:
        """What `super().method` is here: a function, or the torch layer that has it. None where that hangs on a subclass.

        In a mixin it is what comes next in the classes that inherit from it.
        """
        found = {_first(c.order()[c.order().index(self) + 1 :], method) for c in (self, *self.descendants())} - {None}
        own = _first(self.order()[1:], method)
        return own or (found.pop() if len(found) == 1 else None)

    @property
    def is_autograd_function(self) -> bool:
        """Whether it has a forward and a backward of its own: a torch.autograd.Function."""
        return any(b.startswith("torch.autograd.") and b.endswith("Function") for b in self.foreign_bases())

    def torch_base(self) -> str | None:
        """The torch layer that it extends, other than the plain Module."""
        for name in self.foreign_bases():
            if name.startswith("torch.nn.") and name not in PLAIN_MODULE:
                return name
        return None

    def __repr__(self) -> str:
        return f"<class {self.name}>"


def _first(order: list[ClassInfo | str], method: str) -> FunctionInfo | str | None:
    """The first of some classes that has a method: every layer of torch's has a constructor and a forward."""
    for c in order:
        if isinstance(c, ClassInfo) and method in c.methods:
            return c.methods[method]
        if isinstance(c, str) and method in ("__init__", "forward") and c.startswith("torch.nn.") and c not in PLAIN_MODULE:
            return c
    return None


PLAIN_MODULE = {"torch.nn.Module", "torch.nn.modules.Module", "torch.nn.modules.module.Module"}


@dataclass(eq=False)
class ModuleInfo:
    """One file of the user's."""

    path: PurePosixPath  # relative to the directory that is converted
    tree: cst.Module
    dotted: str
    source: cst.Module  # as the user wrote it: what is left of it in the tree are the same nodes
    imports: dict[str, str] = field(default_factory=dict)  # bound name -> dotted name, absolute
    functions: dict[str, FunctionInfo] = field(default_factory=dict)
    classes: dict[str, ClassInfo] = field(default_factory=dict)
    assigned: dict[str, cst.BaseExpression] = field(default_factory=dict)
    all_functions: list[FunctionInfo] = field(default_factory=list)
    all_classes: list[ClassInfo] = field(default_factory=list)
    stars: list[str] = field(default_factory=list)  # modules imported with *

    @property
    def uses_torch(self) -> bool:
        return any(_is_torch(n) for n in [*self.imports.values(), *self.stars])


def _is_torch(name: str) -> bool:
    return name == "torch" or name.startswith("torch.")


@dataclass(eq=False)
class Project:
    """All files that are converted together."""

    modules: dict[str, ModuleInfo]
    package: str = ""  # the name of the directory, where that is a package itself

    def add(self, path: PurePosixPath, module: cst.Module, source: cst.Module | None = None) -> ModuleInfo:
        """Register a file, and the tree that was made of its text where that is another."""
        parts = list(path.with_suffix("").parts)
        if parts and parts[-1] == "__init__":
            parts.pop()
        info = ModuleInfo(path, module, ".".join(parts), source or module)
        _collect(info, module.body, None, None)
        self.modules[info.dotted] = info
        return info

    def link(self) -> None:
        """Resolve base classes once every file is there."""
        for module in self.modules.values():
            for cls in module.all_classes:
                cls.bases.clear()
                cls.subclasses.clear()
        for module in self.modules.values():
            for cls in module.all_classes:
                for base in cls.node.bases:
                    resolved = self._base(module, cls, tree.dotted(base.value) or "?")
                    if isinstance(resolved, ClassInfo):
                        if resolved is not cls and cls not in resolved.ancestors():
                            cls.bases.append(resolved)
                            resolved.subclasses.append(cls)
                    elif isinstance(resolved, str):
                        cls.bases.append(resolved)

    def _base(self, module: ModuleInfo, cls: ClassInfo, name: str) -> Any:
        """What a class is made from: of a name that is defined later too, what was imported before counts."""
        found = self.resolve(module, name)
        if isinstance(found, ClassInfo) and found.module is module and name in module.imports:
            order = module.all_classes
            if order.index(found) >= order.index(cls):
                return self.lookup(module.imports[name]) or module.imports[name]
        return found

    def resolve(self, module: ModuleInfo, name: str) -> Any:
        """What a dotted name means at module level: FunctionInfo, ClassInfo, ModuleInfo, an expression, or a dotted name."""
        head, *rest = name.split(".")
        found = self.definition(module, head)
        if found is None:
            return name
        if isinstance(found, cst.BaseExpression) and is_own_module(found):
            found = module  # `ops = sys.modules[__name__]`
        elif rest and isinstance(found, cst.BaseExpression):
            alias = tree.dotted(found)
            found = self.resolve(module, alias) if alias is not None and alias != head else found
        for part in rest:
            if isinstance(found, ModuleInfo):
                found = self.definition(found, part) or self.modules.get(f"{found.dotted}.{part}")
            elif isinstance(found, str):
                found = self.lookup(f"{found}.{part}") or f"{found}.{part}"
            else:
                return None
        if isinstance(found, cst.BaseExpression):
            alias = tree.dotted(found)
            if alias is not None and alias != name:
                return self.resolve(module, alias)
        return found

    def definition(self, module: ModuleInfo, name: str, seen: frozenset[str] = frozenset()) -> Any:
        """A name defined or imported at the top level of a module."""
        for table in (module.classes, module.functions):
            if name in table:
                return table[name]
        if name in module.imports:
            return self.lookup(module.imports[name], seen) or module.imports[name]
        if name in module.assigned:
            return module.assigned[name]
        for star in module.stars:
            other = self.modules.get(star)
            if other is not None and star not in seen:
                found = self.definition(other, name, seen | {module.dotted})
                if found is not None:
                    return found
        return None

    def lookup(self, name: str, seen: frozenset[str] = frozenset()) -> Any:
        """A module of the project by its dotted name, or something defined in one; None if it is not the project's."""
        if name in seen:
            return None
        if name in self.modules:
            return self.modules[name]
        head, _, tail = name.rpartition(".")
        if head in self.modules and (head or name.startswith(".")):
            found = self.definition(self.modules[head], tail, seen | {name})
            if found is not None or head:
                return found
        # absolute imports of a package whose own directory is being converted: pkg.sub.mod for sub/mod.py
        first, _, rest = name.partition(".")
        if first == self.package and first and rest and "." not in rest and rest not in self.modules:
            return self.lookup(f".{rest}", seen | {name})
        if rest and first not in ("torch",) and (rest in self.modules or rest.rpartition(".")[0] in self.modules):
            return self.lookup(rest, seen | {name})
        return None


def _collect(info: ModuleInfo, body: Any, owner: ClassInfo | None, outer: FunctionInfo | None) -> None:
    for statement in body:
        if isinstance(statement, cst.SimpleStatementLine):
            for small in statement.body:
                if owner is None and outer is None or isinstance(small, (cst.Import, cst.ImportFrom)):
                    _collect_small(info, small)
                elif owner is not None and outer is None:
                    for name, value in _assigned_names(small):
                        owner.assigned[name] = value
        elif isinstance(statement, cst.FunctionDef):
            function = FunctionInfo(statement.name.value, statement, info, owner, outer)
            info.all_functions.append(function)
            if owner is not None:
                if not any(d.endswith(".setter") for d in function.decorators):
                    owner.methods[function.name] = function
            elif outer is None:
                info.functions[function.name] = function
            _collect(info, tree.body_statements(statement), None, function)
        elif isinstance(statement, cst.ClassDef):
            cls = ClassInfo(statement.name.value, statement, info)
            info.all_classes.append(cls)
            if owner is None and outer is None:
                info.classes[cls.name] = cls
            _collect(info, tree.body_statements(statement), cls, None)
        else:  # if, try, with, for, while: what they define is defined here
            for child in tree.children(statement):
                for block in _blocks(child):
                    _collect(info, tree.body_statements(block), owner, outer)


def _blocks(node: cst.CSTNode) -> Iterator[Any]:
    if isinstance(node, (cst.IndentedBlock, cst.SimpleStatementSuite)):
        yield _Holder(node)
    elif isinstance(node, (cst.If, cst.Else, cst.ExceptHandler, cst.Finally)):
        yield node
        if isinstance(node, cst.If) and node.orelse is not None:
            yield from _blocks(node.orelse)


@dataclass
class _Holder:
    body: Any


def _collect_small(info: ModuleInfo, small: cst.CSTNode) -> None:
    if isinstance(small, cst.Import):
        for alias in small.names:
            name = tree.dotted(alias.name) or ""
            if alias.asname is not None:
                info.imports[tree.code(alias.asname.name)] = name
            else:
                head = name.split(".")[0]
                info.imports[head] = head
    elif isinstance(small, cst.ImportFrom):
        base = import_base(info, small)
        if isinstance(small.names, cst.ImportStar):
            info.stars.append(base)
        else:
            for alias in small.names:
                name = tree.code(alias.name)
                bound = tree.code(alias.asname.name) if alias.asname is not None else name
                info.imports[bound] = f"{base}.{name}" if base or small.relative else name  # `from . import f` at the root: ".f"
    else:
        for name, value in _assigned_names(small):
            info.assigned[name] = value


def import_base(info: ModuleInfo, node: cst.ImportFrom) -> str:
    """The absolute dotted module that a `from … import` names."""
    name = tree.dotted(node.module) if node.module is not None else ""
    level = len(node.relative)
    if not level:
        return name or ""
    package = info.dotted.split(".") if info.dotted else []
    if info.path.name != "__init__.py":
        package = package[:-1]
    package = package[: len(package) - (level - 1)] if level > 1 else package
    return ".".join([*package, *([name] if name else [])])


def _assigned_names(small: cst.CSTNode) -> Iterator[tuple[str, cst.BaseExpression]]:
    if isinstance(small, cst.Assign):
        for target in small.targets:
            if isinstance(target.target, cst.Name):
                yield target.target.value, small.value
    elif isinstance(small, cst.AnnAssign) and isinstance(small.target, cst.Name) and small.value is not None:
        yield small.target.value, small.value


def module_path(path: Path, root: Path) -> PurePosixPath:
    """A file's path relative to the root of the conversion."""
    return PurePosixPath(path.relative_to(root).as_posix())


def is_own_module(node: cst.CSTNode) -> bool:
    """`sys.modules[__name__]`"""
    return isinstance(node, cst.Subscript) and tree.dotted(node.value) == "sys.modules" and tree.code(node).endswith("[__name__]")
