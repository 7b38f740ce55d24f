"""Vectors of eight floats for kernels: single instruction, multiple data (SIMD).

A value of eight lanes is loaded from a row of a C-contiguous array (k, 8) and stored there; between
them it takes +, -, *, / and the functions below, also with single floats, which are spread. Numba
leaves ordinary loops to a compiler that vectorises few of them. Every lane is rounded as a float
is, `fma` once, and no sum is reordered, so results do not depend on the processor's width.
Importing this imports numba.

Operations may be added, as lines `_elementwise(...)`. WIDTH is fixed in ensemble.py; sine and
cosine to two units in the last place and the bounds of rows by test_simd. Sums must stay in order
and without contraction, for hashes of results depend on it.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import TypeAlias

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.base import BaseContext
from numba.core.datamodel.manager import DataModelManager
from numba.core.typing.templates import Signature
from numba.extending import _Intrinsic as Intrinsic
from numba.extending import intrinsic, models, overload, register_model
from roboaccord.numerics import kernel

WIDTH = 8
HALF_TURN, REST = 3.141592653589793, 1.2246467991473532e-16  # their sum is pi to 33 digits
SINE = tuple((-1.0) ** i / math.factorial(2 * i + 1) for i in range(11))
COSINE = tuple((-1.0) ** i / math.factorial(2 * i) for i in range(12))
VECTOR = ir.VectorType(ir.DoubleType(), WIDTH)
Emit: TypeAlias = Callable[..., ir.Value]
Values: TypeAlias = Sequence[ir.Value]
Generate: TypeAlias = Callable[[BaseContext, ir.IRBuilder, Signature, Values], ir.Value]
Typed: TypeAlias = tuple[Signature, Generate]
Operation: TypeAlias = Callable[[Intrinsic, Intrinsic], Intrinsic]


class Lanes(types.Type):  # type: ignore[misc]
    """The type of eight floats."""

    def __init__(self) -> None:
        super().__init__(name=f"lanes{WIDTH}")


lanes = Lanes()


@register_model(Lanes)
class _Model(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: DataModelManager, kind: Lanes) -> None:
        super().__init__(manager, kind, VECTOR)


def _spread(
    context: BaseContext, builder: ir.IRBuilder, kind: types.Type, value: ir.Value
) -> ir.Value:
    """Return a value in all lanes, where it is one number."""
    if isinstance(kind, Lanes):
        return value
    number = context.cast(builder, value, kind, types.float64)
    one = builder.insert_element(ir.Constant(VECTOR, ir.Undefined), number, ir.IntType(32)(0))
    mask = ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [0] * WIDTH)
    return builder.shuffle_vector(one, ir.Constant(VECTOR, ir.Undefined), mask)


def _elementwise(name: str, count: int, emit: Emit) -> Intrinsic:
    """Return an intrinsic that does something in each lane."""

    def generate(
        context: BaseContext, builder: ir.IRBuilder, signature: Signature, arguments: Values
    ) -> ir.Value:
        pairs = zip(signature.args, arguments, strict=True)
        return emit(builder, *(_spread(context, builder, *pair) for pair in pairs))

    if count == 1:

        def define(_: BaseContext, x: types.Type) -> Typed:
            return lanes(x), generate

    elif count == 2:

        def define(_: BaseContext, x: types.Type, y: types.Type) -> Typed:  # type: ignore[misc]
            return lanes(x, y), generate

    else:

        def define(  # type: ignore[misc]
            _: BaseContext, x: types.Type, y: types.Type, z: types.Type
        ) -> Typed:
            return lanes(x, y, z), generate

    define.__name__ = define.__qualname__ = name
    return intrinsic(define)


def _llvm(name: str) -> Emit:
    """Return what emits a call of one of LLVM's own functions."""

    def emit(builder: ir.IRBuilder, *values: ir.Value) -> ir.Value:
        kind = ir.FunctionType(VECTOR, [VECTOR] * len(values))
        full = f"llvm.{name}.v{WIDTH}f64"
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, full), values)

    return emit


def _larger(builder: ir.IRBuilder, x: ir.Value, y: ir.Value) -> ir.Value:
    return builder.select(builder.fcmp_ordered(">", x, y), x, y)


