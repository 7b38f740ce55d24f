"""Vectors of eight floats for numba kernels: single instruction, multiple data (SIMD).

Why: the compiler behind numba (LLVM) vectorises few ordinary loops by itself. Here a kernel works
with vectors explicitly. `load` reads a row of a C-contiguous array (k, 8) as one vector, and
`store` writes one. In between, a vector takes part in +, -, *, / and the functions below, with
other vectors or with single floats, which are copied to all eight lanes.

How: `Lanes` is a type for numba, represented in the compiled code by LLVM's <8 x double>. Each
operation is an intrinsic, a function whose machine-level code (LLVM's intermediate representation,
IR) is written by Python code while a kernel is compiled. To numba an intrinsic is a function of the
types of its arguments, here `load`, `store` or `define`; it returns the signature of the operation,
and a function `generate`, which numba then calls to append the IR. `_elementwise` makes an
intrinsic of a function that emits the IR, and `_overload_operator` does so for an operator.

Every lane is rounded like a single float, `fma` once for product and sum, and no sum is reordered:
so results do not depend on the width of the processor's vectors. That must stay, for hashes of
results depend on it. Importing this module imports numba.
"""

import inspect
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

# Lanes of a vector; `ensemble` runs as many motions side by side: the doubles in 512 bits, the
# widest registers of x86-64. Elsewhere a vector takes two or four registers.
WIDTH = 8
PI_HIGH, PI_LOW = 3.141592653589793, 1.2246467991473532e-16  # their sum is pi to 33 digits
# Taylor coefficients of sin(r) / r and cos(r) in r^2: enough for 1e-16 at |r| <= pi / 2.
SINE = tuple((-1.0) ** i / math.factorial(2 * i + 1) for i in range(11))
COSINE = tuple((-1.0) ** i / math.factorial(2 * i) for i in range(12))
VECTOR = ir.VectorType(ir.DoubleType(), WIDTH)  # of a value in the compiled code
# Emit(builder, *vectors) appends the IR of an operation, and returns its result. Generate is the
# same in the form that numba asks for; Typed, what an intrinsic returns, adds the types.
Emit: TypeAlias = Callable[..., ir.Value]
Values: TypeAlias = Sequence[ir.Value]
Generate: TypeAlias = Callable[[BaseContext, ir.IRBuilder, Signature, Values], ir.Value]
Typed: TypeAlias = tuple[Signature, Generate]
Operation: TypeAlias = Callable[[Intrinsic, Intrinsic], Intrinsic]


class Lanes(types.Type):  # type: ignore[misc]
    """Numba's type of a vector of eight floats."""

    def __init__(self) -> None:
        super().__init__(name=f"lanes{WIDTH}")


lanes = Lanes()


@register_model(Lanes)
class _Model(models.PrimitiveModel):  # type: ignore[misc]
    """Tell numba that a value of type `Lanes` is one LLVM vector."""

    def __init__(self, manager: DataModelManager, kind: Lanes) -> None:
        super().__init__(manager, kind, VECTOR)


def _copied_to_lanes(
    context: BaseContext, builder: ir.IRBuilder, kind: types.Type, value: ir.Value
) -> ir.Value:
    """Return a vector unchanged, and a single number copied to all lanes."""
    if isinstance(kind, Lanes):
        return value
    number = context.cast(builder, value, kind, types.float64)
    # Put the number in lane 0, then take lane 0 for every lane.
    one = builder.insert_element(ir.Constant(VECTOR, ir.Undefined), number, ir.IntType(32)(0))
    mask = ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [0] * WIDTH)
    return builder.shuffle_vector(one, ir.Constant(VECTOR, ir.Undefined), mask)


def _elementwise(name: str, count: int, emit: Emit) -> Intrinsic:
    """Return an intrinsic that applies an operation in each lane.

    Args:
        name: of the intrinsic, in messages of numba.
        count: number of its arguments, 1 to 3, which numba reads off the signature of `define`.
        emit: emits the operation on vectors.
    """

    def generate(
        context: BaseContext, builder: ir.IRBuilder, signature: Signature, arguments: Values
    ) -> ir.Value:
        """Append the operation on the arguments, each as a vector."""
        pairs = zip(signature.args, arguments, strict=True)  # of type and value
        return emit(builder, *(_copied_to_lanes(context, builder, *pair) for pair in pairs))

    def define(_: BaseContext, *operands: types.Type) -> Typed:
        """Return what numba asks for: a vector follows from any operands."""
        return lanes(*operands), generate

    parameters = [inspect.Parameter(x, inspect.Parameter.POSITIONAL_ONLY) for x in "_xyz"]
    define.__signature__ = inspect.Signature(parameters[: 1 + count])  # type: ignore[attr-defined]
    define.__name__ = define.__qualname__ = name
    return intrinsic(define)


