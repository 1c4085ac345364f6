"""What a mask selects stays whole where it is only reduced, and the mask goes to what reduces it.

    diff = (target - pred)[valid]              ->      diff = jnp.where(valid, target - pred, 0)
    loss = (diff ** 2).mean()                          loss = jnp.mean(diff ** 2, where=valid)

`flow` goes through the statements of a function with what each name holds, `expressions` says what operations make of selections,
`masks` names what selects, `rows` knows the layers that compute each row by itself, `wholes` holds what is known of a selection, `scope` what is shared, `ranks` which arrays have as many dims. A selection of which any use has no such form is left as it is, with all that it meets.
The code is still torch's. Outside of the mask there may be NaN: before an operation whose slope there could be no number the places get one of their own.
"""

from .flow import run

__all__ = ["run"]
