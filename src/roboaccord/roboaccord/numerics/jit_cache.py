"""Machine code of kernels: compiled by numba, and cached on disk under a digest of the source.

A kernel is a Python function that numba compiles when it is first called, which takes seconds.
`make_dispatcher`, called by the decorator in jit.py, returns the object that compiles a kernel or
loads its machine code from the cache. native.py caches C functions by the same `KernelCache`.

Numba's own cache compiles again if the file of a kernel has changed: after a changed comment all
kernels of the file, but after a changed constant or kernel in another file none. Here the key is a
digest of the code and of everything that it uses (kernel_digest.py).

Terms of numba:

- A dispatcher takes the place of a function. It compiles the function once for each combination of
  argument types (signature); each result is an overload.
- A library is the code of an overload, before or after its translation to machine code.
- An environment contains the Python objects, such as constants, that an overload refers to.
- The locator of a cached function chooses its folder; the index there lists its overloads.

A kernel has two compiled forms: `Body`, which is linked into other kernels, and `PythonEntry`,
which Python calls. jit_library.py explains why. The classes override private methods of numba, so
setup.cfg bounds its version (numba<0.69): check them with each new release.
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

# [s] Longest time to wait for another process that compiles the same kernel. Compilation takes
# seconds, and ten times as long on a busy machine.
PATIENCE = 60.0
# [s] Interval at which the lock of that process is polled: short compared with a compilation, long
# enough to cause no load.
POLL = 0.02
# [s] Age at which machine code of an older source is removed. A process that started before the
# source changed may still need it; within an hour it has loaded its kernels.
STALE = 3600.0
NOPYTHON = {"nopython": True, "boundscheck": None}  # options that numba.njit sets


def make_dispatcher(function: FunctionType, options: Options) -> Callable[..., Any]:
    """Return the dispatcher of a kernel; the kernel itself where numba is switched off.

    Args:
        function: the kernel.
        options: options of numba, such as `nogil`.
    """
    if numba.config.DISABLE_JIT:
        return function
    return PythonEntry(function, options)


class Body(CPUDispatcher):  # type: ignore[misc]
    """Dispatcher of a kernel for other kernels: it compiles code without an entry for Python."""

    def __init__(self, function: FunctionType, options: Options) -> None:
        no_wrappers = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
        super().__init__(function, targetoptions={**NOPYTHON, **options, **no_wrappers})
        self._compiler._customize_flags = KernelFlags
        self._cache = _cache_of(BodyCache, function, options)


class PythonEntry(CPUDispatcher):  # type: ignore[misc]
    """Dispatcher of a kernel for Python: a wrapper around the body, optimised with its callees."""

    def __init__(self, function: FunctionType, options: Options) -> None:
        super().__init__(function, targetoptions={**NOPYTHON, **options})
        self.body = Body(function, options)
        self._compiler = _WrapperCompiler(self.body)
        self._cache = _cache_of(KernelCache, function, options)

    @property
    def _numba_type_(self) -> Type:
        """Type of the kernel where another kernel calls it: that of the body."""
        return self.body._numba_type_  # type: ignore[no-any-return]


class _WrapperCompiler:
    """Compiler of a `PythonEntry` in place of numba's: it only wraps the compiled body."""

    def __init__(self, body: Body) -> None:
        self._body = body
        self.fold_argument_types = body.fold_argument_types

    def compile(self, args: tuple[Type, ...], return_type: Type | None) -> CompileResult:
        """Return the compiled entry, with a name and a library that differ from the body's.

        Args:
            args: types of the arguments.
            return_type: not used, because numba infers it.
        """
        self._body.compile(args)
        self._body.targetctx.refresh()  # necessary if the body came from the cache
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
        return body._replace(
            library=library,
            fndesc=descriptor,
            environment=environment,
            entry_point=context.get_executable(library, descriptor, environment),
            metadata=None,
        )


def _cache_of(
    cache_class: type[KernelCache], function: FunctionType, options: Options
) -> caching._Cache:
    """Return the cache of a function, or an empty one if no folder is writable."""
    try:
        return cache_class(function, options)
    except RuntimeError:  # raised by numba if no locator has a folder
        _warn_once()
        return caching.NullCache()


@functools.cache
def _warn_once() -> None:
    """Warn that machine code is not cached, once and only in the main process."""
    if current_process().name == "MainProcess":
        _log.warning("no folder to keep compiled kernels in can be written: set NUMBA_CACHE_DIR")


class _Locator(caching._CacheLocator):  # type: ignore[misc]
    """Locator of a function's machine code: the first writable folder, files named by digest.

    Numba calls the methods. It compares `get_source_stamp` with that of the saved code, and puts
    `get_disambiguator` into the names of files.
    """

    def __init__(self, folder: Path, source_digest: str) -> None:
        self._folder, self._digest = folder, source_digest

    @classmethod
    def from_function(cls, py_func: FunctionType, py_file: str) -> _Locator | None:
        """Return the locator of a function in the first folder that is writable, or None."""
        source_digest = digest(py_func)
        for folder in _folders(Path(py_file)):
            with contextlib.suppress(OSError):
                locator = cls(folder, source_digest)
                locator.ensure_cache_path()
                return locator
        return None

    def get_cache_path(self) -> str:
        """Return the folder."""
        return str(self._folder)

    def get_source_stamp(self) -> str:
        """Return the digest of the source, which must be that of the saved code."""
        return self._digest

    def get_disambiguator(self) -> str:
        """Return the beginning of the digest, for the names of files."""
        return self._digest[:16]