def _llvm(name: str) -> Emit:
    """Return a function that emits a call of LLVM's own function `name` for vectors."""

    def emit(builder: ir.IRBuilder, *values: ir.Value) -> ir.Value:
        """Append a call of the function, which takes and returns vectors."""
        kind = ir.FunctionType(VECTOR, [VECTOR] * len(values))
        full = f"llvm.{name}.v{WIDTH}f64"
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, full), values)

    return emit


def _emit_larger(builder: ir.IRBuilder, x: ir.Value, y: ir.Value) -> ir.Value:
    """Emit max(x, y) by lane; y where either is NaN."""
    return builder.select(builder.fcmp_ordered(">", x, y), x, y)


def _emit_smaller(builder: ir.IRBuilder, x: ir.Value, y: ir.Value) -> ir.Value:
    """Emit min(x, y) by lane; y where either is NaN."""
    return builder.select(builder.fcmp_ordered("<", x, y), x, y)


# By lane: fma is x y + z rounded once, nearest the nearest whole number.
fma = _elementwise("fma", 3, _llvm("fma"))
larger = _elementwise("larger", 2, _emit_larger)
smaller = _elementwise("smaller", 2, _emit_smaller)
magnitude = _elementwise("magnitude", 1, _llvm("fabs"))
sqrt = _elementwise("sqrt", 1, _llvm("sqrt"))
nearest = _elementwise("nearest", 1, _llvm("rint"))
_negate = _elementwise("negate", 1, ir.IRBuilder.fneg)


def _row_address(
    context: BaseContext, builder: ir.IRBuilder, signature: Signature, rows: ir.Value, i: ir.Value
) -> ir.Value:
    """Emit the address of row i of an array (k, 8), as a pointer to a vector.

    With numba's boundscheck on, a row outside the array raises IndexError.
    """
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
        """Append the instruction that loads the row."""
        return builder.load(_row_address(context, builder, signature, *arguments), align=8)

    return lanes(rows, i), generate


@intrinsic  # type: ignore[untyped-decorator]
def store(_: BaseContext, rows: types.Type, i: types.Type, x: types.Type) -> Typed:
    """Fill row i of an array (k, 8)."""

    def generate(
        context: BaseContext, builder: ir.IRBuilder, signature: Signature, arguments: Values
    ) -> ir.Value:
        """Append the instruction that stores a vector, or a number copied to all lanes."""
        rows, i, x = arguments
        x = _copied_to_lanes(context, builder, signature.args[2], x)
        builder.store(x, _row_address(context, builder, signature, rows, i), align=8)
        return context.get_dummy_value()

    return types.void(rows, i, x), generate


def _overload_operator(operation: Operation, emit: Emit) -> None:
    """Make a Python operator work by lane in kernels where either operand is a vector."""
    run = _elementwise(operation.__name__, 2, emit)

    @overload(operation, strict=False)  # type: ignore[untyped-decorator]
    def choose(x: types.Type, y: types.Type) -> Operation | None:
        """Return the call for operands of these types; None leaves them to numba."""
        if Lanes in (type(x), type(y)):
            return lambda x, y: run(x, y)
        return None


_overload_operator(operator.add, ir.IRBuilder.fadd)
_overload_operator(operator.sub, ir.IRBuilder.fsub)
_overload_operator(operator.mul, ir.IRBuilder.fmul)
_overload_operator(operator.truediv, ir.IRBuilder.fdiv)


@overload(operator.neg, strict=False)  # type: ignore[untyped-decorator]
def _negative(x: types.Type) -> Callable[[Intrinsic], Intrinsic] | None:
    """Make the sign - call an intrinsic in kernels where its operand is a vector."""
    return (lambda x: _negate(x)) if isinstance(x, Lanes) else None


@kernel
def sine_cosine(x):
    """Return sines and cosines of angles up to some 1e6, to 3e-16, by their series.

    Args:
        x: eight angles [rad].
    """
    # Subtract the nearest multiple of pi, in two parts so that no digit is lost: |r| <= pi / 2.
    half_turns = nearest(x * (1.0 / math.pi))
    r = fma(half_turns, -PI_LOW, fma(half_turns, -PI_HIGH, x))
    # Both change their sign with every half turn: -1 for an odd number of them.
    quarter = 0.5 * half_turns
    sign = 1.0 - 4.0 * magnitude(quarter - nearest(quarter))
    # Taylor series in r^2, by Horner's scheme.
    square = r * r
    s, c = fma(square, SINE[10], SINE[9]), fma(square, COSINE[11], COSINE[10])
    for i in range(8, -1, -1):
        s = fma(s, square, SINE[i])
    for i in range(9, -1, -1):
        c = fma(c, square, COSINE[i])
    return sign * (s * r), sign * c
