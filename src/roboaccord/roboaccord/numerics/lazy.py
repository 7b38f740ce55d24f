"""Names of a package that are imported on first access, as its stub `__init__.pyi` lists them.

A command or a robot that needs few names of a package starts faster if the other modules are not
imported. The `__init__.py` of each package of the core therefore calls `lazy_names`. The list of
names is the package's stub, which type checkers read as well: its lines
`from .module import name as name`. To export a name, add it there. test_door checks that each name
exists and imports no library.
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from lazy_loader import attach


def lazy_names(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` for the `__init__.py` of a package.

    It does what `lazy_loader.attach_stub` does, but also reads the stub of a package in a wheel.
    """
    module: Any = sys.modules[package]
    stub = module.__loader__.get_data(f"{module.__file__}i")
    names = defaultdict[str, list[str]](list)  # by module
    for node in ast.parse(stub).body:
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            names[node.module or ""] += [alias.name for alias in node.names]
    return attach(package, names.pop("", ()), names)  # type: ignore[no-any-return]
