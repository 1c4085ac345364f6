"""A rule at a call: its result with the user's own nodes in it, or a call of it.

What a rule comes to is decided while the program is still torch's (`Use.of`); it is made when the
call changes, of what the arguments have become by then (`Use.make`). The nodes of arguments are
moved, so that their text stays as it was.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, replace

from ...facts.shapes.shape_arguments import DRAWS, drawn_shape
from ...facts.values.lattice import MISSING, UNKNOWN, Mapping, Sequence, Static, Torch, Value
from ...model.copy import Change, clone, rebuilt
from ...model.effects import Apply, Key, Support
from ...model.expressions import Call, Comprehension, Constant, Display, Lambda, Name, Starred
from ...model.names import dotted
from ...model.node import Expression, Node
from ...model.operators import Boolean, Conditional, Unary
from ...model.rulebook import Definition, Rulebook
from ...source.lower_ast import lower_expression, lowered
from .bind import Argument, Binding, bind, choose, elements_of, hands_on, loose_sizes
from .literals import UNDECIDED, harmless, known, literal, simple
from .specialise import Refused, Specialised, body_of


@dataclass
class Use:
    """One use of a rule."""

    rulebook: Rulebook
    binding: Binding
    result: Expression | None  # of the rule, in its own names; None where it must be called

    @staticmethod
    def of(rulebook: Rulebook, definitions: Iterable[Definition], arguments: list[Argument]) -> Use:
        """The use of the rule that fits best. Raises Refused."""
        binding = choose(tuple(definitions), arguments)
        if binding is None or binding.given.get("dtype", _NOTHING).value == _DEVICE:
            raise Refused("")
        return Use(rulebook, binding, _result(rulebook, binding))

    def make(self) -> Expression:
        """What stands for the call."""
        if self.result is None or not self._can_be_inlined(self.result):
            return self._call()
        return _Substitution(self).expression(self.result)

    def _can_be_inlined(self, result: Expression) -> bool:
        """Whether no argument is evaluated twice, or left out, or in another order than effects."""
        order = [n.id for n in result.walk() if isinstance(n, Name)]
        unused, given = self.binding.definition.unused, self.binding.given
        for name, argument in given.items():
            node, count = argument.now(), order.count(name)
            dropped = not count and name not in unused and not harmless(node)
            if dropped or count > 1 and not simple(node):
                return False
        sizes = [p.name for p in self.binding.definition.parameters if p.kind == "sizes"]
        if any(order.count(name) > 1 for name in sizes):
            if not all(simple(argument.now()) for argument in self.binding.sizes):
                return False
        active = [n for n in given if n not in unused and _has_effects(given[n].now())]
        return active == sorted(active, key=order.index)

    # --- a call of the rule ----------------------------------------------------------------------

    def _call(self) -> Call:
        """A call of the rule in the support file, with the arguments in the order of its
        parameters.
        """
        definition, given = self.binding.definition, self.binding.given
        made: list[tuple[str | None, Expression]] = []
        in_order = True
        for parameter in definition.parameters:
            name = parameter.name
            if parameter.kind == "sizes":
                loose = loose_sizes(self.binding)
                whole = [Starred(a.now()) for a in self.binding.sizes]
                made += [(None, s) for s in (whole if loose is None else map(starred, loose))]
            elif name in definition.unused:
                continue  # what the support file holds has no such parameter
            elif name in given:
                in_order = in_order and given[name].keyword is None
                in_order = in_order and parameter.kind == "positional"
                made.append((None if in_order else name, given[name].now()))
            elif name == "key" and draws(self.rulebook, self.binding):
                made.append(("key", Key()))
            else:
                in_order = False
        self._pass_through(made)
        return Call(Support(definition.name), [e for _, e in made], [word for word, _ in made])

    def _pass_through(self, made: list[tuple[str | None, Expression]]) -> None:
        """Add `*args` before the first keyword, and the others behind."""
        for argument in self.binding.rest:
            if argument.star == "*":
                words = (i for i, (word, _) in enumerate(made) if word is not None)
                made.insert(next(words, len(made)), (None, starred(argument)))
            else:
                made.append((argument.keyword, starred(argument)))


_DEVICE = Static(MISSING, "device")
_NOTHING = Argument(Constant(None), Static())


def starred(argument: Argument) -> Expression:
    """An argument with its stars."""
    node = argument.now()
    if isinstance(argument.value, Mapping) and argument.value.placed and argument.star == "**":
        node = Call(Support("unplaced"), [node])
    return Starred(node, argument.star == "**") if argument.star else node


def _has_effects(node: Node) -> bool:
    return any(isinstance(n, (Apply, Key)) for n in node.walk())


# --- the result of a rule, in its own names -------------------------------------------------------


def _result(rulebook: Rulebook, binding: Binding) -> Expression | None:
    rule = Specialised(binding)
    result = rule.result() if not binding.rest or binding.spread else None
    if result is None or binding.rest and not hands_on(result, binding):
        return None
    result = rebuilt(result, lambda node: _plainer(node, rule))
    for node in result.walk():
        if isinstance(node, (Comprehension, Lambda)):
            return None  # their names could meet the user's
        if isinstance(node, Name) and node.id.startswith("_") and node.id in rulebook.definitions:
            return None
    if _has_no_gradient(result, binding):
        assert isinstance(result, Call)
        return result.arguments[0]
    return result


def _plainer(node: Node, rule: Specialised) -> Change:
    """Less than a rule says: the side of a conditional that is taken, calls without what is JAX's
    default.
    """
    if isinstance(node, Conditional):
        truth = rule.truth(node.test)
        if truth is not UNDECIDED:
            return rebuilt(node.body if truth else node.orelse, lambda n: _plainer(n, rule))
    if isinstance(node, Boolean) and (truth := rule.truth(node.left)) is not UNDECIDED:
        return rebuilt(
            node.left if truth is (node.operator == "or") else node.right,
            lambda n: _plainer(n, rule),
        )
    if isinstance(node, Call):
        pairs = zip(node.keywords, node.arguments)
        kept = [(w, a) for w, a in pairs if w is None or not _is_default(a, rule)]
        if len(kept) < len(node.arguments):
            words, arguments = [w for w, _ in kept], [clone(a) for _, a in kept]
            fewer = Call(clone(node.function), arguments, words)
            return rebuilt(fewer, lambda n: _plainer(n, rule))
    return None


def _is_default(node: Node, rule: Specialised) -> bool:
    """Whether a keyword hands on a None or False that is the default: `dtype=dtype` where none is
    given; a key is drawn from.
    """
    drawn = isinstance(node, Name) and node.id == "key"
    parameter = rule.parameters.get(node.id) if isinstance(node, Name) and not drawn else None
    default = parameter.default if parameter is not None else None
    if not isinstance(default, ast.Constant) or parameter is None:
        return False
    if default.value is not None and default.value is not False:
        return False
    given = rule.binding.given.get(parameter.name)
    return given is None or literal(given.node) is default.value


def _has_no_gradient(result: Expression, binding: Binding) -> bool:
    """`lax.stop_gradient(jnp.array([1, 2]))`: nothing here has a gradient to stop."""
    if not isinstance(result, Call) or dotted(result.function) != "lax.stop_gradient":
        return False
    return bool(binding.given) and all(_is_plain(a.value) for a in binding.given.values())


def _is_plain(value: Value) -> bool:
    if isinstance(value, Sequence):
        return all(map(_is_plain, value.items if value.items is not None else [value.element]))
    return isinstance(value, (Static, Torch))


# --- the user's nodes put into it -----------------------------------------------------------------


class _Substitution:
    """Puts the arguments of a call where a rule names its parameters."""

    def __init__(self, use: Use) -> None:
        self.use, self.binding = use, use.binding
        self.parameters = {p.name: p for p in use.binding.definition.parameters}
        self.placed: set[Expression] = set()

    def expression(self, node: Expression) -> Expression:
        return rebuilt(node, self._change)

    def _change(self, node: Node) -> Change:
        if isinstance(node, Starred) and isinstance(node.expression, Name):
            return self._starred(node.expression)
        if isinstance(node, Unary) and node.operator == "not":
            inner = self.expression(node.operand)
            flag = literal(inner)
            return Constant(not flag) if isinstance(flag, bool) else Unary("not", inner)
        return self._named(node) if isinstance(node, Name) else None

    def _starred(self, node: Name) -> Change:
        """`*size` in a call or a display: the loose sizes, or what holds all of them."""
        parameter = self.parameters.get(node.id)
        if parameter is not None and parameter.kind == "sizes":
            loose = loose_sizes(self.binding)
            if loose is not None:
                return [self._taken(argument) for argument in loose]
            only = self.binding.sizes[0]  # `x.reshape(size)` takes a shape as it is
            plain = isinstance(node.parent, Starred) and isinstance(node.parent.parent, Call)
            return self._taken(only) if plain else Starred(only.now())
        given = self.binding.given.get(node.id)
        display = given.now() if given is not None else None
        if isinstance(display, Display) and display.kind != "set":
            return [starred(a) for a in elements_of(display)]  # `torch.meshgrid([x, y])`
        return None

    def _named(self, node: Name) -> Change:
        parameter = self.parameters.get(node.id)
        if parameter in self.binding.spread:
            first = parameter is self.binding.spread[0]
            return [self._taken(self.binding.rest[0])] if first else []
        if parameter is None:
            known_name = node.id in self.use.rulebook.definitions
            return Support(node.id) if known_name else None
        if parameter.kind == "sizes":
            loose = loose_sizes(self.binding)
            if loose is None:  # `torch.zeros(*sizes)` is `jnp.zeros(sizes)`
                whole = self._taken(replace(self.binding.sizes[0], star=""))
                lazy = isinstance(whole, Comprehension) and whole.kind == "generator"
                return Call(Name("tuple"), [whole]) if lazy else self._lone(node, whole)
            return Display("tuple", [self._taken(argument) for argument in loose])
        if node.id in self.binding.given:
            return self._taken(self.binding.given[node.id])
        if node.id == "key":
            return Key()
        return self.expression(lowered(parameter.default)) if parameter.default else None

    def _lone(self, node: Name, size: Expression) -> Expression:
        """What may be one size, or a shape; a draw takes no number for its shape."""
        around = node.parent
        called = dotted(around.function) if isinstance(around, Call) else None
        alone = called in DRAWS and not self.binding.sizes[0].star
        return drawn_shape(size) if alone else size

    def _taken(self, argument: Argument) -> Expression:
        """An argument with its stars: the user's node the first time, a copy after that."""
        node = argument.now()
        if node in self.placed:
            node = clone(node)
        self.placed.add(node)
        return Starred(node, argument.star == "**") if argument.star else node


