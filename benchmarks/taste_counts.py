"""What a JAX engineer would not have typed, counted in one converted file beside its source.

Each function takes a `Pair` (and, where it says so, the repository's `Classes`) and gives the places that it counts, as
(line of the output, what). All of it reads syntax alone: a count is of what stands there, not of what it might do.
"""

import ast
import difflib
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterator

from .taste_classes import Classes, Function, Pair, functions, parameters, reads

Places = Iterator[tuple[int, str]]

EFFECTS = ("params", "state", "key", "training", "rngs", "device")
# What a dialect asks of a signature, read or not: a layer of Equinox takes a key (eqx.nn.Sequential hands one to each), and
# what makes params takes one in the functional output (`module.init(key)`, whatever the module).
PROTOCOLS = {
    "functional": {("init", "key"), ("init_state", "key")},
    "equinox": {("__call__", "key")},
    "flax": set(),
}
# Helpers for which `jnp` has one expression. Where torch's word differs from jnp's (a clamp's gradient at its bounds,
# sizes that no multiple divides) the helper is right, so that a few of each may stay.
HELPERS = set(
    "chunk clamp clip pad cumprod cumsum expand_to gather split_sizes flatten unflatten narrow select roll outer masked_fill repeat"
    " transpose permute flip diff logsumexp norm vector_norm norm_without_gradient var std mean amax amin stack cat where".split()
)
NUMBERED = re.compile(r"^(.*[^\W\d])_\d+$")
LIMIT = 120


def source_name(name: str) -> str:
    """What a function of the output was called in the source: `forward` is `__call__` there."""
    return re.sub(r"\.__call__$", ".forward", name)


def dead_parameters(pair: Pair, classes: Classes) -> Places:
    """A parameter named after an effect or a device that its function's body does not read.

    Left out: what the dialect's protocol asks for; a method that another of that name, of a class above or below it, reads;
    a body that does nothing but raise or pass; and what the user's own function has, unread there too.
    """
    for name, function in functions(pair.after):
        *_, owner, method = ["", *name.split(".")]
        original = pair.functions_before.get(source_name(name)) or pair.functions_before.get(name)
        body = [s for s in function.body if not isinstance(s, (ast.Pass, ast.Raise)) and not is_text(s)]
        read = set().union(*map(reads, function.body))
        for parameter in set(parameters(function)) & set(EFFECTS) - read if body else ():
            if (method, parameter) in PROTOCOLS[pair.target]:
                continue
            if original is not None and parameter in parameters(original):
                if parameter not in set().union(*map(reads, original.body)):
                    continue
            if parameter not in classes.kin_reads(owner, method):
                yield function.lineno, f"{name}({parameter})"


def is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def needless_state(pair: Pair, classes: Classes) -> Places:
    """A class whose `__call__` takes `state`, where neither it nor what it names, or is constructed with, holds any.

    A class holds state if it defines `init_state` (functional) or makes a `StateIndex` (Equinox), in the repository or in
    jax_nn.py. It names what stands in its body and in its bases, and, one after the other, what those name.
    """
    for node in ast.walk(pair.after):
        if isinstance(node, ast.ClassDef):
            call = next((f for f in node.body if isinstance(f, ast.FunctionDef) and f.name == "__call__"), None)
            if call is not None and "state" in parameters(call) and not classes.holds(pair.path, node.name):
                original = pair.functions_before.get(f".{node.name}.forward")
                if original is None or "state" not in parameters(original):
                    yield node.lineno, node.name


def uniform_calls(pair: Pair) -> Places:
    """A call that asks a callee of no known class what it takes: `layer.apply(params[…], state[…], …)`, `nn.call(…)`."""
    for node in ast.walk(pair.after):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            applied = node.func.attr == "apply" and len(node.args) >= 2 and "params" in ast.unparse(node.args[0])
            if applied or ast.unparse(node.func) in ("nn.call", "jax_nn.call"):
                yield node.lineno, ast.unparse(node.func)


def costly_properties(pair: Pair) -> Places:
    """A property that the source has not, of more than one cheap expression: of several statements, with a loop or a
    comprehension, of more than four calls, or that reads another such property."""
    for node in ast.walk(pair.after):
        if not isinstance(node, ast.ClassDef):
            continue
        made = {f.name: f for f in node.body if isinstance(f, ast.FunctionDef) and is_property(f)}
        made = {n: f for n, f in made.items() if f".{node.name}.{n}" not in pair.functions_before}
        for name, f in made.items():
            parts = list(ast.walk(f))
            others = {p.attr for p in parts if isinstance(p, ast.Attribute)} & (made.keys() - {name})
            loops = any(isinstance(p, (ast.For, ast.While, ast.comprehension)) for p in parts)
            statements = [s for s in f.body if not is_text(s)]
            if len(statements) > 1 or loops or others or sum(isinstance(p, ast.Call) for p in parts) > 4:
                yield f.lineno, f"{node.name}.{name}"


