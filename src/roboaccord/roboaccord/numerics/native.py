"""Kernels as C functions, and arrays by their addresses: for C libraries that call back.

engines/compiled.py alone uses it, for MuJoCo's callbacks. SYMBOL may be any name; `c_function`
compiles with the OPTIONS of jit.py, which are fixed there. A pointer to numbers of another kind may
be added, like `doubles_at`. Put no address into a kernel itself: its cached code would hold it.

A callback of a library gets pointers that are its own. What it needs beside them is in a table of
addresses and sizes, an int64 array, and the table of the call in progress is where a symbol of this
process points to. So the compiled code holds no address, and is cached as every kernel's.
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

SYMBOL = "roboaccord_table"
# The types of an intrinsic, and what generates its code.
Typed: TypeAlias = tuple[Signature, Callable[..., ir.Value]]
_TABLE = ctypes.c_void_p()
llvmlite.binding.add_symbol(SYMBOL, ctypes.addressof(_TABLE))


def set_table(address: int) -> None:
    """Make the table at an address that of the next calls; the caller keeps it alive."""
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
        numba's C function, whose `ctypes` a library takes, and which must live as long as that.
    """
    made = CFunc(function, ((types.voidptr,) * arguments, types.void), {}, dict(OPTIONS))
    made._cache = KernelCache(function, OPTIONS)  # type: ignore[attr-defined]
    made.compile()
    return made


def _as_pointer(kind: types.Type) -> Intrinsic:
    """Return an intrinsic that takes an address for a pointer to numbers of a kind."""

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