# --- keys -----------------------------------------------------------------------------------------


def draws(rulebook: Rulebook, binding: Binding) -> bool:
    """Whether a rule uses its key here: `F.scaled_dot_product_attention` has no dropout where none
    is asked for.
    """
    rule = Specialised(binding)
    result = rule.result()
    roots: list[Node] = [*body_of(binding.definition)] if result is None else [result]
    nodes = [n for root in roots for n in root.walk()]
    uses = {n for n in nodes if isinstance(n, Name) and n.id == "key"}
    for node in nodes:
        if isinstance(node, Call) and isinstance(node.function, Name):
            definition, passed = rulebook.definitions.get(node.function.id), node.keyword("key")
            if definition is None or passed is None or passed not in uses:
                continue
            pairs = zip(node.keywords, node.arguments)
            arguments = [_passed(rule, a, w) for w, a in pairs if a is not passed]
            inner = bind(definition, arguments)
            if inner is not None and not draws(rulebook, inner):
                uses.discard(passed)
    return bool(uses)


def _passed(rule: Specialised, node: Expression, word: str | None) -> Argument:
    """What a rule hands to another: a constant where it is one at this call."""
    constant = rule.constant(node)
    if constant is UNDECIDED:
        star = ("**" if node.double else "*") if isinstance(node, Starred) else ""
        return Argument(Name("_"), UNKNOWN, word, star)
    made = lower_expression(ast.parse(repr(constant), mode="eval").body)
    return Argument(made, known(made), word)
