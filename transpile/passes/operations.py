"""Torch's functions, methods, properties, constants and layers become their JAX equivalents, as the rules say."""

from __future__ import annotations

from typing import Any

import libcst as cst

from .. import tree
from ..apply import Argument, Refused, apply, bind, call_class, choose, inline, literal
from ..context import KEY, Context, key_site
from ..emit import call, keyword, method_name
from ..indices import covers
from ..infer import NUMPY_METHODS, ORDINARY, PROPERTIES, SHARED, draws, is_trained, of_no_class, plausible, static_size
from ..project import ClassInfo, FunctionInfo
from ..rulebook import Definition
from ..truth import moving, window
from ..values import ARRAY_TYPE, MISSING, UNKNOWN, Class, External, Instance, Method, Sequence, Static, Tensor, Torch
from . import dtype_tests, legacy_sizes

SHAPES = frozenset({"size", "dim", "shape", "ndim", "numel", "nelement", "ndimension", "dtype", "device"})
PAIR = {"0": "[0]", "1": "[1]", "values": ".values", "indices": ".indices"}


def run(context: Context, module: cst.Module, running: set[FunctionInfo]) -> cst.Module:
    """Convert every use of torch in a file; what cannot be is reported and raises where it stood.

    In functions that run in a forward pass, a rule for `name[traced]` goes before that for `name`: `x.item()`.
    """
    return tree.rewrite(module, _Operations(context, running).visit)  # type: ignore[no-any-return]


