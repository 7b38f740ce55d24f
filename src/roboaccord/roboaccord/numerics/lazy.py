"""Names of a package that are imported on first access, as its stub `__init__.pyi` lists them.

Exported names may be added in the stub of that package, not in this file. The stub is parsed at
import: only its lines `from .module import name as name` count, and other lines are ignored. The
rooms of the core call `lazy_names` in their `__init__.py`; What must stay, by test_door: each name
is found and no library is imported with it. A command or a robot that needs few of them starts the
faster.
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from lazy_loader import attach

if TYPE_CHECKING:
    from importlib.abc import ResourceLoader


def lazy_names(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` of a package.

    As `lazy_loader.attach_stub` does, which does not read the stub of a package in a wheel.
    """
    module, names = sys.modules[package], defaultdict[str, list[str]](list)
    stub = cast("ResourceLoader", module.__loader__).get_data(f"{module.__file__}i")
    for node in ast.parse(stub).body:
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            names[node.module or ""] += [each.name for each in node.names]
    found: tuple[Callable[[str], Any], Callable[[], list[str]], list[str]] = attach(
        package, names.pop("", ()), names
    )
    return found
