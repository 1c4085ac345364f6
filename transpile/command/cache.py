"""What the rule files say, kept from run to run in a folder of the user's.

Reading them costs more than converting a small file. What is kept is a pickle, and a pickle can
make and call anything: it is read only from a file and a folder that nobody but the user can write,
and only if it consists of the few classes of a rulebook. In front of it stand a digest of all that
it was made from and one of itself. Where something does not fit (rules that were edited, another
Python, half a file) the rule files are read, and the table is written anew. No fault of the cache
is one of the command: at worst each run reads the rule files.
"""

import functools
import hashlib
import io
import os
import pickle
import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from .. import rule
from ..model import rule_files as reading
from ..model.rulebook import Definition, Rulebook
from ..source.files import write_atomically

_SIZE = 32  # bytes of a digest
_CLASSES = (Rulebook, Definition, type(Path()), frozenset)
_BUILT_OF = {*((c.__module__, c.__qualname__) for c in _CLASSES), ("re", "_compile")}


@functools.cache
def rulebook() -> Rulebook:
    """The rule files as `model.rule_files.load` reads them."""
    key = _key()
    # one for each installation
    name = f"rules-{_digest(os.fsencode(reading.directory())).hex()[:16]}"
    places = [folder / name for folder in _folders()]
    for place in places:
        found = _kept(place, key)
        if found is not None:
            return found
    book = reading.load()
    table = pickle.dumps(book, pickle.HIGHEST_PROTOCOL)
    for place in places:
        if _keep(place, key + _digest(table) + table):
            break
    return book


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=_SIZE).digest()


def _key() -> bytes:
    """A digest of all that the table follows from: the Python, the code that reads, and the
    rules."""
    made = hashlib.blake2b(sys.version.encode(), digest_size=_SIZE)
    code = [Path(str(module.__file__)) for module in (rule, reading, sys.modules[__name__])]
    functions, layers = reading.files()
    for path in [*code, reading.words_file(), *functions, *layers]:
        data = path.read_bytes()
        made.update(f"\0{path}\0{len(data)}\0".encode(errors="surrogateescape"))
        made.update(data)
    return made.digest()


def _folders() -> Iterator[Path]:
    """Where the table may be, the best place first."""
    named = os.environ.get("XDG_CACHE_HOME", "")
    try:
        base = Path(named) if os.path.isabs(named) else Path.home() / ".cache"
        yield base / "torch-to-jax"
    except RuntimeError:  # no home
        pass
    try:
        yield Path(tempfile.gettempdir()) / f"torch-to-jax-{_user()}"
    except OSError:  # no folder for temporary files
        pass


def _user() -> int:
    return os.getuid() if sys.platform != "win32" else 0  # Windows gives each user a folder


def _is_own(found: os.stat_result) -> bool:
    """Whether nobody but the user can write a file or folder."""
    return sys.platform == "win32" or found.st_uid == _user() and not found.st_mode & 0o022


def _kept(place: Path, key: bytes) -> Rulebook | None:
    """The table as it was kept, if it is there, whole, ours, and of these rules."""
    try:
        folder = os.lstat(place.parent)
        if not stat.S_ISDIR(folder.st_mode) or not _is_own(folder):
            return None
        with place.open("rb") as file:
            if not _is_own(os.fstat(file.fileno())):
                return None
            data = file.read()
        table = data[2 * _SIZE :]
        if data[: 2 * _SIZE] != key + _digest(table):
            return None
        found = _Unpickler(io.BytesIO(table)).load()
    except Exception:  # whatever it is, the rules themselves are there
        return None
    return found if isinstance(found, Rulebook) else None


class _Unpickler(pickle.Unpickler):
    """It makes nothing but what a rulebook is built of."""

    def find_class(self, module: str, name: str) -> object:
        if (module, name) not in _BUILT_OF:
            raise pickle.UnpicklingError(f"{module}.{name} is no part of a rulebook")
        return super().find_class(module, name)


def _keep(place: Path, data: bytes) -> bool:
    """Write the table where that can be done safely. Two that write at once each write it whole."""
    try:
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder = os.lstat(place.parent)
        if not stat.S_ISDIR(folder.st_mode) or not _is_own(folder):
            return False
        write_atomically(place, data, 0o600)
    except OSError:
        return False
    return True
