"""What the name of a method or attribute tells of the object that it is asked of."""

from collections.abc import Sequence

from .lattice import Static, Value

# Methods of lists, dicts, sets, strings and modules: they do not tell that an object is a tensor.
ORDINARY = frozenset(
    "append extend insert pop remove index count sort reverse copy clear get keys values"
    " items update setdefault split join format strip replace add discard union lower upper"
    " startswith endswith find encode decode eval train apply parameters named_parameters"
    " modules children named_modules named_children state_dict load_state_dict"
    " register_buffer forward sample rsample log_prob entropy cdf step zero_grad backward"
    " intersection difference isdigit title rstrip lstrip".split()
)
WALKS = frozenset(
    {"modules", "named_modules", "children", "named_children"}
)  # methods without arguments that modules alone have
PARAMETERS = frozenset({"parameters", "named_parameters"})
MEANS = frozenset({"mean", "std", "var"})  # a float of NumPy's, of a whole array
NUMPY_METHODS = frozenset(
    {"astype", "copy"}
)  # and JAX's arrays have them: an array that was numpy's keeps them
MOVES = frozenset({"to", "cuda", "cpu"})  # which put a tensor or a module somewhere
# Methods that numpy arrays and modules have too: they tell a tensor where nothing else is likely.
SHARED = frozenset(
    "type repeat to cuda cpu numpy tolist item size shape dtype device data float int bool"
    " half double mean sum std var min max all any round dot argmax argmin reshape transpose"
    " squeeze flatten cumsum prod clip conj diagonal fill put ravel resize swapaxes take"
    " trace view T ndim real imag detach".split()
)
# Those of them that NumPy's arrays do not have.
_OF_NO_ARRAYS = frozenset("type to cuda cpu numpy float int bool half double detach".split())
# What JAX's arrays have, and mostly NumPy's, and no tensor: by it code tells those from tensors.
OF_ARRAYS_ALONE = frozenset(
    "aval at astype argpartition block_until_ready byteswap choose compress copy devices flat ptp"
    " searchsorted sharding tobytes to_device weak_type".split()
)
# Methods of tensors that ask for a dim, which a 0-dim tensor has not.
BY_DIM = frozenset(
    "chunk flip gather index_select movedim permute split t transpose unbind".split()
)
# Attributes of tensors, where a rule of one parameter would otherwise be a method.
PROPERTIES = frozenset(
    "T mT H mH real imag shape ndim dtype device data grad is_cuda requires_grad itemsize"
    " layout is_sparse is_leaf grad_fn is_quantized is_mps is_meta nbytes names output_nr".split()
)
# Methods of nn.Module.
_OF_MODULES = frozenset(
    "eval train apply parameters named_parameters modules children named_modules named_children"
    " state_dict load_state_dict register_buffer forward zero_grad add_module buffers"
    " named_buffers cuda cpu to double float half register_parameter get_submodule"
    " requires_grad_".split()
)
# Methods of the lists and dicts that torch has of modules.
_OF_CONTAINERS = frozenset(
    "append extend insert pop clear get setdefault keys values items update copy".split()
)


# Methods that SciPy's matrices have: on an unknown object they tell no tensor.
_OF_MATRICES = frozenset({"multiply", "dot"})
# Methods of tensors that take a string where it stands: those of strings and patterns do too.
_WITH_STRINGS = frozenset(
    "to type cuda cpu norm scatter scatter_ scatter_reduce scatter_reduce_ index_reduce"
    " index_reduce_ qr new pin_memory".split()
)


def plausible(name: str, positional: Sequence[Value]) -> bool:
    """Whether a method with these arguments may be a tensor's, where nothing else is known."""
    if name in _OF_MATRICES:
        return False
    return name in _WITH_STRINGS or not any(
        isinstance(v, Static) and v.type == "str" for v in positional
    )


# Methods of tensors that a statement may call for itself: where one is, what is kept of it.
_FOR_THEMSELVES = frozenset(
    "to type cuda cpu float double half pin_memory retain_grad detach contiguous"
    " requires_grad backward register_hook record_stream".split()
)


def computes(name: str) -> bool:
    """Whether a method of tensors only computes: as a statement it is a set's, `seen.add(n)`."""
    return not name.endswith("_") and name not in _FOR_THEMSELVES


def tells_tensor(name: str) -> bool:
    """Whether what a comparison gives is a tensor where this is called of it."""
    return name not in ORDINARY and (name not in SHARED or name in _OF_NO_ARRAYS)


def torch_method(name: str) -> bool:
    """Whether modules have a method of this name in torch, so that it is no submodule's."""
    return name.startswith("_") or name in _OF_MODULES or name in _OF_CONTAINERS


def container_method(name: str) -> bool:
    """Whether lists or dicts of modules have a method of this name."""
    return name in _OF_CONTAINERS
