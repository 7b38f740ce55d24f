"""Cache compiled kernels on disk by their code: what numba's own cache does by their file.

PATIENCE, POLL and STALE, waiting times, may be tuned. LIBRARIES and PLAIN say what a kernel may
read without being part of its key: a name added wrongly runs old machine code after a change, so a
case of test_jit must come first. The classes below override private methods of numba, which
setup.cfg bounds (numba<0.69); look at them with every new numba.

Numba asks whether the file of a kernel has changed. So a comment compiles all kernels of the file
anew, and a change of a constant or kernel that is imported from another file compiles none. Here
the key is a digest of the bytecode, without docstrings and line numbers, of a kernel and all it
calls, and of the global values that they read, which numba compiles in as constants. An intrinsic
counts with its whole file: what it calls as it compiles is named by no kernel. So do this file and
jit_library.py: code that others made is not run beside code that they make.
"""

from __future__ import annotations

import contextlib
import copy
import dis
import enum
import fcntl
import functools
import hashlib
import inspect
import logging
import os
import time
from collections.abc import Callable, Hashable, Iterator, Mapping
from multiprocessing import current_process
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numba
import numpy as np
from numba import extending
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
from roboaccord.numerics.machine import private_folder

Options: TypeAlias = Mapping[str, str | bool]

_log = logging.getLogger(__name__)

PATIENCE, POLL = 60.0, 0.02  # s that another process may take to compile a kernel, between looks
STALE = 3600.0  # s; a younger file may be of a process that began before the code changed
LIBRARIES = ("builtins", "math", "numba", "numpy")  # what they do is in numba's version
NOPYTHON = {"nopython": True, "boundscheck": None}  # as numba.njit has them
PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis))


@runtime_checkable
class _Kernel(Protocol):
    is_kernel: bool
    function: FunctionType


def make_dispatcher(function: FunctionType, options: Options) -> Callable[..., Any]:
    """Return what compiles a function when called, and keeps the result by `digest`."""
    if numba.config.DISABLE_JIT:
        return function
    return PythonEntry(function, options)


class Body(CPUDispatcher):  # type: ignore[misc]
    """Compile a kernel for those that call it: code to be linked, without a way in from Python."""

    def __init__(self, function: FunctionType, options: Options) -> None:
        none = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
        super().__init__(function, targetoptions={**NOPYTHON, **options, **none})
        self._compiler._customize_flags = KernelFlags
        self._cache = _cache(BodyCache, function, options)


class PythonEntry(CPUDispatcher):  # type: ignore[misc]
    """Compile a kernel for Python: a wrapper around its body, optimised with all it calls."""

    def __init__(self, function: FunctionType, options: Options) -> None:
        super().__init__(function, targetoptions={**NOPYTHON, **options})
        self.body = Body(function, options)
        self._compiler = _Wrapping(self.body)
        self._cache = _cache(KernelCache, function, options)

    @property
    def _numba_type_(self) -> Type:
        return self.body._numba_type_  # type: ignore[no-any-return]


class _Wrapping:
    """The compiler of an entry, in the place of numba's."""

    def __init__(self, body: Body) -> None:
        self._body = body
        self.fold_argument_types = body.fold_argument_types

    def compile(self, args: tuple[Type, ...], _: Type | None) -> CompileResult:
        self._body.compile(args)
        self._body.targetctx.refresh()  # where the body was in the cache, nothing did
        body = self._body.overloads[args]
        about = copy.copy(body.fndesc)
        about.env_name += ".entry"  # where the wrapper's constants are, beside those of the body
        environment = Environment.from_fndesc(about)
        context = self._body.targetctx.subtarget(enable_nrt=True)  # arrays are returned
        library = context.codegen().create_library(f"{body.library.name}.entry")
        library.enable_object_caching()
        library.add_linking_library(body.library)
        with context.push_code_library(library):
            context.create_cpython_wrapper(library, about, environment, None, release_gil=True)
        return body._replace(
            library=library,
            fndesc=about,
            environment=environment,
            entry_point=context.get_executable(library, about, environment),
            metadata=None,
        )


def _cache(kind: type[KernelCache], function: FunctionType, options: Options) -> caching._Cache:
    try:
        return kind(function, options)
    except RuntimeError:  # no place can be written
        _warn_once()
        return caching.NullCache()


@functools.cache
def _warn_once() -> None:
    if current_process().name == "MainProcess":
        _log.warning("no folder to keep compiled kernels in can be written: set NUMBA_CACHE_DIR")


