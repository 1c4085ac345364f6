"""Run the layers as classes on torch's own module samples: outputs, gradients, new buffers, in float64 under jax.jit.

    python -m benchmarks.modules [--only REGEX] [-v]

Last line: how many layers are right, refused (Unsupported), missing (no class), wrong.
"""

import argparse
import collections
import re
import traceback
import warnings

import jax
import torch

from transpile.proof import functions
from transpile.proof.layers import check
from transpile.proof.samples.modules import layer_for, samples
from transpile.rule import Unsupported


def outcome(info, table, options):
    name, refused = f"torch.{info.name}", ""
    if not table.get(name):
        return "missing", ""
    for training in (True, False):
        for number, sample in enumerate(samples(info, training)):
            described = f"{'train' if training else 'eval'} sample {number} {sample.text()}"
            layer_class = layer_for(name, info.module_cls, sample, table)
            if layer_class is None:
                refused = refused or f"no class takes {described}"
                continue
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    check(layer_class, info.module_cls, sample, training, table)
            except Unsupported as error:
                refused = refused or f"{described}: {error}"
            except Exception as error:
                if options.verbose:
                    traceback.print_exc()
                return "wrong", f"{described}: {type(error).__name__}: {' '.join(str(error).split())}"[:500]
    return ("refused", refused[:400]) if refused else ("right", "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="regular expression on the layer's name")
    parser.add_argument("-v", "--verbose", action="store_true", help="tracebacks, and the layers that are right")
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    jax.config.update("jax_enable_x64", True)
    from torch.testing._internal.common_modules import module_db

    table, count = functions.table(), collections.Counter()
    infos = [info for info in module_db if re.search(options.only, info.name)]
    for info in infos:
        kind, why = outcome(info, table, options)
        count[kind] += 1
        if kind != "right" or options.verbose:
            print(f"{kind:8} {info.name:26} {why}", flush=True)
    print(
        f"{count['right']} of {len(infos)} right"
        f" ({count['refused']} refused, {count['missing']} missing, {count['wrong']} wrong)"
    )


if __name__ == "__main__":
    main()
