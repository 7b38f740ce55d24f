"""Names of a package that are imported when they are asked for [PEP 562].

A command or a robot that needs few of them starts the faster.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from inspect import Signature


def lazy_names(
    package: str, modules: Mapping[str, Sequence[str]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` of a package.

    Args:
        package: its name.
        modules: names by the module, below the package, that has them; none for the module itself.
    """
    homes = {name: module for module, names in modules.items() for name in names or (module,)}

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = import_module(f"{package}.{homes[name]}")
        if homes[name] != name:
            value = getattr(value, name)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *homes})

    return get, names, sorted(homes)


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