def digest(function: FunctionType) -> str:
    """Return a hexadecimal key of a kernel's code and of all that is compiled into it.

    Raises:
        TypeError: for a global value of a kind whose changes the key would miss.
    """
    texts: dict[FunctionType, str] = {}
    waiting = [function]
    while waiting:
        one = waiting.pop()
        if one not in texts:
            texts[one], called = _describe(one)
            waiting += called
    return hashlib.sha256("\n".join([*texts.values(), _compiler()]).encode()).hexdigest()


@functools.cache
def _compiler() -> str:
    """Return a digest of what makes the code of a kernel: other code may not run beside it."""
    own = (Path(__file__), Path(__file__).with_name("jit_library.py"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in own)).hexdigest()


@functools.cache
def _describe(function: FunctionType) -> tuple[str, list[FunctionType]]:
    """Return a text that changes with a kernel's own code, and the functions of those it calls."""
    name = f"{function.__module__}.{function.__qualname__}"
    lines = [name, _code(function.__code__), repr(function.__defaults__)]
    called = list[FunctionType]()
    for key, value in _globals(function):
        if isinstance(value, _Kernel):
            called.append(value.function)
        try:
            lines.append(f"{key} = {_value(value)}")
        except TypeError as error:
            raise TypeError(f"{name} reads {key}: {error}") from None
    return "\n".join(lines), called


def _code(code: CodeType) -> str:
    """Return what a code object does, whatever its lines and docstring."""
    steps = [f"{code.co_varnames} {code.co_argcount} {code.co_exceptiontable.hex()}"]
    for step in dis.get_instructions(code):
        if isinstance(step.argval, CodeType):
            steps.append(f"{step.opname} {_code(step.argval)}")
        elif step.opcode in dis.hasconst:  # not by its index, which a docstring shifts
            steps.append(f"{step.opname} {step.argval!r}")
        else:
            steps.append(f"{step.opname} {step.arg} {step.argrepr}")
    return "\n".join(steps)


def _globals(function: FunctionType) -> Iterator[tuple[str, object]]:
    """Yield the global values that a function reads, `module.name` among them, by name."""
    yield from inspect.getclosurevars(function).nonlocals.items()
    for code in _codes(function.__code__):
        path, value = "", None
        for step in dis.get_instructions(code):
            if step.opname == "LOAD_GLOBAL":
                path, value = step.argval, function.__globals__.get(step.argval)
                yield path, value
            elif step.opname in ("LOAD_ATTR", "LOAD_METHOD") and isinstance(value, ModuleType):
                path, value = f"{path}.{step.argval}", getattr(value, step.argval)
                yield path, value
            elif step.opname != "EXTENDED_ARG":
                value = None


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _value(value: object) -> str:
    """Return a text that changes with a global value.

    Raises:
        TypeError: for a kind of which no text is known to do so.
    """
    if isinstance(value, (*PLAIN, enum.Enum, np.generic)):
        return f"{type(value).__name__} {value!r}"
    if isinstance(value, tuple):
        return f"{type(value).__name__} {[_value(item) for item in value]}"
    if isinstance(value, np.ndarray):
        content = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
        return f"{value.dtype.str} {value.shape} {value.flags.c_contiguous} {content}"
    if isinstance(value, enum.EnumMeta):
        return str(list(value))
    if isinstance(value, extending._Intrinsic):
        return hashlib.sha256(Path(inspect.getfile(value._defn)).read_bytes()).hexdigest()
    if isinstance(value, type) and hasattr(value, "_fields"):
        return str(value._fields)
    place = str(getattr(value, "__module__", "numpy")).partition(".")[0]
    named = isinstance(value, ModuleType | _Kernel)
    if named or (callable(value) and place in LIBRARIES):
        return str(getattr(value, "__name__", ""))
    raise TypeError(f"the cache of kernels cannot detect a change of a {type(value).__name__}")


class _Place(caching._CacheLocator):  # type: ignore[misc]
    """The first folder that can be written, in which kernels are distinguished by their code."""

    def __init__(self, folder: Path, key: str) -> None:
        self._folder, self._digest = folder, key

    @classmethod
    def from_function(cls, py_func: FunctionType, py_file: str) -> _Place | None:
        key = digest(py_func)
        for folder in _folders(Path(py_file)):
            with contextlib.suppress(OSError):
                place = cls(folder, key)
                place.ensure_cache_path()
                return place
        return None

    def get_cache_path(self) -> str:
        return str(self._folder)

    def get_source_stamp(self) -> str:
        return self._digest

    def get_disambiguator(self) -> str:
        return self._digest[:16]


