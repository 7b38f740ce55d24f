"""Expansion of xacro files, the single source for Gazebo, DART, MuJoCo and RViz.

MEMORY may be tuned. The rest is a border and must stay: FRAMES and OUTLIVING are what no expression
reaches, and may grow but not shrink (test_fence tries escapes by every mode); TRUST and TO_TRUST
are the user's way to lift it: they stay. Functions of xacro are replaced only in `expand_fenced`
and `expand_trusted`, in a process that then ends.

What a xacro file has between `${` and `}`, or in `$(eval )`, is Python, and xacro's own checks do
not hold it. Files of installed packages are expanded here; a stranger's in a process of its own,
which the kernel fences. Where it cannot, what could reach beyond the expression is refused.
"""

from __future__ import annotations

import ast
import io
import os
import resource
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from roboaccord.contract.errors import AccordError
from roboaccord.contract.files import LARGEST_TEXT, read_bytes
from roboaccord.description.apart import SECONDS, apart
from roboaccord.description.resources import is_installed, package_folders
from roboaccord.numerics.fence import fence

NO_ARGUMENTS: Mapping[str, str] = MappingProxyType({})
MEMORY = 2 << 30  # bytes
TRUST = "ROBOACCORD_TRUST"  # environment variable: files are trusted
TO_TRUST = "if you trust the file, add --trust"
# Attributes that lead from a generator or an error to whoever called it.
FRAMES = frozenset(
    "gi_frame gi_code gi_yieldfrom cr_frame cr_code ag_frame ag_code tb_frame tb_next "
    "f_back f_builtins f_code f_generator f_globals f_locals f_trace".split()
)
OUTLIVING = (ast.Lambda, ast.GeneratorExp)  # code that runs when others call it


def expand_xacro(path: Path, arguments: Mapping[str, str]) -> str:
    """Return the URDF of a xacro file.

    Args:
        path: of the file.
        arguments: of the xacro.

    Raises:
        AccordError: if the file is broken.
    """
    import xacro

    try:
        text: str = xacro.process_file(str(path), mappings=dict(arguments)).toxml()
    except Exception as error:  # noqa: BLE001 - xacro raises whatever its expressions do
        inner = getattr(error, "exc", None)  # which xacro wraps
        message = str(inner if isinstance(inner, AccordError) else error)
        reason = (message.splitlines() or [type(error).__name__])[0]
        raise AccordError(f"broken description {path.name}: {reason}") from None
    return text


def expand_apart(
    path: Path, packages: Mapping[str, Path], arguments: Mapping[str, str] = NO_ARGUMENTS
) -> str:
    """Return the URDF of a xacro file of anybody, expanded in a process of bounded time and memory.

    It is fenced unless the file is of an installed package, or the environment has `TRUST`.

    Args:
        path: of the file.
        packages: folders of ROS packages by name.
        arguments: of the xacro.

    Raises:
        AccordError: if the file is broken, or takes too much.
    """
    folders = {name: str(folder) for name, folder in packages.items()}
    trusted = os.environ.get(TRUST) == "1" or is_installed(path)
    work = expand_trusted if trusted else expand_fenced
    try:
        return str(apart(work, str(path), {**arguments}, folders, seconds=SECONDS, memory=MEMORY))
    except AccordError as error:
        start = f"broken description {path.name}: "
        raise AccordError(f"{start}{str(error).removeprefix(start)}") from None


def expand_trusted(path: str, arguments: Mapping[str, str], packages: Mapping[str, str]) -> str:
    """Return the URDF of a xacro file, in the process of `expand_apart`."""
    from xacro import substitution_args

    folders = {name: Path(folder) for name, folder in packages.items()}

    def find(package: str) -> str:
        for folder in package_folders(package, Path(path), folders):
            if folder.is_dir():
                return str(folder)
        raise AccordError(f"package {package} is not found: --package {package}=DIR")

    substitution_args._eval_find = find  # xacro has no argument for that
    return expand_xacro(Path(path), arguments)


def expand_fenced(path: str, arguments: Mapping[str, str], packages: Mapping[str, str]) -> str:
    """Do what `expand_trusted` does, for good without network, writing and other processes."""
    import xacro
    from xacro import substitution_args

    resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
    refused, plain = () if fence() else OUTLIVING, {**xacro._global_symbols["python"]}

    def checked(evaluate: Callable[..., Any]) -> Callable[..., Any]:
        return lambda text, *names: evaluate(check_expression(text, refused), *names)

    xacro.safe_eval = checked(xacro.safe_eval)
    # Else $(eval ) has all that Python has built in.
    limited = lambda text, _, names: eval(text, {"__builtins__": plain}, names)  # noqa: E731, S307
    substitution_args.eval = checked(limited)
    xacro.open = lambda name: io.BytesIO(read_bytes(Path(name), LARGEST_TEXT))
    for symbols in (plain, xacro._global_symbols["python"]):
        symbols.pop("vars", None)  # by which a string leads to any attribute
    return expand_trusted(path, arguments, packages)


def check_expression(expression: str, refused: tuple[type[ast.AST], ...] = OUTLIVING) -> str:
    """Return an expression, unless it could reach beyond itself.

    Args:
        expression: of Python.
        refused: nodes that it must not have, beside private attributes and those of frames.

    Raises:
        AccordError: naming that.
    """
    for node in ast.walk(compile(expression.strip(), "<expression>", "eval", ast.PyCF_ONLY_AST)):
        name = getattr(node, "attr", None) or getattr(node, "id", None) or ""
        if name.startswith("__") or name in FRAMES:
            raise AccordError(f"{name} is refused in an expression; {TO_TRUST}")
        if isinstance(node, refused):
            raise AccordError(f"functions are refused in an expression; {TO_TRUST}")
    return expression
