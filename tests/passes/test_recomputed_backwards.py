"""Autograd Functions whose backward runs forward again: functions that are checkpointed."""

import ast
from pathlib import PurePosixPath

import pytest

from transpile.model.edits import commit_all
from transpile.model.project import Project
from transpile.passes import recomputed_backwards
from transpile.source.lower import lower
from transpile.source.splice import write

SOURCE = '''import torch as th


def run(f, x, *params):
    return RunAgain.apply(f, 1, x, *params)


class RunAgain(th.autograd.Function):
    @staticmethod
    def forward(ctx, func, length, *args):
        ctx.func = func
        ctx.tensors = list(args[:length])
        ctx.params = list(args[length:])
        with th.no_grad():
            out = ctx.func(*ctx.tensors)
        return out

    @staticmethod
    def backward(ctx, *grads):
        ctx.tensors = [x.detach().requires_grad_(True) for x in ctx.tensors]
        with th.enable_grad():
            copies = [x.view_as(x) for x in ctx.tensors]
            out = ctx.func(*copies)
        found = th.autograd.grad(out, ctx.tensors + ctx.params, grads, allow_unused=True)
        del ctx.tensors
        return (None, None) + found
'''
MADE = '''import torch as th


def run(f, x, *params):
    return run_again(f, 1, x, *params)


def run_again(func, length, *args):
    tensors = list(args[:length])
    out = th.utils.checkpoint.checkpoint(func, *tensors, use_reentrant=False)
    return out
'''
# What is another backward, or used in another way: the old text, and what stands there.
LEFT = {
    "of something else": ("out = ctx.func(*copies)", "out = ctx.other(*copies)"),
    "of other inputs": ("x.view_as(x) for", "x * 2 for"),
    "scaled": ("(None, None) + found", "(None, None) + tuple(2 * g for g in found)"),
    "of other gradients": ("ctx.params, grads,", "ctx.params, ctx.given,"),
    "more of the context": ("return out\n", "return ctx.after(out, ctx)\n"),
    "handed on": ("RunAgain.apply(f", "compiled(RunAgain.apply)(f"),
    "another context": ("th.no_grad()", "profiled()"),
}


def rewritten(source: str) -> tuple[str, list[str]]:
    project, path = Project(""), PurePosixPath("net.py")
    file = lower(source, path)
    project.add(path, file)
    project.link()
    changes = recomputed_backwards.PASS.run(project, None)
    commit_all(changes)
    return write(file), [d.id for one in changes for d in one.diagnostics]


def test_what_backward_runs_again_is_checkpointed():
    made, told = rewritten(SOURCE)
    assert ast.dump(ast.parse(made)) == ast.dump(ast.parse(MADE))
    assert told == ["taken-for-granted"]


@pytest.mark.parametrize("name", LEFT)
def test_what_is_left(name):
    old, new = LEFT[name]
    assert old in SOURCE
    source = SOURCE.replace(old, new)
    assert rewritten(source) == (source, [])
