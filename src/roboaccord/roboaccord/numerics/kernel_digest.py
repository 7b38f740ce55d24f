"""Digest of a kernel (a function that numba compiles): the key of its machine code in the cache.

jit_cache.py stores machine code on disk, and asks `digest` for its key. A kernel must be compiled
again as soon as anything that its machine code depends on has changed. The digest therefore covers:

- the bytecode of the kernel and of all kernels that it calls, without docstrings and line numbers;
- the global values that they read, which numba compiles in as constants. An intrinsic (code that
  generates machine instructions) counts with its whole file, because its bytecode does not show
  which functions it calls during compilation;
- the files of COMPILER, so that machine code of another version of them is not used.

LIBRARIES and PLAIN list the values that a kernel may read. With a wrong entry outdated machine code
would run after a change, so add a case to test_jit first.
"""

from __future__ import annotations

import dis
import enum
import functools
import hashlib
import inspect
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Protocol, runtime_checkable

import numpy as np
from numba import extending

COMPILER = ("kernel_digest", "jit_cache", "jit_library")  # modules that compile and store kernels
# Libraries whose functions count by name only: their code in a kernel comes from numba, whose
# version numba's cache checks.
LIBRARIES = ("builtins", "math", "numba", "numpy")
# Types of values that `repr` describes completely.
PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis))


@runtime_checkable
class _Kernel(Protocol):
    """Result of the decorator `kernel` of jit.py, with the Python function that it compiles."""

    is_kernel: bool
    function: FunctionType


def digest(function: FunctionType) -> str:
    """Return the hexadecimal digest of a kernel's code and of everything compiled into it.

    Raises:
        TypeError: for a global value of a type whose changes the digest would miss.
    """
    texts: dict[FunctionType, str] = {}
    pending = [function]
    while pending:
        kernel = pending.pop()
        if kernel not in texts:
            texts[kernel], called = _describe_kernel(kernel)
            pending += called
    return hashlib.sha256("\n".join([*texts.values(), _compiler_digest()]).encode()).hexdigest()


@functools.cache
def _compiler_digest() -> str:
    """Return a digest of the files of COMPILER."""
    files = [Path(__file__).with_name(f"{name}.py") for name in COMPILER]
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()


@functools.cache
def _describe_kernel(function: FunctionType) -> tuple[str, list[FunctionType]]:
    """Return a text that changes whenever a kernel's own code does, and the kernels it calls."""
    name = f"{function.__module__}.{function.__qualname__}"
    lines = [name, _describe_instructions(function.__code__), repr(function.__defaults__)]
    called = list[FunctionType]()
    for key, value in _read_globals(function):
        if isinstance(value, _Kernel):
            called.append(value.function)
        try:
            lines.append(f"{key} = {_describe_value(value)}")
        except TypeError as error:
            raise TypeError(f"{name} reads {key}: {error}") from None
    return "\n".join(lines), called


def _describe_instructions(code: CodeType) -> str:
    """Return a text of a code object's instructions, without line numbers and docstring."""
    lines = [f"{code.co_varnames} {code.co_argcount} {code.co_exceptiontable.hex()}"]
    for step in dis.get_instructions(code):
        if isinstance(step.argval, CodeType):
            lines.append(f"{step.opname} {_describe_instructions(step.argval)}")
        elif step.opcode in dis.hasconst:  # by value: a docstring shifts the index of constants
            lines.append(f"{step.opname} {step.argval!r}")
        else:
            lines.append(f"{step.opname} {step.arg} {step.argrepr}")
    return "\n".join(lines)


def _read_globals(function: FunctionType) -> Iterator[tuple[str, object]]:
    """Yield name and value of each global that a function reads, such as `TABLE` or `math.pi`.

    Variables of enclosing functions are included. Instructions that load a global, and attributes
    of a module right after it, show which are read.
    """
    yield from inspect.getclosurevars(function).nonlocals.items()
    for code in _nested_code_objects(function.__code__):
        name, value = "", None
        for step in dis.get_instructions(code):
            if step.opname == "LOAD_GLOBAL":
                name, value = step.argval, function.__globals__.get(step.argval)
                yield name, value
            elif step.opname in ("LOAD_ATTR", "LOAD_METHOD") and isinstance(value, ModuleType):
                name, value = f"{name}.{step.argval}", getattr(value, step.argval)
                yield name, value
            elif step.opname != "EXTENDED_ARG":
                value = None


def _nested_code_objects(code: CodeType) -> Iterator[CodeType]:
    """Yield a code object and those of the functions that are defined in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _nested_code_objects(constant)


def _describe_value(value: object) -> str:
    """Return a text that changes whenever a global value does.

    Raises:
        TypeError: for a kind of value of which no such text is known.
    """
    if isinstance(value, (*PLAIN, enum.Enum, np.generic)):
        return f"{type(value).__name__} {value!r}"
    if isinstance(value, tuple):
        return f"{type(value).__name__} {[_describe_value(item) for item in value]}"
    if isinstance(value, np.ndarray):
        content = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
        return f"{value.dtype.str} {value.shape} {value.flags.c_contiguous} {content}"
    if isinstance(value, enum.EnumMeta):
        return str(list(value))
    if isinstance(value, extending._Intrinsic):
        return hashlib.sha256(Path(inspect.getfile(value._defn)).read_bytes()).hexdigest()
    if isinstance(value, type) and hasattr(value, "_fields"):
        return str(value._fields)
    library = str(getattr(value, "__module__", "numpy")).partition(".")[0]
    counts_by_name = isinstance(value, ModuleType | _Kernel)
    if counts_by_name or (callable(value) and library in LIBRARIES):
        return str(getattr(value, "__name__", ""))
    raise TypeError(f"the cache of kernels cannot detect a change of a {type(value).__name__}")
