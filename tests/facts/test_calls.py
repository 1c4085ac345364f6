"""Which functions calls may run, with which arguments."""

import pytest

from transpile.facts.calls import Calls, Target
from transpile.model.expressions import Call, Lambda
from transpile.model.names import text

from .programs import Program

CASES = {
    "def f(x): return x\ny = «f(1)»": ["f"],
    "def f(x): return x\ng = f\ny = «g(1)»": ["f"],
    "def f(x): return x\nTABLE = {'a': f}\ny = «TABLE['a'](1)»": ["f"],
    "def f(x): return x\nfor name, g in [('a', f)]:\n    «g(1)»": ["f"],
    "def f(x): return x\ndef run(g): return «g(1)»\nrun(f)": ["f"],
    "def f(x): return x\ndef make(): return f\ny = «make()(1)»": ["f"],
    "from functools import partial\ndef f(a, b): return b\ng = partial(f, 1)\ny = «g(2)»": ["f"],
    "g = lambda x: x\ny = «g(1)»": ["a lambda"],
    "class A:\n    def f(self): return «self.g()»\n    def g(self): pass\n"
    "class B(A):\n    def g(self): pass\n": ["A.g", "B.g"],
    "class A:\n    def __init__(self): self.fns = [self.g]\n    def g(self): pass\n"
    "    def f(self): return «self.fns[0]()»\n": ["A.g"],
    "class A:\n    def __call__(self): pass\na = A()\ny = «a()»": ["A.__call__"],
    "def f(x): return x\nfns = []\nfns.append(f)\ny = «fns[0](1)»": ["f"],
    "y = «torch.relu(1)»": [],
}


@pytest.mark.parametrize("text", CASES)
def test_targets(text):
    program = Program(text)
    call = program.marked
    assert isinstance(call, Call)
    assert [t.name for t in Calls(program.values).targets(call)] == CASES[text]


ARGUMENTS = {
    "def f(a, b=1, *c, d=2, **e): pass\n«f(1, 2, 3, d=4, g=5)»": "a=1 b=2 c=3 d=4 e=5",
    "def f(a, b, c): pass\n«f(1, *x)»": "a=1 b=*x c=*x",
    "def f(a, b, c): pass\n«f(1, **x)»": "a=1 b=**x c=**x",
    "class A:\n    def f(self, a): pass\n«A.f(A(), 1)»": "a=1",
    "from functools import partial\ndef f(a, b): pass\ng = partial(f, 1)\n«g(2)»": "b=2",
}


@pytest.mark.parametrize("text_", ARGUMENTS)
def test_arguments(text_):
    program = Program(text_)
    calls = Calls(program.values)
    (target,) = calls.targets(program.marked)
    found = [f"{name}={text(node)}" for name, node in calls.arguments(program.marked, target)]
    assert " ".join(found) == ARGUMENTS[text_]


def test_reachable():
    program = Program("""
def a(x): return b(x)
def b(x): return c(x)
def c(x): return x
def d(x): return b(x)
""")
    calls = Calls(program.values)
    a, b, c, d = (program.function(name) for name in "abcd")
    assert calls.reachable([a]) == {a, b, c}



def test_a_lambda_as_a_target():
    program = Program("act = lambda x: x\n")
    made = next(n for n in program.file.walk() if isinstance(n, Lambda))
    assert Target(made).name == "a lambda"
