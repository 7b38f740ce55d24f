"""Kernels as C functions, for C libraries that call them back, with access to arrays by address.

MuJoCo, for example, calls a C function in each evaluation of the dynamics (engines/compiled.py, the
only user of this module). `c_function` compiles a Python function to such a C function.

The library passes only pointers of its own. All other data are reached through a table: an int64
array of sizes and of addresses of arrays. `set_table` stores the address of the current table in a
symbol of this process; in a kernel `table_now` reads it, and `floats_at` and `ints_at` convert
addresses to pointers. So no address is part of the compiled code, and it can be cached on disk.

Terms of numba: a `CFunc` is a compiled C function; an intrinsic is a function whose calls within
kernels become machine instructions that it generates itself. `c_function` replaces the private
cache of a CFunc, because numba's own does not notice changed constants (jit_cache.py).

A pointer to numbers of another type may be added, like `floats_at`.
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

SYMBOL = "roboaccord_table"  # name of the symbol whose value is the address of the current table
# Signature of an intrinsic, and the function that generates its instructions.
Typed: TypeAlias = tuple[Signature, Callable[..., ir.Value]]
_TABLE = ctypes.c_void_p()  # the value of that symbol, for all kernels of this process
llvmlite.binding.add_symbol(SYMBOL, ctypes.addressof(_TABLE))


def set_table(address: int) -> None:
    """Set the address of the table for later calls; the caller must not delete the table."""
    _TABLE.value = address


def address(array: Array | NDArray[np.int64]) -> int:
    """Return the address of the first element of an array; the caller must not delete the array.

    Raises:
        ValueError: for an array that is not contiguous in memory.
    """
    if not array.flags.c_contiguous:
        raise ValueError("an array with gaps has no table entry")
    return int(array.ctypes.data)


@functools.cache
def c_function(function: FunctionType, arguments: int) -> CFunc[Callable[..., None]]:
    """Compile a Python function of `arguments` pointers that returns nothing.

    Returns:
        numba's C function, whose attribute `ctypes` is passed to a library. It is valid as long as
        the C function exists.
    """
    compiled = CFunc(function, ((types.voidptr,) * arguments, types.void), {}, dict(OPTIONS))
    compiled._cache = KernelCache(function, OPTIONS)  # type: ignore[attr-defined]
    compiled.compile()
    return compiled


def _as_pointer(number_type: types.Type) -> Intrinsic:
    """Return an intrinsic that converts an address to a pointer to numbers of a type."""

    def pointer(_: BaseContext, address: types.Type) -> Typed:
        """Return the signature, from an integer to a pointer, and the generator."""

        def generate(
            context: BaseContext, builder: ir.IRBuilder, sig: Signature, args: Sequence[ir.Value]
        ) -> ir.Value:
            """Generate the conversion of the integer."""
            return builder.inttoptr(args[0], context.get_value_type(sig.return_type))

        return types.CPointer(number_type)(address), generate  # type: ignore[attr-defined]

    return intrinsic(pointer)


floats_at = _as_pointer(types.float64)
ints_at = _as_pointer(types.int64)


@intrinsic  # type: ignore[untyped-decorator]
def table_now(_: BaseContext) -> Typed:
    """Return a pointer to the current table."""

    def generate(
        context: BaseContext, builder: ir.IRBuilder, signature: Signature, _: Sequence[ir.Value]
    ) -> ir.Value:
        """Generate a load of the symbol's value, which is declared at its first use."""
        pointer_type = context.get_value_type(signature.return_type)
        if SYMBOL not in builder.module.globals:
            ir.GlobalVariable(builder.module, pointer_type, SYMBOL)
        return builder.load(builder.module.globals[SYMBOL])

    return types.CPointer(types.int64)(), generate  # type: ignore[attr-defined]
