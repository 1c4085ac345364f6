"""Where the params and state of a submodule are: paths such as `params["blocks"][str(i)]`, as source text."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import libcst as cst

from . import tree
from .arrays import Arrays
from .effects import Effects
from .infer import Inference
from .project import ClassInfo
from .values import Mapping, Module, Sequence, Static


@dataclass(frozen=True)
class Path:
    """The subtree of params and of state that belongs to a module."""

    params: str
    state: str

    @property
    def parts(self) -> tuple[str, ...]:
        """The names from the params of self down, quoted or computed."""
        return tuple(p.strip('"]') for p in self.params.removeprefix("params").split("[")[1:])

    def child(self, name: str) -> Path:
        """The subtree of a submodule, by the source text of its name."""
        return Path(f"{self.params}[{name}]", f"{self.state}[{name}]")


def below(parts: Iterable[str]) -> str:
    """The params under some names: `params["head"]["weight"]`."""
    return "params" + "".join(f'["{p}"]' for p in parts)


SELF = Path("params", "state")
Names = dict[str, Path]


class Paths:
    """Follow module-valued expressions to their params and state."""

    def __init__(self, facts: Inference, arrays: Arrays, effects: Effects, cls: ClassInfo | None, self_name: str | None, support: Callable[[str], str], renames: dict[str, str]) -> None:
        """`support` gives the name by which the output calls a definition of jax_nn.py; `renames` are the local names that are others there."""
        self.facts, self.arrays, self.effects, self.cls, self.self_name = facts, arrays, effects, cls, self_name
        self.support, self.renames = support, renames

    def of(self, node: cst.BaseExpression, names: Names) -> Path | None:
        """The path of a module-valued expression, or None where it cannot be followed."""
        if isinstance(node, cst.Name):
            if node.value == self.self_name:
                return SELF
            return names.get(node.value)
        if isinstance(node, cst.Attribute):
            base = self.of(node.value, names)
            if base is None:
                return None
            name = node.attr.value
            owner = self.facts.of(node.value)
            for ref in owner.refs if isinstance(owner, Module) else ():
                alias = self.arrays.alias(ref, name) if isinstance(ref, ClassInfo) else None
                if alias is not None and not alias.certain:
                    return base.child(f'{self.support("name_of")}({self._code(node.value)}, "{name}")')
                if alias is not None:
                    name = alias.source[0]
            return base.child(f'"{tree.mangled(name, self.cls.name if self.cls is not None else None)}"')
        if isinstance(node, cst.Subscript):
            return self._indexed(node, names)
        if isinstance(node, cst.Call):
            function = tree.dotted(node.func)
            if function == "getattr" and len(node.args) >= 2:
                base = self.of(node.args[0].value, names)
                return self.named(base, node.args[1].value) if base is not None else None
            return None
        if isinstance(node, cst.IfExp):
            a, b = self.of(node.body, names), self.of(node.orelse, names)
            if a is None or b is None:
                return None
            test = self._code(node.test)
            return Path(f"({a.params} if {test} else {b.params})", f"({a.state} if {test} else {b.state})")
        return None

    def named(self, base: Path, name: Any) -> Path:
        """The subtree under a name that is computed."""
        return base.child(_text(self._renamed(name)))

    def held(self, container: Any, part: str, names: Names) -> Path | None:
        """The path of a part of a plain list or dict of modules, which a container of its owner registers."""
        owner = self.facts.of(container.value) if isinstance(container, cst.Attribute) else None
        for ref in owner.refs if isinstance(owner, Module) else ():
            holder = self.arrays.holder(ref, container.attr.value) if isinstance(ref, ClassInfo) else None
            base = self.of(container.value, names) if holder is not None else None
            if base is not None and not holder:
                return base.child(f"{self.support('place')}({self._code(container.value)}, {part})")
            if base is not None:
                return base.child(f'"{holder}"').child(f"{self.support('place')}({self._code(container.value)}.{holder}, {part})")
        return None

    def _indexed(self, node: cst.Subscript, names: Names) -> Path | None:
        held = self.held(node.value, self._code(node), names)
        if held is not None:
            return held
        base = self.of(node.value, names)
        if base is None or len(node.slice) != 1 or isinstance(self.facts.of(node.value), (Sequence, Mapping)):
            return None
        if not isinstance(node.slice[0].slice, cst.Index):
            return base  # `self.model[:2]`: its layers keep their names
        index = node.slice[0].slice.value
        holder = self.facts.of(node.value)
        if isinstance(holder, Module) and any(isinstance(ref, ClassInfo) and ref.find("__getitem__") is not None for ref in holder.refs):
            return None  # a method of the user's says which
        kinds = {r.rpartition(".")[2] if isinstance(r, str) else "" for r in holder.classes} if isinstance(holder, Module) else set()
        text = _text(self._renamed(index))
        repeats = self._repeats(node.value)
        if repeats and kinds and kinds <= {"ModuleDict"}:
            return base.child(f"{self.support('place')}({self._code(node.value)}, {self._code(node)})")
        if kinds and kinds <= {"ModuleDict", "ParameterDict"} or isinstance(index, (cst.SimpleString, cst.FormattedString)):
            return base.child(text)
        known = self.facts.of(index)
        if isinstance(known, Static) and known.type == "str":
            return base.child(text)
        if repeats or isinstance(node.value, cst.Subscript) and not isinstance(node.value.slice[0].slice, cst.Index):
            return base.child(f"{self._code(node.value)}.name({text})")  # `self.layers[1:][0]` is the second of them
        numbered = kinds and kinds <= {"ModuleList", "ParameterList"} or isinstance(holder, Module) and holder.items is not None
        if numbered and isinstance(index, cst.Integer):
            return base.child(f'"{index.value}"')
        if numbered and isinstance(index, cst.Name):
            return base.child(f"str({text})")
        if numbered and not isinstance(index, cst.UnaryOperation) and not _may_be_negative(index):
            return base.child(f"str({text})")
        return base.child(f"{self._code(node.value)}.name({text})")

    def _repeats(self, container: Any) -> bool:
        """Whether one module may stand in two places of a container."""
        owner = self.facts.of(container.value) if isinstance(container, cst.Attribute) else None
        return any(isinstance(ref, ClassInfo) and self.arrays.repeats(ref, container.attr.value) for ref in owner.refs) if isinstance(owner, Module) else False

    def _renamed(self, node: Any) -> Any:
        """An expression with the names that the output has: `self.options[key_]` of a local `key` beside the key."""
        if not self.renames.keys() & tree.names_read(node):
            return node
        return tree.with_names(node, lambda n: cst.Name(self.renames[n.value]) if n.value in self.renames else None)

    def _code(self, node: Any) -> str:
        return tree.code(self._renamed(node))

    def is_container(self, node: cst.BaseExpression) -> bool:
        """Whether an expression is a container of modules that `layers()` lists."""
        value = self.facts.of(node)
        if not isinstance(value, Module) or value.is_self and not self._own_container():
            return value.is_self and self._own_container() if isinstance(value, Module) else False
        for ref in value.refs:
            layer = ref.torch_base() if isinstance(ref, ClassInfo) else ref
            if layer is not None and self.effects.is_container(layer):
                return True
        return bool(value.open and not value.classes)

    def _own_container(self) -> bool:
        layer = self.cls.torch_base() if self.cls is not None else None
        return layer is not None and self.effects.is_container(layer)


def _may_be_negative(index: cst.BaseExpression) -> bool:
    return any(isinstance(n, (cst.Subtract, cst.Minus)) for n in tree.walk(index)) or any(
        isinstance(n, cst.BinaryOperation) and isinstance(n.operator, cst.Subtract) for n in tree.walk(index)
    )


def _text(node: cst.BaseExpression) -> str:
    """An expression as a subscript, in double quotes where it is a plain string."""
    if isinstance(node, cst.SimpleString) and isinstance(node.evaluated_value, str) and '"' not in node.evaluated_value and "\\" not in node.value:
        return f'"{node.evaluated_value}"'
    if isinstance(node, cst.FormattedString) and node.start in ("f'", "F'") and '"' not in tree.code(node):
        return 'f"' + tree.code(node)[2:-1] + '"'
    return tree.code(node)