def _smaller(builder: ir.IRBuilder, x: ir.Value, y: ir.Value) -> ir.Value:
    return builder.select(builder.fcmp_ordered("<", x, y), x, y)


fma = _elementwise("fma", 3, _llvm("fma"))
larger = _elementwise("larger", 2, _larger)
smaller = _elementwise("smaller", 2, _smaller)
size = _elementwise("size", 1, _llvm("fabs"))
root = _elementwise("root", 1, _llvm("sqrt"))
nearest = _elementwise("nearest", 1, _llvm("rint"))
_add = _elementwise("add", 2, lambda builder, x, y: builder.fadd(x, y))
_subtract = _elementwise("subtract", 2, lambda builder, x, y: builder.fsub(x, y))
_multiply = _elementwise("multiply", 2, lambda builder, x, y: builder.fmul(x, y))
_divide = _elementwise("divide", 2, lambda builder, x, y: builder.fdiv(x, y))
_negate = _elementwise("negate", 1, lambda builder, x: builder.fneg(x))


def _place(
    context: BaseContext, builder: ir.IRBuilder, signature: Signature, rows: ir.Value, i: ir.Value
) -> ir.Value:
    array = context.make_array(signature.args[0])(context, builder, rows)
    index = context.cast(builder, i, signature.args[1], types.intp)
    if context.enable_boundscheck:
        cgutils.do_boundscheck(context, builder, index, builder.extract_value(array.shape, 0))
    first = builder.gep(array.data, [builder.mul(index, ir.Constant(index.type, WIDTH))])
    return builder.bitcast(first, VECTOR.as_pointer())


@intrinsic  # type: ignore[untyped-decorator]
def load(_: BaseContext, rows: types.Type, i: types.Type) -> Typed:
    """Return row i of an array (k, 8)."""

    def generate(
        context: BaseContext, builder: ir.IRBuilder, signature: Signature, arguments: Values
    ) -> ir.Value:
        return builder.load(_place(context, builder, signature, *arguments), align=8)

    return lanes(rows, i), generate


@intrinsic  # type: ignore[untyped-decorator]
def store(_: BaseContext, rows: types.Type, i: types.Type, x: types.Type) -> Typed:
    """Fill row i of an array (k, 8)."""

    def generate(
        context: BaseContext, builder: ir.IRBuilder, signature: Signature, arguments: Values
    ) -> ir.Value:
        rows, i, x = arguments
        x = _spread(context, builder, signature.args[2], x)
        builder.store(x, _place(context, builder, signature, rows, i), align=8)
        return context.get_dummy_value()

    return types.void(rows, i, x), generate


def _on_lanes(operation: Operation, run: Intrinsic) -> None:
    @overload(operation, strict=False)  # type: ignore[untyped-decorator]
    def of_two(x: types.Type, y: types.Type) -> Operation | None:
        if Lanes in (type(x), type(y)):
            return lambda x, y: run(x, y)
        return None


for _operation, _run in (
    (operator.add, _add), (operator.sub, _subtract), (operator.mul, _multiply),
    (operator.truediv, _divide),
):  # fmt: skip
    _on_lanes(_operation, _run)


@overload(operator.neg, strict=False)  # type: ignore[untyped-decorator]
def _negative(x: types.Type) -> Callable[[Intrinsic], Intrinsic] | None:
    return (lambda x: _negate(x)) if isinstance(x, Lanes) else None


@kernel
def sine_cosine(x):
    """Return sines and cosines of angles up to some 1e6, to 3e-16, by their series.

    Args:
        x: eight angles [rad].
    """
    turns = nearest(x * (1.0 / math.pi))
    r = fma(turns, -REST, fma(turns, -HALF_TURN, x))
    half = 0.5 * turns
    sign = 1.0 - 4.0 * size(half - nearest(half))
    square = r * r
    s, c = fma(square, SINE[10], SINE[9]), fma(square, COSINE[11], COSINE[10])
    for i in range(8, -1, -1):
        s = fma(s, square, SINE[i])
    for i in range(9, -1, -1):
        c = fma(c, square, COSINE[i])
    return sign * (s * r), sign * c
