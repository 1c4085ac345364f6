"""Which operations return a view: an in-place write to the result may reach the first argument."""

# "same": the object itself (or a copy, where something changes); "reshape": the same elements under another shape;
# "part": some of the elements; "parts": a sequence of parts.
VIEWS = {
    "contiguous": "same",
    "detach": "same",
    "data": "same",
    "to": "same",
    "type": "same",
    "type_as": "same",
    "float": "same",
    "double": "same",
    "half": "same",
    "bfloat16": "same",
    "long": "same",
    "int": "same",
    "bool": "same",
    "cpu": "same",
    "cuda": "same",
    "requires_grad_": "same",
    "as_tensor": "same",
    "from_numpy": "same",
    "numpy": "same",
    "Variable": "same",
    "dropout": "same",
    "dropout2d": "same",
    "dropout3d": "same",
    "alpha_dropout": "same",
    "view": "reshape",
    "view_as": "reshape",
    "reshape": "reshape",
    "reshape_as": "reshape",
    "resize": "reshape",
    "resize_as": "reshape",
    "flatten": "reshape",
    "ravel": "reshape",
    "squeeze": "reshape",
    "unsqueeze": "reshape",
    "unflatten": "reshape",
    "transpose": "swap",
    "swapaxes": "swap",
    "swapdims": "swap",
    "t": "swap",
    "T": "swap",
    "mT": "swap",
    "permute": "part",
    "movedim": "part",
    "moveaxis": "part",
    "expand": "part",
    "expand_as": "part",
    "broadcast_to": "part",
    "narrow": "part",
    "select": "part",
    "diagonal": "part",
    "unfold": "part",
    "real": "part",
    "imag": "part",
    "as_strided": "part",
    "view_as_real": "part",
    "view_as_complex": "part",
    "unbind": "parts",
    "chunk": "parts",
    "split": "parts",
    "tensor_split": "parts",
}

# In-place methods that change the shape of their tensor alone: names for parts of its memory keep theirs. Those of "memory" take
# the elements in the order in which they lie there.
RESHAPING = {
    "squeeze_": "shape",
    "unsqueeze_": "shape",
    "transpose_": "shape",
    "swapaxes_": "shape",
    "swapdims_": "shape",
    "t_": "shape",
    "resize_": "memory",
    "resize_as_": "memory",
}

# Which operations write some of their arguments: the rule for `name[updating]` returns the result, then the new values of these.
UPDATES = {
    "torch.nn.functional.batch_norm": ("running_mean", "running_var"),
    "torch.batch_norm": ("running_mean", "running_var"),
}

# The flag that says whether they do, of those and of others whose rules refuse it.
UPDATES_IF = {
    "torch.nn.functional.batch_norm": "training",
    "torch.batch_norm": "training",
    "torch.nn.functional.instance_norm": "use_input_stats",
    "torch.instance_norm": "use_input_stats",
}

# Functions whose last parameter is `inplace`, which rules leave out: `F.relu6(x + 3, self.inplace)`.
INPLACE_LAST = {
    "torch.nn.functional.alpha_dropout",
    "torch.nn.functional.celu",
    "torch.nn.functional.dropout",
    "torch.nn.functional.dropout1d",
    "torch.nn.functional.dropout2d",
    "torch.nn.functional.dropout3d",
    "torch.nn.functional.elu",
    "torch.nn.functional.feature_alpha_dropout",
    "torch.nn.functional.hardsigmoid",
    "torch.nn.functional.hardswish",
    "torch.nn.functional.hardtanh",
    "torch.nn.functional.leaky_relu",
    "torch.nn.functional.mish",
    "torch.nn.functional.relu",
    "torch.nn.functional.relu6",
    "torch.nn.functional.rrelu",
    "torch.nn.functional.selu",
    "torch.nn.functional.silu",
    "torch.nn.functional.threshold",
}

# What gives the elements of trees in another one.
KEEPING = {"tree_flatten", "tree_leaves", "tree_unflatten", "tree_map"}
