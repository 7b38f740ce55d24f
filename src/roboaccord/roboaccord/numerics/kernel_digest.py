"""Digest of a kernel: the key of its compiled code in the cache of jit_cache.py.

It is made from the bytecode, without docstrings and line numbers, of a kernel and all it calls, and
from the global values that they read, which numba compiles in as constants. An intrinsic counts
with its whole file, because no kernel names what the intrinsic calls as it compiles. So do the
files of COMPILER: code that other versions of them made is not run beside code that they make.

LIBRARIES and PLAIN say what a kernel may read without being part of its key: a name added wrongly
runs old machine code after a change, so a case of test_jit must come first.
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

COMPILER = ("kernel_digest", "jit_cache", "jit_library")
LIBRARIES = ("builtins", "math", "numba", "numpy")  # what they do is in numba's version
PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis))


@runtime_checkable
class _Kernel(Protocol):
    is_kernel: bool
    function: FunctionType


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
    """Return a digest of the files that compile kernels: other versions' code may not mix in."""
    files = [Path(__file__).with_name(f"{name}.py") for name in COMPILER]
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()


@functools.cache
def _describe(function: FunctionType) -> tuple[str, list[FunctionType]]:
    """Return a text that changes with a kernel's own code, and the kernels that it calls."""
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
    """Return a text of what a code object does, regardless of its lines and docstring."""
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
        TypeError: for a kind of value without such a text.
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
    library = str(getattr(value, "__module__", "numpy")).partition(".")[0]
    named = isinstance(value, ModuleType | _Kernel)
    if named or (callable(value) and library in LIBRARIES):
        return str(getattr(value, "__name__", ""))
    raise TypeError(f"the cache of kernels cannot detect a change of a {type(value).__name__}")
