"""Every rule and layer tells what it returns: tensors, tuples of them, or what Python knows. Compared with what torch returns for its own samples."""

import warnings

import pytest
import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.common_modules import module_db

from transpile.first import rulebook
from transpile.first.infer.frame import Argument
from transpile.first.infer.torch_calls import overload
from transpile.first.results import Results
from transpile.first.rule_bodies import flags
from transpile.first.values import UNKNOWN, Sequence, Static, Tensor

BOOK = rulebook.load()
RESULTS = Results(BOOK)
SHORTENED = {"linalg.lstsq"}  # the samples' operation leaves out what a driver does not compute
OPERATIONS = {op.name: op for op in op_db if op.name not in SHORTENED and (BOOK.find(f"torch.{op.name}") or BOOK.find(f"torch.Tensor.{op.name}"))}
LAYERS = {layer.name: layer for layer in module_db if BOOK.layer(f"torch.{layer.name}") and "Fractional" not in layer.name}
OPEN = {"torch.max", "torch.min", "torch.Tensor.max", "torch.Tensor.min"}  # of one argument that may be a dim or a tensor


def kind(value):
    """The nesting of a result of torch's."""
    if isinstance(value, torch.Tensor):
        return "tensor"
    return tuple(map(kind, value)) if isinstance(value, (tuple, list)) else "static"


def covers(value, found):
    """Whether what is told of a result holds of one."""
    if isinstance(found, tuple):
        items = value.items if isinstance(value, Sequence) and value.items is not None else [getattr(value, "element", UNKNOWN)] * len(found)
        shape = isinstance(value, Static) and value.type == "shape"
        return shape or len(items) == len(found) and all(map(covers, items, found))
    return isinstance(value, Tensor if found == "tensor" else (Static, Tensor))


def refuses(rule, value):
    return value == UNKNOWN and "raise Unsupported" in rule.source


def given(args, kwargs):
    values = [(None, v) for v in args] + list(kwargs.items())
    return [Argument(k, "", Static(v, "bool") if isinstance(v, bool) else Static()) for k, v in values]


@pytest.mark.parametrize("name", OPERATIONS)
def test_operation(name):
    op = OPERATIONS[name]
    dtype = next((d for d in (torch.float32, *op.supported_dtypes("cpu")) if d in op.supported_dtypes("cpu")), torch.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _, sample in zip(range(8), op.sample_inputs("cpu", dtype)):
            found = kind(op(sample.input, *sample.args, **sample.kwargs))
            args = given([sample.input, *sample.args], sample.kwargs)
            for path in (f"torch.{name}", f"torch.Tensor.{name}") if "." not in name else (f"torch.{name}",):
                rules = BOOK.find(path) if path not in OPEN else ()
                if rules and isinstance(sample.input, torch.Tensor):
                    rule = overload(rules, len(args), {a.keyword for a in args})
                    value = RESULTS.of(rule, flags(rule.parameters, args))
                    assert covers(value, found) or refuses(rule, value), (path, value, found, sample.args, sample.kwargs)


@pytest.mark.parametrize("name", LAYERS)
def test_layer(name):
    layer, definition = LAYERS[name], BOOK.layer(f"torch.{name}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for sample in layer.module_inputs_func(layer, device="cpu", dtype=torch.float32, requires_grad=False, training=False):
            made, args = sample.constructor_input, sample.forward_input
            found = kind(layer.module_cls(*made.args, **made.kwargs).eval()(*args.args, **args.kwargs))
            told = RESULTS.deciding(definition, flags(BOOK.constructor(definition), given(made.args, made.kwargs)))
            value = RESULTS.call(definition, told, flags(BOOK.call_parameters(definition), given(args.args, args.kwargs)))
            assert covers(value, found), (value, found, made.kwargs)
