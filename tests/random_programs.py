"""Random programs over a few tensors: branches, loops, views, stores, in-place calls, early returns and helper calls.

`x` and `y` have shape (4, 3). Names keep their shape (`m`: (4, 3), `v`: (3,), `s`: ()), so that every program runs in torch.
"""

import random

from hypothesis import strategies as st

HELPERS = """def double(t):
    return t * 2


def mixed(t, u):
    if t.sum() > u.sum():
        return t - u
    return t + 0.5 * u


def shifted(t, u):
    t.add_(u)
    return t


"""

UNARY = ["torch.tanh({})", "torch.sin({})", "{} * 0.5", "-{}", "{}.exp().clamp(max=4.0)", "{} + 1", "torch.relu({})"]
BINARY = ["{} + {}", "{} - {}", "{} * {}", "torch.maximum({}, {})", "torch.where({} > 0, {}, 0.1)"]


def programs():
    """The source of helpers and `def f(x, y)`, by a number: its own choices would come in families that differ in a word."""
    return st.integers(0, 2**32).map(lambda seed: _Program(random.Random(seed)).source())


class _Program:
    def __init__(self, random):
        self.random = random
        self.names = {"m": ["x", "y"], "v": [], "s": []}
        self.fresh = 0

    def pick(self, *options):
        return self.random.choice(options)

    def number(self, low, high):
        return self.random.randint(low, high)

    def source(self):
        lines = ["x = x.clone()", "y = y.clone()", f"a = {self.expression('m', 1)}", f"v = {self.expression('v', 1)}", f"s = {self.expression('s', 1)}"]
        self.names = {"m": ["x", "y", "a"], "v": ["v"], "s": ["s"]}
        for _ in range(self.number(2, 5)):
            lines += self.statement(2, False)
        if self.number(0, 3) == 0:
            result = self.pick("x", "a * 2", "x + y")
            lines += [f"if {self.test()}:", *self.indented(self.block(1, False)), f"    return {result}, y, a, v, s"]
            lines += self.statement(1, False)
        lines.append("return x, y, a, v, s")
        return HELPERS + "def f(x: torch.Tensor, y: torch.Tensor):\n" + "\n".join(f"    {line}" for line in lines)

    @staticmethod
    def indented(lines):
        return [f"    {line}" for line in lines]

    # ------------------------------------------------------------------ expressions

    def expression(self, kind, depth):
        if depth == 0 and self.names[kind]:
            return self.pick(*self.names[kind])
        choice = self.number(0, 4)
        inner = lambda k: self.expression(k, max(depth - 1, 0))  # noqa: E731
        if kind == "m":
            if choice == 0:
                return self.pick(*BINARY).format(inner("m"), inner("m"))
            if choice == 1 and self.names["v"]:
                return f"{self._atom('m')} * {self._atom('v')}"
            if choice == 2:
                return self.pick("double({})", "mixed({}, y)", "shifted({} * 1, x)").format(inner("m"))
            return self.pick(*UNARY).format(self._atom("m"))
        if kind == "v":
            return self.pick("{}.sum(0)", "{}[1] * 1", "{}.mean(dim=0)", "{}[-1] + 1", "{}.max(dim=0)[0]").format(self._atom("m"))
        return self.pick("{}.sum()", "{}.mean()", "{}[0, 1] * 1", "{}.norm()").format(self._atom("m"))

    def _atom(self, kind):
        return self.pick(*self.names[kind])

    def test(self):
        left = self.pick("{}.sum()", "{}.mean()", "{}.max()", "{}[0, 0]").format(self._atom("m"))
        test = f"{left} {self.pick('>', '<', '>=')} {self.pick('0', '0.5', '-0.5', '1')}"
        extra = self.number(0, 7)
        if extra == 0:
            return f"{test} and {self._atom('m')}.mean() > 0"
        if extra == 1:
            return f"not ({test})"
        return f"{test} or s > 1" if extra == 2 else test

    # ------------------------------------------------------------------ statements

    def block(self, depth, loop):
        lines = []
        for _ in range(self.number(1, 2)):
            lines += self.statement(depth, loop)
        return lines

    def statement(self, depth, loop):
        kinds = ["assign", "augmented", "store", "method", "view"]
        if depth > 0:
            kinds += ["if", "if", "for", "while"]
        return getattr(self, "_" + self.pick(*kinds))(depth, loop)

    def _assign(self, depth, loop):
        kind = self.pick("m", "m", "v", "s")
        return [f"{self._atom(kind)} = {self.expression(kind, 1)}"]

    def _augmented(self, depth, loop):
        if self.number(0, 2) == 0:
            return [f"s = s {self.pick('+', '-')} {self.expression('s', 0)}"]
        return [f"{self._atom('m')} {self.pick('+=', '-=', '*=')} {self.pick('0.5', self._atom('m'), self._atom('v'))}"]

    def _store(self, depth, loop):
        name, other = self._atom("m"), self._atom("m")
        i = self.number(0, 3)
        return [
            self.pick(
                f"{name}[{i}] = {other}[{(i + 1) % 4}] * 2",
                f"{name}[{i}] += {self._atom('v')}",
                f"{name}[:, {i % 3}] = {other}[:, 0] + 1",
                f"{name}[1:3] *= 0.5",
                f"{name}[{name} > 1] = 0.5",
                f"{name}[{i}, 1] = s",
                f"v[{i % 3}] = {other}.sum()",
                f"{name}[::2] = {other}[::2]",
            )
        ]

    def _method(self, depth, loop):
        name, other = self._atom("m"), self._atom("m")
        return [self.pick(f"{name}.mul_(0.5).add_({other})", f"{name}.clamp_(min=-1.0)", f"{name}.sub_({other})", f"{name}[0].zero_()", f"shifted({name}, {other} * 1)", f"{name}.copy_({other})", f"{name}.fill_(0.25)")]

    def _view(self, depth, loop):
        """A name for part of a tensor, which is written, or whose base is, while both are read later."""
        name = self._atom("m")
        i = self.number(0, 3)
        self.fresh += 1
        w = f"w{self.fresh}"
        view = self.pick(f"{name}[{i}]", f"{name}[:, {i % 3}]", f"{name}.view(-1)", f"{name}.t()", name, f"{name}[1:]")
        write = self.pick(f"{w} += 0.5", f"{w}.mul_(2)", f"{w}[0] = 0.75", f"{name} += 1", f"{name}[{i}] = 0.5")
        read = self.pick(f"s = s + {w}.sum()", f"v = v + {w}.mean()", f"{self._atom('m')} = {self._atom('m')} + {w}.sum()")
        return [f"{w} = {view}", write, read]

    def _if(self, depth, loop):
        lines = [f"if {self.test()}:", *self.indented(self.block(depth - 1, loop))]
        if self.number(0, 3) == 0:
            lines += [f"elif {self.test()}:", *self.indented(self.block(depth - 1, loop))]
        if self.number(0, 2) > 0:
            lines += ["else:", *self.indented(self.block(depth - 1, loop))]
        if loop and self.number(0, 2) == 0:
            lines += [f"if {self.test()}:", f"    {self.pick('break', 'continue')}"]
        return lines

    def _for(self, depth, loop):
        name = self._atom("m")
        kind = self.number(0, 3)
        before = {k: list(v) for k, v in self.names.items()}
        if kind == 0:
            head, first = f"for i in range({self.number(2, 3)}):", [f"{name}[i] = {self._atom('m')}[i] * 0.5 + i"]
        elif kind == 1:
            head, first = f"for i in range({name}.size(0)):", [f"v = v * 0.5 + {name}[i]"]
        elif kind == 2:
            head, first = f"for row in {name}:", ["v = torch.tanh(v + row)"]
        else:
            head, first = f"for i in range({name}.shape[1]):", [f"s = s + {name}[:, i].sum()"]
        body = [*first, *self.block(depth - 1, True)]
        self.names = before
        return [head, *self.indented(body)]

    def _while(self, depth, loop):
        self.fresh += 1
        n, name = f"n{self.fresh}", self._atom("m")
        body = [f"{name} = {name} * 0.5", *self.block(0, False), f"{n} += 1"]
        return [f"{n} = 0", f"while {name}.norm() > 1 and {n} < 3:", *self.indented(body)]
