"""Make the controller of a scenario, or a user's own.

A controller answers each state of the robot with a command, such as the efforts of its joints. A
scenario names its controller; its class comes from the robot (`controllers`) or from another
package (entry points `roboaccord.controllers`); `none` is the only one that is made here. The other
keys beside `name` are arguments of the class, except `friction`, which the setup has.

A user's own controller is an `AnyController`: a class, an object, or text that names a class. A
module named `module:name` is imported from the current folder. For that, `_CurrentFolderFinder` is
added to Python's finders of modules; it must serve that module and its own imports alone, or a file
in the folder could hide a library's module. Only commands and calls name one: what a bag or a
scenario states of a controller (`origin_of`) is never imported (test_bag_is_data).
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
import linecache
import sys
from collections.abc import Callable, Collection
from contextlib import suppress
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from operator import attrgetter
from pathlib import Path
from types import FrameType
from typing import Any, ClassVar, cast

import numpy as np

from roboaccord.contract import AccordError, Command, Controller, RobotState, Target, plugins
from roboaccord.contract.errors import check_known
from roboaccord.contract.interfaces import AnyController
from roboaccord.scenario.files import apply_change
from roboaccord.scenario.setup import Setup
from roboaccord.scenario.user_code import build, check_keys, line_of, meant_by, place_of
from roboaccord.scenario.watch import START_TIMEOUT, starting


class Passive:
    """The controller `none`, which gives zero efforts."""

    def __init__(self, setup: Setup) -> None:
        self._command = Command(np.zeros(len(setup.joints)))

    def reset(self, seed: int) -> None:
        """Do nothing: the controller has no state."""

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return zero efforts."""
        return self._command


def make_controller(
    setup: Setup, custom: AnyController = "", *, timeout: float = START_TIMEOUT
) -> Controller:
    """Make the controller of a scenario, or a user's own.

    Args:
        setup: robot and scenario.
        custom: replaces the scenario's controller: `package.module:Class`, or the class itself,
            which is called with the setup, which has the friction of `controller.friction`, and
            with those keys of `controller` that are its parameters (see `_own_keys`); or an object,
            which is returned as it is.
        timeout: how long making it may take [s of wall time].

    Raises:
        AccordError: for an unknown controller or parameter, or one that cannot be made.

    Example:
        >>> setup = ra.setup_of("snake", "serpenoid")
        >>> controller = ra.make_controller(setup)
        >>> controller.reset(seed=0)
        >>> command = controller.update(setup.initial, None)  # its efforts [N m]
    """
    if isinstance(custom, Controller) and not isinstance(custom, type):
        return custom
    name, keys = _name_and_keys(setup)
    with starting("controller", timeout):
        factory = _import_factory(custom) if custom else shipped_factory(setup, name)
        if custom:
            shipped = shipped_factory(setup, name)
            known = {p for each in (factory, shipped) for p in inspect.signature(each).parameters}
            check_known(f"controller {name_of(custom)} has no key ", keys, known)
            own = _own_keys(factory, shipped, setup)
            keys = {key: value for key, value in keys.items() if key in own}
        controller = build(factory, setup.assumed, keys, "controller")
        if not isinstance(controller, Controller):
            methods = ("reset(seed)", "update(state, target)")
            missing = [m for m in methods if not hasattr(controller, m.partition("(")[0])]
            raise AccordError(f"{name_of(custom) or name} has no {' and no '.join(missing)}")
    return controller


def name_of(custom: AnyController) -> str:
    """Return the name of a user's controller, `module:Class`; "" for that of the scenario."""
    if isinstance(custom, str):
        return custom
    factory: Any = custom if callable(custom) else type(custom)
    return f"{factory.__module__}:{getattr(factory, '__qualname__', factory)}"


def origin_of(custom: AnyController) -> str:
    """Return what a bag states of a user's controller; "" for that of the scenario.

    It is `module:Class sha256:HEX`, with the hash of the source of the module, or of the cell of a
    notebook; the name alone where there is no source. A module is found, and not imported, but the
    packages around it are.
    """
    name, source = name_of(custom), ""
    module, _, attribute = name.partition(":")
    with suppress(Exception):  # there is no source, or a user's package cannot be imported
        if module == "__main__":
            update = attrgetter(f"{attribute}.update")(sys.modules[module])
            source = "".join(linecache.getlines(update.__code__.co_filename))
        elif module:
            _serve_current_folder()
            source = Path(cast("ModuleSpec", find_spec(module)).origin or "").read_text("utf-8")
    return f"{name} sha256:{hashlib.sha256(source.encode()).hexdigest()}" if source else name


def _name_and_keys(setup: Setup) -> tuple[str, dict[str, Any]]:
    """Return the name of the scenario's controller, and the keys that its class is called with."""
    keys = dict(setup.scenario.controller)
    keys.pop("friction", None)  # it is in `Setup.assumed`
    return keys.pop("name", "none"), keys


