"""Cache of compiled kernels on disk, by their code; and how kernels are compiled for the cache.

Numba's own cache asks whether the file of a kernel has changed: a changed comment compiles all
kernels of the file again, while a changed constant or kernel from another file compiles none. Here
the key is a digest of the code and all that it uses (kernel_digest.py).

A kernel has two compiled forms: `Body`, which is linked into other kernels, and `PythonEntry`,
which Python calls (jit_library.py says why). Both caches derive from `KernelCache`, which also lets
only one of several processes compile the same code.

The classes override private methods of numba, which setup.cfg bounds (numba<0.69): check them with
every new numba.
"""

from __future__ import annotations

import contextlib
import copy
import fcntl
import functools
import logging
import os
import time
from collections.abc import Callable, Hashable, Iterator, Mapping
from multiprocessing import current_process
from pathlib import Path
from types import FunctionType
from typing import Any, TypeAlias

import numba
from numba.core import caching
from numba.core.base import BaseContext
from numba.core.codegen import Codegen
from numba.core.compiler import CompileResult
from numba.core.environment import Environment
from numba.core.registry import CPUDispatcher
from numba.core.runtime import rtsys
from numba.core.types import Type
from numba.core.typing.templates import Signature
from numba.misc.appdirs import AppDirs

from roboaccord.numerics.jit_library import KernelFlags, install
from roboaccord.numerics.kernel_digest import digest
from roboaccord.numerics.machine import private_folder

Options: TypeAlias = Mapping[str, str | bool]

_log = logging.getLogger(__name__)

# s: how long another process may compile a kernel, which takes seconds, and ten times that on a
# busy machine; time between two looks, short beside that, and no load.
PATIENCE, POLL = 60.0, 0.02
# s: age at which code of an older version is removed. A process that began before the code
# changed may still use younger code; within an hour it has loaded its kernels.
STALE = 3600.0
NOPYTHON = {"nopython": True, "boundscheck": None}  # options that numba.njit sets


def make_dispatcher(function: FunctionType, options: Options) -> Callable[..., Any]:
    """Return a function that compiles another when called, and caches the code by its digest."""
    if numba.config.DISABLE_JIT:
        return function
    return PythonEntry(function, options)


class Body(CPUDispatcher):  # type: ignore[misc]
    """Compile a kernel for other kernels: code to be linked, without an entry for Python."""

    def __init__(self, function: FunctionType, options: Options) -> None:
        no_wrappers = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
        super().__init__(function, targetoptions={**NOPYTHON, **options, **no_wrappers})
        self._compiler._customize_flags = KernelFlags
        self._cache = _cache_of(BodyCache, function, options)


class PythonEntry(CPUDispatcher):  # type: ignore[misc]
    """Compile a kernel for Python: a wrapper around its body, optimised with all that it calls."""

    def __init__(self, function: FunctionType, options: Options) -> None:
        super().__init__(function, targetoptions={**NOPYTHON, **options})
        self.body = Body(function, options)
        self._compiler = _WrapperCompiler(self.body)
        self._cache = _cache_of(KernelCache, function, options)

    @property
    def _numba_type_(self) -> Type:
        return self.body._numba_type_  # type: ignore[no-any-return]


class _WrapperCompiler:
    """Compiler of a `PythonEntry`, which takes the place of numba's: it only wraps the body."""

    def __init__(self, body: Body) -> None:
        self._body = body
        self.fold_argument_types = body.fold_argument_types

    def compile(self, args: tuple[Type, ...], _: Type | None) -> CompileResult:
        """Return the compiled entry for types of arguments, with an own name and library."""
        self._body.compile(args)
        self._body.targetctx.refresh()  # where the body was in the cache, nothing did
        body = self._body.overloads[args]
        descriptor = copy.copy(body.fndesc)
        descriptor.env_name += ".entry"  # keeps the wrapper's constants apart from the body's
        environment = Environment.from_fndesc(descriptor)
        context = self._body.targetctx.subtarget(enable_nrt=True)  # arrays are returned
        library = context.codegen().create_library(f"{body.library.name}.entry")
        library.enable_object_caching()
        library.add_linking_library(body.library)
        with context.push_code_library(library):
            context.create_cpython_wrapper(library, descriptor, environment, None, release_gil=True)
        entry = context.get_executable(library, descriptor, environment)
        return body._replace(
            library=library, fndesc=descriptor, environment=environment, entry_point=entry,
            metadata=None,
        )  # fmt: skip


def _cache_of(kind: type[KernelCache], function: FunctionType, options: Options) -> caching._Cache:
    """Return the cache of a function, or one that keeps nothing if no folder can be written."""
    try:
        return kind(function, options)
    except RuntimeError:  # no folder can be written
        _warn_once()
        return caching.NullCache()


@functools.cache
def _warn_once() -> None:
    """Warn that compiled code is not kept, once and only in the main process."""
    if current_process().name == "MainProcess":
        _log.warning("no folder to keep compiled kernels in can be written: set NUMBA_CACHE_DIR")


class _Locator(caching._CacheLocator):  # type: ignore[misc]
    """Where a function's code is: in the first folder that can be written, files named by digest.

    Numba calls the methods; the digest stands for its stamp of the source, too.
    """

    def __init__(self, folder: Path, key: str) -> None:
        self._folder, self._digest = folder, key

    @classmethod
    def from_function(cls, py_func: FunctionType, py_file: str) -> _Locator | None:
        key = digest(py_func)
        for folder in _folders(Path(py_file)):
            with contextlib.suppress(OSError):
                locator = cls(folder, key)
                locator.ensure_cache_path()
                return locator
        return None

    def get_cache_path(self) -> str:
        return str(self._folder)

    def get_source_stamp(self) -> str:
        return self._digest

    def get_disambiguator(self) -> str:
        return self._digest[:16]


