"""A constructor before its split, with what is known of its class, and what becomes of it."""

from __future__ import annotations

import functools
from collections.abc import Set
from dataclasses import dataclass, field
from typing import Any

import libcst as cst

from ... import tree
from ...arrays import Array, Arrays
from ...context import Context
from ...project import ClassInfo, FunctionInfo
from .attribute_names import AttributeNames


@dataclass(frozen=True)
class Original:
    """The `__init__` that is split, with what is known of its class."""

    context: Context
    cls: ClassInfo
    node: cst.FunctionDef
    arrays: Arrays
    names: AttributeNames

    @property
    def info(self) -> FunctionInfo:
        return self.cls.methods["__init__"]

    @functools.cached_property
    def self_name(self) -> str:
        return self.info.self_name or "self"

    @functools.cached_property
    def statements(self) -> list[Any]:
        return tree.body_statements(self.node)

    @functools.cached_property
    def parameters(self) -> Set[str]:
        stars = (self.node.params.star_arg, self.node.params.star_kwarg)
        return {p.name.value for p in (*self.info.parameters(), *(s for s in stars if isinstance(s, cst.Param)))}

    @functools.cached_property
    def inherited(self) -> Set[str]:
        """The arrays of the torch layer that the class extends."""
        layer = self.context.facts.layer_of(self.cls)
        return frozenset(self.context.rulebook.arrays(layer.name) if layer is not None else ())

    @property
    def own(self) -> dict[str, Array]:
        """The arrays that the class's own methods make."""
        return self.arrays.own[self.cls].arrays

    def attribute(self, node: Any) -> str | None:
        """The name in `self.name`."""
        return node.attr.value if isinstance(node, cst.Attribute) and tree.dotted(node.value) == self.self_name else None

    def array(self, node: Any) -> str | None:
        """The name in `self.weight`, if that is in the params or the state."""
        name = self.attribute(node)
        if name is None:
            return None
        array = self.arrays.find(self.cls, name)
        return name if name in self.inherited or array is not None and array.where != "constant" else None

    def holder(self, name: str) -> str:
        """What has an array of self: of a torch layer's it is known before everything here is set."""
        return "super()" if name in self.inherited else self.self_name

    def holding(self, node: Any, attribute: str) -> Any:
        """`self.attribute` in place of what it holds the value of."""
        new = tree.expression(f"{self.self_name}.{attribute}")
        self.context.facts.carry(node, new)
        return new

    def setting(self, name: str, value: Any) -> cst.Assign:
        """`self.name = value`"""
        return cst.Assign([cst.AssignTarget(tree.expression(f"{self.self_name}.{name}"))], value)


@dataclass
class Constructor:
    """What becomes of a class's `__init__`."""

    kept: list[Any] = field(default_factory=list)
    params: list[Any] = field(default_factory=list)
    state: list[Any] = field(default_factory=list)
    constants: dict[str, tuple[Any, Any]] = field(default_factory=dict)  # name -> the line that sets it, and the value
    properties: dict[str, list[Any]] = field(default_factory=dict)  # name -> the body that computes a constant
    stored: dict[str, str] = field(default_factory=dict)  # local name -> attribute that holds it
