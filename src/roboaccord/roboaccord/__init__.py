"""One description, many simulators: the simulator-independent core of the workspace.

Inside is a room a folder; CONTRIBUTING.md shows how they stand on each other, and each room's
`__init__` is its first page.

Names of `import roboaccord as ra` may be added: a line of `__init__.pyi` and an entry in the tables
of docs/new_robot.md (test_public_names compares the two). Nothing is imported here before it is
asked for (test_public_names, test_start). Other packages add functions by the entry points
`roboaccord.functions`, never by an import in this file. What must stay: names that exist;
`FrontDoor`, which keeps `ra.run` a function when the folder `run` is imported; and the last lines,
which connect results with the printers of `cli` and `report`, as `contract` may not import them.
"""

from __future__ import annotations

import pkgutil
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from roboaccord.contract import plugins
from roboaccord.contract.shown import display
from roboaccord.numerics.lazy import lazy_names

_get_name, _list_names, _core_names = lazy_names(__name__)
__all__ = [name for name in _core_names if name != "__version__"]


def __getattr__(name: str) -> Any:
    """Return a name of the core, or a function that an installed package adds."""
    if name not in _core_names and not name.startswith("__"):
        if name in plugins.entries("functions"):
            return plugins.load("functions", name)
        if line := plugins.lacking("functions", name):
            raise AttributeError(line)
    return _get_name(name)


def __dir__() -> list[str]:
    """Return all these names, for completion in a shell."""
    return sorted({*_list_names(), *(n for n in plugins.entries("functions") if "." not in n)})


class FrontDoor(ModuleType):
    """Its names stay when a folder of the same name is imported: `run`, `crosscheck`."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in __all__ or not isinstance(value, ModuleType):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = FrontDoor


def _imported_when_called(path: str) -> Callable[..., Any]:
    """Return a function that imports and calls the function at `module:function`."""

    def call(*arguments: object) -> Any:
        return pkgutil.resolve_name(path)(*arguments)

    return call


display.text = _imported_when_called("roboaccord.cli.notebook:text_of")
display.html = _imported_when_called("roboaccord.cli.notebook:html_of")
display.plot = _imported_when_called("roboaccord.report.stills:plot_of")
display.arrays = _imported_when_called("roboaccord.report.stills:arrays_of")
display.words = _imported_when_called("roboaccord.report.words:words_of")
