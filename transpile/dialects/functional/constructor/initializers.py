"""An initial value in jax's words, where it has one for it.

nn.reinitialise(m, "bias", lambda bias, key: jnp.zeros_like(bias))
    ->  nn.set_initializer(m, "bias", jax.nn.initializers.zeros)
"""

from __future__ import annotations

from ....model.copy import Change, clone, rebuilt
from ....model.effects import Support
from ....model.expressions import Call, Lambda, Name
from ....model.names import dotted, names_in
from ....model.node import Expression, Node
from ....model.operators import Binary
from ....source.lower_ast import expression

_JAX = "jax.nn.initializers"
_DRAWN = {
    "jax.random.normal": f"{_JAX}.normal",
    "jax.random.truncated_normal": f"{_JAX}.truncated_normal",
}
_WHOLE = {"jnp.zeros_like": "zeros", "jnp.ones_like": "ones"}


def beginning(holder: Expression, name: Expression, made: Lambda) -> Call:
    """What gives an array another initial value, which a function of the first and a key makes."""
    found = _initializer(made)
    word = "reinitialise" if found is None else "set_initializer"
    return Call(Support(word), [holder, name, found or made])


def _initializer(made: Lambda) -> Expression | None:
    array, key, *kept = made.parameters
    given = {p.name: p.default for p in kept}  # `std=std`, of a lambda that runs later
    asked = [key.name, f"{array.name}.shape", f"{array.name}.dtype"]
    body, scale = made.body, expression("1.0")
    if isinstance(made.body, Binary) and made.body.operator == "*":
        body, scale = made.body.right, made.body.left
    if not isinstance(body, Call) or any(body.keywords):
        return None
    parts, function = [dotted(a) for a in body.arguments], body.function
    word, whole = dotted(function) or "", body is made.body
    found: Expression | None = None
    if word in _DRAWN and [*parts[:1], *parts[-2:]] == asked:
        words: list[str | None] = [None, "lower", "upper"][: len(parts) - 2]
        found = Call(expression(_DRAWN[word]), [scale, *body.arguments[1:-2]], words)
    elif whole and word in _WHOLE and parts == [array.name]:
        found = expression(f"{_JAX}.{_WHOLE[word]}")
    elif whole and word == "jnp.full_like" and len(parts) == 2 and parts[0] == array.name:
        found = Call(expression(f"{_JAX}.constant"), body.arguments[1:])
    elif whole and isinstance(function, Call) and parts == asked:
        found = function if (dotted(function.function) or "").startswith(_JAX) else None
    if found is None or names_in(found) & {array.name, key.name}:
        return None

    def change(node: Node) -> Change:
        default = given.get(node.id) if isinstance(node, Name) else None
        return None if default is None else clone(default)

    return rebuilt(found, change)
