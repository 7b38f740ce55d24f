"""Expansion of xacro files (URDF with macros), in a process that cannot do harm.

What a xacro file has between `${` and `}`, or in `$(eval )`, is Python, and xacro's own checks do
not stop it from doing anything. Files of installed packages are expanded by `expand_xacro`. Others
go through `expand_isolated` to a process of its own, which the kernel of the operating system
fences: no network, no writing, no other processes. Where it cannot be fenced, expressions that
could reach beyond themselves are refused (`check_expression`).

FRAMES (attributes) and OUTLIVING (kinds of nodes), what no expression may contain, may grow but not
shrink (test_fence tries to escape in every way); TRUST and TO_TRUST are the user's way to lift the
limits. Functions of xacro are replaced only in `expand_fenced` and `expand_trusted`, whose process
then ends.
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
from roboaccord.description.isolated import SECONDS, run_isolated
from roboaccord.description.resources import is_installed, package_folders
from roboaccord.numerics.fence import fence

NO_ARGUMENTS: Mapping[str, str] = MappingProxyType({})
MEMORY = 2 << 30  # bytes: address space of the process, which takes 0.15 GB before it reads
TRUST = "ROBOACCORD_TRUST"  # environment variable: with 1, all files are trusted
TO_TRUST = "if you trust the file, add --trust"
# Attributes by which an expression reaches the code that called it.
FRAMES = frozenset(
    "gi_frame gi_code gi_yieldfrom cr_frame cr_code ag_frame ag_code tb_frame tb_next "
    "f_back f_builtins f_code f_generator f_globals f_locals f_trace".split()
)
OUTLIVING = (ast.Lambda, ast.GeneratorExp)  # nodes whose code can run after the expression


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


def expand_isolated(
    path: Path, packages: Mapping[str, Path], arguments: Mapping[str, str] = NO_ARGUMENTS
) -> str:
    """Return the URDF of any xacro file, expanded in a process of bounded time and memory.

    The process is fenced unless the file is of an installed package or the user trusts it.

    Args:
        path: of the file.
        packages: folders of ROS packages by name.
        arguments: of the xacro.

    Raises:
        AccordError: if the file is broken, or takes too much time or memory.
    """
    folders = {name: str(folder) for name, folder in packages.items()}
    is_trusted = os.environ.get(TRUST) == "1" or is_installed(path)
    expand = expand_trusted if is_trusted else expand_fenced
    details = str(path), {**arguments}, folders
    try:
        return str(run_isolated(expand, *details, seconds=SECONDS, memory=MEMORY))
    except AccordError as error:
        start = f"broken description {path.name}: "
        raise AccordError(f"{start}{str(error).removeprefix(start)}") from None


def expand_trusted(path: str, arguments: Mapping[str, str], packages: Mapping[str, str]) -> str:
    """Return the URDF of a xacro file, in the process of `expand_isolated`."""
    from xacro import substitution_args

    folders = {name: Path(folder) for name, folder in packages.items()}

    def find(package: str) -> str:
        """Return the folder of a package that the file names by `$(find PACKAGE)`."""
        for folder in package_folders(package, Path(path), folders):
            if folder.is_dir():
                return str(folder)
        raise AccordError(f"package {package} is not found: --package {package}=DIR")

    substitution_args._eval_find = find  # xacro has no argument for that
    return expand_xacro(Path(path), arguments)


def expand_fenced(path: str, arguments: Mapping[str, str], packages: Mapping[str, str]) -> str:
    """Return the URDF of a xacro file, in a process that loses network, writing and processes."""
    import xacro
    from xacro import substitution_args

    resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
    refused_nodes = () if fence() else OUTLIVING
    builtins = {**xacro._global_symbols["python"]}

    def checked(evaluate: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that evaluates expressions, after a check of each."""
        return lambda text, *names: evaluate(check_expression(text, refused_nodes), *names)

    def limited(text: str, _: object, names: Any) -> Any:
        """Evaluate without those built-in functions of Python that xacro does not offer."""
        return eval(text, {"__builtins__": builtins}, names)  # noqa: S307

    xacro.safe_eval = checked(xacro.safe_eval)
    substitution_args.eval = checked(limited)
    xacro.open = lambda name: io.BytesIO(read_bytes(Path(name), LARGEST_TEXT))
    for symbols in (builtins, xacro._global_symbols["python"]):
        symbols.pop("vars", None)  # with it, a string would lead to any attribute
    return expand_trusted(path, arguments, packages)


def check_expression(expression: str, refused: tuple[type[ast.AST], ...] = OUTLIVING) -> str:
    """Return an expression of Python unchanged, or refuse it if it could reach beyond itself.

    Args:
        expression: of Python.
        refused: kinds of nodes that it must not have; private attributes and FRAMES never.

    Raises:
        AccordError: naming what is refused.
    """
    for node in ast.walk(compile(expression.strip(), "<expression>", "eval", ast.PyCF_ONLY_AST)):
        name = getattr(node, "attr", None) or getattr(node, "id", None) or ""
        if name.startswith("__") or name in FRAMES:
            raise AccordError(f"{name} is refused in an expression; {TO_TRUST}")
        if isinstance(node, refused):
            raise AccordError(f"functions are refused in an expression; {TO_TRUST}")
    return expression
