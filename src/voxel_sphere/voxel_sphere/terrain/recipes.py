"""Recipes of generated volumes in `workspace.yaml`, and their closed forms."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt
from roboaccord.contract import AccordError

from voxel_sphere.terrain.sheets import Sheet
from voxel_sphere.terrain.surfaces import Distance, Surface, make_surface

Recipe = Mapping[str, Any]


def surface_of(recipe: Recipe, n: int, radius: float) -> Surface:
    """Return the graph of a recipe `surface` (named, with `parameters`) or `height` (expression).

    Args:
        recipe: as in `workspace.yaml`.
        n: size of the grid [voxels].
        radius: of the sphere [voxels].

    Raises:
        AccordError: if the recipe is neither, or cannot be made.
    """
    try:
        if "surface" in recipe:
            parameters = {key: float(v) for key, v in recipe.get("parameters", {}).items()}
            return make_surface(str(recipe["surface"]), n, radius, **parameters)
        text = str(recipe["height"])
    except (AttributeError, KeyError, TypeError, ValueError):
        raise AccordError(f"the recipe {dict(recipe)} makes no surface") from None
    return Surface(name="height", height=expression(text, "xy", {"n": n, "r": radius}))


def sheet_of(recipe: Recipe, n: int, radius: float) -> Sheet:
    """Return the sheet of a recipe `xyz` (three expressions), with `s`, `t` and `thickness`.

    Raises:
        AccordError: if the recipe is not that, or cannot be made.
    """
    constants = {"n": float(n), "r": radius}
    try:
        texts, s, t = ([str(text) for text in recipe[key]] for key in ("xyz", "s", "t"))
        thickness = float(recipe["thickness"])
        if (len(texts), len(s), len(t)) != (3, 2, 2):
            raise ValueError
    except (KeyError, TypeError, ValueError):
        raise AccordError(f"the recipe {dict(recipe)} makes no sheet") from None
    if not 1 <= thickness <= n:
        raise AccordError(f"thickness is {thickness:g}; it must be 1 to {n} voxels")
    parts = [expression(text, "st", constants) for text in texts]

    def xyz(s: Array, t: Array) -> tuple[Array, Array, Array]:
        x, y, z = (part(s, t) for part in parts)
        return x, y, z

    return Sheet(xyz, interval("s", s, constants), interval("t", t, constants), thickness)


def interval(
    name: str, texts: Sequence[str], constants: Mapping[str, float]
) -> tuple[float, float]:
    """Return the ends of a range, which are expressions of n, r and pi.

    Raises:
        AccordError: if they are not two different finite numbers.
    """
    first, last = (float(expression(text, "", constants)()) for text in texts)
    if not np.isfinite([first, last]).all() or first == last:
        raise AccordError(f"--{name} goes from {first:g} to {last:g}, and must be a range")
    return first, last


def distance_of(recipe: Recipe, kind: str, n: int, radius: float) -> Distance | None:
    """Return the signed distance to what a recipe makes of one kind; None if it says nothing.

    Raises:
        AccordError: if the recipe cannot be made.
    """
    if "xyz" in recipe:
        return sheet_of(recipe, n, radius).distance
    if not {"surface", "height"} & recipe.keys():
        return None
    surface = surface_of(recipe, n, radius)
    return surface.walls if kind == "walls" else surface.ground


def union(distances: Sequence[Distance | None]) -> Distance | None:
    """Return the signed distance to several volumes, None if that to one of them is not known."""
    known = [distance for distance in distances if distance is not None]
    if not known or len(known) < len(distances):
        return None

    def distance(x: Array, y: Array, z: Array) -> Array:
        return np.asarray(np.minimum.reduce([each(x, y, z) for each in known]))

    return distance


Array = npt.NDArray[np.float64]

Evaluated = Callable[[Mapping[str, Array | float]], Array | float]
"""A part of an expression: by the values of names its own."""

LONGEST = 1000  # characters
CONSTANTS = {"pi": np.pi, "e": np.e}
FUNCTIONS: dict[str, Callable[..., Array]] = {
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "exp": np.exp,
    "log": np.log,
    "sqrt": np.sqrt,
    "abs": np.abs,
    "hypot": np.hypot,
    "min": lambda *values: reduce(np.minimum, values),
    "max": lambda *values: reduce(np.maximum, values),
    "where": np.where,
}
COUNTS = {"atan2": 2, "hypot": 2, "where": 3}  # arguments; min and max take any, the others one
OPERATORS: dict[type, Callable[..., Array]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


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
    if len(source) > LONGEST:
        raise AccordError(f"an expression has at most {LONGEST} characters")
    try:
        tree = ast.parse(source.strip(), mode="eval").body
        found = _compiled(tree, {*variables, *names}, source.strip())
    except SyntaxError as error:
        raise AccordError(f"cannot read the expression {text!r}: {error.msg}") from None
    except (RecursionError, MemoryError, ValueError):
        raise AccordError(f"cannot read the expression {text!r}") from None

    def function(*values: Array) -> Array:
        known: dict[str, Array | float] = {**names, **dict(zip(variables, values, strict=True))}
        with np.errstate(all="ignore"):
            value = found(known)
        return np.broadcast_to(np.asarray(value, float), np.broadcast(*values).shape).copy()

    return function


def _compiled(node: ast.AST, names: set[str], source: str) -> Evaluated:
    """Return the function of named values that a part is, or complain if it is of no known kind."""
    match node:
        case ast.Constant(value=bool()):
            pass
        case ast.Constant(value=int() | float() as number):
            return lambda known: np.float64(number)  # so that no whole number grows for ever
        case ast.Name(id=name) if name in names:
            return operator.itemgetter(name)
        case (
            ast.BinOp(left=left, op=op, right=right)
            | ast.Compare(left=left, ops=[op], comparators=[right])
        ) if type(op) in OPERATORS:
            return _applied(OPERATORS[type(op)], [left, right], names, source)
        case ast.UnaryOp(op=op, operand=operand) if type(op) in OPERATORS:
            return _applied(OPERATORS[type(op)], [operand], names, source)
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in FUNCTIONS:
            count = COUNTS.get(name, len(args) if name in ("min", "max") else 1)
            if len(args) != max(count, 1):
                raise AccordError(f"{name} takes {max(count, 1)} values, and has {len(args)}")
            return _applied(FUNCTIONS[name], args, names, source)
    part = ast.get_source_segment(source, node) or source
    raise AccordError(
        f"{part!r} in the expression {source!r} is not known; there is "
        f"{', '.join(sorted(names))}, and {', '.join(FUNCTIONS)}"
    )


def _applied(
    function: Callable[..., Array], nodes: Sequence[ast.AST], names: set[str], source: str
) -> Evaluated:
    """Return a function of what parts are."""
    parts = [_compiled(node, names, source) for node in nodes]
    return lambda known: function(*(part(known) for part in parts))