def _folders(file: Path) -> Iterator[Path]:
    """Yield folders for the compiled code of a file: numba's own, then a temporary one."""
    subfolder = caching._CacheLocator.get_suitable_cache_subpath(str(file))
    if numba.config.CACHE_DIR:
        yield Path(numba.config.CACHE_DIR, subfolder)
    if file.exists():  # not that of a notebook's cell or a module in an archive
        yield file.parent / "__pycache__"
    user = Path(AppDirs("numba", appauthor=False).user_cache_dir, subfolder)
    if user.is_absolute():  # a user without a home has ~
        yield user
    with contextlib.suppress(OSError):
        yield private_folder() / subfolder


class _KernelCacheImpl(caching.CompileResultCacheImpl):  # type: ignore[misc]
    """How compiled code is pickled, and where."""

    _locator_classes = (_Locator,)

    def reduce(self, cres: CompileResult) -> tuple[Any, ...]:
        """Return what is pickled, without empty environments: they would import numba's modules."""
        *state, environments = super().reduce(cres)
        return (*state, tuple(item for item in environments if item.consts))


class _BodyCacheImpl(_KernelCacheImpl):
    """The same for bodies, whose files have other names than those of the entries."""

    def get_filename_base(self, fullname: str, abiflags: str) -> str:
        return f"{super().get_filename_base(fullname, abiflags)}.body"


def _field_names(kind: Type) -> tuple[Hashable, ...]:
    """Return the names of fields of the named tuples in an argument's type.

    For numba such a type is its class, which does not change when a field is renamed.
    """
    items = getattr(kind, "types", ())  # of a tuple
    return getattr(kind, "fields", ()), *(_field_names(item) for item in items)


class _Index(caching.IndexDataCacheFile):  # type: ignore[misc]
    """Numba's list of compiled code, which counts as empty if it names a class that is gone."""

    def _load_index(self) -> dict[tuple[Hashable, ...], str]:
        try:
            return super()._load_index()  # type: ignore[no-any-return]
        except (AttributeError, ImportError):  # a named tuple that a kernel took has a new name
            return {}


class KernelCache(caching.Cache):  # type: ignore[misc]
    """Numba's cache of a function, with a lock between processes, which removes outdated code.

    Of several processes that need the same code one compiles it, and the others wait. The compiling
    process holds a file lock until the code is saved, also while it compiles the kernels that are
    called. Kernels do not call each other in circles, so there is no deadlock. A failed compilation
    may leave its lock behind: after PATIENCE a process compiles by itself.
    """

    _impl_class = _KernelCacheImpl
    _emits = True  # whether code is made ready to run before it is saved
    _lock: int | None = None  # file descriptor

    def __init__(self, function: FunctionType, options: Options) -> None:
        install()  # before anything is compiled or loaded, be it a kernel or a C function
        super().__init__(function)
        self._cache_file.__class__ = _Index
        self._options = tuple(options.items()), numba.config.BOUNDSCHECK  # of the environment

    def load_overload(self, sig: Signature, target_context: BaseContext) -> CompileResult | None:
        """Return compiled code, or None, with the lock held, if this process must compile it."""
        # Numba would set up everything for a compilation here; only the runtime is needed to load.
        rtsys.initialize(target_context)
        compiled = self._load_overload(sig, target_context)
        if compiled is None and self._acquire():
            compiled = self._load_overload(sig, target_context)
            if compiled is not None:
                self._release()
        return compiled

    def _acquire(self) -> bool:
        """Wait for the lock; return whether another process may have compiled in the meantime."""
        if self._lock is not None:
            return False
        try:
            Path(self.cache_path).mkdir(parents=True, exist_ok=True)
            flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            self._lock = os.open(self._lock_file, flags, 0o600)
        except OSError:  # a cache that cannot be written: each process compiles
            return False
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            try:
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True
            except OSError:
                time.sleep(POLL)
        return True

    def _release(self) -> None:
        """Release the lock, if this process holds it."""
        if self._lock is not None:
            # A process that creates the file again finds the code saved.
            self._lock_file.unlink(missing_ok=True)
            os.close(self._lock)
            self._lock = None

    @property
    def _lock_file(self) -> Path:
        return Path(self.cache_path, f"{self._impl.filename_base}.lock")

    def _index_key(self, sig: Signature, codegen: Codegen) -> tuple[Hashable, ...]:
        fields = tuple(_field_names(kind) for kind in getattr(sig, "args", sig))
        # The file's name depends on the code already.
        return sig, fields, codegen.magic_tuple(), self._options

    def save_overload(self, sig: Signature, data: CompileResult) -> None:
        """Save compiled code, remove older code, and let other processes continue."""
        try:
            if self._emits:
                data.library.emit()  # for a C function, whose address is needed later
            super().save_overload(sig, data)
        finally:
            self._release()
        # Files of the same function with another digest.
        base: str = self._impl.filename_base
        before, key, after = base.partition(self._impl.locator.get_disambiguator())
        for file in Path(self.cache_path).glob(f"{before}*{after}.*"):
            if key not in file.name and time.time() - file.stat().st_mtime > STALE:
                file.unlink(missing_ok=True)


class BodyCache(KernelCache):
    """Cache of a `Body`, whose code is kept in a form that can be linked."""

    _impl_class = _BodyCacheImpl
    _emits = False