def _folders(file: Path) -> Iterator[Path]:
    """Yield candidate folders for the machine code of a source file, the preferred one first."""
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
    """Pickling of compiled code, and the locator of its files."""

    _locator_classes = (_Locator,)

    def reduce(self, cres: CompileResult) -> tuple[Any, ...]:
        """Return the state to pickle, without empty environments.

        To load these, Python would have to import more of numba's modules.
        """
        *state, environments = super().reduce(cres)
        return (*state, tuple(item for item in environments if item.consts))


class _BodyCacheImpl(_KernelCacheImpl):
    """The same for bodies, whose files have the additional ending `.body`."""

    def get_filename_base(self, fullname: str, abiflags: str) -> str:
        """Return the name of the files of a function, without their endings."""
        return f"{super().get_filename_base(fullname, abiflags)}.body"


def _field_names(argument_type: Type) -> tuple[Hashable, ...]:
    """Return the names of the fields of all named tuples in an argument's type.

    They belong to the key of the cache: numba compares only the classes of named tuples, so it does
    not notice that a field was renamed.
    """
    item_types = getattr(argument_type, "types", ())  # of a tuple
    return getattr(argument_type, "fields", ()), *(_field_names(item) for item in item_types)


class _Index(caching.IndexDataCacheFile):  # type: ignore[misc]
    """Index of a function's overloads, read as empty if it names a class that no longer exists."""

    def _load_index(self) -> dict[tuple[Hashable, ...], str]:
        """Return the names of the files of machine code, by the key of each overload."""
        try:
            return super()._load_index()  # type: ignore[no-any-return]
        except (AttributeError, ImportError):  # a named tuple among the arguments was renamed
            return {}


class KernelCache(caching.Cache):  # type: ignore[misc]
    """Cache of a function's overloads, with a lock between processes; it removes outdated files.

    If several processes need the same code, one compiles it and the others wait. The compiling
    process has a file lock until the code is saved, also while it compiles the kernels that are
    called. Kernels do not call each other in circles, so there is no deadlock. A failed compilation
    may leave its lock behind: after PATIENCE a waiting process compiles by itself.
    """

    _impl_class = _KernelCacheImpl
    _emits = True  # whether code is translated to machine code before it is saved
    _lock: int | None = None  # descriptor of the locked file; None if there is none

    def __init__(self, function: FunctionType, options: Options) -> None:
        install()  # must precede any compilation or loading, also that of a C function
        super().__init__(function)
        self._cache_file.__class__ = _Index
        # BOUNDSCHECK comes from an environment variable.
        self._options = tuple(options.items()), numba.config.BOUNDSCHECK

    def load_overload(self, sig: Signature, target_context: BaseContext) -> CompileResult | None:
        """Return the overload of a signature from the cache; None if it is not there.

        In that case this process has the lock, and must compile and save the overload.
        """
        # Numba would initialise its whole compiler here, but loading needs only the runtime.
        rtsys.initialize(target_context)
        compiled = self._load_overload(sig, target_context)
        if compiled is None and self._acquire():
            compiled = self._load_overload(sig, target_context)
            if compiled is not None:
                self._release()
        return compiled

    def _acquire(self) -> bool:
        """Wait for the lock; return whether another process may have saved the code meanwhile."""
        if self._lock is not None:
            return False
        try:
            Path(self.cache_path).mkdir(parents=True, exist_ok=True)
            flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            self._lock = os.open(self._lock_file, flags, 0o600)
        except OSError:  # the folder is not writable, so each process compiles
            return False
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            try:
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True
            except OSError:
                time.sleep(POLL)
        return True

    def _release(self) -> None:
        """Release the lock, if this process has it."""
        if self._lock is not None:
            # A process that creates the file anew finds the saved code.
            self._lock_file.unlink(missing_ok=True)
            os.close(self._lock)
            self._lock = None

    @property
    def _lock_file(self) -> Path:
        """Path of the file that is locked while its code is compiled."""
        return Path(self.cache_path, f"{self._impl.filename_base}.lock")

    def _index_key(self, sig: Signature, codegen: Codegen) -> tuple[Hashable, ...]:
        """Return the key of an overload in the index: all that its code depends on."""
        fields = tuple(_field_names(argument) for argument in getattr(sig, "args", sig))
        # The digest of the source is in the file's name already, so it is not needed here.
        return sig, fields, codegen.magic_tuple(), self._options

    def save_overload(self, sig: Signature, data: CompileResult) -> None:
        """Save an overload, let other processes continue, and remove files of older sources."""
        try:
            if self._emits:
                data.library.emit()  # for a C function, whose address is needed later
            super().save_overload(sig, data)
        finally:
            self._release()
        # Files of the same function whose names have another digest.
        filename: str = self._impl.filename_base
        prefix, short_digest, suffix = filename.partition(self._impl.locator.get_disambiguator())
        for file in Path(self.cache_path).glob(f"{prefix}*{suffix}.*"):
            age = time.time() - file.stat().st_mtime
            if short_digest not in file.name and age > STALE:
                file.unlink(missing_ok=True)


class BodyCache(KernelCache):
    """Cache of a `Body`, whose code is saved in a form that can be linked into other kernels."""

    _impl_class = _BodyCacheImpl
    _emits = False