def is_property(function: Function) -> bool:
    return any("property" in ast.unparse(d) for d in function.decorator_list)


def helper_calls(pair: Pair) -> Places:
    """A call of a helper for which jnp has one expression of the same value, of `HELPERS`."""
    for node in ast.walk(pair.after):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in HELPERS:
            if isinstance(node.func.value, ast.Name) and node.func.value.id in ("nn", "jax_nn"):
                yield node.lineno, ast.unparse(node.func)


def numbered_names(pair: Pair) -> Places:
    """A name that ends in a number and that the source has not (`x_2`), once in each function."""
    known = set(re.findall(r"\w+", pair.source))
    for name, function in [("", pair.after), *functions(pair.after)]:
        found = {}
        for node in own_nodes(function):
            bound = node.id if isinstance(node, ast.Name) else node.arg if isinstance(node, ast.arg) else None
            if bound is not None and NUMBERED.match(bound) and bound not in known:
                found.setdefault(bound, node.lineno)
        yield from ((line, f"{name}: {bound}") for bound, line in found.items())


def own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(function):
        yield child
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield from own_nodes(child)


def tokens(text: str) -> list[tokenize.TokenInfo]:
    return list(tokenize.generate_tokens(io.StringIO(text).readline))


def comments_lost(pair: Pair) -> Places:
    """A comment of the source that no comment of the output says, each as often as it stands there."""
    said = [t.string.strip("# \t") for t in tokens(pair.output) if t.type == tokenize.COMMENT]
    exact, gone = Counter(said), []
    for token in tokens(pair.source):
        text = token.string.strip("# \t") if token.type == tokenize.COMMENT else ""
        if text and not exact[text]:
            gone.append((token.start[0], text))
        elif text:
            exact[text] -= 1
    left = list(exact.elements())
    for line, text in gone:
        within = next((other for other in left if text in other), None)
        if within is None:
            yield line, text
        else:
            left.remove(within)


def changes(pair: Pair) -> Iterator[tuple[range, range]]:
    """The lines, from 0, that differ, in the source and in the output."""
    before, after = pair.source.splitlines(), pair.output.splitlines()
    for tag, a, b, c, d in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag != "equal":
            yield range(a, b), range(c, d)


def changed_lines(pair: Pair) -> Places:
    """A line that the output has, and the source has not there."""
    for _, new in changes(pair):
        yield from ((line + 1, "") for line in new)


def formatted_lines(pair: Pair) -> Places:
    """A changed line of a statement, or of a header, that has the tokens of one of the source in the same change, but for
    quotes, trailing commas and what else means nothing, and whose lines are not the source's at another indentation."""
    before, after = logical_lines(pair.source), logical_lines(pair.output)
    for old, new in changes(pair):
        there = {sense: text for lines, sense, text in before if set(lines) & set(old)}
        for lines, sense, text in after:
            if sense in there and set(lines) & set(new) and text != there[sense]:
                yield from ((line + 1, "") for line in lines if line in new)


def logical_lines(text: str) -> list[tuple[range, tuple[str, ...], list[str]]]:
    """Per logical line: its lines, from 0, what its tokens say, and its text without indentation."""
    found, part, lines = [], [], text.splitlines()
    skipped = (tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT)
    for token in tokens(text):
        if token.type == tokenize.NEWLINE and part:
            at = range(part[0].start[0] - 1, token.end[0])
            said = [t.string.replace("'", '"') for t in part]
            sense = [s for s, after in zip(said, [*said[1:], ""]) if not (s == "," and after in (")", "]", "}"))]
            found.append((at, tuple(sense), [lines[i].strip() for i in at]))
            part = []
        elif token.type not in skipped and token.type != tokenize.NEWLINE:
            part.append(token)
    return found


def long_lines(pair: Pair) -> Places:
    """A line over 120 columns that the source has not."""
    known = {line.strip() for line in pair.source.splitlines()}
    for i, line in enumerate(pair.output.splitlines(), 1):
        if len(line) > LIMIT and line.strip() not in known:
            yield i, line.strip()