def _own_keys(factory: Callable[..., Any], shipped: Callable[..., Any], setup: Setup) -> set[str]:
    """Return the keys that a user's controller may take from a scenario.

    The scenario's are meant for its own controller, and for one that is derived from that. Another
    takes those that the user has given, and those for which it has no default; and it takes all of
    a scenario without a controller.

    Args:
        factory: makes the user's controller.
        shipped: makes the scenario's.
        setup: robot and scenario.
    """
    accepted, given = inspect.signature(factory).parameters, dict[str, Any]()
    if shipped in (Passive, factory, *getattr(factory, "__mro__", ())):
        return {*accepted}
    for change in setup.given:
        apply_change(given, change)
    needed = {key for key, parameter in accepted.items() if parameter.default is parameter.empty}
    return needed | {key for key in accepted if key in given.get("controller", {})}


def check_controller(setup: Setup, custom: str = "") -> None:
    """Check the name and the keys of a scenario's controller, without making it.

    Args:
        setup: robot and scenario.
        custom: `package.module:Class` in its place, which is only imported.

    Raises:
        AccordError: for an unknown controller or parameter, or a value that is not a number.
    """
    if custom:
        _import_factory(custom)
        return
    name, keys = _name_and_keys(setup)
    check_keys(shipped_factory(setup, name), keys, "controller")


def shipped_factory(setup: Setup, name: str) -> Callable[..., Any]:
    """Return the class of a named controller, from the robot or from a package that adds to it.

    Raises:
        AccordError: for an unknown name, or one whose package is not installed.
    """
    factories = {"none": Passive, **setup.robot.controllers}
    if name not in factories:
        factories[name] = part_of(setup.robot.package, name, "unknown controller ", factories)
    return factories[name]


def part_of(robot: str, name: str, what: str, others: Collection[str] = ()) -> Any:
    """Return a controller, planner or diagnosis that a package adds to a robot.

    Args:
        robot: package of the robot; `roboaccord` for robots that are files.
        name: of the controller, planner or diagnosis.
        what: begins the message for an unknown name, such as "unknown controller ".
        others: names that the robot itself has, for the hint.

    Raises:
        AccordError: for an unknown name; NotInstalledError if its package is not installed.
    """
    installed = plugins.added("controllers", robot)
    advice = plugins.lacking("controllers", f"{robot}.{name}", name)
    if name not in installed and advice:
        raise plugins.NotInstalledError(advice)
    check_known(what, name, [*others, *installed])
    return plugins.load("controllers", f"{robot}.{name}")


def _import_factory(custom: AnyController) -> Callable[..., Any]:
    """Return what makes a user's controller; `package.module:Class` is imported."""
    if callable(custom):
        return custom
    path = str(custom)
    module_name, colon, attribute = path.partition(":")
    if not colon:
        raise AccordError(f"--controller takes package.module:Class, not {path!r}")
    try:
        _serve_current_folder()
        factory = getattr(importlib.import_module(module_name), attribute)
    except SystemExit as error:
        raise AccordError(f"cannot import {path}: it {line_of(error)}{place_of(error)}") from error
    except Exception as error:
        reason = (str(getattr(error, "msg", error)).splitlines() or [type(error).__name__])[0]
        hint = meant_by(error)
        raise AccordError(f"cannot import {path}: {reason}{place_of(error)}{hint}") from error
    if not callable(factory):
        raise AccordError(f"{path} is not a class")
    return cast("Callable[..., Any]", factory)


def _serve_current_folder() -> None:
    """Let controllers be imported from the current folder."""
    if _CurrentFolderFinder not in sys.meta_path:
        sys.meta_path.insert(0, _CurrentFolderFinder)  # not sys.path, which child processes inherit


class _CurrentFolderFinder:
    """Finder of a user's modules in the current folder, if no other finder has the name.

    It serves this module, which imports the controller, and the modules that it has found before,
    and nobody else: a file in the folder must not be taken for a module of a library.
    """

    served: ClassVar = {__name__}  # names of the modules that may import through it

    @classmethod
    def find_spec(cls, name: str, path: object, _: object = None) -> ModuleSpec | None:
        """Return the specification of a module in the current folder, or None, as Python asks."""
        # Name of the module that imports: of the innermost caller outside of importlib.
        importer = "importlib"
        frame: FrameType | None = sys._getframe(1)
        while frame and importer.startswith("importlib"):
            importer = str(frame.f_globals.get("__name__"))
            frame = frame.f_back
        # `path` is that of the package of a submodule, which other finders know.
        if path is not None or not {importer, importer.partition(".")[0]} & cls.served:
            return None
        # A folder without `__init__.py` hides no file: those of packages installed in place are on
        # the search path, such as `models`.
        others = (finder.find_spec(name, None) for finder in sys.meta_path if finder is not cls)
        if any(spec and spec.loader for spec in others):
            return None
        if spec := PathFinder.find_spec(name, [str(Path.cwd())]):
            cls.served.add(name)
        return spec
