"""What stands in an output for code that could not be converted, where it runs at import, or where a model keeps it."""


class Unconverted:
    """Stands for torch code that could not be converted where a file is only imported: computing with it raises."""

    def __init__(self, diagnostic, source):
        self._message = f"{diagnostic}: {source}"
        self.__name__ = source

    def __call__(self, *args, **kwargs):
        return self._use(any(hasattr(value, "dtype") for value in (*args, *kwargs.values())))

    def __getitem__(self, index):
        return self._use(hasattr(index, "dtype"))

    __lt__ = __le__ = __gt__ = __ge__ = __add__ = __radd__ = __sub__ = __rsub__ = __call__
    __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __call__

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self._use(False)

    def __mro_entries__(self, bases):
        return (type(self.__name__, (), {"__init__": lambda instance, *args, **kwargs: self._use(True)}),)

    def __bool__(self):
        return self._use(True)

    def __iter__(self):
        return self._use(True)

    def __enter__(self):
        return self._use(True)

    def __exit__(self, *exception):
        return None

    def _use(self, computes):
        if computes:
            raise NotImplementedError(self._message)
        return self


class UnconvertedField:
    """Stands for what a model keeps besides its arrays and submodules and could not be converted, an optimizer:
    using it raises. Two that stand for the same are equal, as what is static of a model must be.
    """

    def __init__(self, diagnostic, source):
        self._message = f"{diagnostic}: {source}"

    def __eq__(self, other):
        return isinstance(other, UnconvertedField) and self._message == other._message

    def __hash__(self):
        return hash(self._message)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self._use()

    def _use(self, *args, **kwargs):
        raise NotImplementedError(self._message)

    __call__ = __getitem__ = __iter__ = __bool__ = __enter__ = _use