def _folders(file: Path) -> Iterator[Path]:
    """Yield where compiled code of a file may be kept: as numba does, then a temporary folder."""
    part = caching._CacheLocator.get_suitable_cache_subpath(str(file))
    if numba.config.CACHE_DIR:
        yield Path(numba.config.CACHE_DIR, part)
    if file.exists():  # which a notebook's cell, or a module in an archive, does not
        yield file.parent / "__pycache__"
    user = Path(AppDirs("numba", appauthor=False).user_cache_dir, part)
    if user.is_absolute():  # a user without a home has ~
        yield user
    with contextlib.suppress(OSError):
        yield private_folder() / part


class _KernelCacheImpl(caching.CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = (_Place,)

    def reduce(self, cres: CompileResult) -> tuple[Any, ...]:
        """Return what is pickled; environments that hold nothing would import numba's modules."""
        *state, environments = super().reduce(cres)
        return (*state, tuple(each for each in environments if each.consts))


class _BodyCacheImpl(_KernelCacheImpl):
    def get_filename_base(self, fullname: str, abiflags: str) -> str:
        return f"{super().get_filename_base(fullname, abiflags)}.body"


def _field_names(kind: Type) -> tuple[Hashable, ...]:
    """Return the fields of named tuples in the type of an argument, which numba tells by class."""
    items = getattr(kind, "types", ())  # of a tuple
    return getattr(kind, "fields", ()), *(_field_names(item) for item in items)


class _Index(caching.IndexDataCacheFile):  # type: ignore[misc]
    def _load_index(self) -> dict[tuple[Hashable, ...], str]:
        try:
            return super()._load_index()  # type: ignore[no-any-return]
        except (AttributeError, ImportError):  # a named tuple that a kernel took has a new name
            return {}


class KernelCache(caching.Cache):  # type: ignore[misc]
    """Numba's cache of a function, of which older code is removed when newer is saved.

    Of several processes that need the same code one compiles it, and the others wait for it. Who
    compiles holds the lock of a file until the code is saved, and while kernels that it calls are
    compiled in turn; kernels call each other in no circle, so nobody waits for ever. A compilation
    that failed may leave its lock: whoever has waited for `PATIENCE` compiles by itself.
    """

    _impl_class = _KernelCacheImpl
    _emits = True
    _lock: int | None = None  # file descriptor

    def __init__(self, function: FunctionType, options: Options) -> None:
        install()  # before anything is compiled or loaded, be it a kernel or a C function
        super().__init__(function)
        self._cache_file.__class__ = _Index
        self._options = tuple(options.items()), numba.config.BOUNDSCHECK  # of the environment

    def load_overload(self, sig: Signature, target_context: BaseContext) -> CompileResult | None:
        """Return compiled code; or None, with the lock held, where this process is to compile."""
        # Numba would set up all that a compilation needs, and so does a compilation.
        rtsys.initialize(target_context)
        found = self._load_overload(sig, target_context)
        if found is None and self._acquire():
            found = self._load_overload(sig, target_context)
            if found is not None:
                self._release()
        return found

    def _acquire(self) -> bool:
        """Wait for the lock; return whether another process may have compiled meanwhile."""
        if self._lock is not None:
            return False
        try:
            Path(self.cache_path).mkdir(parents=True, exist_ok=True)
            flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            self._lock = os.open(self._lock_file, flags, 0o600)
        except OSError:  # a cache that cannot be written: each compiles for itself
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
        if self._lock is not None:
            self._lock_file.unlink(missing_ok=True)  # who opens it anew finds the code saved
            os.close(self._lock)
            self._lock = None

    @property
    def _lock_file(self) -> Path:
        return Path(self.cache_path, f"{self._impl.filename_base}.lock")

    def _index_key(self, sig: Signature, codegen: Codegen) -> tuple[Hashable, ...]:
        fields = tuple(_field_names(kind) for kind in getattr(sig, "args", sig))
        return sig, fields, codegen.magic_tuple(), self._options  # the file is the code's already

    def save_overload(self, sig: Signature, data: CompileResult) -> None:
        """Save compiled code, remove older code, and let other processes go on."""
        try:
            if self._emits:
                data.library.emit()  # of a C function, whose address is asked for later
            super().save_overload(sig, data)
        finally:
            self._release()
        base: str = self._impl.filename_base
        before, key, after = base.partition(self._impl.locator.get_disambiguator())
        for file in Path(self.cache_path).glob(f"{before}*{after}.*"):
            if key not in file.name and time.time() - file.stat().st_mtime > STALE:
                file.unlink(missing_ok=True)


class BodyCache(KernelCache):
    """The cache of a body, whose code is kept as it can be linked."""

    _impl_class = _BodyCacheImpl
    _emits = False
