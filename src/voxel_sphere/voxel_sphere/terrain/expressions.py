"""Expressions of numbers and names, in which users write heights and sheets.

Python's `ast` parses a text, and each node of the tree becomes a NumPy function if its kind is
listed here; anything else is refused, so no Python code is run. Texts come from strangers:
test_voxel_generate tries to get around these rules. MAX_LENGTH bounds the time that a text takes.

A function or constant may be added to FUNCTIONS or CONSTANTS, with its number of arguments in
COUNTS if that is not one; an operator to OPERATORS.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from functools import reduce

import numpy as np
from roboaccord.contract import AccordError, Array

# A compiled part of an expression: returns its value, given the values of names.
Evaluated = Callable[[Mapping[str, Array | float]], Array | float]

MAX_LENGTH = 1000  # characters of a text; those in docs/voxel_terrain.md have up to 30
CONSTANTS = {"pi": np.pi, "e": np.e}
FUNCTIONS: dict[str, Callable[..., Array]] = {
    "sin": np.sin, "cos": np.cos, "tan": np.tan,
    "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "atan2": np.arctan2,
    "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh,
    "exp": np.exp, "log": np.log, "sqrt": np.sqrt, "abs": np.abs, "hypot": np.hypot,
    "min": lambda *values: reduce(np.minimum, values),
    "max": lambda *values: reduce(np.maximum, values), "where": np.where,
}  # fmt: skip
# Numbers of arguments of functions that do not take one; min and max take any number.
COUNTS = {"atan2": 2, "hypot": 2, "where": 3}
OPERATORS: dict[type, Callable[..., Array]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: operator.truediv, ast.Mod: operator.mod, ast.Pow: operator.pow,
    ast.UAdd: operator.pos, ast.USub: operator.neg,
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip


def expression(
    text: str, variables: Sequence[str], constants: Mapping[str, float]
) -> Callable[..., Array]:
    """Return the function of `variables` that a text states, for numpy arrays.

    Args:
        text: such as "2*r + 0.1*x*sin(2*pi*y/n)"; `**` and `^` both are powers.
        variables: names of the arguments, in their order.
        constants: further names with their values; pi and e are known.

    Raises:
        AccordError: for anything but numbers, these names, + - * / % **, comparisons and the
            functions of `FUNCTIONS`.
    """
    names = {**CONSTANTS, **constants}
    source = text.replace("^", "**")
    if len(source) > MAX_LENGTH:
        raise AccordError(f"an expression has at most {MAX_LENGTH} characters")
    try:
        tree = ast.parse(source.strip(), mode="eval").body
        evaluate = _compiled(tree, {*variables, *names}, source.strip())
    except SyntaxError as error:
        raise AccordError(f"cannot read the expression {text!r}: {error.msg}") from None
    except (RecursionError, MemoryError, ValueError):
        raise AccordError(f"cannot read the expression {text!r}") from None

    def function(*values: Array) -> Array:
        bound: dict[str, Array | float] = {**names, **dict(zip(variables, values, strict=True))}
        with np.errstate(all="ignore"):
            value = evaluate(bound)
        return np.broadcast_to(np.asarray(value, float), np.broadcast(*values).shape).copy()

    return function


def _compiled(node: ast.AST, names: set[str], source: str) -> Evaluated:
    """Return the function of named values for a node of an expression.

    Raises:
        AccordError: for a node of a kind that is not listed.
    """
    match node:
        case ast.Constant(value=bool()):
            pass  # True and False are integers in Python, but no numbers here
        case ast.Constant(value=int() | float() as number):
            # As a float, for powers of Python's integers can grow without bound
            return lambda _: np.float64(number)
        case ast.Name(id=name) if name in names:
            return operator.itemgetter(name)
        # Operators with two operands; of comparisons only single ones, not a < b < c
        case (
            ast.BinOp(left=left, op=op, right=right)
            | ast.Compare(left=left, ops=[op], comparators=[right])
        ) if type(op) in OPERATORS:
            return _applied(OPERATORS[type(op)], [left, right], names, source)
        case ast.UnaryOp(op=op, operand=operand) if type(op) in OPERATORS:
            return _applied(OPERATORS[type(op)], [operand], names, source)
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in FUNCTIONS:
            takes_any = name in ("min", "max")  # any number of values, but not none
            count = max(len(args), 1) if takes_any else COUNTS.get(name, 1)
            if len(args) != count:
                raise AccordError(f"{name} takes {count} values, and has {len(args)}")
            return _applied(FUNCTIONS[name], args, names, source)
    segment = ast.get_source_segment(source, node) or source
    raise AccordError(
        f"{segment!r} in the expression {source!r} is not known; available: "
        f"{', '.join(sorted(names))}, and {', '.join(FUNCTIONS)}"
    )


def _applied(
    function: Callable[..., Array], nodes: Sequence[ast.AST], names: set[str], source: str
) -> Evaluated:
    """Return a function applied to the values of nodes."""
    arguments = [_compiled(node, names, source) for node in nodes]
    return lambda values: function(*(argument(values) for argument in arguments))
