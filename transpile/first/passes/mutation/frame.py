"""The function that is rewritten, and what holds at the statement that the walk is at."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeGuard

import libcst as cst

from ... import tree
from ...context import Context
from ...emit import fresh_name
from ...liveness import Liveness
from ...memory import COMPUTED, Memory
from ...ownership import is_owned
from ...parameter_walks import parameter_walk
from ...project import FunctionInfo
from ...values import UNKNOWN, Method, Module, Sequence, Static, Tensor, Torch, Value
from ...walks import over_parameters
from .summaries import Mutations

_SIZED = frozenset(f"torch.{name}" for name in ("rand", "randn", "zeros", "ones", "full", "empty"))  # what is of sizes that are written there


class Frame:
    """One function on its way through the pass."""

    def __init__(self, context: Context, node: cst.FunctionDef, info: FunctionInfo, mutations: Mutations, runs: bool) -> None:
        self.context, self.node, self.info, self.mutations = context, node, info, mutations
        self.runs = runs  # whether it computes with tensors: in other functions, which build models, only names of what they make follow
        self.facts = context.facts
        self.views = context.rulebook.table("VIEWS")
        self.own = frozenset(f"self.{n.attr.value}" for n in tree.nodes(node.body, cst.Attribute) if self.is_on_self(n))
        self.liveness = Liveness(node, info.self_name, self.own, not mutations.reshapes(context.facts))  # what a name of `self.cache` writes, the next call reads
        self.memory = Memory(context, info, self.views, mutations.passed)
        self.followers: dict[int, tuple[Any, str]] = {}  # what lets an alias follow, and the alias: dropped where it is overwritten unread
        self.rows: list[tuple[cst.For, str]] = []  # loops around the current statement that go over a tensor's rows
        # of the current statement
        self.current: cst.SimpleStatementLine | None = None
        self.live: frozenset[str] = frozenset()  # names that are read after it
        self.inside: frozenset[str] = frozenset()  # those that its body reads, while the walk is at its head
        self.rebound: frozenset[str] = frozenset()  # names that it sets anew
        self.assigned: Any = None  # to this value
        self.chosen = 0  # how many choices are around the current expression
        self.prelude: list[Any] = []  # statements that come before it
        self.after: list[Any] = []  # and after it: what follows a write, or raises

    def value(self, node: cst.CSTNode) -> Value:
        return self.context.value(node)

    def carries(self, node: cst.CSTNode) -> bool:
        """Whether an expression may carry a gradient."""
        return self.mutations.carriers.carries(node, self.info, self.node)

    # ------------------------------------------------------------------ statements beside the current one

    @contextmanager
    def at(self, statement: Any) -> Iterator[None]:
        """While it is active, a statement is the current one, with nothing before and after it yet."""
        saved = self.live, self.prelude, self.after
        self.live, self.prelude, self.after = self.liveness.after.get(id(statement), frozenset()), [], []
        yield
        self.live, self.prelude, self.after = saved

    def before(self, small: Any) -> None:
        """Put a simple statement before the current one."""
        self.prelude.append(cst.SimpleStatementLine([small]))

    def before_with_followers(self, small: Any) -> None:
        """Put a write before the current statement, which reads what was written, and what must follow the write as well."""
        self.before(small)
        self.prelude.extend(self.after)
        self.after = []

    def fresh(self, stem: str) -> str:
        """A name that the function does not use."""
        return fresh_name(tree.names_read(self.node), stem)

    # ------------------------------------------------------------------ names

    def named(self, name: str) -> Any:
        """A name of the alias analysis as an expression: `self.x` by what the function calls self."""
        if (path := self.memory.paths.get(name)) is not None:
            made = tree.replace(path)
            self.facts.carry(path, made)
            return made
        node = tree.expression(name.replace("self.", f"{self.info.self_name}.", 1) if name.startswith("self.") else name)
        if name.startswith("self.") and self.info.owner is not None:
            self.facts.tell(node.value, Module(frozenset([self.info.owner]), is_self=True))
        self.facts.tell(node, Tensor())
        return node

    def reached(self, name: str) -> list[str]:
        """The names that are read later and may have the memory of this one; what stands on modules and is not named here, others read."""
        return self.memory.sharing(name, self.live | self.elsewhere())

    def elsewhere(self) -> set[str]:
        """Attributes of self that only what is called names, and arrays of submodules: they outlive the call. In code that builds
        models arrays of modules are written by their paths."""
        if not self.runs:
            return set()
        return {name for name in self.memory.env if "." in name and name != COMPUTED and name not in self.own}

    def follows(self, node: Any) -> bool:
        """Whether other names for what is written follow: in code that builds models arrays of modules are written by their paths."""
        if self.runs:
            return True
        value = self.value(node)
        made = isinstance(node, cst.Name) and isinstance(value, Tensor) and not (value.param or value.host or value.assumed)
        return made and not self.memory.parameters(node.value)

    def is_read_later(self, name: str) -> bool:
        """Whether what a write of this name changes is read after the statement, under this name or another."""
        return name in self.live or bool(self.reached(name)) or "." in name

    def record_write(self, name: str, holder: str | None = None) -> None:
        """A write of this name writes the parameters whose memory it may have; not one that holds it, where its caller finds what is new."""
        self.mutations.record(self.info, self.memory.parameters(name) - {holder})
        if name.startswith("self.") and self.info.owner is not None and self.info.owner.is_module:
            self.mutations.state.setdefault(self.info, set()).add(name.rpartition(".")[2])

    # ------------------------------------------------------------------ what expressions are

    def is_tensor(self, node: Any) -> bool:
        value = self.value(node)
        if isinstance(value, Tensor):
            return True
        if isinstance(value, Method) and not isinstance(value.receiver, Sequence):
            return isinstance(node, cst.Attribute) and node.attr.value in self.context.rulebook.array_names
        return False

    def may_be_number(self, target: Any, operand: Any) -> bool:
        """Whether a name of unknown value is rather a number than a tensor: `keep = 1 - p`, `mask = keep`, `mask += torch.rand(3, 1)`."""
        if isinstance(target, cst.Name) and self.value(target) == UNKNOWN and self._bounds_slice(target.value):
            return True
        made = [p.computed for p in self.memory.places(target.value)] if isinstance(target, cst.Name) and self.is_tensor(operand) else []
        value = self.value(operand.func) if isinstance(operand, cst.Call) else None
        sized = isinstance(value, Torch) and value.name in _SIZED
        return bool(made) and all(one is not None and (sized or one == UNKNOWN) for one in made)

    def _bounds_slice(self, name: str) -> bool:
        """Whether a name says where a slice begins or ends: `mel[:, seek : seek + n]`."""
        bounds = [b for n in tree.nodes(self.node, cst.Slice) for b in (n.lower, n.upper) if b is not None]
        return any(isinstance(b, cst.Name) and b.value == name for b in bounds)

    def may_be_given(self, target: Any, operand: Any) -> bool:
        """Whether a name of unknown value may be a tensor that has another name: `h = default(h, make)`, `h += x`."""
        if not isinstance(target, cst.Name) or self.value(target) != UNKNOWN:
            return False
        if all(p.parameter is not None for p in self.memory.places(target.value)):
            return False  # a parameter itself, `size *= scale[0]`: a number as often as not
        if self.is_tensor(operand):
            return True
        same = self.memory.parameters(target.value) | set(self.memory.sharing(target.value, frozenset(self.memory.env)))
        return any(n.value in same and isinstance(self.value(n), Tensor) for n in tree.nodes(self.node.body, cst.Name))

    def goes_over_params(self, node: Any) -> bool:
        """Whether a name is that of a loop over the params of a module, `for p in self.parameters()`, in a function that runs with them."""
        value = self.value(node)
        if not self.runs or not isinstance(node, cst.Name):
            return False
        return any(isinstance(value, Tensor) and value.param or over_parameters(loop) for loop in self._loops_of(node))

    def is_elsewhere(self, node: Any) -> bool:
        """Whether an array is written by a name that does not tell where it is: `b = getattr(self, f"b{i}")`, or a param
        in code that builds models by an entry of a list."""
        value = self.value(node)
        if self.runs:
            place = self.memory.only(node.value) if isinstance(node, cst.Name) else None
            if place is not None and place.base == COMPUTED:
                return False
            bound = [n.value for n in tree.nodes(self.node.body, cst.Assign) if isinstance(node, cst.Name) and any(node.value in tree.target_names(t.target) for t in n.targets)]
            return any(tree.dotted(made.func) == "getattr" and self.is_tensor(made) for made in bound if isinstance(made, cst.Call))
        if not isinstance(value, Tensor) or not value.param:
            return False
        if isinstance(node, cst.Subscript):
            return isinstance(self.value(node.value), Sequence)
        return isinstance(node, cst.Name) and any(self._is_taken_from(node.value, n) for n in tree.nodes(self.node.body, cst.Assign, cst.For))

    def is_of_params(self, node: Any) -> bool:
        """Whether a name is that of a loop over params, `for p, q in zip(…)`: `construction` refuses what such a loop writes."""
        return isinstance(node, cst.Name) and any(map(over_parameters, self._loops_of(node)))

    def _loops_of(self, name: cst.Name) -> list[Any]:
        """The loops that bind a name."""
        return [loop for loop in tree.nodes(self.node.body, cst.For) if name.value in tree.target_names(loop.target)]

    def _is_taken_from(self, name: str, node: Any) -> bool:
        """Whether a statement gives a name to a param that something else holds: `w = ps[0]`, `for a, b in zip(ps, qs)`."""
        if isinstance(node, cst.For):
            walk = parameter_walk(self.context, node)
            return name in tree.target_names(node.target) and (walk is None or walk.p != name)
        made = isinstance(node.value, cst.Call) and not isinstance(self.value(node.value.func), Method)
        held = not made or tree.dotted(node.value.func) in ("getattr", "next")
        return held and any(name in tree.target_names(t.target) for t in node.targets)

    def is_element(self, node: Any) -> TypeGuard[cst.Subscript]:
        """`x[i]` of a tensor x; what is only assumed to be one is none where it is asked for a string."""
        return isinstance(node, cst.Subscript) and self.is_tensor(node.value) and not self._is_named(node)

    def _is_named(self, node: cst.Subscript) -> bool:
        base, index = self.value(node.value), node.slice[0].slice
        key = self.value(index.value) if isinstance(index, cst.Index) else UNKNOWN
        return isinstance(base, Tensor) and base.assumed and isinstance(key, Static) and key.type == "str"

    def is_data(self, node: Any) -> bool:
        """`x.data` of a tensor, or of what code that builds models takes for one."""
        return isinstance(node, cst.Attribute) and node.attr.value == "data" and (self.is_tensor(node.value) or self._names_param(node.value))

    def _names_param(self, node: Any) -> bool:
        """Whether code that builds models gives an attribute a name that layers give their arrays: `linear.weight` of any linear."""
        return not self.runs and isinstance(node, cst.Attribute) and node.attr.value in self.context.rulebook.array_names

    def is_on_self(self, node: cst.Attribute) -> bool:
        return isinstance(node.value, cst.Name) and node.value.value == self.info.self_name

    def is_held_by_object(self, node: Any) -> bool:
        """`self.t` in a method of a class that is no module."""
        return isinstance(node, cst.Attribute) and self.info.owner is not None and not self.info.owner.is_module and self.is_on_self(node)

    def is_owned(self, attribute: str) -> bool:
        """Whether the memory of an attribute of plain objects is theirs alone."""
        owned = self.mutations.owned
        if attribute not in owned:
            owned[attribute] = is_owned(self.facts, attribute, self.views)
        return owned[attribute]
