"""What could not be converted, or needs the user's attention: an id, a place, what and why."""

from dataclasses import dataclass

# Every diagnostic that exists: what it means, and what to do. `explain ID` prints these.
CATALOGUE: dict[str, tuple[str, str]] = {
    "syntax-error": (
        "The file is not valid Python.",
        "Fix the syntax; the other files were converted.",
    ),
    "unreadable": (
        "The file could not be read or decoded.",
        "Check the file's encoding declaration and permissions.",
    ),
    "internal-error": (
        "The converter failed on this file.",
        "Please report it with the file; the target was left untouched.",
    ),
    "no-rule": (
        "There is no JAX equivalent for this torch name yet.",
        "Write the line by hand, or add a rule (see CONTRIBUTING.md).",
    ),
    "left-over": (
        "A use of torch is still in the output.",
        "Write the line by hand: it fails when it is reached.",
    ),
    "unsupported": (
        "This form of the operation has no exact JAX equivalent.",
        "Use the form that the message names.",
    ),
    "arguments": (
        "The arguments do not fit any signature that torch has for this operation.",
        "Check the call; spell arguments by keyword.",
    ),
    "aliased-write": (
        "An in-place write reaches another name for the same memory, and it is not known which "
        "part.",
        "Write it without in-place operations.",
    ),
    "overlapping-copy": (
        "A tensor is copied onto a part of itself that overlaps: torch raises, or gives what its "
        "order of copying makes.",
        "Clone the source, in torch too.",
    ),
    "mutated-argument": (
        "A function changes its argument in place, and the caller reads it afterwards.",
        "Return the new value instead.",
    ),
    "traced-branch": (
        "A branch depends on a tensor's value and could not be lowered.",
        "Use torch.where, or move the branch out of the traced function.",
    ),
    "traced-loop": (
        "A loop depends on a tensor's value and could not be lowered.",
        "Give the loop a static bound.",
    ),
    "taken-for-granted": (
        "The line is converted, and is right if what the message says holds.",
        "See that it holds; where it does not, write the line by hand.",
    ),
    "data-check": (
        "A check of a tensor's value was left out: nothing can be raised under jit.",
        "Use jax.experimental.checkify, or check before the call.",
    ),
    "state-in-constructor": (
        "A method that changes the state is called while a model is built, which has none yet.",
        "Compute in the constructor what it writes, or call it after the model is made.",
    ),
    "skipped-constructor": (
        "A class has a layer of torch's before a base of its own, whose constructor is not run.",
        "Hold the layer as an attribute.",
    ),
    "shared-module": (
        "One module stands in two places of another, and its params are separate after conversion.",
        "Tie them in the training step, or call the module from one place.",
    ),
    "host-draw": (
        "A generator of Python or NumPy draws while the model runs.",
        "Draw with jax.random and a key, as torch.rand(()) would be; or draw outside and pass "
        "the number in.",
    ),
    "random-in-init": (
        "A random tensor is drawn while the module is built, outside its parameters.",
        "Register it as a buffer or parameter.",
    ),
    "draw-in-value": (
        "A function that draws is handed on as a value, and whoever calls it has no key for it.",
        "Call it where it is defined, or give it a parameter for the key.",
    ),
    "array-while-building": (
        "The value of an array is asked for while the model is built, before it is made.",
        "Ask for its shape or dtype, or compute it where the model runs.",
    ),
    "array-attribute": (
        "An attribute that is set on a tensor is asked for: arrays have none of their own in JAX.",
        "Keep what it says on the module, or in a table by the names of params.",
    ),
    "module-value": (
        "A submodule is passed on as a value, in a way whose parameters cannot be followed.",
        "Call the submodule where it is defined.",
    ),
    "state-in-expression": (
        "A module with state is called where its new state cannot be returned.",
        "Call it in a statement of its own.",
    ),
    "parameter-write": (
        "The data of a parameter is written while the model runs.",
        "Write it in params after each step, or register it as a buffer: it is state then.",
    ),
    "frozen-param": (
        "A parameter is kept from being trained, which no param can say of itself here.",
        "Leave it out of what the optimizer updates: optax.masked, or jax.lax.stop_gradient "
        "where it is used.",
    ),
    "module-mode": (
        "Code sets the mode of a module while it runs, or as a method of its own.",
        "Give training=False to the calls of what stays in eval mode.",
    ),
    "hook": (
        "Hooks have no equivalent: JAX code has no call to hook into.",
        "Call the function where the hook would run.",
    ),
    "foreign-array": (
        "Code outside a module's class gives it a parameter or buffer, or looks at the tables "
        "that torch keeps of them.",
        "Register it in the constructor of the class.",
    ),
    "dynamic-attribute": (
        "An attribute with a computed name could not be followed.",
        "Use a ModuleList or ModuleDict.",
    ),
    "tied-weight": (
        "An array is tied on some ways alone, or out of reach of its owner: it can have one "
        "owner only.",
        "Tie it in the constructor, or read the owner's array where it is used.",
    ),
    "module-walk": (
        "A loop over all modules of a model gives them values while it is built.",
        "Give each array its value where it is made.",
    ),
    "buffer-in-list": (
        "A buffer is kept in a list, and has no name to be saved by.",
        "Register it as a buffer.",
    ),
    "undefined-name": (
        "A forward pass reads a name that nothing in the file defines: it fails in torch too, "
        "where it comes to it.",
        "Define or import the name.",
    ),
    "training-loop": (
        "Training loops are not converted yet.",
        "Write the step with jax.value_and_grad and optax.",
    ),
    "data-dependent-shape": (
        "The shape of this result follows from data: it cannot be under jax.jit.",
        "Use a mask, or keep it outside jit.",
    ),
}


@dataclass(frozen=True, order=True)
class Diagnostic:
    """One finding; `line` and `column` count from 1."""

    path: str
    line: int
    column: int
    id: str
    message: str

    @property
    def advice(self) -> str:
        return CATALOGUE[self.id][1]

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}: {self.id}: {self.message}"
