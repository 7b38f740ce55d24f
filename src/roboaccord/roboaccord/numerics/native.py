"""Kernels as C functions, for C libraries that call back, and access to arrays by their addresses.

A library (MuJoCo; engines/compiled.py is the only user) calls a C function with pointers of its
own. What the function needs in addition is in a table: an int64 array of sizes and addresses.
`set_table` stores the address of the present table in a symbol of this process, and `table_now`
reads it in a kernel. So no address is part of the compiled code, which is cached as any kernel's.

A pointer to numbers of another type may be added, like `doubles_at`. `c_function` compiles with the
OPTIONS of jit.py.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import TypeAlias

import llvmlite.binding
import numpy as np
from llvmlite import ir
from numba.core import types
from numba.core.base import BaseContext
from numba.core.ccallback import CFunc
from numba.core.typing.templates import Signature
from numba.extending import _Intrinsic as Intrinsic
from numba.extending import intrinsic
from numpy.typing import NDArray

from roboaccord.numerics.arrays import Array
from roboaccord.numerics.jit import OPTIONS
from roboaccord.numerics.jit_cache import KernelCache

SYMBOL = "roboaccord_table"  # its value is the address of the present table
# Signature of an intrinsic (a function that generates machine instructions), and its generator.
Typed: TypeAlias = tuple[Signature, Callable[..., ir.Value]]
_TABLE = ctypes.c_void_p()
llvmlite.binding.add_symbol(SYMBOL, ctypes.addressof(_TABLE))


def set_table(address: int) -> None:
    """Set the address of the table for the next calls; the caller keeps the table alive."""
    _TABLE.value = address


def address(array: Array | NDArray[np.int64]) -> int:
    """Return the address of the first item of an array; the caller keeps the array alive.

    Raises:
        ValueError: for an array with gaps between its items.
    """
    if not array.flags.c_contiguous:
        raise ValueError("an array with gaps has no table entry")
    return int(array.ctypes.data)


@functools.cache
def c_function(function: FunctionType, arguments: int) -> CFunc[Callable[..., None]]:
    """Compile a Python function of `arguments` pointers that returns nothing, cached by its code.

    Returns:
        numba's C function; a library gets its `ctypes`, for as long as the function is kept.
    """
    compiled = CFunc(function, ((types.voidptr,) * arguments, types.void), {}, dict(OPTIONS))
    compiled._cache = KernelCache(function, OPTIONS)  # type: ignore[attr-defined]
    compiled.compile()
    return compiled


def _as_pointer(kind: types.Type) -> Intrinsic:
    """Return an intrinsic that converts an address to a pointer to numbers of a type."""

    def pointer(_: BaseContext, address: types.Type) -> Typed:
        def generate(
            context: BaseContext,
            builder: ir.IRBuilder,
            signature: Signature,
            args: Sequence[ir.Value],
        ) -> ir.Value:
            return builder.inttoptr(args[0], context.get_value_type(signature.return_type))

        return types.CPointer(kind)(address), generate  # type: ignore[attr-defined]

    return intrinsic(pointer)


doubles_at = _as_pointer(types.float64)
ints_at = _as_pointer(types.int64)


@intrinsic  # type: ignore[untyped-decorator]
def table_now(_: BaseContext) -> Typed:
    """Return a pointer to the table of the call in progress."""

    def generate(
        context: BaseContext, builder: ir.IRBuilder, signature: Signature, _: Sequence[ir.Value]
    ) -> ir.Value:
        kind = context.get_value_type(signature.return_type)
        if SYMBOL not in builder.module.globals:
            ir.GlobalVariable(builder.module, kind, SYMBOL)
        return builder.load(builder.module.globals[SYMBOL])

    return types.CPointer(types.int64)(), generate  # type: ignore[attr-defined]