class _Operations:
    def __init__(self, context: Context, running: set[FunctionInfo]) -> None:
        self.context, self.running = context, running
        self.functions: list[cst.FunctionDef] = []  # those around the current place, outermost first
        self.runs = False
        self.script = False  # inside a loop or `if __name__ == "__main__"` of the file itself: no mere import runs it

    def visit(self, node: Any) -> Any:
        kind = node.__class__  # isinstance is slow to ask where the answer is mostly no
        if kind in (cst.Import, cst.ImportFrom):
            return node
        if kind is cst.FunctionDef:
            return self._function(node)
        if kind is cst.ClassDef:
            return self._class(node)
        if kind in (cst.For, cst.While, cst.If) and not self.functions and not self.script and (kind is not cst.If or "__name__" in tree.names_read(node.test)):
            self.script = True
            new = self._children(node)
            self.script = False
            return new
        if kind is cst.Annotation:
            return self._annotation(node)
        if kind is cst.Subscript:
            return self._picked(node) or self._index(node)
        if kind is cst.Call:
            return self._call(node)
        if kind is cst.Attribute:
            return self._attribute(node)
        if kind is cst.Comparison:
            return self._comparison(node)
        if kind is cst.Name:
            name = self._torch_name(node)
            return self._reference(node, name) if name is not None else None
        if kind in (cst.Arg, cst.AnnAssign) and getattr(node, "keyword", None) is not None:
            return self._only(node, "value")
        if kind in (cst.AssignTarget, cst.CompFor, cst.For, cst.NamedExpr) and isinstance(node.target, cst.Name):
            return self._with_target(node)
        if kind is cst.AssignTarget and isinstance(node.target, cst.Subscript):
            return self._children(node) if not isinstance(self.context.value(node.target.value), Tensor) else node
        if kind is cst.AssignTarget and isinstance(node.target, cst.Attribute):
            value = self.convert(node.target.value)
            return node if value is node.target.value else tree.replace(node, target=tree.replace(node.target, value=tree.fit(node.target, "value", value)))
        if kind is cst.Param:
            return self._parameter(node)
        if kind is cst.Lambda and (self.context.torch_name(node.body) or "").startswith("torch.nn.init."):
            return self._initialiser(node)
        if kind is cst.IfExp and self.context.value(node) == ARRAY_TYPE:
            return self._chosen_type(node)
        return None

    def _initialiser(self, node: cst.Lambda) -> Any:
        """`lambda w: nn.init.normal_(w, std=0.02)`: one that draws takes a key, which `nn.initial` gives it."""
        new = self._children(node)
        if not any(n.value == KEY for n in tree.nodes(new.body, cst.Name)):
            return new
        params = [*(tree.replace(p, comma=cst.MaybeSentinel.DEFAULT) for p in new.params.params), cst.Param(cst.Name("key"))]
        return self._done(node, tree.replace(new, params=tree.replace(new.params, params=params)))

    def _function(self, node: cst.FunctionDef) -> Any:
        decorators = [self._in_header(d) for d in node.decorators]
        params = self._in_header(node.params)
        returns = self._annotation(node.returns) if node.returns is not None else None
        before, info = self.runs, self.context.facts.by_node.get(id(node))
        self.runs = info is not None and (info in self.running or info.outer is not None and self.runs)
        self.functions.append(node)
        body = self._children(node.body)
        self.functions.pop()
        self.runs = before
        same = body is node.body and params is node.params and returns is node.returns and all(a is b for a, b in zip(decorators, node.decorators))
        if same:
            return node
        new = tree.replace(node, decorators=decorators, params=params, returns=returns, body=body)
        self.context.facts.carry(node, new)
        return new

    def _class(self, node: cst.ClassDef) -> Any:
        """A base class of torch's that has no counterpart is left out: what needs it is reported where it is used."""
        bases = []
        for base in node.bases:
            generic = base.value.value if isinstance(base.value, cst.Subscript) else base.value  # `Dataset[int]`
            name = self._torch_name(generic)
            if name is not None and not self.context.rulebook.find(name) and self.context.rulebook.constant(name) is None:
                self.context.report("no-rule", base.value, f"the base class {name} has no JAX equivalent here")
                continue
            bases.append(self._in_header(base))
        if bases:
            bases[-1] = tree.replace(bases[-1], comma=cst.MaybeSentinel.DEFAULT) if len(bases) != len(node.bases) else bases[-1]
        keywords = [self._in_header(k) for k in node.keywords]
        decorators = [self._in_header(d) for d in node.decorators]
        functions, self.functions = self.functions, []
        body = self._children(node.body)
        self.functions = functions
        changes: dict[str, Any] = {"bases": bases, "body": body, "decorators": decorators, "keywords": keywords}
        if not bases and not keywords:
            changes |= {"lpar": cst.MaybeSentinel.DEFAULT, "rpar": cst.MaybeSentinel.DEFAULT}
        new = tree.replace(node, **changes)
        self.context.facts.carry(node, new)
        return new

    def _foreign(self) -> bool:
        """Whether the code here has nothing to do with tensors."""
        info = self.context.facts.by_node.get(id(self.functions[-1])) if self.functions else None
        return self.context.facts.foreign(self.context.module, info)

    def _in_header(self, node: Any) -> Any:
        """Decorators, defaults and bases run when the file is imported."""
        functions, self.functions = self.functions, []
        new = self.convert(node)
        self.functions = functions
        return new

    def _annotation(self, node: cst.Annotation) -> Any:
        count = len(self.context.diagnostics)
        new = self.convert(node.annotation)
        if len(self.context.diagnostics) > count:
            quoted = tree.code(node.annotation).replace('"', "'")
            new = cst.SimpleString(f'"{quoted}"')
        return node if new is node.annotation else tree.replace(node, annotation=new)

    def _torch_name(self, node: Any) -> str | None:
        """The torch name that an expression refers to through an import; a local alias keeps its own name."""
        dotted = tree.dotted(node)
        head = dotted.split(".")[0] if dotted else ""
        module = self.context.module
        imported = head in module.imports or bool(module.stars) and head not in module.assigned
        own = head != dotted and head in module.assigned and self.context.facts.project.resolve(module, head) is module  # `ops = sys.modules[__name__]`
        if not (imported or own) or not self.context.is_original(node):
            return None
        value = self.context.value(node)
        if isinstance(value, Torch):
            return value.name
        if id(node) in self.context.facts.values:
            return None
        if head not in module.imports and not own:
            return None
        resolved = self.context.facts.project.resolve(self.context.module, dotted or "")
        return resolved if isinstance(resolved, str) and (resolved == "torch" or resolved.startswith("torch.")) else None

    def _children(self, node: Any) -> Any:
        """The node with everything below converted; the node itself is not looked at again."""
        first = True

        def before(n: cst.CSTNode) -> Any:
            nonlocal first
            if first:
                first = False
                return None
            return self.visit(n)

        return tree.rewrite(node, before)

    def convert(self, node: Any) -> Any:
        return tree.rewrite(node, self.visit)

    def _only(self, node: Any, field: str) -> Any:
        value = getattr(node, field)
        new = self.convert(value)
        return node if new is value else tree.replace(node, **{field: tree.fit(node, field, new)})

    def _with_target(self, node: Any) -> Any:
        """A name that is assigned is not a reference to torch."""
        changes = {}
        kind: type[cst.CSTNode] = type(node)
        for field in tree.fields(kind):
            old = getattr(node, field)
            if field == "target" or not isinstance(old, cst.CSTNode) and not (isinstance(old, (list, tuple)) and old):
                continue
            new = self.convert(old) if isinstance(old, cst.CSTNode) else [self.convert(o) for o in old]
            if new is not old:
                changes[field] = tree.fit(node, field, new) if isinstance(old, cst.CSTNode) else new
        if not changes:
            return node
        made = tree.replace(node, **changes)
        self.context.facts.carry(node, made)
        return made

    def _parameter(self, node: cst.Param) -> Any:
        changes = {}
        for field in ("annotation", "default"):
            old = getattr(node, field)
            if old is not None:
                new = self._array_type(old) if field == "default" and self.context.value(old) != Torch("torch.Tensor") else None
                new = self.convert(old) if new is None else new
                if new is not old:
                    changes[field] = new
        return tree.replace(node, **changes) if changes else node

    def _array_type(self, node: cst.BaseExpression) -> Any:
        """`tensor=torch.FloatTensor` in a header, or one side of a choice."""
        value = self.context.value(node)
        dtype = self.context.rulebook.dtype_of(value.name) if isinstance(value, Torch) else None
        return tree.expression(f"{self.context.name('ArrayType')}({dtype})") if dtype is not None else None

    def _chosen_type(self, node: cst.IfExp) -> Any:
        """`torch.HalfTensor if half else torch.FloatTensor`"""
        sides = {field: self._array_type(getattr(node, field)) or self.convert(getattr(node, field)) for field in ("body", "orelse")}
        return self._done(node, tree.replace(node, test=self.convert(node.test), **sides))

    def _of_sizes(self, node: cst.Call) -> cst.Call:
        """`self.Tensor(x.size())`: the sizes of a shape one by one, since JAX's shapes are tuples like any other."""
        args = [tree.replace(a, star="*") if not a.star and a.keyword is None and legacy_sizes.is_size(self.context, self.functions, a.value) else a for a in node.args]
        return node if tree.same(args, node.args) else tree.replace(node, args=args)

    def _comparison(self, node: cst.Comparison) -> Any:
        if self._foreign():
            return None
        try:
            new = dtype_tests.compared(self.context, node)
        except Refused as refused:
            return self._unconverted("unsupported", node, f"{tree.code(node)}: {refused}")
        return None if new is node else self._done(node, self._children(new))

    # ------------------------------------------------------------------ calls

    def _call(self, node: cst.Call) -> Any:
        test = dtype_tests.asked(self.context, node)
        if test is not None:
            return self._done(node, self._children(test))
        value = self.context.value(node.func)
        torch_name = value.name if isinstance(value, Torch) else self._torch_name(node.func)
        if torch_name is not None:
            return self._torch(node, torch_name)
        if draws(self.context.facts, value, node):
            return self._drawn(node)
        if (missing := of_no_class(self.context.facts, value)) is not None:
            return self._no_rule(node, missing)
        if isinstance(value, Method) and isinstance(node.func, cst.Attribute):
            return self._method(node, node.func, value)
        if isinstance(value, External) and self.context.facts.numpy_on_arrays(value.name, [self.context.value(a.value) for a in node.args]):
            return tree.replace(self._children(node), func=tree.expression(f"jnp.{value.name.removeprefix('numpy.')}"))
        if value == ARRAY_TYPE:
            return self._children(self._of_sizes(node))
        if isinstance(value, Class) and isinstance(value.ref, ClassInfo) and value.ref.is_module and value.ref.find("__init__") is None:
            layer = self.context.facts.layer_of(value.ref)
            return self._built(node, layer, 0, self.convert(node.func)) if layer is not None else None
        if isinstance(node.func, cst.Name):
            return self._by_name(node) if node.func.value == "getattr" else self._builtin(node, node.func.value)
        return None

    def _drawn(self, node: cst.Call) -> Any:
        """`p.sample((3,), key=key)`."""
        args = [tree.replace(a, value=tree.fit(a, "value", self.convert(a.value)), comma=cst.MaybeSentinel.DEFAULT) for a in node.args]
        func = self._only(node.func, "value")
        return self._done(node, tree.replace(node, func=func, args=[*args, keyword("key", key_site())]))

    def _by_name(self, node: cst.Call) -> Any:
        """`getattr(F, "relu")` is F.relu; under a name that only the run tells there may be a rule for any."""
        found = self.context.value(node)
        if isinstance(found, Torch):
            return self._reference(node, found.name)
        if len(node.args) == 3 and isinstance(self.context.value(node.args[0].value), Torch):
            return self.convert(node.args[2].value)  # `getattr(torch, "compiler", None)`: there is no such thing here
        holder = self.context.value(node.args[0].value) if len(node.args) == 2 else None
        rules = self.context.rulebook.find(f"{holder.name}[name]") if isinstance(holder, Torch) else ()
        if not rules or not isinstance(holder, Torch):
            return None
        name = node.args[1].value
        return self._apply(node, rules, holder.name, [Argument(self.convert(name), self.context.value(name))])

    def _builtin(self, node: cst.Call, name: str) -> Any:
        """`float("-inf")` beside arrays reads `-jnp.inf`."""
        if name == "float" and len(node.args) == 1 and isinstance(node.args[0].value, cst.SimpleString):
            text = str(node.args[0].value.evaluated_value).lower()
            if text in ("inf", "-inf") and not self._foreign() and not any(f.name.value == "__init__" for f in self.functions):
                return tree.expression(text.replace("inf", "jnp.inf"))
        return None

    def _torch(self, node: cst.Call, name: str) -> Any:
        definitions = self.context.rulebook.find(name)
        sizes = static_size(self.context.facts.of, name, node)
        if sizes:
            return call("math.prod" if len(sizes) == 1 else name[6:9], list(map(self.convert, sizes)))
        if not definitions:
            owner, _, method = name.rpartition(".")
            holder = self.context.rulebook.find(owner)
            if holder and holder[0].is_class:
                return self._of_layer(node, holder[0], method)
            constant = self.context.rulebook.constant(name)
            if constant is not None:
                func = tree.expression(constant)
                return tree.replace(self._children(node), func=func)
            return self._no_rule(node, name)
        if definitions[0].is_class:
            variant = self.context.rulebook.variant(name, [(a.keyword.value if a.keyword is not None else None, literal(a.value)) for a in node.args])
            definitions = self.context.rulebook.find(variant)
            try:
                made = call_class(self.context, definitions[0], self._arguments(node), node)
                if self._torch_name(node.func) is None:
                    made = tree.replace(made, func=self.convert(node.func))  # an alias of the user's
                return self._done(node, made)
            except Refused as refused:
                return self._unconverted("unsupported", node, f"{name}: {refused}")
        return self._apply(node, definitions, name, legacy_sizes.told(self.context, self.functions, definitions, node, self._arguments(node)))

    def _of_layer(self, node: cst.Call, layer: Definition, method: str) -> Any:
        """`nn.Linear.__init__(self, 3, 4)`, or the same by super(): its arguments are those of the layer."""
        through_super = isinstance(node.func, cst.Attribute) and tree.dotted(node.func) is None
        func = node.func if through_super else tree.expression(f"{self.context.name(layer.name)}.{method_name(method)}")
        if method != "__init__" or not through_super and not node.args:
            return tree.replace(self._children(node), func=func)
        return self._built(node, layer, 0 if through_super else 1, func)

    def _built(self, node: cst.Call, layer: Definition, own: int, func: Any) -> Any:
        """A call with the arguments of a layer's constructor after some of its own."""
        try:
            made = call_class(self.context, layer, self._arguments(node)[own:])
        except Refused as refused:
            return self._unconverted("unsupported", node, f"{layer.name}: {refused}")
        args = [*(tree.replace(a, comma=cst.MaybeSentinel.DEFAULT) for a in node.args[:own]), *made.args]
        if len(args) == len(node.args):  # the layout that it had
            args = [tree.replace(old, value=tree.fit(old, "value", new.value)) for old, new in zip(node.args, args)]
        return self._done(node, tree.replace(node, func=func, args=args))

    def _no_rule(self, node: Any, name: str) -> Any:
        return self._unconverted("no-rule", node, f"{name} has no JAX equivalent here")

    def _unconverted(self, id: str, node: Any, message: str) -> Any:
        if not self.functions and not self.script:
            return self.context.unconverted_at_import(id, node, message)
        return self.context.unconverted(id, node, message)

    def _arguments(self, node: cst.Call) -> list[Argument]:
        value = self.context.value
        return [Argument(self.convert(a.value), value(a.value), a.keyword.value if a.keyword else None, a.star) for a in node.args]

    def _method(self, node: cst.Call, func: cst.Attribute, method: Method) -> Any:
        name = method.name
        if name == "item" and method.receiver == Static(MISSING, "int"):
            return self.convert(func.value)
        if name == "numel" and method.receiver == Static(MISSING, "shape"):
            sizes = Argument(self.convert(func.value), method.receiver)
            return self._apply(node, self.context.rulebook.find("torch.Size.numel"), "torch.Size.numel", [sizes])
        if not isinstance(method.receiver, Tensor) and not self._tensor_like(method, node):
            return None
        definitions = self.context.rulebook.find("torch.Tensor." + name)
        if self.runs:
            definitions = self.context.rulebook.find(f"torch.Tensor.{name}[traced]") or definitions
        certain = isinstance(method.receiver, Tensor) and not method.receiver.assumed
        if not certain:
            if not plausible(name, [self.context.value(a.value) for a in node.args if a.keyword is None]):
                return None
            definitions = tuple(d for d in definitions if not d.deprecated)
        if not definitions:
            if certain and name not in ORDINARY | NUMPY_METHODS:
                return self._no_rule(node, "torch.Tensor." + name)
            return None
        selected = self._selected(func.value, definitions, name, node)
        if selected is not None:
            return selected
        receiver = Argument(self.convert(self._asked(func.value, name)), method.receiver if isinstance(method.receiver, Tensor) else Tensor())
        arguments = [receiver, *self._arguments(node)]
        if not certain and choose(definitions, arguments) is None:
            return None  # not a tensor, then
        return self._apply(node, definitions, "torch.Tensor." + name, legacy_sizes.told(self.context, self.functions, definitions, node, arguments))

    def _selected(self, subject: Any, definitions: tuple[Definition, ...], name: str, node: cst.Call) -> Any:
        """`x[mask].mean()`: what a mask selects has no static shape, its mean has."""
        if node.args or not isinstance(subject, cst.Subscript) or len(subject.slice) != 1:
            return None
        part: Any = subject.slice[0].slice
        form = "mask" if isinstance(part, cst.Index) and covers(self._defined(part.value, subject.value), subject.value) else "rows"
        rules = self.context.rulebook.find(f"torch.Tensor.{name}[{form}]")
        if not rules:
            return None
        mask = self.context.value(part.value) if isinstance(part, cst.Index) else None
        if not (isinstance(mask, Tensor) and mask.kind == "b") or not isinstance(self.context.value(subject.value), Tensor):
            return None
        arguments = [Argument(self.convert(subject.value), Tensor()), Argument(self.convert(part.value), mask)]
        return self._apply(node, rules, f"torch.Tensor.{name}", arguments)

    def _defined(self, mask: Any, subject: Any) -> Any:
        """The expression that a local mask has for its one definition, where the tensor is not bound anew: `m = x > 0; x[m].mean()`."""
        if not self.functions or not isinstance(mask, cst.Name) or not isinstance(subject, cst.Name):
            return mask
        function = self.functions[-1]
        times = tree.times_bound(function.body)
        if times[mask.value] != 1 or times[subject.value] + (subject.value in tree.parameter_names(function)) != 1:
            return mask
        values = [n.value for n in tree.nodes(function.body, cst.Assign) if len(n.targets) == 1 and tree.code(n.targets[0].target) == mask.value]
        return values[0] if values else mask

    def _tensor_like(self, method: Method, node: cst.Call) -> bool:
        """Whether the method of an unknown object is taken for a tensor's."""
        if method.receiver != UNKNOWN and not isinstance(method.receiver, Method) or self._foreign():
            return False
        name = method.name
        if name in ("split", "sort", "index"):
            first = self.context.value(node.args[0].value) if node.args else None
            return any(a.keyword and a.keyword.value == "dim" for a in node.args) or isinstance(first, Static) and first.type == "int"
        in_init = bool(self.functions) and self.functions[-1].name.value == "__init__" or not self.functions
        return name not in ORDINARY and not (name in SHARED and in_init)

    def _apply(self, node: Any, definitions: tuple[Definition, ...], name: str, arguments: list[Argument]) -> Any:
        try:
            return self._done(node, apply(self.context, definitions, arguments))
        except Refused as refused:
            if str(refused):
                return self._unconverted("unsupported", node, f"{name}: {refused}")
            return self._unconverted("arguments", node, f"these arguments of {name} have no JAX equivalent here")

    def _done(self, node: cst.CSTNode, new: Any) -> Any:
        self.context.facts.carry(node, new)
        return new

    # ------------------------------------------------------------------ attributes

    def _attribute(self, node: cst.Attribute) -> Any:
        name_ = self._torch_name(node)
        if name_ is not None:
            return self._reference(node, name_)
        picked = self._picked_attribute(node)
        if picked is not None:
            return picked
        base = self.context.value(node.value)
        name = node.attr.value
        if isinstance(base, Instance) and any(self.context.rulebook.draws(cls, name) for cls in base.classes):
            return self._unconverted("unsupported", node, f"{name} draws random numbers: call it directly")
        if isinstance(base, Static) and base.type == "device":
            definitions = self.context.rulebook.find("torch.device." + name)
            if definitions:
                return self._apply(node, definitions, "torch.device." + name, [Argument(node.value, base)])
        if name in ("is_floating_point", "is_complex") and isinstance(base, Static) and base.type in ("dtype", ""):
            definitions = self.context.rulebook.find("torch.dtype." + name)
            return self._apply(node, definitions, "torch.dtype." + name, [Argument(self.convert(node.value), base)])
        if isinstance(base, Tensor) and name in PROPERTIES:
            definitions = self.context.rulebook.find("torch.Tensor." + name)
            if name == "requires_grad" and is_trained(base, node.value, self.functions[-1] if self.functions else self.context.module.tree):
                definitions = self.context.rulebook.find("torch.nn.Parameter.requires_grad")
            if definitions:
                receiver = Argument(self.convert(self._asked(node.value, name)), base)
                return self._apply(node, definitions, "torch.Tensor." + name, [receiver])
        return self._only(node, "value")

    def _asked(self, node: Any, name: str) -> Any:
        """The tensor of `x.data.size(0)` and `x.detach().shape`: with or without a gradient it has one shape."""
        inner: Any = node.func if isinstance(node, cst.Call) and not node.args else node
        if name not in SHAPES or not isinstance(inner, cst.Attribute) or inner.attr.value != ("data" if inner is node else "detach"):
            return node
        return inner.value if isinstance(self.context.value(inner.value), Tensor) else node

    def _reference(self, node: Any, name: str) -> Any:
        """A torch name that is not called: a constant, a class, or a function passed on."""
        constant = self.context.rulebook.constant(name)
        if constant is not None:
            return self._done(node, tree.expression(constant))
        definitions = self.context.rulebook.find(name)
        if not definitions:
            return self._no_rule(node, name)
        definition = definitions[0]
        if not definition.is_class:
            if any(p.name == "key" and p.kind == "keyword" for p in definition.parameters):
                if name.startswith("torch.nn.init."):
                    return self._done(node, tree.expression(self.context.name(definition.name)))  # for `nn.initial`, which gives it a key
                return self._unconverted("unsupported", node, f"{name} draws random numbers: call it directly")
            direct = self._direct(definition)
            if direct is not None:
                return self._done(node, direct)
        return self._done(node, tree.expression(self.context.name(definition.name)))

    def _direct(self, definition: Definition) -> Any:
        """`jax.nn.relu` for a rule that only calls it with its own parameters."""
        names = [p.name for p in definition.parameters if p.name not in definition.unused]
        if len(names) != 1:
            return None
        binding = bind(definition, [Argument(cst.Name(names[0]), Tensor())])
        if binding is None:
            return None
        try:
            result = inline(self.context, binding)
        except Refused:
            return None
        if isinstance(result, cst.Call) and len(result.args) == 1 and result.args[0].keyword is None:
            argument = result.args[0].value
            if isinstance(argument, cst.Name) and argument.value == names[0] and tree.dotted(result.func):
                return result.func
        return None

    # ------------------------------------------------------------------ one of several results

    def _picked(self, node: cst.Subscript) -> Any:
        """`x.max(1)[0]`: a rule for the first result alone, where there is one."""
        if not isinstance(node.value, cst.Call) or len(node.slice) != 1 or not isinstance(node.slice[0].slice, cst.Index):
            return None
        index = node.slice[0].slice.value
        if not isinstance(index, cst.Integer) or index.value not in ("0", "1"):
            return None
        return self._pick(node, node.value, PAIR[index.value])

    def _picked_attribute(self, node: cst.Attribute) -> Any:
        if isinstance(node.value, cst.Call) and node.attr.value in ("values", "indices"):
            return self._pick(node, node.value, PAIR[node.attr.value])
        return None

    def _pick(self, node: Any, call: cst.Call, suffix: str) -> Any:
        value = self.context.value(call.func)
        arguments: list[Argument] = []
        if isinstance(value, Torch):
            name = value.name
        elif isinstance(value, Method) and isinstance(call.func, cst.Attribute) and (isinstance(value.receiver, Tensor) or self._tensor_like(value, call)):
            name = "torch.Tensor." + value.name
        else:
            return None
        definitions = self.context.rulebook.find(name + suffix)
        if not definitions:
            return None
        if isinstance(value, Method) and isinstance(call.func, cst.Attribute):
            arguments = [Argument(self.convert(call.func.value), Tensor())]
        try:
            new = apply(self.context, definitions, [*arguments, *self._arguments(call)])
        except Refused:
            return None
        return self._done(node, new)

    # ------------------------------------------------------------------ indexing

    def _window(self, node: cst.Subscript, places: list[int]) -> Any:
        """`x[:, i : i + n]` where only the data tells i."""
        part = window(node.slice[places[0]].slice)
        if len(places) != 1 or part is None or not all(tree.code(e.slice) == ":" for i, e in enumerate(node.slice) if i != places[0]):
            return self._unconverted("data-dependent-shape", node, "a slice whose length follows from data")
        args = [cst.Arg(self.convert(node.value)), *(cst.Arg(self.convert(p)) for p in part), cst.Arg(cst.Integer(str(places[0])))]
        return self._done(node, tree.replace(tree.expression("lax.dynamic_slice_in_dim()"), args=args))

    def _index(self, node: cst.Subscript) -> Any:
        """A list as an index is an index array."""
        base = self.context.value(node.value)
        if not isinstance(base, Tensor):
            return None
        places = moving(self.context, node.slice) if self.runs else []
        if places:
            return self._window(node, places)
        elements = []
        changed = False
        for element in node.slice:
            part = element.slice
            if isinstance(part, cst.Index) and isinstance(part.value, cst.List):
                array = tree.expression("jnp.array()")
                array = tree.replace(array, args=[cst.Arg(self.convert(part.value))])
                elements.append(tree.replace(element, slice=tree.replace(part, value=array)))
                changed = True
            elif isinstance(part, cst.Index) and isinstance(self.context.value(part.value), Sequence) and not isinstance(part.value, cst.Tuple):
                held = self.context.value(part.value)
                assert isinstance(held, Sequence)
                if held.tuple:
                    elements.append(element)
                    continue
                array = tree.replace(tree.expression("jnp.array()"), args=[cst.Arg(self.convert(part.value))])
                elements.append(tree.replace(element, slice=tree.replace(part, value=array)))
                changed = True
            else:
                elements.append(element)
        if not changed:
            return None
        new = tree.replace(node, slice=elements)
        self.context.facts.carry(node, new)
        return self._children(new)


