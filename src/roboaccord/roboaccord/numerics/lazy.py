"""Names of a package that are imported on first access [PEP 562].

A command or a robot that needs few of them starts the faster.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from importlib.abc import InspectLoader
    from inspect import Signature

IMPORT = re.compile(r"^    from ([\w.]+) import \(?\s*(\w+) as \2\b", re.MULTILINE)


def lazy_names(
    package: str, modules: Mapping[str, Sequence[str]] | None = None, *, rooms: Sequence[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` of a package.

    Args:
        package: its name.
        modules: names by the module, below the package, that has them. Without it names are those
            that the package imports for type checkers, a line each: `from MODULE import X as X`.
        rooms: which of them are modules of the package at run time: see `make_callable`.
    """
    if modules is None:
        homes = {name: module for module, name in IMPORT.findall(_source(package))}
    else:
        homes = {name: f"{package}.{key}" for key, names in modules.items() for name in names}
    homes |= dict.fromkeys(rooms, package)

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if homes[name] == package:
            value: Any = import_module(f"{package}.{name}")
        else:
            value = getattr(import_module(homes[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *homes})

    return get, names, sorted(homes)


def _source(package: str) -> str:
    spec = sys.modules[package].__spec__
    return cast("InspectLoader", spec and spec.loader).get_source(package) or ""


class CallableRoom(ModuleType):
    """A room that is called as the function of its name that the front door has: `ra.run(...)`."""

    def __call__(self, *args: Any, **named: Any) -> Any:
        """Call the function."""
        return self._function(*args, **named)

    @property
    def _function(self) -> Callable[..., Any]:
        package, _, name = self.__name__.partition(".")
        function: Callable[..., Any] = getattr(import_module(f"{package}.door"), name)
        return function

    @property
    def __signature__(self) -> Signature:
        from inspect import signature

        return signature(self._function)


def make_callable(package: str) -> None:
    """Let a room be called, whose name a function of the front door has."""
    sys.modules[package].__class__ = CallableRoom
