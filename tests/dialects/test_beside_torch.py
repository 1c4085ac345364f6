"""Small programs of many real ones' idioms, `beside_torch/*.py`, in three dialects beside torch: outputs,
gradients, and state after two steps. Each has a class `Net`, whose forward takes as many arrays of 3 × 4."""

import ast

import pytest
import torch

from .small import PROGRAMS, TARGETS, program
from .verified import verify

# What a dialect says of a program that it has no form for, or tells of, is tested beside that.
APART = {
    ("buffers_of_a_layer_by_number", "equinox"),  # reported: a buffer without a field
    ("closures", "flax"),
    ("constants_in_lists", "equinox"),  # reported: they would be trained
    ("listed_at_times", "equinox"),  # the same
    ("layers_put_between", "equinox"),  # refused: a Sequential that is built gets no layer between
    ("lists_numbered_anew", "equinox"),  # reported: the list that it was has the same modules
    ("listed", "functional"),
    ("chosen_closures", "functional"),  # refused: a function inside has the params, another has not
    ("masks_of_chosen", "equinox"),  # refused: there is no place for what is new
    ("sets_by_a_method", "equinox"),  # refused: modules are not set once they are built
    ("second_name_of_a_buffer", "functional"),  # refused: state is there when the model is built
    ("modules_in_plain_dicts", "functional"),  # refused: where the params of what a dict has are
    ("kept_pairs", "functional"),  # refused: where the params of a pair are is not known
    ("methods_by_a_kept_name", "functional"),  # refused: a method has its own params
    ("methods_that_a_script_calls", "functional"),  # refused: the script has no params
    ("lists_of_params_in_lists", "functional"),  # refused: a list of params in another one
    *(("sizes_taken_for_numbers", target) for target in TARGETS),  # told
    *(("run_again_in_backward", target) for target in TARGETS),  # told
    ("number_then_loss", "functional"),  # torch's model keeps no array that these tests could load
}
ROWS = [(p, t) for p in PROGRAMS for t in TARGETS if (p, t) not in APART]


@pytest.mark.parametrize("name, target", ROWS)
def test_beside_torch(name, target):
    torch.manual_seed(0)
    source = program(name)
    inputs = [torch.randn(3, 4, dtype=torch.float64) for _ in range(_arrays(source))]
    verify(source, "Net", "", inputs, target)


def _arrays(source: str) -> int:
    """How many arrays the forward of a program needs, a `y` that may be left out among them."""
    net = next(n for n in ast.parse(source).body if getattr(n, "name", "") == "Net")
    forward = next((m for m in net.body if getattr(m, "name", "") == "forward"), None)
    if forward is None or forward.args.vararg is not None:
        return 2
    names = [argument.arg for argument in forward.args.args[1:]]
    return max(len(names) - len(forward.args.defaults), 1 + ("y" in names))
